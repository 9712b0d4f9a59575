// SPDX-License-Identifier: MIT
// RemotePtr: the address of a T in a target's memory.
//
// Why a type: as a number or a local pointer it would be passed, added and read like a local address, and the compiler
// would accept it.
// Differences, such as a module's bias, stay numbers.
// Invariant: cannot be dereferenced here; conversion from and to a number is explicit. It is as large as a pointer, so
// that structs of the target may have it as a member.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
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
  // To a multiple of `bytes`, a power of two.
  friend constexpr RemotePtr aligned_down(RemotePtr p, uint64_t bytes) { return RemotePtr(p.number_ & ~(bytes - 1)); }
  // In bytes, from `b` to `a`.
  friend constexpr uint64_t bytes_between(RemotePtr b, RemotePtr a) { return a.number_ - b.number_; }
  friend constexpr auto operator<=>(RemotePtr, RemotePtr) = default;

 private:
  uint64_t number_ = 0;
};

// For bytes, such as stacks.
using RemoteBytes = RemotePtr<uint8_t>;
// Where code lies, or what it refers to.
using CodePtr = RemotePtr<const uint8_t>;

// What a T of the target is to us: a pointer in its memory is an address there.
template <typename T>
struct InTarget {
  using Type = T;
};
template <typename T>
struct InTarget<T*> {
  using Type = RemotePtr<T>;
};
template <typename T, size_t N>
struct InTarget<T[N]> : InTarget<T> {};  // its first element

// A member of a struct there: field(map, &link_map::l_next) is the address of an address of a link_map.
template <typename S, typename M>
RemotePtr<typename InTarget<M>::Type> field(RemotePtr<S> p, M S::*member) {
  // Itanium C++ ABI, 2.3.1: a pointer to a data member is its offset.
  return RemotePtr<typename InTarget<M>::Type>(p.number() + std::bit_cast<uint64_t>(member));
}

}  // namespace penna
