// SPDX-License-Identifier: MIT
// See dwarf_frames.h.
#include "symbols/dwarf/dwarf_frames.h"

#include <dwarf.h>

namespace penna {
namespace {

// The same limit as in walk_dies(): deeper nesting is deliberate.
constexpr int kMaxInlineDepth = 256;

const char* string_of(Dwarf_Die* die, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  return ::dwarf_formstring(::dwarf_attr_integrate(die, attribute_name, &attribute));
}

const char* linkage_name_of(Dwarf_Die* die) {
  const char* name = string_of(die, DW_AT_linkage_name);
  // Compilers wrote the second one before DWARF 4 introduced the first.
  return name != nullptr ? name : string_of(die, DW_AT_MIPS_linkage_name);
}

// Languages whose functions have no enclosing scope: their units need not be walked for names.
bool is_plain_language(int language) {
  return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11 ||
         language == DW_LANG_Mips_Assembler;
}

// The place of the inlined call in the surrounding function (DWARF 5, 3.3.8.2).
void read_call_site(Dwarf_Die* inlined, Dwarf_Die* unit, DwarfFrame* outer) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0, line = 0;
  if (::dwarf_formudata(::dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0) {
    outer->line = static_cast<uint32_t>(line);
  }
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (::dwarf_formudata(::dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
      ::dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
    outer->file = ::dwarf_filesrc(files, file, nullptr, nullptr);
  }
}

void read_line(Dwarf_Die* unit, uint64_t address, DwarfFrame* frame) {
  // libdw 0.188 reads before its table if a unit has no lines: ask for the count first.
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (::dwarf_getsrclines(unit, &lines, &count) != 0 || count == 0) return;
  Dwarf_Line* line = ::dwarf_getsrc_die(unit, address);
  int number = 0;
  if (line == nullptr) return;
  if (::dwarf_lineno(line, &number) == 0 && number > 0) frame->line = static_cast<uint32_t>(number);
  frame->file = ::dwarf_linesrc(line, nullptr, nullptr);
}

}  // namespace

UnitFunctions& DwarfFrames::functions_of(Dwarf_Die unit) {
  auto [entry, added] = functions_.try_emplace(unit.cu);
  if (added) entry.value() = std::make_unique<UnitFunctions>(unit, units_->code());
  return *entry->second;
}

// The linkage name; else the plain name with the scopes around the DIE that declares it.
void DwarfFrames::name_function(Dwarf_Die die, DwarfFrame* frame) {
  frame->linkage_name = linkage_name_of(&die);
  if (frame->linkage_name != nullptr) return;
  const char* name = string_of(&die, DW_AT_name);
  if (name == nullptr) return;
  // abstract instance, then declaration in the class: the last one knows the scope. Two are usual. References in a
  // damaged file may be circular.
  for (int hop = 0; hop < 8; ++hop) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (::dwarf_formref_die(::dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &next) == nullptr &&
        ::dwarf_formref_die(::dwarf_attr(&die, DW_AT_specification, &attribute), &next) == nullptr) {
      break;
    }
    die = next;
  }
  Dwarf_Die unit;
  if (::dwarf_diecu(&die, &unit, nullptr, nullptr) != nullptr && !is_plain_language(::dwarf_srclang(&unit))) {
    frame->name = functions_of(unit).scope_of(::dwarf_dieoffset(&die));
  }
  frame->name += name;
}

std::vector<DwarfFrame> DwarfFrames::find(uint64_t address) {
  std::vector<DwarfFrame> frames;
  DwarfUnits::Unit* unit = units_->find(address);
  if (unit == nullptr) return frames;
  DwarfFrame current;
  current.directory = string_of(&unit->die, DW_AT_comp_dir);
  read_line(&unit->die, address, &current);
  UnitFunctions::Function* function = functions_of(unit->functions).find(address);
  if (function == nullptr) {
    if (current.file != nullptr) frames.push_back(std::move(current));
    return frames;
  }
  int depth = 0;
  for (uint32_t at = function->inline_map.find(address); at != IntervalMap::kNone && depth < kMaxInlineDepth; ++depth) {
    UnitFunctions::Inlined& inlined = function->inlines[at];
    DwarfFrame outer;
    outer.directory = current.directory;
    read_call_site(&inlined.die, &unit->functions, &outer);
    name_function(inlined.die, &current);
    current.inlined = true;
    frames.push_back(std::move(current));
    current = std::move(outer);
    at = inlined.parent;
  }
  current.entry = function->entry;
  name_function(function->die, &current);
  frames.push_back(std::move(current));
  return frames;
}

}  // namespace penna
