/* SPDX-License-Identifier: MIT
 *
 * args_cxx.h: the arguments of a point in C++: any arithmetic type, enum, pointer, C string, or class with data() and
 * size() of characters. Freestanding; always inlined, so that an unoptimised build has no calls either.
 * Invariant: each argument is evaluated once; the copy of it that is looked at is a scalar or a PointText.
 */
#ifndef PENNA_DETAIL_ARGS_CXX_H
#define PENNA_DETAIL_ARGS_CXX_H

#include <type_traits>
#include <utility>

#include "penna/point_abi.h"

#define PENNA_INLINE __attribute__((always_inline, unused, no_instrument_function)) static inline

namespace penna::detail {

struct PointText {
  const char* at;
  uint64_t limit;
};

template <class T>
inline constexpr bool kIsChar = std::is_same_v<std::remove_cv_t<T>, char>;

template <class T>
concept TextLike = requires(const T& text) {
  requires std::is_class_v<T>;
  requires std::is_same_v<decltype(text.data()), const char*>;
  {text.size() + 0u};
};

// What is kept of an argument: class types by PointText, arrays by their address, scalars by value.
template <class T>
PENNA_INLINE auto hold_arg(const T& arg) {
  if constexpr (TextLike<T>) {
    return PointText{arg.data(), static_cast<uint64_t>(arg.size())};
  } else if constexpr (std::is_array_v<T>) {
    using Element = std::remove_extent_t<T>;
    if constexpr (kIsChar<Element> && std::extent_v<T> != 0)
      return PointText{const_cast<const char*>(&arg[0]), std::extent_v<T> | PENNA_TEXT_ENDS_AT_ZERO};
    else
      return static_cast<const volatile void*>(&arg[0]);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return static_cast<const volatile void*>(nullptr);
  } else if constexpr (std::is_pointer_v<T>) {
    using To = std::remove_pointer_t<T>;
    if constexpr (kIsChar<To> && !std::is_volatile_v<To>)
      return PointText{arg, uint64_t{PENNA_MAX_STRING + 1} | PENNA_TEXT_ENDS_AT_ZERO};
    else if constexpr (std::is_function_v<To>)
      return reinterpret_cast<const volatile void*>(arg);
    else
      return static_cast<const volatile void*>(arg);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(arg);
  } else {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) <= 8 || std::is_floating_point_v<T>),
                  "a point takes numbers up to 64 bits, enums, pointers, strings and classes with data() and size()");
    return std::remove_cv_t<T>(arg);
  }
}

template <class Held>
consteval uint64_t arg_type() {
  using T = std::remove_cv_t<Held>;
  if constexpr (std::is_same_v<T, PointText>)
    return PENNA_ARG_STRING;
  else if constexpr (std::is_same_v<T, bool>)
    return PENNA_ARG_BOOL;
  else if constexpr (std::is_same_v<T, char>)
    return PENNA_ARG_CHAR;
  else if constexpr (std::is_floating_point_v<T>)
    return PENNA_ARG_FLOAT;
  else if constexpr (std::is_pointer_v<T>)
    return PENNA_ARG_POINTER;
  else
    return std::is_signed_v<T> ? PENNA_ARG_INT : PENNA_ARG_UINT;
}

template <class T>
PENNA_INLINE uint64_t arg_word(const T& held) {
  if constexpr (std::is_same_v<T, PointText>)
    return reinterpret_cast<uintptr_t>(held.at);
  else if constexpr (std::is_floating_point_v<T>)
    return __builtin_bit_cast(uint64_t, static_cast<double>(held));
  else if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<uintptr_t>(held);
  else
    return static_cast<uint64_t>(held);
}

template <class T>
PENNA_INLINE uint64_t* put_arg(uint64_t* to, const T& held) {
  *to++ = arg_word(held);
  if constexpr (std::is_same_v<T, PointText>) *to++ = held.limit;
  return to;
}

// What the SDT note points at: floats as their bits, strings as their address.
template <class T>
PENNA_INLINE auto sdt_value(const T& held) {
  if constexpr (std::is_same_v<T, PointText>)
    return held.at;
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_bit_cast(uint32_t, held);
  else if constexpr (std::is_floating_point_v<T>)
    return __builtin_bit_cast(uint64_t, static_cast<double>(held));
  else
    return held;
}

template <class Held>
consteval int sdt_size() {
  using T = std::remove_cv_t<Held>;
  constexpr int size = static_cast<int>(sizeof(sdt_value(std::declval<const T&>())));
  return std::is_integral_v<T> && std::is_signed_v<T> ? -size : size;
}

}  // namespace penna::detail

#define PENNA_HOLD(i, arg)          \
  const auto& penna_of_##i = (arg); \
  const auto penna_##i = ::penna::detail::hold_arg(penna_of_##i);

#define PENNA_TYPE_OF(x) ::penna::detail::arg_type<decltype(x)>()
#define PENNA_WORD_OF(x) ::penna::detail::arg_word(x)
#define PENNA_PUT(to, x, arg) ::penna::detail::put_arg(to, x)
#define PENNA_SDT_VALUE(x) ::penna::detail::sdt_value(x)
#define PENNA_SDT_SIZE(x) ::penna::detail::sdt_size<decltype(x)>()

#endif
