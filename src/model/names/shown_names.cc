// SPDX-License-Identifier: MIT
// See shown_names.h.
#include "model/names/shown_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "model/names/code_map.h"
#include "model/names/function_pattern.h"
#include "model/names/symbol_source.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/value_spec.h"
#include "symbols/elf/elf_file.h"

namespace penna {
namespace {

constexpr const char* kLibcallsWord = "libcalls";

// The function in an option of a recording ("args=open@arg1/s"); empty: none, or it cannot be parsed. The file is
// untrusted, and a wrong option only costs a nicer name.
std::string function_of(const std::string& option) {
  const size_t at = option.find('=');
  if (at == option.npos) return "";
  const std::string_view name = std::string_view(option).substr(0, at);
  const std::string value = option.substr(at + 1);
  if (name == "function" || name == "caller") return value;
  if (name == "trigger") return value.substr(0, value.rfind('@'));
  if (name != "args" && name != "result") return "";
  const auto spec = parse_value_spec(value);
  return spec ? spec->function : "";
}

}  // namespace

// 3: requested by this very name; 2: by a pattern; 1: the program calls it by this name; 0: none of these.
std::function<int(const std::string& name)> rank_of_names(const Session& session, std::vector<FunctionPattern> patterns,
                                                          std::vector<std::string> called) {
  for (const std::string& option : session.options)
    if (std::string function = function_of(option); !function.empty()) patterns.emplace_back(std::move(function));
  if (patterns.empty() && called.empty()) return {};
  return [wanted = std::move(patterns),
          names = std::set<std::string>(called.begin(), called.end())](const std::string& name) {
    int rank = names.count(name) != 0 ? 1 : 0;
    for (const FunctionPattern& pattern : wanted)
      if (rank < 3 && pattern.matches(name)) rank = pattern.text() == name ? 3 : 2;
    return rank;
  };
}

std::vector<std::string> called_names(const Recording& recording, const std::string& root) {
  // A recording of a build may contain thousands; each costs opening a file.
  constexpr size_t kMostPrograms = 64;
  std::vector<std::string> names;
  if (!has_option(recording.session(), kLibcallsWord)) return names;
  std::set<std::string> seen;
  for (const RecordedProcess& process : recording.processes()) {
    const auto module = std::find_if(process.modules.begin(), process.modules.end(),
                                     [&](const Module& one) { return one.path == process.process.executable; });
    if (module == process.modules.end() || seen.size() >= kMostPrograms || !seen.insert(module->path).second) continue;
    const auto file = ElfFile::open(root + module->path);
    // By build ID: another file of that path would give names that this program never called.
    const ElfSection* section =
        file && file->build_id() == module->build_id ? file->section_of_type(SHT_DYNSYM) : nullptr;
    Elf_Data* data = section != nullptr ? file->data(*section) : nullptr;
    GElf_Sym symbol;
    for (int i = 1; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = symbol.st_shndx == SHN_UNDEF ? file->string(section->link, symbol.st_name) : nullptr;
      if (name != nullptr) names.push_back(demangle(name, Demangle::kFull));
    }
  }
  return names;
}

std::function<std::string(const Module&, uint64_t)> function_namer() {
  return [symbols = std::shared_ptr(make_symbol_source())](const Module& module, uint64_t pc) {
    const CodePlace place{0, 0, pc - module.bias};
    const auto frames = symbols->code({module.path, module.build_id}, place.address);
    return frames.empty() ? nameless_text(place, module.path)
                          : fmt::format("{} [{}]", frames.back().function, file_name_of(module.path));
  };
}

}  // namespace penna
