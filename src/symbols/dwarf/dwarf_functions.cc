// SPDX-License-Identifier: MIT
// See dwarf_functions.h.
#include "symbols/dwarf/dwarf_functions.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "symbols/dwarf/dwarf_units.h"

namespace penna {
namespace {

constexpr size_t kMaxDepth = 256;  // of the walk: deeper trees are cut off, not followed

// Visits DIEs depth first without recursion: visit(level) says whether to descend into the children, and with which
// scope.
template <typename Level, typename Visit>
void walk_dies(Dwarf_Die root, uint32_t scope, Visit&& visit) {
  std::vector<Level> path;
  Dwarf_Die child;
  if (::dwarf_child(&root, &child) != 0) return;
  path.push_back({child, scope});
  while (!path.empty()) {
    uint32_t inner = path.back().scope;
    bool enter = visit(&path.back().die, &inner);
    if (enter && path.size() < kMaxDepth && ::dwarf_child(&path.back().die, &child) == 0) {
      path.push_back({child, inner});
      continue;
    }
    // The next sibling, of the DIE itself or else of its nearest ancestor that has one.
    while (!path.empty()) {
      Dwarf_Die next;
      if (::dwarf_siblingof(&path.back().die, &next) == 0) {
        path.back().die = next;
        break;
      }
      path.pop_back();
    }
  }
}

}  // namespace

UnitFunctions::UnitFunctions(Dwarf_Die unit, const std::vector<AddressRange>& code) : code_(code) {
  // gcc puts the methods of local classes into the surrounding function; clang puts every body at namespace level and
  // gives every C++ function a linkage name, so its functions and classes need not be entered. (It also omits
  // DW_AT_sibling: entering costs a second walk.)
  Dwarf_Attribute attribute;
  const char* producer = ::dwarf_formstring(::dwarf_attr_integrate(&unit, DW_AT_producer, &attribute));
  nests_functions_ = producer == nullptr || std::strstr(producer, "clang") == nullptr;
  walk(unit);
}

void UnitFunctions::walk(Dwarf_Die unit) {
  walk_dies<Level>(unit, IntervalMap::kNone, [&](Dwarf_Die* die, uint32_t* scope) {
    switch (::dwarf_tag(die)) {
      case DW_TAG_subprogram:
        add_function(die, *scope);
        if (!nests_functions_) return false;
        break;
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        if (!nests_functions_) return false;
        break;
      case DW_TAG_namespace:
      case DW_TAG_module: break;
      case DW_TAG_lexical_block: return nests_functions_;
      default: return false;
    }
    if (!::dwarf_haschildren(die)) return false;
    // Functions are scopes, too: what is declared inside one is qualified with its name.
    scopes_.push_back({*die, *scope});
    *scope = static_cast<uint32_t>(scopes_.size() - 1);
    return true;
  });
  by_address_.finish();
}

void UnitFunctions::add_function(Dwarf_Die* die, uint32_t scope) {
  if (scope != IntervalMap::kNone) scoped_.push_back({::dwarf_dieoffset(die), scope});
  auto index = static_cast<uint32_t>(functions_.size());
  uint64_t entry = 0;
  bool found = false;
  each_code_range(die, code_, [&](uint64_t begin, uint64_t end) {
    by_address_.add(begin, end, index);
    if (!found) entry = begin;  // the first range contains the entry, unless DW_AT_entry_pc says otherwise
    found = true;
  });
  if (!found) return;
  Dwarf_Addr stated = 0;
  if (::dwarf_hasattr(die, DW_AT_entry_pc) && ::dwarf_entrypc(die, &stated) == 0) entry = stated;
  Function function;
  function.die = *die;
  function.entry = entry;
  functions_.push_back(std::move(function));
}

UnitFunctions::Function* UnitFunctions::find(uint64_t address) {
  uint32_t index = by_address_.find(address);
  if (index == IntervalMap::kNone) return nullptr;
  Function& function = functions_[index];
  if (!function.inlines_read) read_inlines(&function);
  return &function;
}

void UnitFunctions::read_inlines(Function* function) {
  function->inlines_read = true;
  walk_dies<Level>(function->die, IntervalMap::kNone, [&](Dwarf_Die* die, uint32_t* scope) {
    switch (::dwarf_tag(die)) {
      case DW_TAG_inlined_subroutine: break;
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block: return true;
      // Types and nested functions: their code does not belong to this function.
      default: return false;
    }
    auto index = static_cast<uint32_t>(function->inlines.size());
    function->inlines.push_back({*die, *scope});
    each_code_range(die, code_, [&](uint64_t begin, uint64_t end) { function->inline_map.add(begin, end, index); });
    *scope = index;
    return true;
  });
  function->inline_map.finish();
}

std::string UnitFunctions::scope_of(Dwarf_Off function) const {
  auto found = std::lower_bound(scoped_.begin(), scoped_.end(), function,
                                [](const Scoped& scoped, Dwarf_Off offset) { return scoped.function < offset; });
  if (found == scoped_.end() || found->function != function) return {};
  std::string text;
  for (uint32_t at = found->scope; at != IntervalMap::kNone; at = scopes_[at].parent) {
    Dwarf_Die die = scopes_[at].die;
    Dwarf_Attribute attribute;
    const char* name = ::dwarf_formstring(::dwarf_attr_integrate(&die, DW_AT_name, &attribute));
    if (name == nullptr) name = ::dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed}";
    text.insert(0, std::string(name) + "::");
    if (text.size() > 4096) return {};  // of no use to a reader, and a hostile file could nest it 256 times
  }
  return text;
}

}  // namespace penna
