// SPDX-License-Identifier: MIT
// DwarfType: a C or C++ type without its typedefs and qualifiers, its size, and the members of a class (DWARF 5,
// chapter 5).
//
// Why: compilers describe the same type in many ways (typedef of const of typedef, sizes as counts, bit-fields in two
// notations); code that decides how a value is passed needs one.
// Invariant: a TypeReader reads at most kBudget entries, however the types of a hostile file refer to each other; what
// it does not understand has kind kUnknown and is never guessed.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace penna {

enum class TypeKind : uint8_t {
  kUnknown,  // damaged, declared only, or of another language
  kVoid,
  kBool,
  kChar,  // `char` itself; signed char and unsigned char are numbers
  kSigned,
  kUnsigned,
  kFloat,    // 2, 4, 8 bytes; 16: x87's long double (10 of them count)
  kQuad,     // 16 bytes: __float128
  kDecimal,  // _Decimal32, 64, 128
  kComplex,  // two floats
  kEnum,
  kPointer,
  kReference,
  kMethodPointer,  // pointer to member function: two words
  kClass,          // also struct
  kUnion,
  kArray,
  kVector,  // __m128 and the like
  // Classes of the standard library that people read as values, recognised by the names of their members:
  kString,        // libstdc++'s std::string: address, then length; never trivial to copy
  kLengthView,    // libstdc++'s std::string_view: length, then address
  kAddressView,   // libc++'s: address, then length
  kSmartPointer,  // unique_ptr without a custom deleter, shared_ptr, weak_ptr: the address first; never trivial
};

struct DwarfType {
  TypeKind kind = TypeKind::kUnknown;
  bool is_signed = false;  // for an enum
  Dwarf_Die die{};         // without typedefs and qualifiers; not set for kVoid
  uint64_t bytes = 0;      // like sizeof; 0 for an array of unknown bound
  std::string_view name;   // empty: none
};

struct DwarfMember {
  Dwarf_Die die{};
  DwarfType type;
  std::string_view name;             // empty: a base class, or an anonymous struct or union
  uint64_t offset = 0;               // bytes; for a bit-field: of its storage, or of its first bit
  uint64_t first_bit = 0, bits = 0;  // for a bit-field, first_bit from the beginning of the class; bits 0: none
  bool base = false;
  bool virtual_base = false;  // its offset is only known at run time
  bool artificial = false;    // added by the compiler: _vptr
};

class TypeReader {
 public:
  static constexpr int kBudget = 100'000;  // entries
  static constexpr int kMaxDepth = 32;     // of types within types

  // The type that DW_AT_type of `die` names (kVoid if there is none), also through DW_AT_abstract_origin.
  DwarfType type_of(Dwarf_Die* die);
  // What a pointer, reference or array refers to.
  DwarfType target_of(const DwarfType& type) { return type_of(&const_cast<DwarfType&>(type).die); }
  // Data members and bases in order, without static ones. nullopt: too many, or one that makes no sense.
  std::optional<std::vector<DwarfMember>> members(const DwarfType& type);
  // Elements of an array or vector, over all dimensions; at most 2^31. nullopt: no bound.
  std::optional<uint64_t> elements(const DwarfType& type);

  // True if an object of this class is passed by the address of a copy (Itanium C++ ABI 3.1.1, "non-trivial for the
  // purposes of calls"). DW_AT_calling_convention says so; if missing, the declared members do. nullopt: unknown.
  std::optional<bool> by_reference(const DwarfType& type) { return by_reference(type, 0); }

  // Whether one more entry may be read.
  bool spend() { return budget_ > 0 && --budget_ > 0; }
  bool exhausted() const { return budget_ <= 0; }

 private:
  DwarfType strip(Dwarf_Die die);
  // Kind and size, by the tag of type->die, which is no name and no qualifier.
  void describe(DwarfType* type);
  void describe_enum(DwarfType* type);
  TypeKind class_kind(const DwarfType& type);
  std::optional<uint64_t> member_offset(const DwarfType& type, std::string_view name);
  bool points_at_begin(const DwarfType& type);
  bool in_cxx11(Dwarf_Die die);
  std::optional<DwarfMember> read_member(Dwarf_Die child);
  std::optional<bool> by_reference(const DwarfType& type, int depth);
  std::optional<bool> declared_non_trivial(const DwarfType& type);

  int budget_ = kBudget;
  int depth_ = 0;  // nesting of type_of: an array of arrays, or of itself
};

// The plain text of an attribute, also through DW_AT_abstract_origin and DW_AT_specification; empty: none.
std::string_view text_of(Dwarf_Die* die, unsigned attribute);
// An unsigned number; nullopt: no such attribute, or not a number.
std::optional<uint64_t> number_of(Dwarf_Die* die, unsigned attribute);
bool flag_of(Dwarf_Die* die, unsigned attribute);
// Declared only. Not integrated: a definition refers to its declaration by DW_AT_specification.
bool is_declared(Dwarf_Die* die);

}  // namespace penna
