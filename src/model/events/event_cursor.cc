// SPDX-License-Identifier: MIT
// See event_cursor.h. Here: what happens once per chunk.
#include "model/events/event_cursor.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "model/events/block_records.h"

namespace penna {
namespace {

// What the records from here on first say about a heap block; nothing: none does.
std::optional<BlockRecord> next_block(RecordCursor records) {
  Record record;
  while (records.next(record))
    if (const BlockRecord block = read_heap_block(record); block.action != BlockAction::kNone) return block;
  return {};
}

bool is_free_by_realloc(const Record& record) {
  const bool is_free = record.kind == PENNA_KIND_FREE || record.kind == PENNA_KIND_FREE_STACK;
  return is_free && record.as<penna_free>().address_family >> 56 == PENNA_FAMILY_REALLOC;
}

bool holds_calls(RecordCursor records) {
  Record record;
  while (records.next(record))
    if (record.is_call()) return true;
  return false;
}

// Whether the range begins after the fork: the calls that the thread inherited are open there.
bool is_forked_before_range(const Recording& recording, uint32_t thread) {
  const InheritedCalls::Of* calls = recording.inherited_calls().of(thread);
  return calls != nullptr && calls->ticks < call_rules(recording)->begin;
}

}  // namespace

bool EventFilter::wants_thread(const Recording& recording, uint32_t index) const {
  return (thread == kNoIndex || thread == index) &&
         (process == kNoIndex || process == recording.threads()[index].process) &&
         (all_threads || takes_thread(recording, index));
}

ThreadCursor::ThreadCursor(const Recording& recording, uint32_t thread, const EventFilter& filter,
                           std::shared_ptr<Unpackers> unpackers)
    : recording_(recording),
      process_(recording.threads()[thread].process),
      thread_(thread),
      filter_(filter),
      refs_(recording.chunks(thread)),
      unpackers_(std::move(unpackers)),
      records_({}) {
  for (Event& event : batch_) {
    event.process = process_;
    event.thread = thread_;
  }
  if (auto conditions = point_conditions(recording)) selection_ = std::make_unique<PointSelection>(conditions);
  const CallRules* rules = call_rules(recording);
  if (filter_.past) filter_.end = std::min(filter_.end, rules == nullptr ? 0 : rules->begin);
  const bool has_calls = (filter_.classes & kCallEvents) != 0 && !refs_.empty();
  if (has_calls && (rules == nullptr || filter_.past)) inherited_ = inherited_chunks(recording, thread);
  if (rules == nullptr || filter_.past) return;
  // Whether a call is kept depends on all calls before it, wanted or not.
  if (has_calls) {
    sifted_ = std::make_unique<SiftedChunks>(recording, thread, *rules);
  } else {
    filter_.begin = std::max(filter_.begin, rules->begin);
    filter_.end = std::min(filter_.end, rules->end);
  }
}

bool ThreadCursor::next_batch() {
  event_ = end_ = batch_.data();
  do {
    if (in_chunk_) take_batch();
  } while (event_ == end_ && next_chunk());
  return event_ != end_;
}

// Up to kBatch events of the chunk.
[[gnu::flatten]] void ThreadCursor::take_batch() {
  Event* event = batch_.data();
  const Event* const full = event + kBatch;
  while (event != full && records_.next(event->record)) {
    const Record& record = event->record;
    time_ = std::max(time_, record.time);
    if (!passes(record)) continue;
    event->time = time_;
    event->after_loss = std::exchange(after_loss_, false);
    event->undone = is_free_by_realloc(record) && is_taken_back(record);
    event->inherited = inherited_now_;
    ++event;
    if (takes_runs_ && record.is_call()) break;
  }
  end_ = event;
}

[[gnu::noinline]] bool ThreadCursor::is_selected(const Record& record) const {
  const uint32_t id = record.as<penna_point>().site;
  if (!selection_->knows(id))
    if (const Site* site = recording_.site(process_, id)) selection_->add(*site);
  return selection_->keeps(thread_, record);
}

// A realloc reports at once that the block is freed, and if it fails, that it is not. If the chunk ends in between, the
// next chunk says so; for sifted chunks the next one is not known.
[[gnu::noinline]] bool ThreadCursor::is_taken_back(const Record& free) const {
  std::optional<BlockRecord> next = next_block(records_);
  for (size_t i = at_; !next && sifted_ == nullptr && i < refs_.size(); ++i) {
    if (refs_[i].events[PENNA_ALLOC] == 0) continue;
    std::vector<uint8_t> bytes;
    if (recording_.read_chunk(refs_[i], bytes)) next = next_block(RecordCursor(bytes));
    break;
  }
  return next && next->action == BlockAction::kKept && next->address == read_heap_block(free).address;
}

uint64_t ThreadCursor::earliest() const {
  uint64_t first = refs_.empty() ? 0 : refs_.front().time_begin;
  const bool may_inherit = sifted_ != nullptr || !inherited_.empty();
  if (const auto* of = may_inherit ? recording_.inherited_calls().of(thread_) : nullptr)
    first = std::min(first, of->ticks);
  if (sifted_) return std::max({first, filter_.begin, call_rules(recording_)->begin});
  if (!inherited_.empty()) return std::max(first, filter_.begin);
  for (const ChunkRef& ref : refs_)
    if (wanted(ref)) return std::max(ref.time_begin, filter_.begin);
  return UINT64_MAX;
}

bool ThreadCursor::has_more() const {
  if (sifted_ || !inherited_.empty()) return true;
  return std::any_of(refs_.begin(), refs_.end(), [this](const ChunkRef& ref) { return wanted(ref); });
}

// Chunks without events of the wanted classes are not read. ChunkRef does not count records that are no events.
bool ThreadCursor::wanted(const ChunkRef& ref) const {
  if (ref.time_end < filter_.begin || ref.time_begin >= filter_.end) return false;
  if (filter_.classes & kOtherRecords) return true;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((filter_.classes >> i & 1) && ref.events[i] != 0) return true;
  return false;
}

bool ThreadCursor::next_chunk() {
  close_chunk();
  if (inherited_now_ && !inherited_.empty()) return open_inherited();
  inherited_now_ = false;
  if (!waiting_.empty()) {
    bytes_.swap(waiting_);
    waiting_.clear();
    records_ = RecordCursor(bytes_);
    in_chunk_ = true;
    in_range_ = waiting_in_range_;
    return true;
  }
  if (!(sifted_ ? next_sifted() : next_own())) return false;
  // Calls that were open at the beginning come before the first chunk with calls, which waits for them; those that were
  // open at the beginning of a range, before its first chunk.
  if (inherited_.empty()) return true;
  if (!(sifted_ && is_forked_before_range(recording_, thread_)) && !holds_calls(records_)) return true;
  waiting_.swap(bytes_);
  waiting_in_range_ = in_range_;
  return open_inherited();
}

bool ThreadCursor::next_own() {
  while (at_ < refs_.size()) {
    const ChunkRef& ref = refs_[at_++];
    // Also for unwanted chunks: a gap in the numbers is a lost chunk.
    after_loss_ |= ref.sequence > last_sequence_ + 1;
    last_sequence_ = ref.sequence;
    if (!wanted(ref)) continue;
    if (auto done = read(ref); !done) {
      if (unreadable_++ == 0) first_error_ = done.error().text;
      after_loss_ = true;
      continue;
    }
    records_ = RecordCursor(bytes_);
    // The count continues from chunk to chunk: a change means a loss since the last chunk read.
    after_loss_ |= records_.header().events_discarded != discarded_;
    discarded_ = records_.header().events_discarded;
    in_chunk_ = true;
    ++chunks_;
    in_range_ = ref.time_begin >= filter_.begin && std::max(ref.time_end, time_) < filter_.end;
    return true;
  }
  return false;
}

// The first chunks are read on this thread only: looking at the beginning needs no more, and a short thread is soon
// done.
Result<> ThreadCursor::read(const ChunkRef& ref) {
  constexpr uint64_t kAlone = 4;
  constexpr size_t kWorthThreads = 16;
  if (unpackers_ != nullptr && chunks_ == kAlone && feed_ == nullptr) {
    std::vector<ChunkRef> left{ref};
    std::copy_if(refs_.begin() + static_cast<std::ptrdiff_t>(at_), refs_.end(), std::back_inserter(left),
                 [this](const ChunkRef& one) { return wanted(one); });
    if (left.size() >= kWorthThreads) feed_ = std::make_unique<ChunkFeed>(recording_, std::move(left), unpackers_);
  }
  return feed_ ? feed_->next(bytes_) : recording_.read_chunk(ref, bytes_);
}

bool ThreadCursor::next_sifted() {
  bool inherited = false, more = false;
  while ((more = sifted_->next(bytes_, inherited)) && inherited) inherited_.push_back(std::move(bytes_));
  chunks_ = sifted_->chunks();
  unreadable_ = sifted_->unreadable();
  first_error_ = sifted_->first_error();
  if (!more) return false;
  records_ = RecordCursor(bytes_);
  in_chunk_ = true;
  in_range_ = filter_.begin == 0 && filter_.end == UINT64_MAX;
  return true;
}

bool ThreadCursor::open_inherited() {
  bytes_ = std::move(inherited_.front());
  inherited_.pop_front();
  records_ = RecordCursor(bytes_);
  inherited_now_ = in_chunk_ = true;
  in_range_ = false;  // check each event
  return true;
}

void ThreadCursor::close_chunk() {
  if (!in_chunk_) return;
  in_chunk_ = false;
  torn_ += records_.torn();
  holes_ += records_.holes();
  damaged_ += records_.damaged();
}

}  // namespace penna
