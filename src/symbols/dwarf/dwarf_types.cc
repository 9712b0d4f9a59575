// SPDX-License-Identifier: MIT
// See dwarf_types.h.
#include "symbols/dwarf/dwarf_types.h"

#include <dwarf.h>

#include <algorithm>

namespace penna {
namespace {

constexpr size_t kMaxMembers = 4096;
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;  // size of a type: more is damage, and the sum of two cannot overflow

TypeKind kind_of_base(Dwarf_Die* die, std::string_view name, uint64_t bytes) {
  switch (number_of(die, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean: return TypeKind::kBool;
    case DW_ATE_signed: return TypeKind::kSigned;
    case DW_ATE_unsigned:
    case DW_ATE_UTF: return TypeKind::kUnsigned;
    // `char` is signed on x86-64, but not with -funsigned-char.
    case DW_ATE_signed_char: return name == "char" ? TypeKind::kChar : TypeKind::kSigned;
    case DW_ATE_unsigned_char: return name == "char" ? TypeKind::kChar : TypeKind::kUnsigned;
    case DW_ATE_float:
      return bytes == 16 && (name == "__float128" || name == "_Float128") ? TypeKind::kQuad : TypeKind::kFloat;
    case DW_ATE_complex_float: return TypeKind::kComplex;
    case DW_ATE_decimal_float: return TypeKind::kDecimal;
    default: return TypeKind::kUnknown;
  }
}

bool is_constructor_of(std::string_view method, std::string_view type) {
  // A constructor is named without its class's template arguments.
  return !method.empty() && method == type.substr(0, type.find('<'));
}

// What a name or a qualifier stands for, one step further; the rest of a type that is declared here and described in a
// unit of its own (-fdebug-types-section). kWhole: `die` is the type itself.
enum class Referral { kFollowed, kWhole, kVoid, kDamaged };

Referral follow_referral(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die next;
  switch (::dwarf_tag(die)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
      if (::dwarf_attr(die, DW_AT_type, &attribute) == nullptr) return Referral::kVoid;  // const void
      if (::dwarf_formref_die(&attribute, &next) == nullptr) return Referral::kDamaged;
      break;
    default:
      if (::dwarf_attr(die, DW_AT_signature, &attribute) == nullptr ||
          ::dwarf_formref_die(&attribute, &next) == nullptr)
        return Referral::kWhole;
  }
  *die = next;
  return Referral::kFollowed;
}

// A pointer to data of a class is an offset, and -1 is null; one to a method takes two words.
bool is_to_method(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die to;
  return ::dwarf_formref_die(::dwarf_attr(die, DW_AT_type, &attribute), &to) != nullptr &&
         ::dwarf_tag(&to) == DW_TAG_subroutine_type;
}

}  // namespace

std::string_view text_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  const char* text = ::dwarf_formstring(::dwarf_attr_integrate(die, name, &attribute));
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::optional<uint64_t> number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (::dwarf_formudata(::dwarf_attr_integrate(die, name, &attribute), &value) != 0) return std::nullopt;
  return value;
}

bool flag_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  bool value = false;
  return ::dwarf_formflag(::dwarf_attr_integrate(die, name, &attribute), &value) == 0 && value;
}

bool is_declared(Dwarf_Die* die) { return ::dwarf_hasattr(die, DW_AT_declaration) != 0; }

DwarfType TypeReader::type_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  if (::dwarf_attr_integrate(die, DW_AT_type, &attribute) == nullptr) {
    DwarfType nothing;
    // DWARF 5, 3.3.2 and 5.3: void is expressed by omitting the type.
    nothing.kind = TypeKind::kVoid;
    return nothing;
  }
  Dwarf_Die type;
  if (depth_ == kMaxDepth || ::dwarf_formref_die(&attribute, &type) == nullptr) return {};
  ++depth_;
  DwarfType stripped = strip(type);
  --depth_;
  return stripped;
}

DwarfType TypeReader::strip(Dwarf_Die die) {
  auto referral = Referral::kFollowed;
  for (int depth = 0; referral == Referral::kFollowed && depth < kMaxDepth; ++depth) {
    if (!spend()) return {};
    referral = follow_referral(&die);
  }
  DwarfType type;
  if (referral == Referral::kDamaged) return type;
  if (referral == Referral::kVoid) {
    type.kind = TypeKind::kVoid;
    return type;
  }
  type.die = die;
  type.name = text_of(&die, DW_AT_name);
  type.bytes = std::min(number_of(&die, DW_AT_byte_size).value_or(0), kMaxBytes);
  describe(&type);
  return type;
}

void TypeReader::describe(DwarfType* type) {
  const auto is = [&](TypeKind kind, uint64_t bytes) { type->kind = kind, type->bytes = bytes; };
  switch (::dwarf_tag(&type->die)) {
    case DW_TAG_base_type: type->kind = kind_of_base(&type->die, type->name, type->bytes); break;
    case DW_TAG_unspecified_type:  // decltype(nullptr)
    case DW_TAG_pointer_type: is(TypeKind::kPointer, 8); break;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: is(TypeKind::kReference, 8); break;
    case DW_TAG_ptr_to_member_type:
      if (is_to_method(&type->die))
        is(TypeKind::kMethodPointer, 16);
      else
        is(TypeKind::kSigned, 8);
      break;
    case DW_TAG_enumeration_type: describe_enum(type); break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      type->kind = class_kind(*type);
      // Also if the class is only declared: class_kind() then recognises it by name.
      if (type->kind == TypeKind::kString) type->bytes = 32;
      break;
    case DW_TAG_union_type: type->kind = is_declared(&type->die) ? TypeKind::kUnknown : TypeKind::kUnion; break;
    case DW_TAG_array_type:
      type->kind = flag_of(&type->die, DW_AT_GNU_vector) ? TypeKind::kVector : TypeKind::kArray;
      if (type->bytes == 0)
        type->bytes =
            std::min(elements(*type).value_or(0) * std::min(target_of(*type).bytes, kMaxBytes >> 32), kMaxBytes);
      break;
    default: break;
  }
}

// Without its own size or sign an enum is like its underlying type.
void TypeReader::describe_enum(DwarfType* type) {
  Dwarf_Die probe = type->die;
  const DwarfType under = type_of(&probe);
  type->kind = TypeKind::kEnum;
  type->is_signed = under.kind == TypeKind::kSigned || under.kind == TypeKind::kChar;
  if (type->bytes == 0) type->bytes = under.bytes;
  if (is_declared(&type->die) && type->bytes == 0) type->kind = TypeKind::kUnknown;
}

std::optional<uint64_t> TypeReader::elements(const DwarfType& type) {
  constexpr uint64_t kMax = uint64_t{1} << 31;  // the product of two fits
  uint64_t all = 1;
  bool bounded = false;
  Dwarf_Die die = type.die, child;
  for (int found = ::dwarf_child(&die, &child); found == 0 && spend(); found = ::dwarf_siblingof(&child, &child)) {
    if (::dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    auto count = number_of(&child, DW_AT_count);
    if (auto last = number_of(&child, DW_AT_upper_bound)) count = *last + 1;  // -1 + 1: an array without elements
    if (!count) return std::nullopt;
    all = std::min(all * std::min(*count, kMax), kMax);
    bounded = true;
  }
  if (!bounded) return std::nullopt;
  return all;
}

std::optional<DwarfMember> TypeReader::read_member(Dwarf_Die child) {
  DwarfMember member;
  member.die = child;
  member.base = ::dwarf_tag(&child) == DW_TAG_inheritance;
  member.virtual_base = member.base && number_of(&child, DW_AT_virtuality).value_or(0) != 0;
  member.artificial = flag_of(&child, DW_AT_artificial);
  if (!member.base) member.name = text_of(&child, DW_AT_name);
  member.type = type_of(&child);
  if (member.virtual_base) return member;
  if (auto offset = number_of(&child, DW_AT_data_member_location)) {
    member.offset = *offset;
  } else if (::dwarf_hasattr(&child, DW_AT_data_member_location)) {
    return std::nullopt;  // an expression
  }
  if (auto bits = number_of(&child, DW_AT_bit_size)) {
    member.bits = *bits;
    if (auto first = number_of(&child, DW_AT_data_bit_offset)) {
      member.first_bit = *first;
    } else if (auto from_top = number_of(&child, DW_AT_bit_offset)) {  // DWARF 3: counted from the top of the storage
      const uint64_t storage = number_of(&child, DW_AT_byte_size).value_or(member.type.bytes) * 8;
      if (*from_top > storage || *bits > storage - *from_top) return std::nullopt;
      member.first_bit = member.offset * 8 + storage - *from_top - *bits;
    } else {
      member.first_bit = member.offset * 8;
    }
    member.offset = member.first_bit / 8;
  }
  if (member.offset > kMaxBytes || member.bits > 1024) return std::nullopt;
  return member;
}

std::optional<std::vector<DwarfMember>> TypeReader::members(const DwarfType& type) {
  std::vector<DwarfMember> all;
  Dwarf_Die die = type.die, child;
  for (int found = ::dwarf_child(&die, &child); found == 0; found = ::dwarf_siblingof(&child, &child)) {
    if (!spend() || all.size() == kMaxMembers) return std::nullopt;
    const int tag = ::dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    // DWARF 4 also uses DW_TAG_member for static members.
    if (flag_of(&child, DW_AT_external) || flag_of(&child, DW_AT_declaration)) continue;
    auto member = read_member(child);
    if (!member) return std::nullopt;
    all.push_back(*member);
  }
  return all;
}

// By what the class itself declares. A function that is defaulted at its declaration stays trivial; an artificial one
// was not declared; a deleted one cannot be chosen, and if all are, there is no way to copy.
std::optional<bool> TypeReader::declared_non_trivial(const DwarfType& type) {
  bool copies_deleted = false, copies_left = false;
  Dwarf_Die die = type.die, child;
  for (int found = ::dwarf_child(&die, &child); found == 0; found = ::dwarf_siblingof(&child, &child)) {
    if (!spend()) return std::nullopt;
    if (::dwarf_tag(&child) != DW_TAG_subprogram) continue;
    if (number_of(&child, DW_AT_virtuality).value_or(0) != 0) return true;
    if (flag_of(&child, DW_AT_artificial)) continue;
    const std::string_view name = text_of(&child, DW_AT_name);
    const bool defaulted = number_of(&child, DW_AT_defaulted).value_or(0) == DW_DEFAULTED_in_class;
    const bool deleted = flag_of(&child, DW_AT_deleted);
    if (!name.empty() && name.front() == '~') {
      if (!defaulted) return true;  // deleted ones as well
      continue;
    }
    if (!is_constructor_of(name, type.name)) continue;
    // The first parameter after `this` refers to the class itself: a copy or move constructor.
    Dwarf_Die parameter;
    bool self = false;
    for (int more = ::dwarf_child(&child, &parameter); more == 0; more = ::dwarf_siblingof(&parameter, &parameter)) {
      if (!spend()) return std::nullopt;
      if (::dwarf_tag(&parameter) != DW_TAG_formal_parameter || flag_of(&parameter, DW_AT_artificial)) continue;
      const DwarfType taken = type_of(&parameter);
      if (taken.kind == TypeKind::kReference) {
        DwarfType to = target_of(taken);
        self = to.kind == TypeKind::kClass && to.die.addr == type.die.addr;
      }
      break;
    }
    if (!self) continue;
    if (!defaulted && !deleted) return true;
    (deleted ? copies_deleted : copies_left) = true;
  }
  return copies_deleted && !copies_left;
}

std::optional<bool> TypeReader::by_reference(const DwarfType& type, int depth) {
  if (depth > kMaxDepth) return std::nullopt;
  if (type.kind == TypeKind::kArray) {
    const DwarfType element = target_of(type);
    return by_reference(element, depth + 1);
  }
  if (type.kind == TypeKind::kUnknown) return std::nullopt;
  if (type.kind == TypeKind::kString || type.kind == TypeKind::kSmartPointer) return true;
  if (type.kind != TypeKind::kClass && type.kind != TypeKind::kUnion) return false;
  Dwarf_Die die = type.die;
  // The compiler's own answer, if given (DWARF 5, 5.7.1). Otherwise the rule of the Itanium C++ ABI, 3.1.1: non-trivial
  // for the purposes of calls.
  switch (number_of(&die, DW_AT_calling_convention).value_or(0)) {
    case DW_CC_pass_by_reference: return true;
    case DW_CC_pass_by_value: return false;
    default: break;
  }
  if (auto declared = declared_non_trivial(type); !declared || *declared) return declared;
  auto parts = members(type);
  if (!parts) return std::nullopt;
  for (const DwarfMember& part : *parts) {
    // Both make the copy constructor non-trivial, declared or not.
    if (part.virtual_base || (part.artificial && part.name.substr(0, 5) == "_vptr")) return true;
    if (auto inner = by_reference(part.type, depth + 1); !inner || *inner) return inner;
  }
  return false;
}

}  // namespace penna
