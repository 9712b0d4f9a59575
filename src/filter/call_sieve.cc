// SPDX-License-Identifier: MIT
// See call_sieve.h.
#include "filter/call_sieve.h"

#include <algorithm>
#include <utility>

#include "recording/call_records.h"

#include "base/free_memory.h"

namespace penna {

// One pass over the records; most are decided at once. What is decided later goes into the cut of its chunk, which
// waits in chunks_.
void CallSieve::add(std::span<const uint8_t> chunk) {
  chunk_ = &chunks_.emplace_back();
  chunk_number_ = first_chunk_ + chunks_.size() - 1;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    // Clocks of two processors may differ slightly: time never goes back.
    now_ = std::max(now_, record.time);
    // Offset of the record's first word: its header precedes the payload.
    const size_t offset = static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t);
    reach(now_);
    if (ended_) [[unlikely]] {
      pass(record, offset);
      continue;
    }
    if (record.is_call()) {
      call(record, offset);
    } else {
      other(record, offset);
    }
  }
  // What was left out may have been the last the thread did; the chunk still says when it was handed over.
  reach(std::max(now_, in.header().time_end));
  // A recorder cannot wait for the next chunk, so what is undecided is kept. Readers can wait.
  rules_.rough ? keep_all() : keep_older();
}

void CallSieve::add_inherited(std::span<const uint8_t> chunk) {
  inherits_ = true;
  add(chunk);
  inherits_ = false;
}

// The calls become chunks of entries, as a thread would write them, and are decided at once.
void CallSieve::inherit(std::span<const uint64_t> pcs, uint64_t ticks) {
  std::deque<std::vector<uint8_t>> chunks;
  append_calls(PENNA_KIND_CALL_ENTRY, ticks, pcs, {}, chunks);
  for (const std::vector<uint8_t>& chunk : chunks) {
    const uint64_t left_out = calls_left_out_;
    add_inherited(chunk);
    calls_left_out_ = left_out;  // they are not this thread's
    keep_all();
    (void)take();
  }
}

std::vector<uint64_t> CallSieve::open_calls() const {
  std::vector<uint64_t> pcs(stack_.size());
  std::transform(stack_.begin(), stack_.end(), pcs.begin(), [](const Open& open) { return open.pc; });
  return pcs;
}

SiftedChunk CallSieve::take() {
  SiftedChunk sifted = std::move(chunks_.front());
  chunks_.pop_front();
  ++first_chunk_;
  return sifted;
}

// With nothing open, functions can be asked about again: the cache only saves time.
void CallSieve::rest() {
  if (stack_.empty() && !stacks_.has_waiting()) forget();
}

void CallSieve::forget() {
  keep_all();
  free_memory(stack_);
  stacks_ = {};
  decided_ = 0;
  beyond_ = 0;
  free_memory(values_);
  free_memory(functions_);
  free_memory(indices_);
  recent_ = {};
}

// Allocated memory, used or not: capacities, and a map's buckets.
size_t CallSieve::bytes() const {
  return stack_.capacity() * sizeof(Open) + stacks_.bytes() + values_.capacity() * sizeof(Values) +
         functions_.capacity() * sizeof(Function) + indices_.bucket_count() * sizeof(std::pair<uint64_t, uint64_t>);
}

// Leaves out what lies outside of the range. A recorder keeps descriptions: names and sites are needed whenever they
// were recorded.
void CallSieve::pass(const Record& record, size_t offset) {
  const bool is_event = classify(record.kind) != PENNA_NO_CLASS;
  if (rules_.rough && !is_event) return;
  chunk_->cut.leave_out(offset);
  events_left_out_ += is_event;
}

void CallSieve::other(const Record& record, size_t offset) {
  if (!begun_) pass(record, offset);
  if (record.kind == PENNA_KIND_JUMP) jump(record.as<penna_jump>());
  if (record.kind == PENNA_KIND_VALUES && (begun_ || rules_.rough)) values(offset);
  if (record.kind == PENNA_KIND_LOST && record.as<penna_lost>().count[PENNA_CALLS] != 0) lose();
}

inline void CallSieve::call(const Record& record, size_t offset) {
  const bool is_entry = record.kind == PENNA_KIND_CALL_ENTRY;
  // Recorders keep entries before the range until they see an exit there: a call may reach into it.
  if (!begun_ && !rules_.rough) pass(record, offset);
  if (is_entry) {
    enter(record.pc, offset);
  } else {
    leave(record.pc, offset);
  }
}

// Whether a call is kept, regardless of its length and what it leads to.
inline bool CallSieve::keeps(const FunctionTraits& traits, bool inside, uint32_t level, uint32_t limit) const {
  return on_ && wanted_ && inside && traits.chosen && level < limit;
}

// Limits of length set by a function (FUNC@time). Depth is certain at once. A reader of the recording judges lengths
// again, and sees only calls that were kept: so a limit must not come from a call that is not.
inline void CallSieve::limit(Open& open, const FunctionTraits& traits) const {
  if (traits.recorded_min_ticks != FunctionTraits::kUnsetTicks) open.recorded_min_ticks = traits.recorded_min_ticks;
  if (traits.min_ticks != FunctionTraits::kUnsetTicks &&
      keeps(traits, open.inside && !open.hidden, open.level, open.limit))
    open.min_ticks = traits.min_ticks;
}

// Three steps, from cheap to expensive: a small table by address, a map, the rules (which may look up symbols). Their
// answers hold as long as the address means one function (lasting) and no module was added (epoch).
inline CallSieve::Function& CallSieve::function_of(uint64_t pc, uint32_t* index) {
  Recent& recent = recent_[pc / 16 % kRecent];
  bool added = false;
  if (recent.pc != pc || recent.function >= functions_.size()) {
    const auto [found, is_new] = indices_.try_emplace(pc, static_cast<uint32_t>(functions_.size()));
    added = is_new;
    if (added) functions_.push_back({});
    recent = {pc, found->second};
  }
  *index = recent.function;
  Function& function = functions_[recent.function];
  if ((rules_.ask || rules_.changes) && (added || !function.traits.lasting || function.epoch != epoch()))
    ask(function, pc);
  return function;
}

void CallSieve::ask(Function& function, uint64_t pc) const {
  function.traits = rules_.ask ? rules_.ask(process_, pc, now_) : FunctionTraits();
  function.epoch = epoch();
  if (!rules_.changes) return;
  const ChosenFunctions::Answer answer = rules_.changes->function(process_, pc, now_);
  function.traits.dropped = !answer.chosen;
  function.traits.lasting &= answer.lasting;
}

inline void CallSieve::enter(uint64_t pc, size_t offset) {
  // Deeper calls are only counted, so that their exits can be recognised.
  if (stack_.size() >= kMaxDepth) {
    ++beyond_;
    return;
  }
  Open open{};
  Function& function = function_of(pc, &open.function);
  const FunctionTraits& traits = function.traits;
  const Open* outer = stack_.empty() ? nullptr : &stack_.back();
  // Hidden functions, and everything inside them, turn nothing on or off.
  open.hidden = traits.hidden || (outer != nullptr && outer->hidden);
  if (traits.on && !open.hidden) on_ = true;
  if (traits.off && !open.hidden) on_ = false;
  open.pc = pc;
  open.begin = now_;
  // The settings inside a call are inherited from the surrounding one; each function may change them.
  open.inside = !rules_.inside_callers || traits.caller || (outer != nullptr ? outer->inside : amid_);
  open.level = outer != nullptr ? outer->level : 0;
  open.limit = outer != nullptr ? outer->limit : rules_.depth;
  if (traits.depth != FunctionTraits::kUnset && !open.hidden)
    open.limit = open.level + std::min(traits.depth, std::numeric_limits<uint32_t>::max() - open.level);
  open.min_ticks = outer != nullptr ? outer->min_ticks : rules_.min_ticks;
  open.recorded_min_ticks = outer != nullptr ? outer->recorded_min_ticks : rules_.recorded_min_ticks;
  limit(open, traits);
  open.target = traits.target;
  open.inherited = inherits_;
  // Before the range there is no record to keep: the call may be opened at the range's beginning.
  open.place = {chunk_number_, begun_ || rules_.rough ? static_cast<uint32_t>(offset) : kNowhere};
  ++function.open;
  const bool is_off = rules_.switches && !inherits_ && rules_.switches->is_off(PENNA_CALLS, now_);
  const bool is_dropped = is_off || (traits.dropped && !inherits_);
  if (!is_dropped && keeps(traits, open.inside && !open.hidden, open.level, open.limit)) {
    ++open.level;
    const bool waits = has_limit(open) || (rules_.rough && !begun_) || !leads(open);
    open.state = waits ? State::kUndecided : State::kKept;
    chunk_->undecided += open.state == State::kUndecided && open.place.offset != kNowhere;
  } else {
    open.state = State::kOut;
    if (open.place.offset != kNowhere) {
      chunk_->cut.leave_out(offset);
      (is_off ? calls_switched_out_ : calls_left_out_) += wanted_;
    }
  }
  stack_.push_back(open);
  if (open.state == State::kKept) lead_to(stack_.size() - 1);
  if (traits.finish && rules_.finishes) finish_ = std::min(finish_, now_);
}

inline void CallSieve::leave(uint64_t pc, size_t offset) {
  if (beyond_ != 0) {
    --beyond_;
    return;
  }
  size_t at = stack_.size();
  // The usual case. Otherwise the calls above were left without an exit (an exception, longjmp), or this exit has no
  // entry.
  if (at != 0 && stack_.back().pc == pc) [[likely]] {
    --at;
    if (stack_.back().state == State::kOut) {
      if (begun_ || rules_.rough) chunk_->cut.leave_out(offset);
      return pop_to(at);
    }
  } else {
    uint32_t index;
    const Function& function = function_of(pc, &index);
    // Only then is a search through the stack worthwhile.
    if (function.open != 0)
      while (at != 0 && stack_[at - 1].pc != pc) --at;
    if (function.open == 0 || at-- == 0) return stray_exit(function, offset);
  }
  end(at, offset);
  pop_to(at);
}

inline void CallSieve::pop_to(size_t at) {
  for (size_t i = at; i < stack_.size(); ++i) --functions_[stack_[i].function].open;
  stack_.resize(at);
  decided_ = std::min(decided_, at);
  if (at != 0) return;
  stacks_.on_empty(stack_);
  decided_ = stack_.size();
}

// Calls that a jump leaves end there: their length is known, and readers see the jump, too. Calls on a stack that is
// left for another (coroutines) continue at an unknown time: they are kept.
void CallSieve::jump(const penna_jump& jump) {
  switch (jump.what) {
    case PENNA_JUMP_SAVE: return stacks_.save(jump.buffer, stack_.size());
    case PENNA_JUMP_MAKE: return stacks_.make(jump.buffer, jump.other);
    case PENNA_JUMP_SWITCH:
      keep_all();
      stacks_.suspend(jump.other, stack_);
      break;
    case PENNA_JUMP_GO: break;
    default: return;
  }
  if (const auto depth = stacks_.saved_depth(jump.buffer)) {
    while (stack_.size() > *depth) {
      Open& open = stack_.back();
      decide(open);
      --functions_[open.function].open;
      stack_.pop_back();
    }
  } else {
    keep_all();
    stacks_.resume(jump.buffer, stack_);
    decided_ = stack_.size();
  }
  decided_ = std::min(decided_, stack_.size());
}

// Arguments and results belong to the innermost call, and share its fate.
void CallSieve::values(size_t offset) {
  if (stack_.empty() || beyond_ != 0) return;
  Open& open = stack_.back();
  if (open.state == State::kOut) chunk_->cut.leave_out(offset);
  if (open.state != State::kUndecided) return;
  open.has_values = true;
  values_.push_back({stack_.size() - 1, {chunk_number_, static_cast<uint32_t>(offset)}});
  ++chunk_->undecided;
}

void CallSieve::decide_values(Open& open, bool stay) {
  const auto at = static_cast<size_t>(&open - stack_.data());
  std::erase_if(values_, [&](const Values& one) {
    if (one.at != at) return false;
    SiftedChunk& chunk = chunk_of(one.place);
    --chunk.undecided;
    if (!stay) chunk.cut.leave_out(one.place.offset);
    return true;
  });
  open.has_values = false;
}

// What ends after the earliest end of the range may be cut there, so it counts as long.
bool CallSieve::is_long(const Open& open) const {
  return (is_old(open) || now_ >= rules_.earliest_end) && (begun_ || !rules_.rough);
}

// A call is left. If it is kept, so are calls inside it without exits. If it is left out, those inside lasted at most
// until now, and the ones that are kept end with it, as if each had been left: the single exit becomes theirs
// (ChunkCut::replace_exit).
inline void CallSieve::end(size_t at, size_t offset) {
  const State state = stack_[at].state;
  const bool stays = state == State::kKept || (state == State::kUndecided && is_long(stack_[at]));
  for (size_t i = stack_.size(); i-- > at;) {
    Open& open = stack_[i];
    (stays || is_long(open)) && leads(open) ? keep(open) : drop(open);
  }
  if (stack_[at].state == State::kKept || (!begun_ && !rules_.rough)) return;
  std::vector<uint64_t> ended;
  for (size_t i = stack_.size(); i-- > at + 1;)
    if (stack_[i].state == State::kKept) ended.push_back(stack_[i].pc);
  if (ended.empty()) {
    chunk_->cut.leave_out(offset);
  } else {
    chunk_->cut.replace_exit(offset, std::move(ended));
  }
}

// The exit of a function that is not open: judged like a call of it here.
void CallSieve::stray_exit(const Function& function, size_t offset) {
  const Open* outer = stack_.empty() ? nullptr : &stack_.back();
  const bool inside = (!rules_.inside_callers || (outer == nullptr ? amid_ : outer->inside)) &&
                      (outer == nullptr || !outer->hidden) && !function.traits.hidden;
  const uint32_t level = outer == nullptr ? 0 : outer->level, limit = outer == nullptr ? rules_.depth : outer->limit;
  if (begun_ && keeps(function.traits, inside, level, limit)) return;
  if (begun_ || rules_.rough) chunk_->cut.leave_out(offset);
}

void CallSieve::keep(Open& open) {
  if (open.state != State::kUndecided) return;
  settle(open);
  lead_to(static_cast<size_t>(&open - stack_.data()));
}

void CallSieve::settle(Open& open) {
  open.state = State::kKept;
  if (open.has_values) decide_values(open, true);
  if (open.place.offset != kNowhere) --chunk_of(open.place).undecided;
}

// The call at `at` is kept: the calls around it lead there, which with only_paths is what they waited for. What
// precedes the range leads nowhere. Stops at the first that is already led: so are all around it.
inline void CallSieve::lead_to(size_t at) {
  if (!rules_.only_paths || !begun_) return;
  while (at-- > 0 && !stack_[at].led) {
    Open& open = stack_[at];
    open.led = true;
    if (open.state == State::kUndecided && !has_limit(open)) settle(open);
  }
}

void CallSieve::drop(Open& open) {
  if (open.state != State::kUndecided) return;
  open.state = State::kOut;
  if (open.has_values) decide_values(open, false);
  if (open.place.offset == kNowhere) return;
  // Outside of the range it was not left out by the call rules: entry and exit are two events.
  begun_ ? ++calls_left_out_ : events_left_out_ += 2;
  SiftedChunk& chunk = chunk_of(open.place);
  --chunk.undecided;
  if (open.place.offset >= kOpened) {
    chunk.opened_out[open.place.offset - kOpened] = true;
  } else {
    chunk.cut.leave_out(open.place.offset);
  }
}

void CallSieve::keep_all() {
  for (; decided_ < stack_.size(); ++decided_) keep(stack_[decided_]);
}

// Keeps what is already long enough. Inner ones first: others may lead to them.
void CallSieve::keep_older() {
  for (size_t i = stack_.size(); i-- > decided_;)
    if (is_old(stack_[i]) && leads(stack_[i])) keep(stack_[i]);
  while (decided_ < stack_.size() && stack_[decided_].state != State::kUndecided) ++decided_;
}

// Nothing more will come that could decide. The length of such a call is unknown, so it counts as long; but it led
// nowhere.
void CallSieve::end_all() {
  for (size_t i = stack_.size(); i-- > decided_;) leads(stack_[i]) ? keep(stack_[i]) : drop(stack_[i]);
  decided_ = stack_.size();
}

void CallSieve::wait_until(uint64_t time) {
  const uint64_t now = now_;
  now_ = std::max(now_, time);
  keep_older();
  now_ = now;  // records with earlier times may follow
}

// Calls that reach into the range begin with it: entries for them are inserted before the chunk; those of undecided
// calls may be removed again.
void CallSieve::begin_range() {
  begun_ = true;
  if (rules_.rough) return lead_to_open();
  if (rules_.begin == 0) return;
  // Calls of suspended contexts continue at an unknown time: they are left out.
  stacks_.each_waiting([](Open& open) { open.state = State::kOut; });
  SiftedChunk& chunk = *chunk_;
  for (Open& open : stack_) {
    if (open.state == State::kOut) continue;
    open.place = {chunk_number_, kOpened + static_cast<uint32_t>(chunk.opened.size())};
    if (open.inherited) chunk.inherited = chunk.opened.size() + 1;  // they are the outermost
    chunk.opened.push_back(open.pc);
    chunk.opened_out.push_back(false);
    chunk.undecided += open.state == State::kUndecided;
  }
  lead_to_open();
}

// Calls that continue into the range also lead. A recorder may not know yet whether they are kept.
void CallSieve::lead_to_open() {
  for (size_t i = stack_.size(); i-- > 0;)
    if (stack_[i].state == State::kKept || (rules_.rough && stack_[i].state == State::kUndecided && stack_[i].target))
      lead_to(i);
}

// Calls that reach out of the range end with it, innermost first. But calls open where the recording ends have no end.
void CallSieve::end_range() {
  rules_.rough ? keep_all() : end_all();
  ended_ = true;
  if (rules_.rough || !begun_ || rules_.finishes) return;
  for (size_t i = stack_.size(); i-- > 0;)
    if (stack_[i].state == State::kKept) chunk_->closed.push_back(stack_[i].pc);
}

}  // namespace penna
