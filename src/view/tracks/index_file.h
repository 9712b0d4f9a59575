// SPDX-License-Identifier: MIT
// IndexFile: the file beside a recording that holds its index: REC.view.
//
//   0    +--------------------------------------+
//        | magic | version | -                  |
//   16   | identity of the recording            |  XXH3-64
//   24   | tables: offset | bytes               |
//   40   | kept answers: offset | bytes         |  0: none yet (kept_answers.h)
//   56   | checksum of all before, XXH3-64      |
//   64   +--------------------------------------+
//        | packed numbers: nodes, then tables,  |  each with a checksum of its own
//        | then kept answers                    |
//        +--------------------------------------+
//
// Why pread and no mapping: the file may be truncated while it is read, which in a mapping is a SIGBUS.
// Kept answers come when the file has its name already: they are written behind everything else, then the header, at
// once. Who has read the header before does not know them.
// Invariant: the file has this name only once it is whole; another file of this name, or another user's, is neither
// read nor replaced. Even so, its contents are untrusted.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "model/events/events.h"

namespace penna {

// Distinguishes a recording from others, and from its own state before it grew.
uint64_t identity_of(const Recording& recording);

class IndexFile {
 public:
  // The finished index of this name, if it is this recording's; `tables`: as passed to finish().
  static std::optional<IndexFile> open(const std::string& path, uint64_t identity, std::vector<uint8_t>* tables);
  // The kept answers of a finished index; empty: there are none, or it is not this recording's.
  static std::vector<uint8_t> read_answers(const std::string& path, uint64_t identity);
  // Replaces them. False: there is no such index, it cannot be written, or somebody else is writing it.
  static bool write_answers(const std::string& path, uint64_t identity, std::span<const uint8_t> bytes);
  // A new, still unnamed one, in the directory of `path`; empty path: in no directory. The error says why not.
  static Result<IndexFile> create(const std::string& path);
  IndexFile(IndexFile&& other) noexcept;

  // Thread-safe. Returns its offset; 0: no room, or it cannot be written.
  uint64_t append(std::span<const uint8_t> bytes);
  bool read(uint64_t offset, uint32_t bytes, std::vector<uint8_t>* out) const;
  // Gives the file its name. False: it stays unnamed, and is readable while it is open.
  bool finish(uint64_t identity, std::span<const uint8_t> tables);
  bool has_failed() const { return failed_; }

 private:
  IndexFile(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  bool take_name();

  Fd file_;
  std::string path_;  // empty: it gets no name
  std::atomic<uint64_t> end_{64};
  std::atomic<bool> failed_{false};
};

// Where a recording's index may be, best first: beside it, and in the user's cache.
std::vector<std::string> index_paths(const Recording& recording);

}  // namespace penna
