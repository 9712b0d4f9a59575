// SPDX-License-Identifier: MIT
// FileCopy: the bytes of an open file in private memory, copied on first use.
//
// Why no mapping: reading a mapped file that is truncated meanwhile is a SIGBUS, and if it is written to, two reads of
// the same byte may see two values (docs/decisions/0025).
// Invariant: bytes that were returned never change, and all of them are of the file as it was opened: once it has
// changed, nothing more is copied.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <unordered_set>

#include "base/fd.h"

namespace penna {

// Identifies a file's contents. If two are equal the file was not written in between.
class FileVersion {
 public:
  FileVersion() = default;
  // Waits, 60 ms at most, until a file that was written just now has been left alone for 20 ms.
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
  bool rests_ = false;  // false: it is being written, and what is read from it belongs to no version
};

class FileCopy {
 public:
  FileCopy(int fd, FileVersion version) : fd_(fd), version_(version) {}  // does not own the descriptor

  // Fewer than `count` at the file's end, or if they cannot be read. They live as long as this object.
  std::span<const uint8_t> bytes(uint64_t offset, uint64_t count);
  bool has_changed() const { return changed_ || !version_.is_current(fd_); }

 private:
  bool copy_block(uint64_t block);

  int fd_;
  FileVersion version_;
  Mapping memory_;  // as large as the file; parts not copied cost nothing
  std::unordered_set<uint64_t> copied_;
  uint64_t last_ = UINT64_MAX;  // the last block used
  bool changed_ = false;
};

// True: all of `to` was read. False: errno says why.
bool read_at(int fd, uint64_t offset, std::span<uint8_t> to);

}  // namespace penna
