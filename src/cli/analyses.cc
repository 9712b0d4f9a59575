// SPDX-License-Identifier: MIT
// See analyses.h. Allocations and locks, where there are any, need all threads merged in time; calls and points do not, and
// are faster without.
#include "cli/analyses.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/filter_options.h"
#include "cli/progress.h"
#include "cli/unmet_points.h"

namespace penna {
namespace {

constexpr uint32_t kHangEvents = kLockEvents | kAllocEvents;  // a lock in a new block of memory is another one

uint64_t events_of(const Summary& summary, uint32_t classes) {
  uint64_t events = 0;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((classes & 1u << i) != 0) events += summary.events[i];
  return events;
}

// What lies before the range that is read, for those who need to know who holds what.
struct PastVisitor {
  Locks* locks;  // null: not asked for
  WaitAnalyses* relations;
  Progress& line;

  void operator()(const Event& event) {
    line.step();
    if (locks != nullptr) (*locks)(event);
    if (relations != nullptr) relations->past(event);
  }
  void begin_range(uint64_t begin) {
    if (locks != nullptr) locks->begin_range(begin);
    if (relations != nullptr) relations->begin_range(begin);
  }
};

// Gives each event to those who want it.
struct Visitor {
  const Recording& recording;
  Analyses& made;
  Progress& line;

  void operator()(const Event& event) {
    line.step();
    if (made.net) return add_net((*made.net)(event));
    switch (class_bit(event.record.kind)) {
      case kCallEvents: return add_calls(event);
      case kAllocEvents:
        if (made.allocations) (*made.allocations)(event);
        if (made.locks) add_lock(event);
        return;
      case kLockEvents:
        if (made.lock_places) (*made.lock_places)(event);
        return add_lock(event);
      case kPointEvents:
        if (takes_thread(recording, event.thread)) (*made.points)(event);
        return;
      default: return;
    }
  }
  void operator()(const CallRun& run) {
    line.step(run.calls.size());
    made.net ? add_calls((*made.net)(run)) : add_calls(run);
  }

 private:
  // The others are there for what they cost.
  void add_net(const Event& event) {
    if (class_bit(event.record.kind) == kCallEvents) add_calls(event);
  }
  void add_lock(const Event& event) {
    (*made.locks)(event);
    if (made.relations) (*made.relations)(event);
  }
  template <typename Some>  // an Event or a CallRun
  void add_calls(const Some& some) {
    if (!takes_thread(recording, some.thread)) return;
    (*made.calls)(some);
    if (made.tree) (*made.tree)(some);
    if (made.call_groups) (*made.call_groups)(some);
  }
};

// Who looks on at allocations; null: nobody.
AllocationObserver* observer_of(const Analyses& made) {
  if (made.lifetimes) return made.lifetimes.get();
  if (made.sizes) return made.sizes.get();
  return made.history.get();
}

void add_allocations(const Recording& recording, const Summary& summary, uint32_t classes, const AllocationWish& wish,
                     bool progress, Analyses& made) {
  if ((classes & (kBlockLives | kBlockFreers)) != 0)
    made.lifetimes = std::make_unique<BlockLifetimes>(recording, (classes & kBlockFreers) != 0,
                                                      wish.same != nullptr && wish.same->joins_processes());
  if ((classes & kBlockSizes) != 0) made.sizes = std::make_unique<BlockSizes>();
  if ((classes & kHeapHistory) != 0) {
    const CallRules* rules = call_rules(recording);
    made.history = std::make_unique<HeapHistory>(
        rules == nullptr ? summary.first_time : std::max(summary.first_time, rules->begin),
        rules == nullptr ? summary.last_time : std::min(summary.last_time, rules->end), recording.processes().size());
  }
  AllocationOptions options;
  options.within = wish.within;
  options.choice = wish.choice;
  options.observer = observer_of(made);
  options.same = wish.same;
  options.peak = wish.peak;
  options.by_kind = (classes & kAllocByKind) != 0;
  // What an observer sees are single blocks; beside their numbers others must mean the same.
  options.as_recorded = made.lifetimes || made.sizes;
  if ((classes & kUnmatchedFrees) != 0) made.unmatched = std::make_unique<UnmatchedFrees>(recording, wish.same);
  options.unmatched = made.unmatched.get();
  if ((classes & kAllocByProcess) != 0) options.context = [](const Event& event) { return event.process; };
  if ((classes & kAllocByThread) != 0) options.context = [](const Event& event) { return event.thread; };
  if ((classes & kAllocByCall) != 0)
    options.context = [tree = made.tree.get()](const Event& event) { return tree->current(event.thread); };
  made.allocations = std::make_unique<Allocations>(recording, std::move(options));
  if (wish.choice == nullptr) return;
  Progress line("reading", summary.events[PENNA_ALLOC], "events", progress);
  learn_lifetimes(recording, *wish.choice, [&] { line.step(); });
}

bool hangs(const Locks& locks) {
  return std::any_of(locks.all().begin(), locks.all().end(),
                     [](const LockStats& lock) { return has_holder(lock.kind) && lock.open_waits != 0; });
}

void find_hangs(const Recording& recording, const Summary& summary, uint32_t classes, bool progress, Analyses& made) {
  if ((classes & kHangs) == 0 || !made.locks || made.relations || !hangs(*made.locks)) return;
  made.relations = std::make_unique<WaitAnalyses>(recording, false, false, false);
  Progress line("reading", events_of(summary, classes & kHangEvents), "events", progress);
  PastVisitor past{nullptr, made.relations.get(), line};
  visit_past(recording, classes & kHangEvents, past);
  for_each_event(recording, {.classes = classes & kHangEvents, .all_threads = true}, [&](const Event& event) {
    line.step();
    (*made.relations)(event);
  });
  made.relations->finish(end_of_reading(recording, summary));
}

// Patterns that met no function that was called: most likely mistyped.
void add_filter_notes(const Recording& recording, HealthReport& health) {
  const CallRules* rules = call_rules(recording);
  if (rules == nullptr || !rules->unmet) return;
  for (const std::string& option : rules->unmet()) health.sentences.push_back({Severity::kWarning, unmet_text(option)});
}

// Conditions on arguments that no point has, the same.
void add_where_notes(const Recording& recording, HealthReport& health) {
  if (point_conditions(recording) == nullptr) return;
  for (const std::string& sentence : unmet_conditions(recording, *point_conditions(recording)))
    health.sentences.push_back(
        {Severity::kWarning, sentence + "; 'penna list' of the recording shows those that there are"});
}

}  // namespace

Analyses analyse(const Recording& recording, const Summary& summary, const CodeMap& map, uint32_t classes,
                 bool progress, const AllocationWish& wish, const LockOptions& locks) {
  Analyses made;
  if ((classes & kCallEvents) != 0) made.calls = std::make_unique<Calls>(recording, map);
  if ((classes & kCallTree) != 0) made.tree = std::make_unique<CallTree>(recording, map, false);
  for (const auto& [bit, by] :
       {std::pair{kCallsByThread, CallGroups::By::kThread}, {kCallsByModule, CallGroups::By::kModule}})
    if ((classes & bit) != 0) made.call_groups = std::make_unique<CallGroups>(recording, map, by);
  if ((classes & kAllocEvents) != 0) add_allocations(recording, summary, classes, wish, progress, made);
  if ((classes & kLockEvents) != 0) made.locks = std::make_unique<Locks>(recording, locks);
  if ((classes & kLockPlaces) != 0) made.lock_places = std::make_unique<LockPlaces>(made.tree.get());
  if ((classes & (kLockOrder | kWaitChains | kWaitPath | kDeadlocks)) != 0)
    made.relations = std::make_unique<WaitAnalyses>(recording, (classes & kLockOrder) != 0,
                                                    (classes & kWaitChains) != 0, (classes & kWaitPath) != 0);
  if ((classes & kNetTimes) != 0) made.net = std::make_unique<NetTimes>(recording);
  if ((classes & kPointEvents) != 0) made.points = std::make_unique<Points>(recording);
  if ((classes & kEventClasses) == 0) return made;

  // A new block of memory says that the locks in it are new.
  if (made.locks && summary.events[PENNA_LOCKS] != 0) classes |= kAllocEvents;
  Progress line("reading", events_of(summary, classes), "events", progress);
  PastVisitor past{made.locks.get(), made.relations.get(), line};
  if (made.locks || made.relations) visit_past(recording, classes & kHangEvents, past);
  const bool merged = events_of(summary, classes & (kAllocEvents | kLockEvents)) != 0;
  const EventFilter filter{.classes = made.net ? kEventClasses : classes & kEventClasses, .all_threads = merged};
  Visitor visit{recording, made, line};
  made.walk = merged ? for_each_event(recording, filter, visit) : for_each_thread_event(recording, filter, visit);
  if (made.calls) made.calls->finish();
  if (made.tree) made.tree->finish();
  if (made.call_groups) made.call_groups->finish();
  if (made.allocations) made.allocations->finish();
  if (made.sizes) made.sizes->add_live(*made.allocations);
  if (made.locks) made.locks->finish();
  if (made.relations) made.relations->finish(end_of_reading(recording, summary));
  find_hangs(recording, summary, classes, progress, made);
  if (made.locks && summary.events[PENNA_ALLOC] != 0) {
    made.lock_blocks = std::make_unique<LockBlocks>(recording, *made.locks, map);
    if (made.lock_blocks->asks()) {
      Progress again("reading", summary.events[PENNA_ALLOC], "events", progress);
      for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
        again.step();
        (*made.lock_blocks)(event);
      });
      made.lock_blocks->finish();
    } else {
      made.lock_blocks.reset();
    }
  }
  return made;
}

HealthReport examine(const Recording& recording, const Summary& summary, const Analyses& analyses, Names& names) {
  HealthInputs inputs;
  inputs.walk = analyses.walk.chunks != 0 || analyses.walk.unreadable != 0 ? &analyses.walk : nullptr;
  inputs.calls = analyses.calls.get();
  inputs.allocations = analyses.allocations.get();
  inputs.locks = analyses.locks.get();
  inputs.points = analyses.points.get();
  inputs.names = &names;
  HealthReport health = examine(recording, summary, inputs);
  add_filter_notes(recording, health);
  add_where_notes(recording, health);
  return health;
}

}  // namespace penna
