// SPDX-License-Identifier: MIT
// Classes of the standard library that people read as a single value: strings and smart pointers (TypeReader,
// dwarf_types.h).
//
// Why: one level of members shows only the length of a std::string.
// Invariant: a class is taken for one of these only if its members say so, or if it is declared in namespace
// std::__cxx11, where only libstdc++ has a basic_string (clang leaves its definition out of the debug information).
#include <dwarf.h>

#include "symbols/dwarf/dwarf_types.h"

namespace penna {
namespace {

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

constexpr std::string_view kStringName = "basic_string<char, std::char_traits<char>, std::allocator<char>";

}  // namespace

std::optional<uint64_t> TypeReader::member_offset(const DwarfType& type, std::string_view name) {
  Dwarf_Die die = type.die, child;
  for (int found = ::dwarf_child(&die, &child); found == 0 && spend(); found = ::dwarf_siblingof(&child, &child)) {
    if (::dwarf_tag(&child) == DW_TAG_member && text_of(&child, DW_AT_name) == name)
      return number_of(&child, DW_AT_data_member_location);
  }
  return std::nullopt;
}

// Whether the class begins with a pointer, in a base or member at any depth.
bool TypeReader::points_at_begin(const DwarfType& type) {
  DwarfType at = type;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    if (at.kind == TypeKind::kPointer) return true;
    if (at.kind != TypeKind::kClass) return false;
    auto parts = members(at);
    if (!parts) return false;
    // Empty ones (deleters, allocators) are there too.
    const DwarfMember* first = nullptr;
    for (const DwarfMember& part : *parts) {
      if (part.offset == 0 && !part.virtual_base && part.type.bytes >= 8 && first == nullptr) first = &part;
    }
    if (first == nullptr) return false;
    at = first->type;
  }
  return false;
}

bool TypeReader::in_cxx11(Dwarf_Die type) {
  const Dwarf_Off wanted = ::dwarf_dieoffset(&type);
  Dwarf_Die at;
  if (::dwarf_diecu(&type, &at, nullptr, nullptr) == nullptr) return false;
  for (std::string_view name : {"std", "__cxx11"}) {
    // The namespace around `wanted`: the last one of that name that begins before it.
    Dwarf_Die child, last{};
    for (int found = ::dwarf_child(&at, &child); found == 0 && spend(); found = ::dwarf_siblingof(&child, &child)) {
      if (::dwarf_dieoffset(&child) > wanted) break;
      last = child;
    }
    if (last.addr == nullptr || ::dwarf_tag(&last) != DW_TAG_namespace || text_of(&last, DW_AT_name) != name)
      return false;
    at = last;
  }
  return true;
}

TypeKind TypeReader::class_kind(const DwarfType& type) {
  Dwarf_Die die = type.die;
  const bool declared = is_declared(&die);
  if (begins(type.name, "basic_string<char,")) {
    if (declared) return begins(type.name, kStringName) && in_cxx11(die) ? TypeKind::kString : TypeKind::kUnknown;
    if (type.bytes == 32 && member_offset(type, "_M_dataplus") == 0u && member_offset(type, "_M_string_length") == 8u)
      return TypeKind::kString;
  }
  if (declared) return TypeKind::kUnknown;
  if (begins(type.name, "basic_string_view<char,") && type.bytes == 16) {
    if (member_offset(type, "_M_len") == 0u && member_offset(type, "_M_str") == 8u) return TypeKind::kLengthView;
    if (member_offset(type, "__data") == 0u && member_offset(type, "__size") == 8u) return TypeKind::kAddressView;
    if (member_offset(type, "__data_") == 0u && member_offset(type, "__size_") == 8u) return TypeKind::kAddressView;
  }
  const bool shared = begins(type.name, "shared_ptr<") || begins(type.name, "weak_ptr<");
  if ((shared && type.bytes == 16) || (begins(type.name, "unique_ptr<") && type.bytes == 8)) {
    DwarfType inner = type;
    inner.kind = TypeKind::kClass;
    if (points_at_begin(inner)) return TypeKind::kSmartPointer;
  }
  return TypeKind::kClass;
}

}  // namespace penna
