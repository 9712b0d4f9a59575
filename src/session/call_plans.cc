// SPDX-License-Identifier: MIT
// See call_plans.h.
#include "session/call_plans.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/in_proc.h"
#include "base/memory_ranges.h"
#include "model/names/function_chooser.h"
#include "model/names/function_pattern.h"
#include "penna/detail/regex.h"
#include "report/units.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/value_spec.h"
#include "symbols/points/point_sites.h"

namespace penna {
namespace {

// Filters make decisions when these functions are entered, so they must be hooked even if -F would leave them out.
// Their own records are filtered out again later.
constexpr auto kDecidingActions = {TriggerAction::kOn,     TriggerAction::kOff,     TriggerAction::kFilter,
                                   TriggerAction::kDepth,  TriggerAction::kTime,    TriggerAction::kNotrace,
                                   TriggerAction::kFinish, TriggerAction::kSnapshot};

std::vector<FunctionPattern> deciding_functions(const RecordOptions& options) {
  std::vector<FunctionPattern> functions = triggered(options.filter, kDecidingActions);
  for (const SnapshotCondition& condition : options.on)
    if (condition.kind == SnapshotCondition::Kind::kCall) functions.emplace_back(condition.pattern);
  return functions;
}

template <typename Patterns>
bool any_matches(const Patterns& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& one) { return one.matches(text); });
}

}  // namespace

namespace {

// One -A, -R or -T FUNC@stack: the functions concerned, and what to record about them.
struct ValueRequest {
  enum Option { kArguments, kResults, kStack };
  ValueRequest(ValueSpec of, Option by) : function(of.function), spec(std::move(of)), option(by) {}
  std::string text() const {
    if (option == kStack) return fmt::format("-T '{}@stack'", function.text());
    return fmt::format("-{} '{}'", option == kArguments ? "A" : "R", function.text());
  }
  FunctionPattern function;
  ValueSpec spec;
  Option option;
};

// Several options may match one function: their requests add up.
void add_request(const ValueRequest& request, WantedValues* wanted) {
  if (request.option == ValueRequest::kStack) {
    wanted->callers = true;
    return;
  }
  const ValueSpec& spec = request.spec;
  wanted->by_name = true;
  if (spec.by_types)
    (request.option == ValueRequest::kResults ? wanted->results_by_type : wanted->arguments_by_type) = true;
  wanted->arguments.insert(wanted->arguments.end(), spec.arguments.begin(), spec.arguments.end());
  wanted->results.insert(wanted->results.end(), spec.results.begin(), spec.results.end());
}

void add_value_requests(const RecordOptions& options, const std::shared_ptr<RequestedFunctions>& asked,
                        PatchRequests* requests) {
  std::vector<ValueRequest> list;
  for (const auto& [specs, option] :
       {std::pair(&options.arguments, ValueRequest::kArguments), std::pair(&options.results, ValueRequest::kResults)})
    for (const auto& spec : *specs) list.emplace_back(spec.value, option);
  for (const FunctionPattern& function : triggered(options.filter, {TriggerAction::kStack})) {
    ValueSpec stack;
    stack.function = function.text();
    list.emplace_back(std::move(stack), ValueRequest::kStack);
  }
  std::vector<FunctionPattern> entered = deciding_functions(options);
  for (const ValueRequest& request : list) entered.push_back(request.function);
  // Without -F only functions prepared by compilers are patched. Named functions must be hooked too, however they were
  // compiled.
  if (options.filter.functions.empty() && !options.libcalls && !options.all_functions && !entered.empty())
    requests->also = [entered](const std::string& name, const std::string&) { return any_matches(entered, name); };
  if (list.empty() && !options.auto_arguments) return;
  for (const ValueRequest& request : list) asked->add(request.text(), request.function.text());
  requests->values = [list, asked, automatic = options.auto_arguments](const std::string& name, const std::string&) {
    WantedValues wanted;
    wanted.arguments_by_type = wanted.results_by_type = automatic;
    for (size_t i = 0; i < list.size(); ++i) {
      const bool is_meant = list[i].function.matches(name);
      asked->see(i, name, is_meant);
      if (is_meant) add_request(list[i], &wanted);
    }
    return wanted;
  };
}

// SDT probes of other headers are recorded only if a pattern names them: a program may hit them millions of times a
// second without anyone being interested. Points of penna/point.h have SDT notes too; these are skipped here, because
// their own sites record them. The last matching pattern decides, as for the agent's own points.
void add_probe_requests(const RecordOptions& options, PatchRequests* requests) {
  const auto is_positive = [](const std::string& pattern) { return !pattern.starts_with('!'); };
  if (std::none_of(options.point_patterns.begin(), options.point_patterns.end(), is_positive)) return;
  requests->probes = [patterns = options.point_patterns](const ElfFile& file) {
    std::vector<SdtNote> notes = read_sdt_notes(file);
    const std::vector<Site> own = notes.empty() ? std::vector<Site>{} : read_point_sites(file);
    std::erase_if(notes, [&](const SdtNote& note) {
      const std::string name = note.provider + ":" + note.name;
      bool wanted = false;
      for (const std::string& pattern : patterns)
        if (penna_text_matches(pattern.c_str() + pattern.starts_with('!'), name.c_str()) != 0)
          wanted = !pattern.starts_with('!');
      return !wanted || std::any_of(own.begin(), own.end(), [&](const Site& site) {
        return site.provider == note.provider && site.name == note.name;
      });
    });
    return notes;
  };
}

}  // namespace

// `is_meant` comes from the caller, which has matched the pattern already. Near names are collected only while nothing
// has matched.
void RequestedFunctions::see(size_t number, const std::string& name, bool is_meant) {
  was_asked_ = true;
  Asked& asked = list_[number];
  asked.met |= is_meant;
  if (!asked.met) asked.nearest.see(name_for_pattern(name, asked.nearest.pattern()));
}

std::string RequestedFunctions::text_of(const Asked& asked) { return asked.option + asked.nearest.hint(); }

// If no process asked for a plan, the existing functions are unknown: then no option is reported as unmet.
std::vector<std::string> RequestedFunctions::unmet() const {
  std::vector<std::string> options;
  for (const Asked& asked : list_)
    if (was_asked_ && !asked.met) options.push_back(text_of(asked));
  return options;
}

std::vector<std::string> RequestedFunctions::with_nearest(std::vector<std::string> options) const {
  for (std::string& option : options)
    for (const Asked& asked : list_)
      if (option == asked.option && !asked.met) option = text_of(asked);
  return options;
}

PatchRequests patch_requests(const RecordOptions& options, const std::shared_ptr<RequestedFunctions>& filters,
                             const std::shared_ptr<RequestedFunctions>& values) {
  PatchRequests requests;
  if ((options.classes & (1u << PENNA_POINTS)) != 0) add_probe_requests(options, &requests);
  requests.own_locks = options.lock_functions;
  requests.libcalls = options.libcalls;
  requests.attaches = !options.pids.empty();
  add_value_requests(options, values, &requests);
  const FilterOptions& filter = options.filter;
  if (filter.functions.empty() && !options.all_functions) return requests;
  std::vector<FunctionPattern> deciding = filter.callers;
  for (const auto* patterns : {&filter.hidden, &filter.targets})
    deciding.insert(deciding.end(), patterns->begin(), patterns->end());
  for (FunctionPattern& function : deciding_functions(options)) deciding.push_back(std::move(function));
  for (const FunctionPattern& pattern : filter.functions)
    filters->add(fmt::format("-F '{}'", pattern.text()), pattern.text());
  // Called for each function of each planned file; `name` is demangled.
  requests.wanted = [filters, all = options.all_functions, only = filter.functions, never = filter.not_functions,
                     deciding, modules = filter.modules](const std::string& name, const std::string& file) {
    for (size_t i = 0; i < only.size(); ++i) filters->see(i, name, only[i].matches(name));
    if (any_matches(deciding, name)) return true;
    return (all || any_matches(only, name)) && !any_matches(never, name) &&
           (modules.empty() || any_matches(modules, file));
  };
  return requests;
}

// A process asks for plans only of the kinds that are set here. `pid`: its files are read below its own root directory,
// because a container's differ from ours.
void plan_calls(Server& server, PatchPlanner& planner, const RecordOptions& options) {
  const auto records = [&](penna_event_class what) { return (options.classes & (1u << what)) != 0; };
  const auto answer = [&planner](std::span<const penna_patch_question> questions, uint32_t pid) {
    return planner.answer(questions, in_proc(pid, "root"));
  };
  uint32_t plans = 0;
  if (records(PENNA_CALLS)) plans |= PENNA_PLANS_MODULES;
  if (records(PENNA_CALLS) && options.libcalls) plans |= PENNA_PLANS_POINTERS;
  if (records(PENNA_ALLOC)) plans |= PENNA_PLANS_ALLOCATORS;
  if (records(PENNA_LOCKS)) plans |= PENNA_PLANS_LOCKS;
  if (planner.wants_probes()) plans |= PENNA_PLANS_PROBES;
  // An agent that attaches late hooks dlopen and the functions that start programs at their addresses, whatever is
  // recorded: it asks for that unprompted.
  if (plans != 0 || !options.pids.empty()) server.set_planner(answer, plans);
}

void read_ahead(PatchPlanner& planner, pid_t pid) {
  for (const MemoryRange& range : memory_ranges(pid))
    if (range.executable && range.name.ends_with("/libc.so.6"))
      return planner.read_ahead(range.name, in_proc(pid, "root"));
}

std::string note_locks(const PatchPlanner& planner, Collector& collector) {
  std::vector<std::string> timed;
  for (const TimedLock& one : planner.timed_locks())
    timed.push_back(fmt::format("{} [{}]", one.name, std::filesystem::path(one.file).filename().string()));
  if (!timed.empty())
    collector.note(
        fmt::format("waits in {} are inferred from time: about {} us or more in it count as one; name a function that "
                    "tries the lock to have them exactly (--lock-functions ...,try=FUNCTION)",
                    fmt::join(timed, ", "), kTimedWaitNs / 1000),
        false);
  std::vector<std::string> unmet;
  for (const PatchPlanner::UnmetLock& one : planner.unmet_locks())
    unmet.push_back(fmt::format("'{}'{}", one.text, hint_of(one.near)));
  if (unmet.empty()) return {};
  std::string sentence =
      fmt::format("--lock-functions {}: {}", fmt::join(unmet, " and "),
                  planner.was_asked_about_locks()
                      ? "no such function is defined in the program or its libraries (see: nm -C)"
                      : "no function was entered, because no process was recorded (is the program linked statically?)");
  collector.note(sentence, false);
  return sentence;
}

std::string note_unmet(const RequestedFunctions& values, Collector& collector) {
  const std::vector<std::string> unmet = values.unmet();
  if (unmet.empty()) return {};
  std::string sentence = fmt::format("no function of the program or its libraries matches {}", fmt::join(unmet, ", "));
  collector.note(sentence, false);
  return sentence;
}

namespace {

// `half`: other functions also record blocks of it, so only some allocations or frees are missing.
std::string sentence_about_allocator(const RefusedFunction& one, const std::string& file) {
  const bool is_operator = one.name.starts_with("_Z");
  const std::string which = is_operator ? "blocks of operator new of the allocator in "
                            : one.half  ? "some blocks of the allocator in "
                                        : "blocks of the allocator that is part of ";
  const std::string what = fmt::format("{}{} are not recorded: its {} {}", which, file,
                                       is_operator ? demangle(one.name, Demangle::kFull) : one.name, one.reason);
  if (one.half && !is_operator) return what + (one.reason == kMayRun ? "; open it before threads are started" : "");
  return fmt::format("{}; {}link the allocator dynamically", what,
                     one.reason == kMayRun ? "open it before threads are started, or " : "");
}

// A sentence for each kind of refusal: what is missing from the recording because of it, where, and why.
std::string sentence_about(const RefusedFunction& one) {
  const std::string file = std::filesystem::path(one.file).filename().string();
  switch (one.what) {
    case RefusedFunction::kValues:
      return fmt::format("values of {} [{}] are not recorded: {}", one.name, file, one.reason);
    case RefusedFunction::kAllocator: return sentence_about_allocator(one, file);
    case RefusedFunction::kAllocatorFunction:
      if (one.half) return fmt::format("blocks that {} ends in {} seem never freed: it {}", one.name, file, one.reason);
      return fmt::format("blocks that {} gives in {} are not recorded: it {}", one.name, file, one.reason);
    case RefusedFunction::kAllocatorUnknown:
      return fmt::format("whether {} has an allocator of its own is not known: {}", one.file, one.reason);
    case RefusedFunction::kLock:
      return fmt::format("locks by {} in {} are not recorded: {} {}{}", one.lock, file, one.name, one.reason,
                         one.reason == kMayRun ? "; open it before threads are started" : "");
    case RefusedFunction::kProbe:
      return fmt::format("probe {} [{}] is not recorded: it {} (bpftrace and perf can)", one.name, file, one.reason);
    case RefusedFunction::kProbeArgument:
      return fmt::format("an argument of probe {} [{}] is not recorded: {}", one.name, file, one.reason);
    case RefusedFunction::kFile: return fmt::format("functions in {} are not entered: {}", one.file, one.reason);
    case RefusedFunction::kLibc:
    case RefusedFunction::kCalls: break;
  }
  return fmt::format("calls of {} [{}] are not recorded: it {}", one.name, file, one.reason);
}

bool is_of_allocator(const RefusedFunction& one) {
  return one.what == RefusedFunction::kAllocator || one.what == RefusedFunction::kAllocatorFunction ||
         one.what == RefusedFunction::kAllocatorUnknown;
}

// The classes of event that the agent's hook of this function of libc's is for (agent/hooks/libc_functions.cc).
uint32_t classes_of_hook(std::string_view name) {
  constexpr std::string_view kMaps[] = {"mmap", "munmap", "mremap", "brk", "sbrk"};
  constexpr std::string_view kJumps[] = {"__sigsetjmp", "longjmp",     "__longjmp_chk", "getcontext",
                                         "setcontext",  "makecontext", "swapcontext"};
  const auto is_one_of = [name](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (is_one_of(kMaps)) return 1u << PENNA_ALLOC;
  if (is_one_of(kJumps)) return 1u << PENNA_CALLS;
  return name.starts_with("pthread_") || name.starts_with("sem_") || name == "syscall" ? 1u << PENNA_LOCKS : 0;
}

// The classes whose events are missing, so that penna check does not report a limit on them as kept.
uint32_t missed_by(const RefusedFunction& one) {
  if (is_of_allocator(one)) return 1u << PENNA_ALLOC | (one.half ? kNoteOfHalf : 0);
  if (one.what == RefusedFunction::kLibc) return classes_of_hook(one.name);
  return one.what == RefusedFunction::kLock ? 1u << PENNA_LOCKS : 0;
}

// Moves the calls out of `refused` and notes how many there are for each reason, with an example. Returns their number.
size_t note_refused_calls(std::vector<RefusedFunction>& refused, Collector& collector) {
  struct Many {
    int64_t count = 0;
    const RefusedFunction* first = nullptr;
  };
  std::map<std::string, Many> by_reason;
  size_t count = 0;
  for (const RefusedFunction& one : refused) {
    if (one.what != RefusedFunction::kCalls) continue;
    Many& many = by_reason[one.reason];
    if (many.count++ == 0) many.first = &one;
    ++count;
  }
  for (const auto& [reason, many] : by_reason)
    collector.note(many.count == 1 ? sentence_about(*many.first)
                                   : fmt::format("calls of {} are not recorded, as {} [{}]: each {}",
                                                 plural_text(many.count, "function"), many.first->name,
                                                 std::filesystem::path(many.first->file).filename().string(), reason),
                   false);
  std::erase_if(refused, [](const RefusedFunction& one) { return one.what == RefusedFunction::kCalls; });
  return count;
}

}  // namespace

std::string note_refused(const PatchPlanner& planner, Collector& collector, bool all) {
  // A large program can have tens of thousands of refused functions; the file does not need them all.
  constexpr size_t kMostNotes = 1000;
  std::vector<RefusedFunction> refused = planner.refused();
  const size_t calls = all ? note_refused_calls(refused, collector) : 0;
  if (refused.empty() && calls != 0)
    return fmt::format("calls of {} are not recorded: they cannot be entered (see: penna report health)",
                       plural_text(static_cast<int64_t>(calls), "function"));
  if (refused.empty()) return {};
  // Refusals that falsify other numbers come first.
  std::stable_partition(refused.begin(), refused.end(),
                        [](const RefusedFunction& one) { return one.reason != kOfLinker; });
  std::stable_partition(refused.begin(), refused.end(),
                        [](const RefusedFunction& one) { return one.what == RefusedFunction::kFile; });
  std::stable_partition(refused.begin(), refused.end(), is_of_allocator);
  for (size_t i = 0; i < std::min(refused.size(), kMostNotes); ++i)
    collector.note(sentence_about(refused[i]), false, missed_by(refused[i]));
  const size_t more = refused.size() - 1 + calls;
  if (more == 0) return sentence_about(refused[0]);
  return fmt::format("{}, and {} more (see: penna report health)", sentence_about(refused[0]),
                     count_text(static_cast<int64_t>(more)));
}

// Both are reported elsewhere, and contradict each other: "no function matches" and "it cannot be entered".
std::vector<std::string> without_refused(std::vector<std::string> unmet, const std::vector<FunctionPattern>& patterns,
                                         const PatchPlanner& planner) {
  for (const FunctionPattern& pattern : patterns) {
    const auto meant = [&](const RefusedFunction& one) {
      return one.what == RefusedFunction::kCalls && pattern.matches(one.name);
    };
    if (std::any_of(planner.refused().begin(), planner.refused().end(), meant))
      std::erase(unmet, fmt::format("-F '{}'", pattern.text()));
  }
  return unmet;
}

}  // namespace penna
