// SPDX-License-Identifier: MIT
// RemotePtr: the address of a T in a target's memory.
//
// Why a type: as a number or a local pointer it would be passed, added and read like a local address, and the compiler
// would accept it.
// Invariant: cannot be dereferenced here; conversion from and to a number is explicit.
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

namespace penna {

template <typename T = void>
class RemotePtr {
 public:
  constexpr RemotePtr() = default;
  constexpr explicit RemotePtr(uint64_t number) : number_(number) {}
  // Converts like pointers: RemotePtr<T> to RemotePtr<const T> or RemotePtr<void>.
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  constexpr RemotePtr(RemotePtr<U> other) : number_(other.number()) {}

  constexpr uint64_t number() const { return number_; }
  constexpr explicit operator bool() const { return number_ != 0; }
  template <typename U>
  constexpr RemotePtr<U> as() const {
    return RemotePtr<U>(number_);
  }
  // For system calls, which take the addresses of another process as pointers.
  void* argument() const { return reinterpret_cast<void*>(number_); }

  // In units of T. Addresses come from an untrusted target: they wrap around, and never trap.
  friend constexpr RemotePtr operator+(RemotePtr p, int64_t by) {
    return RemotePtr(p.number_ + static_cast<uint64_t>(by) * sizeof(T));
  }
  friend constexpr RemotePtr operator-(RemotePtr p, int64_t by) { return p + -by; }
  // In bytes, from `b` to `a`.
  friend constexpr uint64_t bytes_between(RemotePtr b, RemotePtr a) { return a.number_ - b.number_; }
  friend constexpr auto operator<=>(RemotePtr, RemotePtr) = default;

 private:
  uint64_t number_ = 0;
};

// For bytes, such as code and stacks.
using RemoteBytes = RemotePtr<uint8_t>;

}  // namespace penna
