// SPDX-License-Identifier: MIT
// CallSieve: which calls of a thread are kept, by function, surroundings, depth, length and time.
//
// Why chunk by chunk: recorder and readers use the same class, each before everything else, so that no consumer of
// events knows about filters. docs/filters.md says what each rule means.
// Invariant: a call is kept or left out with its entry and its exit. The same records in the same order get the same
// answers; and filtering the result again with the same rules changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "filter/chunk_cut.h"
#include "filter/filter_changes.h"
#include "filter/kind_switches.h"
#include "recording/call_stacks.h"
#include "recording/records.h"
#include "recording/types.h"

namespace penna {

// What the rules say about a function. Several may apply at once; CallSieve decides which one wins.
struct FunctionTraits {
  bool chosen = true;     // by name, module and source file
  bool caller = false;    // calls inside are kept
  bool on = false;        // at its entry its thread starts being kept,
  bool off = false;       // or stops
  bool snapshot = false;  // what came before it is wanted (collect/flight_recorder.h)
  bool lasting = true;    // false: another function may have this address at another time
  bool placed = true;     // false: its module is unknown (so far)
  bool hidden = false;    // it and everything it calls is left out, and turns nothing on or off
  bool target = false;    // of CallRules::only_paths
  bool finish = false;    // the recording ends where it is entered
  bool dropped = false;   // by CallRules::changes: calls that begin now are left out
  // Inside a call of it, including that call, these replace CallRules'. kUnset: the surrounding value.
  static constexpr uint32_t kUnset = std::numeric_limits<uint32_t>::max();
  static constexpr uint64_t kUnsetTicks = std::numeric_limits<uint64_t>::max();
  uint32_t depth = kUnset;
  uint64_t min_ticks = kUnsetTicks, recorded_min_ticks = kUnsetTicks;
};

// What is kept. One object for all threads of a recording, which several threads may read at the same time.
struct CallRules {
  // The function at an address; empty: all are chosen. Asked once for each function of a thread, or as `epoch` says.
  // Thread-safe, like `learn` and `unmet`.
  std::function<FunctionTraits(uint32_t process, uint64_t pc, uint64_t ticks)> ask;
  // A module of a process; true if it is new, so that functions must be asked about again. For recorders.
  std::function<bool(uint32_t process, const Module& module)> learn;
  // What matched no function, as command line options.
  std::function<std::vector<std::string>()> unmet;
  bool inside_callers = false;  // keep only calls inside a `caller`, including it
  bool starts_off = false;      // threads are not kept until a function turns them `on`
  bool only_paths = false;  // of the calls that everything else keeps, those of a `target`, and those that lead to one
  uint32_t depth = std::numeric_limits<uint32_t>::max();
  uint64_t min_ticks = 0;           // of a call from entry to exit
  uint64_t recorded_min_ticks = 0;  // that of the recording; both apply
  uint64_t begin = 0;               // ticks, [begin, end): for all records, calls or not
  uint64_t end = std::numeric_limits<uint64_t>::max();
  // For users that cannot see the next chunk, and have no exact clock: `min_ticks`, `begin` and `end` are outer bounds
  // of the exact ones, and what only a later chunk could decide is kept. Reading with the exact rules gives the exact
  // result.
  bool rough = false;
  // Rough only: the earliest possible `end`. What ends later may be cut off there, so its length is unknown.
  uint64_t earliest_end = std::numeric_limits<uint64_t>::max();
  // A function ends the recording (FunctionTraits::finish): if it is known when it was entered, `end` also says so.
  // Calls open there have no end.
  bool finishes = false;
  uint64_t epoch = 0;  // increasing: functions asked about before must be asked about again
  // For recorders: calls entered while their kind is off are left out. Null: it never is.
  std::shared_ptr<const KindSwitches> switches;
  // Likewise: filters that were set while recording. Null: none ever was.
  std::shared_ptr<const FilterChanges> changes;

  bool has_range() const { return begin != 0 || end != std::numeric_limits<uint64_t>::max(); }
  bool concerns_calls() const {
    return ask || inside_callers || starts_off || only_paths || min_ticks != 0 || recorded_min_ticks != 0 ||
           depth != std::numeric_limits<uint32_t>::max();
  }
  bool any() const { return concerns_calls() || has_range(); }
};

// The decisions about one chunk.
struct SiftedChunk {
  ChunkCut cut;
  std::vector<uint64_t> opened;  // pcs of calls that are kept from `begin` on, outermost first: before the chunk
  std::vector<uint64_t> closed;  // of calls that are cut off at `end`, innermost first: after it
  std::vector<bool> opened_out;  // by index of `opened`: left out after all
  size_t inherited = 0;          // so many of `opened`, the first, began before the fork of their process
  uint32_t undecided = 0;
};

class CallSieve {
 public:
  static constexpr size_t kMaxDepth = 1 << 20;  // deeper calls are kept without looking at them

  // `rules` must outlive it. `amid`: the thread begins inside calls that it does not record, as after a fork: they may
  // be callers, and may have turned it on, so its calls are kept.
  CallSieve(const CallRules& rules, uint32_t process, bool amid = false)
      : rules_(rules), process_(process), amid_(amid), on_(amid || !rules.starts_off) {}

  // Adds the thread's next chunk.
  void add(std::span<const uint8_t> chunk);
  // The same, before the first chunk, with entries of calls that the thread starts out in (inherited_calls.h).
  void add_inherited(std::span<const uint8_t> chunk);
  // For recorders, before the first chunk: calls that the thread starts out in, outermost first, since `ticks`.
  void inherit(std::span<const uint64_t> pcs, uint64_t ticks);
  std::vector<uint64_t> open_calls() const;  // of the running stack, kept or not, outermost first
  // Whether calls entered from here on belong to a wanted thread; others are left out without being counted.
  void want(bool wanted) { wanted_ = wanted; }
  // Events are missing here: the length of open calls is unknown, so they are kept.
  void lose() { keep_all(); }
  // No more chunks will come.
  void finish() { end_all(); }
  // No chunk may come for long: if no call is open, frees memory that can be rebuilt.
  void rest();
  // There is no room for open calls, and for functions seen: these calls are no longer known.
  void forget();
  size_t bytes() const;  // memory held between chunks
  // The thread has recorded nothing until `time`: open calls that are long enough by then are kept. For live observers.
  void wait_until(uint64_t time);
  bool ended() const { return ended_; }  // the range or the recording has: nothing more will be kept

  // Whether the first chunk added is fully decided; take() removes it.
  bool ready() const { return !chunks_.empty() && chunks_.front().undecided == 0; }
  SiftedChunk take();
  // Of the chunks added and not taken, by number: the decision, or null as long as something is undecided.
  const SiftedChunk* decided(size_t number) const {
    return chunks_[number].undecided == 0 ? &chunks_[number] : nullptr;
  }

  uint64_t calls_left_out() const { return calls_left_out_; }  // by rules about calls
  uint64_t calls_switched_out() const { return calls_switched_out_; }
  uint64_t events_left_out() const {
    return events_left_out_;
  }  // by the range; a call counts as its entry and its exit

 private:
  // State of an open call. Undecided ones wait for their length (min_ticks), for what they lead to (only_paths), or for
  // the range.
  enum class State : uint8_t { kOut, kUndecided, kKept };
  struct Place {  // of an entry
    uint64_t chunk = 0;
    uint32_t offset = 0;  // of its record; or kOpened + index of SiftedChunk::opened
  };
  static constexpr uint32_t kOpened = 1u << 31, kNowhere = UINT32_MAX;
  struct Open {
    uint64_t pc, begin;
    Place place;
    uint32_t function;                       // index of functions_
    uint32_t level;                          // kept calls around it, plus itself
    uint32_t limit;                          // on levels of calls inside, from the innermost function with a depth
    uint64_t min_ticks, recorded_min_ticks;  // likewise: for it, and for calls inside
    bool inside;                             // a caller
    bool hidden;                             // or inside a hidden one
    bool target, led;                        // target: as in FunctionTraits; led: something inside is kept
    State state;
    bool inherited;   // began before the fork of its process
    bool has_values;  // undecided, and values_ has some of its records
  };
  struct Values {  // a VALUES record of an undecided call
    size_t at;     // of the call, in stack_
    Place place;
  };
  struct Function {
    FunctionTraits traits;
    uint64_t epoch;
    uint32_t open;  // its open calls on all stacks
  };

  void call(const Record& record, size_t offset);
  void enter(uint64_t pc, size_t offset);
  void leave(uint64_t pc, size_t offset);
  bool is_old(const Open& open) const {
    return now_ - open.begin >= open.min_ticks && now_ - open.begin >= open.recorded_min_ticks;
  }
  bool is_long(const Open& open) const;
  static bool has_limit(const Open& open) { return open.min_ticks != 0 || open.recorded_min_ticks != 0; }
  void limit(Open& open, const FunctionTraits& traits) const;
  // What it waits for inside, if anything, has come.
  bool leads(const Open& open) const { return !rules_.only_paths || open.target || open.led; }
  void decide(Open& open) { is_long(open) && leads(open) ? keep(open) : drop(open); }
  void end(size_t at, size_t offset);
  void pop_to(size_t at);
  void stray_exit(const Function& function, size_t offset);
  void other(const Record& record, size_t offset);
  void jump(const penna_jump& jump);
  void values(size_t offset);
  void decide_values(Open& open, bool stay);
  Function& function_of(uint64_t pc, uint32_t* index);
  void ask(Function& function, uint64_t pc) const;
  uint64_t epoch() const { return rules_.epoch + (rules_.changes ? rules_.changes->number(now_) : 0); }
  bool keeps(const FunctionTraits& traits, bool inside, uint32_t level, uint32_t limit) const;
  void pass(const Record& record, size_t offset);  // out of the range
  void reach(uint64_t time) {
    if (!begun_ && !ended_ && time >= rules_.begin) [[unlikely]]
      begin_range();
    if (!ended_ && (time >= rules_.end || time > finish_)) [[unlikely]]
      end_range();
  }
  void begin_range();
  void end_range();
  void keep_all();    // undecided calls
  void keep_older();  // undecided calls that are long enough
  void end_all();     // nothing more will come that could decide
  void keep(Open& open);
  void settle(Open& open);
  void lead_to(size_t at);
  void lead_to_open();
  void drop(Open& open);
  SiftedChunk& chunk_of(const Place& place) { return chunks_[place.chunk - first_chunk_]; }

  const CallRules& rules_;
  uint32_t process_;
  bool amid_;
  uint64_t now_ = 0;  // never decreases, like the time of an event (model/events/event_cursor.h)
  bool on_;
  bool wanted_ = true;
  bool inherits_ = false;  // what is added was entered earlier than its time says
  bool begun_ = false, ended_ = false;
  uint64_t finish_ = std::numeric_limits<uint64_t>::max();  // when a function ended the recording (CallRules::finishes)
  std::vector<Open> stack_;                                 // the running one
  CallStacks<Open> stacks_;                                 // the others: nothing on them is undecided
  size_t decided_ = 0;                                      // of stack_: none before it is undecided
  std::vector<Values> values_;
  uint64_t beyond_ = 0;
  std::vector<Function> functions_;
  NumberMap<uint32_t> indices_;  // of functions_, by pc
  struct Recent {
    uint64_t pc = 0;
    uint32_t function = std::numeric_limits<uint32_t>::max();
  };
  static constexpr size_t kRecent = 64;
  std::array<Recent, kRecent> recent_;  // cache for indices_: most calls are of few functions
  std::deque<SiftedChunk> chunks_;
  uint64_t first_chunk_ = 0;
  SiftedChunk* chunk_ = nullptr;  // the last of chunks_, while it is being added
  uint64_t chunk_number_ = 0;
  uint64_t calls_left_out_ = 0, calls_switched_out_ = 0, events_left_out_ = 0;
};

}  // namespace penna
