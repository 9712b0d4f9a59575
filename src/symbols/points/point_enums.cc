// SPDX-License-Identifier: MIT
// See point_enums.h.
#include "symbols/points/point_enums.h"

#include <dwarf.h>

#include <set>

#include "symbols/demangle.h"
#include "symbols/dwarf/dwarf_types.h"
#include "symbols/dwarf/enumerators.h"

namespace penna {
namespace {

bool is_scope_of_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}
bool is_block(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
         tag == DW_TAG_catch_block;
}

// The function that contains the address, not an inlined one. Without recursion, and over a bounded number of entries:
// a damaged file could nest or link scopes endlessly.
bool find_function(const Dwarf_Die& unit, uint64_t address, Dwarf_Die* found) {
  int left = 1 << 22;  // entries
  std::vector<Dwarf_Die> scopes = {unit};
  while (!scopes.empty()) {
    Dwarf_Die scope = scopes.back();
    scopes.pop_back();
    for (int more = ::dwarf_child(&scope, found); more == 0 && --left > 0; more = ::dwarf_siblingof(found, found)) {
      const int tag = ::dwarf_tag(found);
      if (tag == DW_TAG_subprogram && ::dwarf_haspc(found, address) > 0) return true;
      if (is_scope_of_functions(tag)) scopes.push_back(*found);
    }
  }
  return false;
}

// The block within this one that contains the address. (libdw's dwarf_getscopes goes from an inlined function to where
// it was defined.)
bool find_block(Dwarf_Die* outer, uint64_t address, TypeReader& reader, Dwarf_Die* found) {
  for (int more = ::dwarf_child(outer, found); more == 0 && reader.spend(); more = ::dwarf_siblingof(found, found))
    if (is_block(::dwarf_tag(found)) && ::dwarf_haspc(found, address) > 0) return true;
  return false;
}

// Template instances share a point if they differ only in enums: what one of them knows does not hold for all.
bool is_of_template(Dwarf_Die* function) {
  const std::string linkage(text_of(function, DW_AT_linkage_name));
  const std::string name =
      linkage.empty() ? std::string(text_of(function, DW_AT_name)) : demangle(linkage, Demangle::kFull);
  int depth = 0;  // parameter types may be template instances
  for (const char c : name) {
    if (c == '<' && depth == 0) return true;
    depth += (c == '(') - (c == ')');
  }
  return false;
}

// The variable of that name directly in this scope.
bool find_variable(Dwarf_Die* scope, const std::string& name, TypeReader& reader, Dwarf_Die* found) {
  for (int more = ::dwarf_child(scope, found); more == 0 && reader.spend(); more = ::dwarf_siblingof(found, found))
    if (::dwarf_tag(found) == DW_TAG_variable && text_of(found, DW_AT_name) == name) return true;
  return false;
}

// What holds argument `number`: the local variable that the macros of penna/point.h make for it. C++ keeps a reference
// to the argument; in C it is the value.
bool find_held(Dwarf_Die* scope, size_t number, TypeReader& reader, DwarfType* held) {
  Dwarf_Die variable;
  if (!find_variable(scope, "penna_of_" + std::to_string(number), reader, &variable) &&
      !find_variable(scope, "penna_" + std::to_string(number), reader, &variable))
    return false;
  *held = reader.type_of(&variable);
  if (held->kind == TypeKind::kReference) *held = reader.target_of(*held);
  return true;
}

std::string format_of(const DwarfType& type, const PointValueName& value, TypeReader& reader) {
  return value.is_number && type.kind == TypeKind::kEnum ? enumerators_of(reader, type) : std::string();
}

// The fields of a struct replace it: "order.number", "order.price". Appends their formats; returns the number of
// values; 0: not a struct.
size_t add_fields(const DwarfType& type, std::span<const PointValueName> values, TypeReader& reader,
                  std::vector<std::string>* formats) {
  const size_t dot = values[0].name.rfind('.');
  if (type.kind != TypeKind::kClass || dot == std::string::npos) return 0;
  const auto members = reader.members(type);
  if (!members) return 0;
  const std::string prefix = values[0].name.substr(0, dot + 1);
  std::set<std::string> seen;  // in the next struct of that name, the first field recurs
  size_t count = 0;
  for (; count < values.size() && values[count].name.starts_with(prefix); ++count) {
    const std::string field = values[count].name.substr(prefix.size());
    const DwarfMember* found = nullptr;
    for (const DwarfMember& member : *members)
      if (member.name == field) found = &member;
    if (found == nullptr || !seen.insert(field).second) break;
    formats->push_back(format_of(found->type, values[count], reader));
  }
  return count;
}

// All or nothing: formats that do not match the values one by one would name the wrong enumerators.
std::vector<std::string> formats_in(Dwarf_Die* scope, std::span<const PointValueName> values, TypeReader& reader) {
  std::vector<std::string> formats;
  DwarfType held;
  size_t number = 0;
  for (; formats.size() < values.size(); ++number) {
    if (!find_held(scope, number, reader, &held)) return {};
    const auto left = values.subspan(formats.size());
    if (add_fields(held, left, reader, &formats) == 0) formats.push_back(format_of(held, left[0], reader));
  }
  return find_held(scope, number, reader, &held) ? std::vector<std::string>{} : formats;
}

}  // namespace

std::vector<std::string> enums_of_point(DwarfUnits& units, uint64_t slot, std::span<const PointValueName> values) {
  DwarfUnits::Unit* unit = units.find(slot);
  if (unit == nullptr || values.empty()) return {};
  TypeReader reader;
  DwarfType unused;
  Dwarf_Die scope, inner, held, function, function_of_held;
  if (!find_function(unit->functions, slot, &scope)) return {};
  // The innermost block that holds arguments is the point's: anything nested in it belongs to the slot.
  bool found = false;
  for (bool more = true; more; scope = inner) {
    if (::dwarf_tag(&scope) != DW_TAG_lexical_block) function = scope;
    if (find_held(&scope, 0, reader, &unused)) held = scope, function_of_held = function, found = true;
    more = find_block(&scope, slot, reader, &inner);
  }
  if (found && !is_of_template(&function_of_held)) return formats_in(&held, values, reader);
  return {};
}

}  // namespace penna
