// SPDX-License-Identifier: MIT
// FileCopy: the bytes of an open file in private memory, copied when they are first asked for.
//
// Why no mapping: reading a mapped file that somebody cuts is a SIGBUS, and one that somebody writes to shows two reads
// of the same byte two values (docs/decisions/0025).
// Invariant: bytes that were given never change, and all of them are of the file as it was opened: of one that has
// changed since, nothing more is copied.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <unordered_set>

#include "base/fd.h"

namespace penna {

// Which contents a file had. Two that are equal were not written in between.
class FileVersion {
 public:
  FileVersion() = default;
  // Waits, 60 ms at most, until a file that was written just now has been left alone for 20.
  static FileVersion of(int fd);
  bool is_current(int fd) const;
  uint64_t size() const { return size_; }
  uint64_t written_ns() const {  // CLOCK_REALTIME
    return static_cast<uint64_t>(written_.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(written_.tv_nsec);
  }

 private:
  FileVersion(const struct stat& status, bool rests);
  uint64_t size_ = 0;
  timespec written_{};
  bool rests_ = false;  // false: it is being written, and what is read of it is of no version
};

class FileCopy {
 public:
  FileCopy(int fd, FileVersion version) : fd_(fd), version_(version) {}  // the descriptor stays its owner's

  // Fewer than `count` at the file's end, or where they cannot be read. They live as long as this.
  std::span<const uint8_t> bytes(uint64_t offset, uint64_t count);
  bool has_changed() const { return changed_ || !version_.is_current(fd_); }

 private:
  bool copy_block(uint64_t block);

  int fd_;
  FileVersion version_;
  Mapping memory_;  // as large as the file; what is not copied costs nothing
  std::unordered_set<uint64_t> copied_;
  uint64_t last_ = UINT64_MAX;  // the block that was asked for last
  bool changed_ = false;
};

// True: all of `to` is read. False: errno says why.
bool read_at(int fd, uint64_t offset, std::span<uint8_t> to);

}  // namespace penna
