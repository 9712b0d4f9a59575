// SPDX-License-Identifier: MIT
// See enumerators.h.
#include "symbols/dwarf/enumerators.h"

#include <dwarf.h>
#include <fmt/core.h>

namespace penna {
namespace {

// The value of an enumerator, in the enum's own type.
std::optional<int64_t> enumerator_value(Dwarf_Die* die, const DwarfType& type) {
  Dwarf_Attribute attribute;
  if (::dwarf_attr(die, DW_AT_const_value, &attribute) == nullptr) return std::nullopt;
  int64_t value = 0;
  // A fixed-size form does not say whether it is signed; those that do are read accordingly.
  const unsigned form = ::dwarf_whatform(&attribute);
  if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
    Dwarf_Sword number = 0;
    if (::dwarf_formsdata(&attribute, &number) != 0) return std::nullopt;
    value = number;
  } else {
    Dwarf_Word number = 0;
    if (::dwarf_formudata(&attribute, &number) != 0) return std::nullopt;
    value = static_cast<int64_t>(number);
  }
  if (type.bytes >= 8) return value;
  // Truncated to the type's width, then extended according to the type, like the value that a target copies.
  const auto unused = static_cast<int>(64 - 8 * type.bytes);
  const auto top = static_cast<uint64_t>(value) << unused;
  return type.is_signed ? static_cast<int64_t>(top) >> unused : static_cast<int64_t>(top >> unused);
}

}  // namespace

std::string enumerators_of(TypeReader& reader, const DwarfType& type) {
  constexpr size_t kMaxEnumBytes = 1000;
  std::string text = "e:";
  Dwarf_Die die = type.die, child;
  for (int found = ::dwarf_child(&die, &child); found == 0 && reader.spend();
       found = ::dwarf_siblingof(&child, &child)) {
    if (::dwarf_tag(&child) != DW_TAG_enumerator) continue;
    const std::string_view name = text_of(&child, DW_AT_name);
    auto value = enumerator_value(&child, type);
    if (name.empty() || !value || name.find_first_of(",= ") != std::string_view::npos) continue;
    // 22: a comma, an equals sign and the 20 characters of the longest value.
    if (text.size() + name.size() + 22 > kMaxEnumBytes) return text + ",...";
    text += fmt::format("{}{}={}", text.size() > 2 ? "," : "", name,
                        type.is_signed ? std::to_string(*value) : std::to_string(static_cast<uint64_t>(*value)));
  }
  return text;
}

}  // namespace penna
