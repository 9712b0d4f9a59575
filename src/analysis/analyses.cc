// SPDX-License-Identifier: MIT
// See analyses.h. Allocations and locks, if any, need all threads merged in time; calls and points do not, and are
// faster without.
#include "analysis/analyses.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/call_parts.h"
#include "analysis/unmet_patterns.h"

namespace penna {
namespace {

constexpr uint32_t kHangEvents = kLockEvents | kAllocEvents;  // a lock in newly allocated memory is a new one

uint64_t events_of(const Summary& summary, uint32_t classes) {
  uint64_t events = 0;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((classes & 1u << i) != 0) events += summary.events[i];
  return events;
}

// Events before the range that is read, for analyses that must know who holds what when it begins.
struct PastVisitor {
  Analyses& made;
  Progress& line;

  void operator()(const Event& event) {
    line.step();
    LockStep step = made.holders->begin(event);
    (*made.locks)(event, step);
    made.holders->apply(event, step);
    if (made.relations) made.relations->past(event, step);
  }
  void begin_range(uint64_t begin) {
    made.locks->begin_range(begin);
    if (made.relations) made.relations->begin_range(begin);
    made.holders->begin_range(begin);
    if (made.held_calls) made.held_calls->begin_range(begin);
  }
};

// Passes each event to the analyses that want it. One visitor for all: reading and decoding cost more than most
// analyses.
struct Visitor {
  const Recording& recording;
  Analyses& made;
  Progress& line;

  void operator()(const Event& event) {
    line.step();
    if (made.net) return add_net((*made.net)(event));
    const uint32_t what = class_bit(event.record.kind);
    if (made.held_calls && (what & (kCallEvents | kLockEvents)) != 0)
      made.held_calls->pass(event.thread, event.time, event.after_loss);
    switch (what) {
      case kCallEvents: return add_calls(event);
      case kAllocEvents:
        if (made.allocations) (*made.allocations)(event);
        // A new block ends the life of the locks that were in its memory.
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
  void foresee(const Event& event) const {
    if (made.allocations) made.allocations->foresee(event);
  }
  void operator()(const CallRun& run) {
    line.step(run.calls.size());
    if (made.held_calls && made.held_calls->holds(run.thread)) return add_held(run);
    made.net ? add_calls((*made.net)(run)) : add_calls(run);
  }

 private:
  // Events of other classes are read only for their cost, which is subtracted from the calls around them.
  void add_net(const Event& event) {
    if (class_bit(event.record.kind) == kCallEvents) add_calls(event);
  }
  // The order matters: Locks sees who held the lock before the step, the relations who holds it after.
  void add_lock(const Event& event) {
    LockStep step = made.holders->begin(event);
    (*made.locks)(event, step);
    made.holders->apply(event, step);
    if (made.relations) (*made.relations)(event, step);
  }
  // No lock is taken or released within a run: what the thread holds stays the same throughout.
  void add_held(const CallRun& run) {
    for (size_t i = 0; i < run.calls.size(); ++i) {
      made.held_calls->pass(run.thread, run.calls[i].time);
      add_calls(CallRun{run.process, run.thread, run.calls.subspan(i, 1)});
    }
  }
  template <typename Some>  // an Event or a CallRun
  void add_calls(const Some& some) {
    if (!takes_thread(recording, some.thread)) return;
    if (made.calls) (*made.calls)(some);
    if (made.tree) (*made.tree)(some);
    if (made.call_groups) (*made.call_groups)(some);
  }
};

// The observer of block lifetimes: AnalysisChoice has at most one.
AllocationObserver* observer_of(const Analyses& made) {
  if (made.lifetimes) return made.lifetimes.get();
  if (made.sizes) return made.sizes.get();
  return made.history.get();
}

void add_block_view(const Recording& recording, const Summary& summary, BlockView view,
                    const AllocationRequest& request, Analyses& made) {
  switch (view) {
    case BlockView::kNone: return;
    case BlockView::kLifetimes:
    case BlockView::kFreers:
      made.lifetimes = std::make_unique<BlockLifetimes>(recording, view == BlockView::kFreers,
                                                        request.same != nullptr && request.same->joins_processes());
      return;
    case BlockView::kSizes: made.sizes = std::make_unique<BlockSizes>(); return;
    case BlockView::kHistory:
      const CallRules* rules = call_rules(recording);
      made.history = std::make_unique<HeapHistory>(
          rules == nullptr ? summary.first_time : std::max(summary.first_time, rules->begin),
          rules == nullptr ? summary.last_time : std::min(summary.last_time, rules->end), recording.processes().size());
      return;
  }
}

// What distinguishes allocations besides their stacks. Empty: nothing.
std::function<uint32_t(const Event&)> context_of(AllocationContext context, const CallTree* tree) {
  switch (context) {
    case AllocationContext::kProcess: return [](const Event& event) { return event.process; };
    case AllocationContext::kThread: return [](const Event& event) { return event.thread; };
    case AllocationContext::kCall: return [tree](const Event& event) { return tree->current(event.thread); };
    default: return {};
  }
}

void add_allocations(const Recording& recording, const Summary& summary, const AnalysisChoice& choice,
                     const AllocationRequest& request, ProgressObserver* progress, Analyses& made) {
  add_block_view(recording, summary, choice.blocks, request, made);
  AllocationOptions options;
  options.within = request.within;
  options.choice = request.choice;
  options.observer = observer_of(made);
  options.same = request.same;
  options.peak = request.peak;
  options.by_kind = choice.context == AllocationContext::kKind;
  // An observer sees single blocks; numbers shown next to theirs must mean the same.
  options.as_recorded = made.lifetimes || made.sizes;
  if (choice.unmatched_frees) made.unmatched = std::make_unique<UnmatchedFrees>(recording, request.same);
  options.unmatched = made.unmatched.get();
  options.context = context_of(choice.context, made.tree.get());
  made.allocations = std::make_unique<Allocations>(recording, std::move(options));
  // A choice by --lifetime depends on each block's future: a separate pass learns it first.
  if (request.choice == nullptr) return;
  Progress line("reading", summary.events[PENNA_ALLOC], "events", progress);
  learn_lifetimes(recording, *request.choice, [&] { line.step(); });
}

bool hangs(const Locks& locks) {
  return std::any_of(locks.all().begin(), locks.all().end(),
                     [](const LockStats& lock) { return has_holder(lock.kind) && lock.open_waits != 0; });
}

// Only if threads waited for locks at the end: this is the question that every table of locks answers first.
void find_hangs(const Recording& recording, const Summary& summary, Analyses& made) {
  if (!made.locks || made.relations || !hangs(*made.locks)) return;
  made.relations = std::make_unique<WaitAnalyses>(*made.holders, false, false, false);
  made.relations->finish(open_ends(recording, summary));
}

// Patterns that matched no called function: most likely mistyped.
void add_filter_notes(const Recording& recording, HealthReport& health) {
  const CallRules* rules = call_rules(recording);
  if (rules == nullptr || !rules->unmet) return;
  for (const std::string& option : rules->unmet()) health.sentences.push_back({Severity::kWarning, unmet_text(option)});
}

// Likewise conditions on arguments that no point has.
void add_where_notes(const Recording& recording, HealthReport& health) {
  if (point_conditions(recording) == nullptr) return;
  for (const std::string& sentence : unmet_conditions(recording, *point_conditions(recording)))
    health.sentences.push_back({Severity::kWarning, sentence + "; 'penna list' shows the recording's points"});
}

}  // namespace

namespace {

// Builds the passes that the choice asks for; none has seen an event yet.
Analyses passes_of(const Recording& recording, const Summary& summary, const CodeMap& map, const AnalysisChoice& choice,
                   ProgressObserver* progress, const AllocationRequest& request, const LockOptions& locks) {
  Analyses made;
  if ((choice.classes & kCallEvents) != 0) made.calls = std::make_unique<Calls>(recording, map);
  const bool has_held =
      choice.held_calls && summary.events[PENNA_CALLS] != 0 && summary.events[PENNA_LOCKS] != 0 && !choice.net_times;
  if (choice.call_tree || has_held) made.tree = std::make_unique<CallTree>(recording, map, false);
  if (choice.call_groups) made.call_groups = std::make_unique<CallGroups>(recording, map, *choice.call_groups);
  if ((choice.classes & kAllocEvents) != 0) add_allocations(recording, summary, choice, request, progress, made);
  if ((choice.classes & kLockEvents) != 0) {
    made.holders = std::make_unique<HolderTracker>(recording);
    made.locks = std::make_unique<Locks>(*made.holders, locks);
  }
  if (has_held) made.held_calls = std::make_unique<HeldCalls>(*made.holders, *made.locks, *made.tree);
  if (choice.lock_places) made.lock_places = std::make_unique<LockPlaces>(made.tree.get());
  if (made.holders && choice.relates_waits())
    made.relations =
        std::make_unique<WaitAnalyses>(*made.holders, choice.lock_order, choice.wait_chains, choice.wait_path);
  if (choice.net_times) made.net = std::make_unique<NetTimes>(recording);
  if ((choice.classes & kPointEvents) != 0) made.points = std::make_unique<Points>(recording);
  return made;
}

// Whether nothing but calls is looked at, in ways that sum up parts of the threads.
bool is_of_calls_alone(const AnalysisChoice& choice, const Analyses& made) {
  return choice.classes == kCallEvents && !made.call_groups && !made.net && !made.held_calls && !made.lock_places;
}

// Such analyses, in parts on several processors. False: it is not worth it, or not possible; `made` is of no use then.
bool analyse_parts(const Recording& recording, const Summary& summary, const AnalysisChoice& choice, Progress& line,
                   size_t processors, Analyses& made) {
  const std::vector<ThreadRange> parts = split_threads(recording, kPartsOfEach * processors);
  if (processors < 2 || parts.size() < 2) return false;
  struct Part {
    std::unique_ptr<CodeMap> map;
    Analyses made;
  };
  std::vector<Part> read(parts.size());
  const auto read_one = [&](size_t at) {
    Part& part = read[at];
    part.map = std::make_unique<CodeMap>(recording);
    part.made = passes_of(recording, summary, *part.map, choice, nullptr, {}, {});
    Progress none("", 0, "", nullptr);  // observers are told on one thread
    Visitor visit{recording, part.made, none};
    const auto unpackers = std::make_shared<Unpackers>();
    for (uint32_t thread = parts[at].begin; thread < parts[at].end; ++thread)
      for_each_event_of(recording, thread, {.classes = choice.classes}, visit, unpackers, part.made.walk);
    part.made.calls->finish();
    if (part.made.tree) part.made.tree->finish();
  };
  const uint64_t events = events_of(summary, choice.classes);
  read_parts(parts, processors, read_one,
             [&](size_t ended) { line.step(events * ended / parts.size() - std::min(events, line.done())); });
  for (const Part& part : read) {
    made.walk.add(part.made.walk);
    made.calls->merge(*part.made.calls);
    if (made.tree && !made.tree->merge(*part.made.tree)) return false;
  }
  return true;
}

void finish(const Recording& recording, const Summary& summary, Analyses& made) {
  if (made.held_calls) made.held_calls->finish(open_ends(recording, summary));
  if (made.calls) made.calls->finish();
  if (made.tree) made.tree->finish();
  if (made.call_groups) made.call_groups->finish();
  if (made.allocations) made.allocations->finish();
  if (made.sizes) made.sizes->add_live(*made.allocations);
  if (made.locks) made.locks->finish();
  if (made.relations) made.relations->finish(open_ends(recording, summary));
}

// Names locks by the blocks they lie in. Which addresses matter is known only after the first pass, so if any lock
// needs it there is a second one over the allocations.
void find_lock_blocks(const Recording& recording, const Summary& summary, const CodeMap& map,
                      ProgressObserver* progress, Analyses& made) {
  if (!made.locks || summary.events[PENNA_ALLOC] == 0) return;
  auto blocks = std::make_unique<LockBlocks>(recording, *made.locks, map);
  if (!blocks->asks()) return;
  Progress line("reading", summary.events[PENNA_ALLOC], "events", progress);
  for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
    line.step();
    (*blocks)(event);
  });
  blocks->finish();
  made.lock_blocks = std::move(blocks);
}

}  // namespace

Analyses analyse(const Recording& recording, const Summary& summary, const CodeMap& map, const AnalysisChoice& choice,
                 ProgressObserver* progress, const AllocationRequest& request, const LockOptions& locks,
                 size_t processors) {
  Analyses made = passes_of(recording, summary, map, choice, progress, request, locks);
  uint32_t classes = choice.classes;
  if (classes == 0) return made;
  if (is_of_calls_alone(choice, made)) {
    Progress line("reading", events_of(summary, classes), "events", progress);
    if (analyse_parts(recording, summary, choice, line, processors, made)) {
      finish(recording, summary, made);
      return made;
    }
    made = passes_of(recording, summary, map, choice, progress, request, locks);
  }
  // A new block of memory means that the locks in it are new.
  if (made.locks && summary.events[PENNA_LOCKS] != 0) classes |= kAllocEvents;
  if (made.held_calls) classes |= kCallEvents;
  {
    Progress line("reading", events_of(summary, classes), "events", progress);
    // Establishes who holds what at the beginning of the range.
    PastVisitor past{made, line};
    if (made.locks) visit_past(recording, classes & kHangEvents, past);
    // Allocations and locks need all threads in one time order; calls and points are per thread, which is faster, and
    // allows runs.
    const bool merged = events_of(summary, classes & (kAllocEvents | kLockEvents)) != 0;
    const EventFilter filter{.classes = made.net ? kEventClasses : classes, .all_threads = merged};
    Visitor visit{recording, made, line};
    made.walk = merged ? for_each_event(recording, filter, visit) : for_each_thread_event(recording, filter, visit);
  }
  finish(recording, summary, made);
  if (choice.hangs) find_hangs(recording, summary, made);
  find_lock_blocks(recording, summary, map, progress, made);
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
