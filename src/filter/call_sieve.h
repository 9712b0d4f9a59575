// SPDX-License-Identifier: MIT
// CallSieve: which calls of a thread are kept, by function, by what is around them, by depth, length and time.
//
// Why chunk by chunk: recorder and readers ask the same class, each in front of everything else, and nobody who sees
// events knows of filters. docs/filters.md says what each rule means.
// Invariant: a call is kept or left out with its entry and its exit. The same records in the same order get the same
// answers; and what is left of a recording, asked again with the same rules, stays.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "filter/chunk_cut.h"
#include "recording/call_stacks.h"
#include "recording/records.h"
#include "recording/types.h"

namespace penna {

// What the rules say of a function. Several may hold at once; CallSieve says which of them wins.
struct FunctionTraits {
  bool chosen = true;     // by name, module and source file
  bool caller = false;    // calls inside are kept
  bool on = false;        // at its entry its thread begins to be kept,
  bool off = false;       // or is no longer
  bool snapshot = false;  // what came before it is wanted (collect/flight_recorder.h)
  bool lasting = true;    // false: another function may have this address at another time
  bool placed = true;     // false: its module is not known (yet)
  bool hidden = false;    // it and all that it calls is left out, and turns nothing on or off
  bool target = false;    // of CallRules::only_paths
  bool finish = false;    // the recording ends where it is entered
  // Inside a call of it, that call included, these hold instead of CallRules'. kUnset: what holds around it.
  static constexpr uint32_t kUnset = std::numeric_limits<uint32_t>::max();
  static constexpr uint64_t kUnsetTicks = std::numeric_limits<uint64_t>::max();
  uint32_t depth = kUnset;
  uint64_t min_ticks = kUnsetTicks, recorded_min_ticks = kUnsetTicks;
};

// What is kept. One object for all threads of a recording; whoever asks is one thread at a time.
struct CallRules {
  // The function at an address; empty: all are chosen. Asked once for each function of a thread, or as `epoch` says.
  std::function<FunctionTraits(uint32_t process, uint64_t pc, uint64_t ticks)> ask;
  // A module of a process; true when it is new, so that functions are to be asked for again. For who records.
  std::function<bool(uint32_t process, const Module& module)> learn;
  // What no function met, as options of the command line.
  std::function<std::vector<std::string>()> unmet;
  bool inside_callers = false;  // keep only calls inside a `caller`, it included
  bool starts_off = false;      // threads are not kept until a function turns them `on`
  bool only_paths = false;  // of calls that all else keeps, those of a `target`, and those that lead to one of these
  uint32_t depth = std::numeric_limits<uint32_t>::max();
  uint64_t min_ticks = 0;           // of a call from entry to exit
  uint64_t recorded_min_ticks = 0;  // what the recording was made with; both hold
  uint64_t begin = 0;               // ticks, [begin, end): of all records, calls or not
  uint64_t end = std::numeric_limits<uint64_t>::max();
  // For who cannot see the next chunk, and has no exact clock: `min_ticks`, `begin` and `end` are bounds that the exact
  // ones lie within, and what only a later chunk would decide stays. Read with the exact rules, the outcome is exact.
  bool rough = false;
  // Rough only: `end` at the earliest. What ends later may be cut off there, so its length is not known.
  uint64_t earliest_end = std::numeric_limits<uint64_t>::max();
  // A function ends the recording (FunctionTraits::finish): who knows already when it was entered says so by `end`,
  // too. Calls that are open there have no end.
  bool finishes = false;
  uint64_t epoch = 0;  // growing: functions that were asked for are asked for again

  bool has_range() const { return begin != 0 || end != std::numeric_limits<uint64_t>::max(); }
  bool concerns_calls() const {
    return ask || inside_callers || starts_off || only_paths || min_ticks != 0 || recorded_min_ticks != 0 ||
           depth != std::numeric_limits<uint32_t>::max();
  }
  bool any() const { return concerns_calls() || has_range(); }
};

// What is decided of one chunk.
struct SiftedChunk {
  ChunkCut cut;
  std::vector<uint64_t> opened;  // pcs of calls that are kept from `begin` on, outermost first: in front of the chunk
  std::vector<uint64_t> closed;  // of calls that are cut off at `end`, innermost first: behind it
  std::vector<bool> opened_out;  // by index of `opened`: left out after all
  uint32_t undecided = 0;
};

class CallSieve {
 public:
  static constexpr size_t kMaxDepth = 1 << 20;  // calls further in are kept, and not looked at

  // `rules` must outlive it. `amid`: the thread begins amid calls that nobody tells here, as after a fork: they may be
  // callers, and may have turned it on, so its calls are kept.
  CallSieve(const CallRules& rules, uint32_t process, bool amid = false)
      : rules_(rules), process_(process), amid_(amid), on_(amid || !rules.starts_off) {}

  // The next chunk of the thread.
  void add(std::span<const uint8_t> chunk);
  // For who records, in front of the first: calls that the thread goes on in, outermost first, since then.
  void inherit(std::span<const uint64_t> pcs, uint64_t ticks);
  std::vector<uint64_t> open_calls() const;  // of the running stack, kept or not, outermost first
  // Whether calls that are entered from here on are of a thread that is wanted; the others are left out, and not
  // counted.
  void want(bool wanted) { wanted_ = wanted; }
  // Events are missing here: of calls that are open nobody knows how long they are, so they are kept.
  void lose() { keep_all(); }
  // No chunk will come any more.
  void finish() { end_all(); }
  // No chunk may come for long: gives memory back that can be had again, when no call is open.
  void rest();
  // There is no room for what is open, and for functions that were met: of these calls it is not known any more that
  // they were.
  void forget();
  size_t bytes() const;  // of memory that it holds between chunks
  // The thread has told nothing until `time`: open calls that are long enough by then are kept. For who looks on.
  void wait_until(uint64_t time);
  bool ended() const { return ended_; }  // the range or the recording: nothing will be kept any more

  // Whether all is decided of the chunk that was added first; takes it out.
  bool ready() const { return !chunks_.empty() && chunks_.front().undecided == 0; }
  SiftedChunk take();
  // Of those that were added and not taken, by number: what stands, or null as long as something is undecided.
  const SiftedChunk* decided(size_t number) const {
    return chunks_[number].undecided == 0 ? &chunks_[number] : nullptr;
  }

  uint64_t calls_left_out() const { return calls_left_out_; }  // by rules about calls
  uint64_t events_left_out() const {
    return events_left_out_;
  }  // by the range; a call counts as its entry and its exit

 private:
  // Of an open call. Undecided ones wait for their length (min_ticks), for what they lead to
  // (only_paths), or for the range.
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
    uint32_t level;                          // kept calls around it, itself included
    uint32_t limit;                          // of levels of calls inside, as the innermost function with a depth says
    uint64_t min_ticks, recorded_min_ticks;  // likewise: of it, and of calls inside
    bool inside;                             // of a caller
    bool hidden;                             // or inside of one that is
    bool target, led;                        // as FunctionTraits; and: what is inside is kept
    State state;
    bool has_values;  // undecided, and values_ holds some of it
  };
  struct Values {  // a VALUES record of an undecided call
    size_t at;     // of the call, in stack_
    Place place;
  };
  struct Function {
    FunctionTraits traits;
    uint64_t epoch;
    uint32_t open;  // calls of it on all stacks
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
  // What it waits for inside, if anything, is there.
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
  void end_all();     // nothing will come that could decide
  void keep(Open& open);
  void settle(Open& open);
  void lead_to(size_t at);
  void lead_to_open();
  void drop(Open& open);
  SiftedChunk& chunk_of(const Place& place) { return chunks_[place.chunk - first_chunk_]; }

  const CallRules& rules_;
  uint32_t process_;
  bool amid_;
  uint64_t now_ = 0;  // never decreases, as the time of an event (model/events/event_cursor.h)
  bool on_;
  bool wanted_ = true;
  bool begun_ = false, ended_ = false;
  uint64_t finish_ =
      std::numeric_limits<uint64_t>::max();  // when a function has ended the recording (CallRules::finishes)
  std::vector<Open> stack_;                  // the running one
  CallStacks<Open> stacks_;                  // the others: nothing on them is undecided
  size_t decided_ = 0;                       // of stack_: none in front is undecided
  std::vector<Values> values_;
  uint64_t beyond_ = 0;
  std::vector<Function> functions_;
  NumberMap<uint32_t> indices_;  // of functions_, by pc
  struct Recent {
    uint64_t pc = 0;
    uint32_t function = std::numeric_limits<uint32_t>::max();
  };
  static constexpr size_t kRecent = 64;
  std::array<Recent, kRecent> recent_;  // in front of indices_: most calls are of few functions
  std::deque<SiftedChunk> chunks_;
  uint64_t first_chunk_ = 0;
  SiftedChunk* chunk_ = nullptr;  // the last of chunks_, while it is added
  uint64_t chunk_number_ = 0;
  uint64_t calls_left_out_ = 0, events_left_out_ = 0;
};

}  // namespace penna
