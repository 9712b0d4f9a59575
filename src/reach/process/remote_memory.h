// SPDX-License-Identifier: MIT
// The memory of another process, read and written at its own addresses.
//
// Why /proc/PID/mem: it is opened once, with the same permission as ptrace, and can write even to memory that the
// process itself may only read or execute, as a debugger does. The address says what is there, and so how large it is.
// Invariant: what is read is untrusted; an unmapped address is a result, not an error.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "base/fd.h"
#include "base/remote_ptr.h"
#include "base/result.h"

namespace penna {

class RemoteMemory {
 public:
  static Result<RemoteMemory> open(pid_t pid);

  template <typename T>
  std::optional<std::remove_const_t<T>> get(RemotePtr<T> at) const {
    std::remove_const_t<T> value;
    return read(at, {&value, 1}) ? std::optional(value) : std::nullopt;
  }
  // Zero, or null, where nothing is mapped.
  template <typename T>
  std::remove_const_t<T> get_or_zero(RemotePtr<T> at) const {
    return get(at).value_or(std::remove_const_t<T>{});
  }
  // Several, one behind the other: all or nothing.
  template <typename T>
  bool read(RemotePtr<T> at, std::span<std::remove_const_t<T>> to) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return read_bytes(at.number(), to.data(), to.size_bytes());
  }
  template <typename T>
  bool write(RemotePtr<T> at, std::span<const std::type_identity_t<T>> from) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    return write_bytes(at.number(), from.data(), from.size_bytes());
  }
  template <typename T>
  bool write(RemotePtr<T> at, const std::type_identity_t<T>& value) const {
    return write(at, std::span(&value, 1));
  }
  // As much of [at, at + most) as is mapped.
  std::string part(RemotePtr<const uint8_t> at, size_t most) const;
  // Up to its terminating zero.
  std::string text(RemotePtr<const char> at) const;

  // From here on only these pieces can be read, as they were when copied; none: the memory itself. They must outlive
  // that.
  struct Piece {
    RemotePtr<const uint8_t> at;
    std::span<const uint8_t> bytes;
  };
  void show_only(std::span<const Piece> pieces) { pieces_ = pieces; }

 private:
  explicit RemoteMemory(Fd file) : file_(std::move(file)) {}
  bool read_bytes(uint64_t at, void* to, size_t bytes) const;
  bool write_bytes(uint64_t at, const void* from, size_t bytes) const;
  size_t copy_piece(uint64_t at, void* to, size_t most) const;
  Fd file_;
  std::span<const Piece> pieces_;
};

}  // namespace penna
