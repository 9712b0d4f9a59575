// SPDX-License-Identifier: MIT
// See data_members.h.
#include "symbols/dwarf/data_members.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>

#include "symbols/dwarf/dwarf_types.h"

namespace penna {
namespace {

// A single DW_OP_addr or DW_OP_addrx: a variable at a fixed place (DWARF 5, 2.6.1.1).
std::optional<uint64_t> address_of_variable(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (::dwarf_attr(die, DW_AT_location, &attribute) == nullptr) return std::nullopt;
  if (::dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return std::nullopt;
  Dwarf_Addr address = operations[0].number;
  Dwarf_Attribute indexed;
  if (operations[0].atom != DW_OP_addr &&
      (operations[0].atom != DW_OP_addrx || ::dwarf_getlocation_attr(&attribute, operations, &indexed) != 0 ||
       ::dwarf_formaddr(&indexed, &address) != 0))
    return std::nullopt;
  // Address 0 means that the linker dropped it (--gc-sections): its relocation has no target.
  return address == 0 ? std::nullopt : std::optional<uint64_t>(address);
}

// Names with such prefixes are reserved for the implementation (C++20, 5.10).
bool is_reserved(std::string_view name) {
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

// The extents of an array, outermost first; empty: one of them is unknown.
std::vector<uint64_t> extents_of(const DwarfType& array) {
  std::vector<uint64_t> extents;
  Dwarf_Die die = array.die, child;
  // One index for each; no program has more, and damage may claim any number.
  constexpr size_t kMost = 8;
  for (int found = ::dwarf_child(&die, &child); found == 0; found = ::dwarf_siblingof(&child, &child)) {
    if (::dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    auto count = number_of(&child, DW_AT_count);
    // DWARF 5, 5.13: a count, or the last index of an array that begins at 0. For a flexible array -1: no elements.
    if (auto last = number_of(&child, DW_AT_upper_bound)) count = *last + 1;
    if (!count || *count == 0 || extents.size() == kMost) return {};
    extents.push_back(*count);
  }
  return extents;
}

// "[1][2]"; what remains of `offset` lies in the element. Empty: it is in none.
std::string index_text(const DwarfType& array, uint64_t element, uint64_t& offset) {
  const std::vector<uint64_t> extents = extents_of(array);
  if (element == 0 || extents.empty()) return {};
  uint64_t number = offset / element;
  std::string text;
  for (size_t i = extents.size(); i-- > 0;) {
    text.insert(0, fmt::format("[{}]", i == 0 ? number : number % extents[i]));
    if (i == 0 && number >= extents[0]) return {};
    number /= extents[i];
  }
  offset %= element;
  return text;
}

// For a class that is only declared (as clang does with library classes) the size is unknown: only its beginning
// matches.
const DwarfMember* member_at(const std::vector<DwarfMember>& members, uint64_t offset) {
  const DwarfMember* begins = nullptr;
  for (const DwarfMember& member : members) {
    // The location of a virtual base is known only to the object itself; and variables are not looked for inside of
    // bit-fields.
    if (member.bits != 0 || member.virtual_base || member.artificial) continue;
    if (member.offset <= offset && offset - member.offset < member.type.bytes) return &member;
    if (member.offset == offset && member.type.bytes == 0) begins = &member;
  }
  return begins;
}

}  // namespace

std::string DataMembers::path(uint64_t start, uint64_t offset) {
  if (!is_read_) read_variables();
  const auto found = std::lower_bound(variables_.begin(), variables_.end(), start,
                                      [](const Variable& one, uint64_t address) { return one.address < address; });
  if (found == variables_.end() || found->address != start) return {};
  TypeReader types;
  std::string text;
  DwarfType type = types.type_of(&found->die);
  // In a union, takes the first member that reaches there: which one is in use is unknown.
  for (int step = 0; step < kMostSteps; ++step) {
    if (type.kind == TypeKind::kArray) {
      const DwarfType element = types.target_of(type);
      const std::string index = index_text(type, element.bytes, offset);
      if (index.empty()) return {};
      text += index;
      type = element;
    } else if (type.kind == TypeKind::kClass || type.kind == TypeKind::kUnion) {
      const auto members = types.members(type);
      if (!members) return {};
      const DwarfMember* member = member_at(*members, offset);
      if (member == nullptr || is_reserved(member->name)) return text;
      if (!member->name.empty()) text += fmt::format(".{}", member->name);
      offset -= member->offset;
      type = member->type;
    } else {
      return text;
    }
  }
  return {};
}

void DataMembers::read_variables() {
  is_read_ = true;
  units_.for_each([this](Dwarf_Die unit) { read_children(unit, 0); });
  std::stable_sort(variables_.begin(), variables_.end(),
                   [](const Variable& a, const Variable& b) { return a.address < b.address; });
}

// Variables of functions are nested in these, and are not looked for.
void DataMembers::read_children(Dwarf_Die parent, int depth) {
  constexpr int kDeepest = 16;  // nested namespaces
  Dwarf_Die child;
  for (int found = ::dwarf_child(&parent, &child); found == 0 && budget_ != 0;
       found = ::dwarf_siblingof(&child, &child)) {
    --budget_;
    switch (::dwarf_tag(&child)) {
      case DW_TAG_variable:
        if (const auto address = address_of_variable(&child)) variables_.push_back({*address, child});
        break;
      case DW_TAG_namespace:
        if (depth < kDeepest) read_children(child, depth + 1);
        break;
      default: break;
    }
  }
}

}  // namespace penna
