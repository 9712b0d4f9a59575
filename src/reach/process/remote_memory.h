// SPDX-License-Identifier: MIT
// The memory of another process, read and written at its own addresses.
//
// Why /proc/PID/mem: it is opened once, with the same permission as ptrace, and can write even to memory that the
// process itself may only read or execute, as a debugger does. Invariant: what is read is untrusted; an unmapped
// address is a result, not an error.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/remote_ptr.h"
#include "base/result.h"

namespace penna {

class RemoteMemory {
 public:
  static Result<RemoteMemory> open(pid_t pid);

  // All or nothing.
  bool read(uint64_t at, void* to, size_t bytes) const;
  bool write(uint64_t at, const void* from, size_t bytes) const;

  template <typename T>
  std::optional<T> get(uint64_t at) const {
    T value;
    return read(at, &value, sizeof value) ? std::optional(value) : std::nullopt;
  }
  // A pointer or another word; 0 where nothing is mapped.
  uint64_t word(uint64_t at) const { return get<uint64_t>(at).value_or(0); }
  // As much of [at, at + most) as is mapped.
  std::string part(uint64_t at, size_t most) const;
  // From here on only these pieces can be read, as they were when copied; none: the memory itself. They must outlive
  // that.
  struct Piece {
    uint64_t at = 0;
    std::span<const uint8_t> bytes;
  };
  void show_only(std::span<const Piece> pieces) { pieces_ = pieces; }
  // Up to its terminating zero.
  std::string text(uint64_t at) const;

 private:
  explicit RemoteMemory(Fd file) : file_(std::move(file)) {}
  size_t copy_piece(uint64_t at, void* to, size_t most) const;
  Fd file_;
  std::span<const Piece> pieces_;
};

}  // namespace penna
