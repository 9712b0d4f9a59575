// SPDX-License-Identifier: MIT
// FunctionChooser: what the options -F, -N, --hide, --caller, --paths-to, --module, --source and --trigger say about
// the function at an address.
//
// Why one class: while recording, modules become known one by one and there is no Recording yet; afterwards a recording
// has them all. The answers must be the same. Invariant: each place in a file is named once.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/nearest_name.h"
#include "filter/call_sieve.h"
#include "model/names/code_map.h"
#include "model/names/function_pattern.h"
#include "model/names/path_pattern.h"
#include "model/names/symbol_source.h"
#include "recording/module_map.h"

namespace penna {

// What holds inside calls of a function: -T FUNC@depth=N, -T FUNC@time=TIME.
struct FunctionLimit {
  FunctionPattern function;
  std::string action;  // as typed, after the '@'
  std::optional<uint32_t> depth = {};
  std::optional<uint64_t> min_ticks = {};
  bool was_recorded = false;  // the recording was made with it: not requested by this command
};

struct FunctionChoice {
  std::vector<FunctionPattern> only = {}, never = {}, callers = {}, on = {}, off = {}, snapshots = {};
  std::vector<FunctionPattern> hidden = {}, targets = {};
  std::vector<FunctionPattern> filters = {}, notraces = {}, finishes = {};  // from triggers; like callers, like hidden
  std::vector<FunctionLimit> limits = {};                                   // the last match for a function counts
  std::vector<PathPattern> modules = {}, sources = {};
};

// Thread-safe: readers of several threads of a recording ask at the same time. Bounded by kMaxModules of a process, and
// kMaxFunctions.
class FunctionChooser {
 public:
  static constexpr size_t kMaxModules = 16384;      // functions in further ones have no names
  static constexpr size_t kMaxFunctions = 1 << 20;  // further ones are chosen, without other traits

  FunctionChooser(FunctionChoice choice, std::unique_ptr<SymbolSource> symbols);

  // False if already known.
  bool learn(uint32_t process, const Module& module);
  FunctionTraits traits(uint32_t process, uint64_t pc, uint64_t ticks);

  // Patterns that matched no function, as options: "-F 'pay*'", with the nearest name if there is one.
  std::vector<std::string> unmet() const;

 private:
  struct Modules {
    std::vector<Module> list;
    std::vector<ModuleId> ids;
    ModuleMap map;
    bool stale = false, reused = false;
  };
  template <typename Patterns>
  void ask(const std::string& option, const Patterns& patterns);
  template <typename Patterns>
  bool any(const std::string& option, const Patterns& patterns, std::span<const std::string> texts);
  FunctionTraits judge(const CodePlace& place, const Module* module);
  void limit(std::span<const std::string> names, FunctionTraits& traits);

  mutable std::mutex mutex_;  // guards everything below
  FunctionChoice choice_;
  std::unique_ptr<SymbolSource> symbols_;
  std::map<uint32_t, Modules> processes_;
  TextMap<ModuleId> files_;  // path, zero byte, build-id
  tsl::robin_map<CodePlace, FunctionTraits, CodePlaceHash> judged_;
  struct Asked {
    bool met = false;
    NearestName nearest;
  };
  std::map<std::string, Asked> asked_;  // by option and pattern
};

}  // namespace penna
