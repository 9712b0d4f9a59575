// SPDX-License-Identifier: MIT
// LiveOutput: a descriptor that may be slow, or dead, whose writer does not wait for it.
//
// Why not Output: that one waits as long as its reader likes, while the program being shown goes on.
// Invariant: put() never waits; what waits here is what the caller has put and has_room() allowed.
#pragma once

#include <string>
#include <string_view>

namespace penna {

class LiveOutput {
 public:
  // A screen is a few kilobytes: what is older than this is not worth waiting for.
  static constexpr size_t kRoom = 256 << 10;
  explicit LiveOutput(int fd) : fd_(fd) {}

  void put(std::string_view text);
  // Writes what can be written; waits for its reader until it has taken nothing for this long. False: something is
  // left.
  bool flush(int patience_ms);

  bool has_room() const { return waiting_.size() < kRoom; }
  bool is_over() const { return over_; }  // no reader, or it cannot be written
  int error() const { return error_; }    // errno, if it cannot be written though there may be a reader; else 0

 private:
  int fd_;
  std::string waiting_;
  bool over_ = false;
  int error_ = 0;
};

}  // namespace penna
