// SPDX-License-Identifier: MIT
// See walked_code.h. Go's code is located by two symbols, or by the header of the table that tracebacks read (pclntab,
// Go's runtime/symtab.go); OCaml's compiler puts a pair of symbols around the code of each module:
// camlList__code_begin, since 5.1 camlList.code_begin; a library that Mono has made of an assembly exports the table by
// which it finds its parts. What HotSpot's generated code calls is recognised by how that code is made: the machine's
// own code takes the function's address (lea) and puts it into what it generates.
#include "plan/walked_code.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "plan/arch.h"
#include "plan/file_symbols.h"

namespace penna {
namespace {

constexpr const char* kGo = "belongs to Go, whose runtime walks its stacks itself";
constexpr const char* kOcaml = "belongs to OCaml, whose runtime walks its stacks itself";
constexpr const char* kMono = "belongs to Mono, whose runtime walks its stacks itself";
constexpr const char* kV8 = "is called by code of V8, which looks up its return address";
constexpr const char* kJava = "is called by code of Java's machine, which looks up its return address";

bool was_linked_by_go(const ElfFile& file) {
  const auto is_gos = [](const ElfSection& section) {
    return section.name.ends_with(".gopclntab") || section.name == ".go.buildinfo" ||
           section.name == ".note.go.buildid";
  };
  return std::any_of(file.sections().begin(), file.sections().end(), is_gos);
}

template <typename Number>
std::optional<Number> number_at(std::span<const uint8_t> bytes, uint64_t at) {
  Number number;
  if (at > bytes.size() || bytes.size() - at < sizeof number) return {};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Since Go 1.18: magic, 0, 0, quantum, 8; number of functions at 8; start of the code at 24; offset of the functions'
// table at 64, which has pairs of 4-byte distances from that start, the last one alone.
std::optional<AddressRange> range_in_pclntab(const ElfFile& file) {
  constexpr uint32_t kMagic118 = 0xfffffff0, kMagic120 = 0xfffffff1;
  for (const ElfSection& section : file.sections()) {
    if (!section.name.ends_with(".gopclntab")) continue;
    const std::span<const uint8_t> table = file.raw(section);
    const auto magic = number_at<uint32_t>(table, 0);
    const auto functions = number_at<uint64_t>(table, 8), start = number_at<uint64_t>(table, 24),
               offset = number_at<uint64_t>(table, 64);
    // The highest of the four: where it could be read, so could the others. All are untrusted; the number of
    // functions is checked before it is multiplied.
    if (!offset || (*magic != kMagic118 && *magic != kMagic120) || table[7] != 8 || *functions > table.size())
      return {};
    const auto bytes = number_at<uint32_t>(table, *offset + *functions * 8);
    if (!bytes || *offset > table.size() || *start == 0 || *start + *bytes < *start) return {};
    return AddressRange{*start, *start + *bytes};
  }
  return {};
}

const char* refusal_in(const std::vector<AddressRange>& ranges, uint64_t start, const char* reason) {
  const bool inside = std::any_of(ranges.begin(), ranges.end(), [&](const auto& one) { return one.contains(start); });
  return inside ? reason : nullptr;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

// Addresses of code that code takes: every such sequence of bytes counts, even one that lies in another instruction by
// chance.
std::vector<uint64_t> taken_addresses(const ElfFile& file) {
  std::vector<uint64_t> taken;
  for (const ElfSection& section : file.sections()) {
    if (!section.executable() || section.range().end == 0) continue;
    for_each_seeming_address(file.raw(section), section.address, [&](uint64_t target) {
      if (range_of(file.code_ranges(), target) != nullptr) taken.push_back(target);
    });
  }
  std::sort(taken.begin(), taken.end());
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  return taken;
}

}  // namespace

void WalkedCode::read_symbols(const ElfFile& file) {
  AddressRange go;
  bool is_hotspot = false, is_mono = false;
  // One pass for all languages: symbol tables are large, and most files have none of these symbols.
  std::map<std::string, AddressRange, std::less<>> modules;
  constexpr std::string_view kBegin = "code_begin", kEnd = "code_end";  // what precedes them names the module
  for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, bool /*is_dynamic*/) {
    const uint64_t address = symbol.st_value;
    if (name == "runtime.text") go.begin = address;
    if (name == "runtime.etext") go.end = address;
    is_hotspot |= name == "gHotSpotVMStructs";  // it is there for debuggers
    is_mono |= name == "mono_aot_file_info";
    if (!name.starts_with("caml")) return;
    if (name.ends_with(kBegin)) modules[std::string(name.substr(0, name.size() - kBegin.size()))].begin = address;
    if (name.ends_with(kEnd)) modules[std::string(name.substr(0, name.size() - kEnd.size()))].end = address;
  });
  if (go.begin != 0 && go.begin < go.end) go_.push_back(go);
  for (const auto& [name, range] : modules)
    if (range.begin != 0 && range.begin < range.end) ocaml_.push_back(range);
  if (is_mono) mono_ = file.code_ranges();
  if (is_hotspot) called_ = taken_addresses(file);
}

WalkedCode::WalkedCode(const ElfFile& file) {
  read_symbols(file);
  if (!go_.empty() || !was_linked_by_go(file)) return;
  if (const auto range = range_in_pclntab(file))
    go_.push_back(*range);
  else
    // No readable table, or an older one: refuse all rather than guess.
    go_ = file.code_ranges();  // Go's, and perhaps C's
}

const char* WalkedCode::refusal(uint64_t start) const {
  if (const char* reason = refusal_in(go_, start, kGo)) return reason;
  if (std::binary_search(called_.begin(), called_.end(), start)) return kJava;
  if (const char* reason = refusal_in(mono_, start, kMono)) return reason;
  return refusal_in(ocaml_, start, kOcaml);
}

const char* why_walked(std::string_view raw_name) {
  if (raw_name.starts_with("caml") && raw_name.size() > 4 && is_upper(raw_name[4])) return kOcaml;
  // What is called from a frame that V8 walks begins with such a name, or is a callback with such an argument.
  for (const std::string_view part : {"2v820FunctionCallbackInfo", "2v820PropertyCallbackInfo", "CheckStackGuardState"})
    if (has(raw_name, part)) return kV8;
  if (raw_name.starts_with("Builtins_")) return kV8;
  if (raw_name.starts_with("_ZN2v88internal") && (has(raw_name, "Runtime_") || has(raw_name, "Builtin_"))) return kV8;
  // HotSpot: what its interpreter, compiled code and stubs call; of the library itself, WalkedCode knows the others,
  // too.
  for (const std::string_view called : {"_ZN18InterpreterRuntime", "_ZN13SharedRuntime", "_ZN8Runtime1",
                                        "_ZN11OptoRuntime", "_ZN12JVMCIRuntime", "_ZN14Deoptimization"})
    if (raw_name.starts_with(called)) return kJava;
  return nullptr;
}

}  // namespace penna
