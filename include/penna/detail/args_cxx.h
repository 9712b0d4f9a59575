/* SPDX-License-Identifier: MIT
 *
 * args_cxx.h: the arguments of a point in C++: any arithmetic type, enum, pointer, C string, array, class with data()
 * and size() of any of these, and structs that describe their fields (penna::Fields). Freestanding; always inlined, so
 * that an unoptimised build has no calls either.
 * Invariant: each argument is evaluated once; what is kept of it is a scalar, or the address of its bytes.
 */
#ifndef PENNA_DETAIL_ARGS_CXX_H
#define PENNA_DETAIL_ARGS_CXX_H

#include <type_traits>
#include <utility>

#include "penna/detail/each.h"
#include "penna/point_abi.h"

#define PENNA_INLINE __attribute__((always_inline, unused, no_instrument_function)) static inline

namespace penna {

// Specialise this for a struct that points take field by field: see PENNA_STRUCT in point.h.
template <class T>
struct Fields;

namespace detail {

// Characters, or elements of an array: `limit` as in point_abi.h.
struct PointText {
  const char* at;
  uint64_t limit;
};
struct PointArray {
  const volatile void* at;
  uint64_t limit;
};
template <class T>
struct PointStruct {
  const T* at;
};
template <class... Held>
struct HeldList {};

template <class T>
inline constexpr bool kIsChar = std::is_same_v<std::remove_cv_t<T>, char>;
template <class T>
inline constexpr bool kIsScalar = (std::is_arithmetic_v<T> && (sizeof(T) <= 8 || std::is_floating_point_v<T>)) ||
                                  std::is_enum_v<T> || std::is_pointer_v<T>;

template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;

// Concepts, in C++17 notation. `+ 0u`: size() gives a number.
template <class T, class = void>
inline constexpr bool kIsTextLike = false;
template <class T>
inline constexpr bool kIsTextLike<
    T, std::void_t<decltype(std::declval<const T&>().data()), decltype(std::declval<const T&>().size() + 0u)>> =
    std::is_class_v<T>&& std::is_same_v<decltype(std::declval<const T&>().data()), const char*>;
template <class T, class = void>
inline constexpr bool kIsArrayLike = false;
template <class T>
inline constexpr bool kIsArrayLike<
    T, std::void_t<decltype(*std::declval<const T&>().data()), decltype(std::declval<const T&>().size() + 0u)>> =
    std::is_class_v<T>&& kIsScalar<Bare<decltype(*std::declval<const T&>().data())>> &&
    sizeof(*std::declval<const T&>().data()) <= 8;
template <class T, class = void>
inline constexpr bool kIsDescribed = false;
template <class T>
inline constexpr bool kIsDescribed<T, std::void_t<decltype(Fields<T>::kNames)>> = true;

// The penna_arg_type of a scalar, or of a held value.
template <class Held>
constexpr uint64_t arg_type() {
  using T = std::remove_cv_t<Held>;
  if constexpr (std::is_enum_v<T>)
    return arg_type<std::underlying_type_t<T>>();
  else if constexpr (std::is_same_v<T, PointText>)
    return PENNA_ARG_STRING;
  else if constexpr (std::is_same_v<T, PointArray>)
    return PENNA_ARG_ARRAY;
  else if constexpr (std::is_same_v<T, bool>)
    return PENNA_ARG_BOOL;
  else if constexpr (std::is_same_v<T, char>)
    return PENNA_ARG_CHAR;
  else if constexpr (std::is_floating_point_v<T>)
    return PENNA_ARG_FLOAT;
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? PENNA_ARG_INT : PENNA_ARG_UINT;
  else
    return PENNA_ARG_POINTER;
}

template <class Held>
inline constexpr uint64_t kArgType =
    arg_type<Held>();  // C++17 has no consteval, and an unoptimised build would call it

template <class Element>
PENNA_INLINE PointArray hold_elements(const volatile void* at, uint64_t count) {
  if (count > PENNA_MAX_STRING) count = PENNA_MAX_STRING + 1;  // anything beyond is cut
  return {at, count * sizeof(Element) | PENNA_ELEMENTS(kArgType<Element>, sizeof(Element))};
}

// The held form of an argument: scalars by value; strings, arrays and structs by address.
template <class T>
PENNA_INLINE auto hold_arg(const T& arg) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (kIsTextLike<T>) {
    return PointText{arg.data(), static_cast<uint64_t>(arg.size())};
  } else if constexpr (kIsArrayLike<T>) {
    return hold_elements<Bare<decltype(*arg.data())>>(arg.data(), static_cast<uint64_t>(arg.size()));
  } else if constexpr (std::is_array_v<T>) {
    using Element = std::remove_cv_t<std::remove_all_extents_t<T>>;
    // An array of char may lack a zero: its extent is the limit.
    if constexpr (kIsChar<Element> && std::rank_v<T> == 1 && std::extent_v<T> != 0)
      return PointText{const_cast<const char*>(&arg[0]), std::extent_v<T> | PENNA_TEXT_ENDS_AT_ZERO};
    else if constexpr (kIsScalar<Element> && sizeof(Element) <= 8 && std::extent_v<T> != 0)
      return hold_elements<Element>(&arg[0], sizeof(T) / sizeof(Element));
    else
      return static_cast<const volatile void*>(&arg[0]);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return static_cast<const volatile void*>(nullptr);
  } else if constexpr (std::is_pointer_v<T>) {
    using To = std::remove_pointer_t<T>;
    // Read up to its zero, but no further than a record can hold.
    if constexpr (kIsChar<To> && !std::is_volatile_v<To>)
      return PointText{arg, uint64_t{PENNA_MAX_STRING + 1} | PENNA_TEXT_ENDS_AT_ZERO};
    else if constexpr (std::is_function_v<To>)
      return reinterpret_cast<const volatile void*>(arg);
    else
      return static_cast<const volatile void*>(arg);
  } else if constexpr (std::is_function_v<T>) {
    return reinterpret_cast<const volatile void*>(&arg);
  } else if constexpr (std::is_enum_v<Plain>) {
    return static_cast<std::underlying_type_t<Plain>>(arg);
  } else if constexpr (kIsScalar<Plain>) {
    return Plain(arg);
  } else {
    return PointStruct<T>{&arg};
  }
}

template <class T>
PENNA_INLINE uint64_t arg_word(const T& held) {
  if constexpr (std::is_floating_point_v<T>)
    return __builtin_bit_cast(uint64_t, static_cast<double>(held));
  else if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<uintptr_t>(held);
  else
    return static_cast<uint64_t>(held);
}

// ---- All arguments of a site, with structs replaced by their fields -------------------------------------------------

template <class Held>
inline constexpr bool kIsStruct = false;
template <class T>
inline constexpr bool kIsStruct<PointStruct<T>> = true;
template <class Held>
inline constexpr bool kIsPair = std::is_same_v<Held, PointText> || std::is_same_v<Held, PointArray>;

struct HoldFields {
  template <class... Field>
  // Only its type is used (Expand).
  auto operator()(const Field&... field) const -> HeldList<decltype(hold_arg(field))...> {
    return {};
  }
};

template <class Held>
struct Expand {
  using List = HeldList<Held>;
};
template <class T>
struct Expand<PointStruct<T>> {
  static_assert(
      kIsDescribed<T>,
      "a point takes numbers up to 64 bits, enums, pointers, strings, arrays of these, classes with data() and "
      "size(), and structs that are described by PENNA_STRUCT");
  using List = decltype(Fields<T>::visit(std::declval<const T&>(), HoldFields{}));
};

// The shape of a site's values.
struct SiteShape {
  uint64_t types = 0;  // penna_point_site.types: four bits a value
  unsigned count = 0;  // values
  bool has_pairs = false;
  bool has_structs = false;
};

template <class... Held>
constexpr void add_to_shape(SiteShape& shape, HeldList<Held...>) {
  static_assert(!(kIsStruct<Held> || ...), "a field of a struct may not be a struct");
  ((shape.types |= shape.count < PENNA_MAX_ARGS ? arg_type<Held>() << (4 * shape.count) : 0, ++shape.count), ...);
  shape.has_pairs |= (kIsPair<Held> || ...);
}
template <class... Held>
constexpr SiteShape shape_of() {
  SiteShape shape;
  (add_to_shape(shape, typename Expand<Held>::List{}), ...);
  shape.has_structs = (kIsStruct<Held> || ...);
  if (shape.has_structs) shape.types |= PENNA_TYPES_HAVE_LAYOUT;
  return shape;
}
template <class... Held>
struct Shape {
  static constexpr SiteShape kIs = shape_of<Held...>();
  static_assert(kIs.count <= PENNA_MAX_ARGS, "a point takes 12 values, the fields of structs counted");
};

// The names of fields, as in point_abi.h: for each argument a byte, 1 + the number of its fields, and their names.
template <class Held, class Put>
constexpr void put_layout(Put put) {
  if constexpr (kIsStruct<Held>) {
    using Named = Fields<Bare<decltype(*Held{}.at)>>;
    put(static_cast<char>(1 + sizeof Named::kNames / sizeof(const char*)));  // NOLINT(bugprone-sizeof-expression)
    for (const char* name : Named::kNames) {
      for (; *name != '\0'; ++name) put(*name);
      put('\0');
    }
  } else {
    put('\1');
  }
}
template <class... Held>
struct __attribute__((visibility("hidden"))) Layout {
  static constexpr unsigned size() {
    unsigned bytes = 1;
    (put_layout<Held>([&](char) { ++bytes; }), ...);
    return bytes;
  }
  struct Text {
    char bytes[size()];
  };
  static constexpr Text make() {
    Text made{};
    unsigned at = 0;
    (put_layout<Held>([&](char c) { made.bytes[at++] = c; }), ...);
    return made;
  }
  static constexpr Text kText = make();
};
template <class... Held>
constexpr const void* layout_of() {
  if constexpr ((kIsStruct<Held> || ...))
    return &Layout<Held...>::kText;
  else
    return nullptr;
}

template <class T>
PENNA_INLINE uint64_t* put_arg(uint64_t* to, const T& held);

// A class, because a lambda cannot be excluded from instrumentation.
struct PutFields {
  uint64_t*& to;
  template <class... Field>
  __attribute__((always_inline, no_instrument_function)) void operator()(const Field&... field) const {
    ((to = put_arg(to, hold_arg(field))), ...);
  }
};

// Stores the words of a value; returns the place for the next.
template <class T>
PENNA_INLINE uint64_t* put_arg(uint64_t* to, const T& held) {
  if constexpr (kIsStruct<T>) {
    Fields<Bare<decltype(*held.at)>>::visit(*held.at, PutFields{to});
  } else if constexpr (kIsPair<T>) {
    *to++ = reinterpret_cast<uintptr_t>(held.at);
    *to++ = held.limit;
  } else {
    *to++ = arg_word(held);
  }
  return to;
}

// ---- What the SDT note points at: floats as their bits, strings, arrays and structs as their address ----------------

template <class T>
PENNA_INLINE auto sdt_value(const T& held) {
  if constexpr (kIsPair<T> || kIsStruct<T>)
    return held.at;
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_bit_cast(uint32_t, held);
  else if constexpr (std::is_floating_point_v<T>)
    return __builtin_bit_cast(uint64_t, static_cast<double>(held));
  else
    return held;
}

template <class Held>
constexpr int sdt_size() {
  using T = std::remove_cv_t<Held>;
  using Value = decltype(sdt_value(std::declval<const T&>()));
  constexpr int size = static_cast<int>(sizeof(Value));
  // As in SystemTap's sdt.h: negative for a signed number.
  return std::is_integral_v<T> && std::is_signed_v<T> ? -size : size;
}
template <class Held>
constexpr int struct_size() {
  if constexpr (kIsStruct<Held>)
    return static_cast<int>(sizeof(*Held{}.at));
  else
    return 0;
}

// Operands of assembly: variables, like kArgType.
template <class Held>
inline constexpr int kSdtSize = sdt_size<Held>();
template <class Held>
inline constexpr int kStructSize = struct_size<Held>();
template <class... Held>
inline constexpr const void* kLayout = layout_of<Held...>();

}  // namespace detail
}  // namespace penna

/* The type comes first: in two steps, for arguments that must not be evaluated yet; and in a generic lambda of a
 * template, gcc does not know the type of an `auto` variable in a local class. */
#define PENNA_HOLD(i, arg) PENNA_HOLD_LATER(i, arg) PENNA_HOLD_NOW(i, arg)
#define PENNA_HOLD_LATER(i, arg) using penna_type_##i = decltype(::penna::detail::hold_arg(arg));
#define PENNA_HOLD_NOW(i, arg)      \
  const auto& penna_of_##i = (arg); \
  const penna_type_##i penna_##i = ::penna::detail::hold_arg(penna_of_##i);

#define PENNA_IS_STRUCT(i) ::penna::detail::kIsStruct<penna_type_##i>
#define PENNA_STRUCT_SIZE(i) ::penna::detail::kStructSize<penna_type_##i>
#define PENNA_IS_PAIR(i) ::penna::detail::kIsPair<penna_type_##i>
#define PENNA_PUT(to, i, arg) ::penna::detail::put_arg(to, penna_##i)
#define PENNA_SDT_VALUE(i) ::penna::detail::sdt_value(penna_##i)
#define PENNA_SDT_SIZE(i) ::penna::detail::kSdtSize<penna_type_##i>

#define PENNA_TYPE_NAME(i, unused) penna_type_##i
#define PENNA_SHAPE(n) ::penna::detail::Shape<PENNA_EACH_OF(n, PENNA_TYPE_NAME, PENNA_COMMA)>::kIs
#define PENNA_SITE_TYPES(n) PENNA_SHAPE(n).types
#define PENNA_SITE_VALUES(n) PENNA_SHAPE(n).count
#define PENNA_SITE_HAS_PAIRS(n) PENNA_SHAPE(n).has_pairs
#define PENNA_SITE_LAYOUT(n) (::penna::detail::kLayout<PENNA_EACH_OF(n, PENNA_TYPE_NAME, PENNA_COMMA)>)

#endif
