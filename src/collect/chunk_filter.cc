// SPDX-License-Identifier: MIT
// See chunk_filter.h.
#include "collect/chunk_filter.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/free_memory.h"
#include "recording/records.h"

namespace penna {

ChunkFilter::ChunkFilter(uint32_t process, std::shared_ptr<const std::vector<Where>> conditions, const CallRules* rules,
                         std::shared_ptr<Budget> budget, bool forked, std::shared_ptr<const ThreadChoice> wanted)
    : process_(process), forked_(forked), open_then_(budget), share_(std::move(budget)) {
  if (conditions && !conditions->empty()) points_.emplace(std::move(conditions));
  if (wanted) selection_.emplace(std::move(wanted));
  if (rules != nullptr) rules_ = *rules;
}

void ChunkFilter::inherit(std::vector<uint64_t> pcs, uint64_t ticks) {
  inherited_ = std::move(pcs);
  inherited_ticks_ = ticks;
  forked_ = false;
}

void ChunkFilter::end_at(uint64_t ticks) {
  rules_.end = std::min(rules_.end, ticks);
  rules_.earliest_end = std::min(rules_.earliest_end, ticks);
}

void ChunkFilter::set_changes(std::shared_ptr<const FilterChanges> changes) {
  if (changes->has_conditions() && !points_) points_.emplace(std::make_shared<const std::vector<Where>>());
  if (points_) points_->set_changes(changes);
  rules_.changes = std::move(changes);
}

void ChunkFilter::learn(const Module& module) {
  const bool is_new = rules_.learn && rules_.learn(process_, module);
  if ((rules_.changes && rules_.changes->learn(process_, module)) || is_new) ++rules_.epoch;
}

void ChunkFilter::learn(Site site) {
  if (points_) points_->add(std::move(site));
}

void ChunkFilter::learn(std::span<const uint8_t> chunk) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_SITE && points_) {
      if (auto site = decode_site(record)) learn(std::move(*site));
    } else if (record.kind == PENNA_KIND_MODULE && (rules_.learn || rules_.changes)) {
      if (const auto module = decode_module(record)) learn(*module);
    } else if (record.kind == PENNA_KIND_THREAD && selection_) {
      selection_->learn(record, in.header());
    }
  }
  weigh();
}

ChunkCut ChunkFilter::sift_calls(std::span<const uint8_t> chunk) {
  const penna_chunk header = header_of(chunk);
  auto& thread = share_.state_of(threads_, header.thread_serial)->second;
  const bool begins = thread == nullptr && header.thread_serial == 1 && header.sequence == 0;
  if (!thread)
    thread = std::make_unique<Thread>(
        Thread{CallSieve(rules_, process_, is_late_ || (forked_ && header.thread_serial == 1))});
  // It arrived after a later chunk: its calls are kept unchanged, because their surrounding calls are unknown.
  if (header.sequence < thread->next) return {};
  // One is missing: from here on it is unknown which calls are open.
  if (header.sequence != thread->next) thread->sieve.lose();
  // Only the order is trusted: a target that lies about its sequence only confuses its own filter.
  thread->next = header.sequence + 1;
  if (begins) thread->sieve.inherit(inherited_, inherited_ticks_);
  const bool wanted = is_wanted(header, *thread);
  thread->sieve.want(wanted);
  thread->sieve.add(chunk);
  if (header.time_end != 0) open_then_.note(header.thread_serial, header.time_end, thread->sieve.open_calls());
  // A chunk that is not full is probably the thread's last; there may be very many such threads.
  if (header.content_bits < uint64_t{PENNA_CHUNK_BYTES} * 6) thread->sieve.rest();
  ChunkCut cut = thread->sieve.take().cut;
  if (!wanted) leave_out_others(chunk, cut);
  if (!share_.weigh(thread->weight, sizeof(Thread) + thread->sieve.bytes())) thread->sieve.forget();
  return cut;
}

bool ChunkFilter::is_wanted(const penna_chunk& header, Thread& thread) {
  if (!selection_) return true;
  const bool is_meant = selection_->means(header);
  if (is_meant && thread.was_left_out && !std::exchange(thread.is_late, true)) ++late_threads_;
  return is_meant || (selection_->may_change() && header.sequence < kUndecidedChunks);
}

// Calls of unwanted threads that start here were removed already. Allocations and locks stay: readers pair those of all
// threads, because another thread may free a block, or hold the lock being waited for.
void ChunkFilter::leave_out_others(std::span<const uint8_t> chunk, ChunkCut& cut) {
  RecordCursor in(chunk);
  Record record;
  uint64_t count = 0;
  while (in.next(record)) {
    const size_t offset = static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t);
    const uint32_t what = classify(record.kind);
    if (what == PENNA_POINTS) cut.leave_out(offset);
    count += what != PENNA_CLASS_COUNT && cut.leaves_out(offset);
  }
  others_left_out_ += count;
  if (count != 0) threads_.at(in.header().thread_serial)->was_left_out = true;
}

void ChunkFilter::leave_out_switched(std::span<const uint8_t> chunk, ChunkCut& cut) {
  RecordCursor in(chunk);
  Record record;
  while (in.next(record)) {
    const size_t offset = static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t);
    if (!rules_.switches->leaves_out(record) || cut.leaves_out(offset)) continue;
    cut.leave_out(offset);
    ++switched_out_;
  }
}

void ChunkFilter::weigh() {
  if (points_ && !share_.weigh(weight_, points_->bytes())) points_->forget();
}

std::span<const uint8_t> ChunkFilter::apply(std::span<const uint8_t> chunk) {
  if (chunk.size() < sizeof(penna_chunk)) return chunk;
  const penna_chunk header = header_of(chunk);
  if (const auto ahead = ahead_.find(header.thread_serial);
      ahead != ahead_.end() && ahead->second.sequence <= header.sequence) {
    if (ahead->second.thread) (void)share_.weigh(ahead->second.thread->weight, 0);
    ahead_.erase(ahead);
  }
  return sift(chunk);
}

std::span<const uint8_t> ChunkFilter::sift(std::span<const uint8_t> chunk) {
  ChunkCut cut;
  if (has_rules()) cut = sift_calls(chunk);
  if (points_) points_left_out_ += points_->sift(chunk, cut);
  if (is_switched(PENNA_ALLOC) || is_switched(PENNA_LOCKS)) leave_out_switched(chunk, cut);
  weigh();
  // A chunk without an end time was still open; apply() then computes the times from what is left.
  if (!cut.changes() && header_of(chunk).time_end != 0) return chunk;
  cut.apply(chunk, left_);
  return left_;
}

std::span<const uint8_t> ChunkFilter::preview(std::span<const uint8_t> piece) {
  if (piece.size() < sizeof(penna_chunk)) return piece;
  const penna_chunk header = header_of(piece);
  const auto state = share_.state_of(threads_, header.thread_serial);
  Ahead& ahead = ahead_[state->first];
  PointSelection::OpenSpans spans;
  if (points_) spans = points_->open_spans(header.thread_serial);
  if (ahead.serial != header.thread_serial || ahead.sequence != header.sequence) {
    if (ahead.thread) (void)share_.weigh(ahead.thread->weight, 0);
    ahead = {header.thread_serial, header.sequence, nullptr, spans};
    if (state->second) ahead.thread = std::make_unique<Thread>(*state->second);
    if (ahead.thread) ahead.thread->weight = 0;
  } else if (ahead.thread) {
    ahead.thread->next = header.sequence;
  }
  if (points_) points_->set_open_spans(header.thread_serial, std::move(ahead.spans));
  const auto counts = std::tuple(points_left_out_, switched_out_, others_left_out_, late_threads_);
  // The thread's state after the last piece replaces its real one for the moment: the whole chunk will be filtered from
  // where the last whole one ended.
  std::swap(state->second, ahead.thread);
  const std::span<const uint8_t> left = sift(piece);
  std::swap(state->second, ahead.thread);
  std::tie(points_left_out_, switched_out_, others_left_out_, late_threads_) = counts;
  if (!points_) return left;
  ahead.spans = points_->open_spans(header.thread_serial);
  points_->set_open_spans(header.thread_serial, std::move(spans));
  return left;
}

bool ChunkFilter::is_next(const penna_chunk& header) const {
  if (!has_rules()) return true;
  const auto thread = threads_.find(header.thread_serial);
  return header.sequence <= (thread == threads_.end() || !thread->second ? 0 : thread->second->next);
}

uint64_t ChunkFilter::calls_left_out() const {
  uint64_t sum = 0;
  for (const auto& [serial, thread] : threads_) sum += thread ? thread->sieve.calls_left_out() : 0;
  return sum;
}

uint64_t ChunkFilter::switched_out() const {
  uint64_t sum = switched_out_;
  for (const auto& [serial, thread] : threads_) sum += thread ? thread->sieve.calls_switched_out() : 0;
  return sum;
}

uint64_t ChunkFilter::events_left_out() const {
  uint64_t sum = 0;
  for (const auto& [serial, thread] : threads_) sum += thread ? thread->sieve.events_left_out() : 0;
  return sum;
}

}  // namespace penna
