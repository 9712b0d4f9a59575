// SPDX-License-Identifier: MIT
// See snapshot_watches.h.
#include "session/snapshot_watches.h"

#include <map>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "collect/process_drain.h"
#include "model/events/sampling.h"
#include "model/names/function_pattern.h"
#include "model/names/symbol_source.h"
#include "options/filter_rules.h"

namespace penna {
namespace {

// Which locks a pattern means: variables, or members of them, by the name that reports print.
class LockChooser {
 public:
  explicit LockChooser(const std::string& pattern) : pattern_(pattern), symbols_(make_symbol_source()) {}

  void learn(uint32_t process, const Module& module) {
    if (processes_.size() >= kMostProcesses) processes_.clear();
    Known& known = processes_[process];
    if (known.modules.size() >= kMostModules) return;
    known.modules.push_back(module);
    known.locks.clear();
  }

  bool is_meant(uint32_t process, uint64_t address) {
    Known& known = processes_[process];
    if (const auto found = known.locks.find(address); found != known.locks.end()) return found->second;
    if (known.locks.size() >= kMostLocks) known.locks.clear();
    return known.locks[address] = matches(known.modules, address);
  }

 private:
  static constexpr size_t kMostProcesses = 4096, kMostModules = 16384, kMostLocks = 1 << 16;
  struct Known {
    std::vector<Module> modules;
    NumberMap<bool> locks;  // by address
  };

  // The module that came last is there.
  bool matches(const std::vector<Module>& modules, uint64_t address) {
    for (auto module = modules.rbegin(); module != modules.rend(); ++module) {
      if (address < module->start || address >= module->end) continue;
      const auto variable = symbols_->data({module->path, module->build_id}, address - module->bias);
      return variable && (pattern_.matches(variable->name) || pattern_.matches(variable->name + variable->member));
    }
    return false;
  }

  FunctionPattern pattern_;
  std::unique_ptr<SymbolSource> symbols_;
  std::map<uint32_t, Known> processes_;
};

}  // namespace

void add_watches(Collector& collector, const RecordOptions& options, double ticks_per_ns) {
  for (const SnapshotCondition& condition : options.on) {
    if (condition.kind == SnapshotCondition::Kind::kEnd) continue;
    ConditionHelp help;
    help.ticks_per_ns = ticks_per_ns;
    help.report = [&collector](SnapshotCause cause) { collector.ask_for(std::move(cause)); };
    help.note = [&collector](std::string sentence) { collector.note(std::move(sentence), false); };
    help.thread_lives = thread_exists;
    if (condition.kind == SnapshotCondition::Kind::kCall)
      help.functions = rules_for(FunctionPattern(condition.pattern));
    if (condition.kind == SnapshotCondition::Kind::kWait && !condition.pattern.empty()) {
      const auto chooser = std::make_shared<LockChooser>(condition.pattern);
      help.is_lock = [chooser](uint32_t process, uint64_t address) { return chooser->is_meant(process, address); };
      help.learn = [chooser](uint32_t process, const Module& module) { chooser->learn(process, module); };
    }
    if (options.sample_bytes != 0)
      help.weigh = [scale = SampleScale(options.sample_bytes)](uint64_t size) { return scale.weigh(size).bytes; };
    collector.add_watch(watch_for(condition, std::move(help)));
  }
}

}  // namespace penna
