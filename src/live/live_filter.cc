// SPDX-License-Identifier: MIT
// See live_filter.h.
#include "live/live_filter.h"

#include <cstring>
#include <utility>

#include "filter/sifted_pieces.h"
#include "recording/records.h"

namespace penna {
namespace {

constexpr size_t kCutBytes = 1 << 10;  // what a CallSieve remembers about a chunk

}  // namespace

std::unique_ptr<LiveFilter> LiveFilter::make(CallRules rules, std::vector<Where> conditions, ThreadChoice threads) {
  if (!rules.any() && conditions.empty() && !threads.any()) return nullptr;
  return std::unique_ptr<LiveFilter>(new LiveFilter(std::move(rules), std::move(conditions), std::move(threads)));
}

LiveFilter::LiveFilter(CallRules rules, std::vector<Where> conditions, ThreadChoice threads)
    : rules_(std::move(rules)),
      conditions_(std::make_shared<const std::vector<Where>>(std::move(conditions))),
      wanted_(threads.any() ? std::make_shared<const ThreadChoice>(std::move(threads)) : nullptr) {}

void LiveFilter::began(const Process& process) {
  points_.emplace(process.number, PointSelection(conditions_));
  if (wanted_) selections_.emplace(process.number, ThreadSelection(wanted_));
  if (process.forked_by != 0) forked_.insert(process.number);
  if (has_start_) return;
  has_start_ = true;
  // A range counts from the start of the first process, which was unknown when the rules were made.
  if (rules_.begin != 0) rules_.begin += process.start_ticks;
  if (rules_.end < UINT64_MAX - process.start_ticks) rules_.end += process.start_ticks;
}

void LiveFilter::learn(const LiveRecords& records) {
  const auto points = points_.find(records.process);
  const auto selection = selections_.find(records.process);
  RecordCursor in(records.chunk);
  Record record;
  while (in.next(record)) {
    if (record.kind == PENNA_KIND_SITE && points != points_.end()) {
      if (auto site = decode_site(record)) points->second.add(std::move(*site));
    } else if (record.kind == PENNA_KIND_THREAD && selection != selections_.end()) {
      selection->second.learn(record, in.header());
    } else if (record.kind == PENNA_KIND_MODULE && rules_.learn) {
      auto module = decode_module(record);
      if (!module) continue;
      module->ticks = record.time;
      // Redo decisions about functions: a new module may contain a wanted one.
      if (rules_.learn(records.process, *module)) ++rules_.epoch;
    }
  }
}

void LiveFilter::select_points(uint32_t process, std::vector<uint8_t>& chunk) {
  const auto points = points_.find(process);
  if (conditions_->empty() || points == points_.end()) return;
  ChunkCut cut;
  if (points->second.sift(chunk, cut) == 0) return;
  std::vector<uint8_t> left;
  cut.apply(chunk, left);
  chunk.swap(left);
}

// Leaves out all events of an unwanted thread; descriptions stay. What a thread did before it had a wanted name is not
// shown.
void LiveFilter::select_thread(uint32_t process, std::vector<uint8_t>& chunk) {
  const auto selection = selections_.find(process);
  if (selection == selections_.end() || selection->second.means(header_of(chunk))) return;
  ChunkCut cut;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record))
    if (classify(record.kind) != PENNA_CLASS_COUNT || record.kind == PENNA_KIND_VALUES)
      cut.leave_out(static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t));
  std::vector<uint8_t> left;
  cut.apply(chunk, left);
  chunk.swap(left);
}

// The cheap filters first: they need no other records. Then the sieve, which may hold records back until it is known
// how long the calls around them are.
void LiveFilter::add(LiveRecords records, std::vector<LiveRecords>& out) {
  select_thread(records.process, records.chunk);
  select_points(records.process, records.chunk);
  if (!rules_.any()) return out.push_back(std::move(records));
  const Key key{records.process, header_of(records.chunk).thread_serial};
  std::unique_ptr<Thread>& thread = threads_[key];
  // The thread that called fork(): its open calls are the parent's.
  const bool goes_on = key.second == 1 && forked_.count(key.first) != 0;
  if (!thread) thread = std::make_unique<Thread>(Thread{CallSieve(rules_, records.process, goes_on), {}});
  // A gap: which calls are open is now unknown. An empty chunk carries the counts on.
  if (records.calls_dropped + records.others_dropped != 0) {
    thread->sieve.lose();
    release(key, *thread, out);
    std::vector<uint8_t> nothing(sizeof(penna_chunk));
    penna_chunk header = header_of(records.chunk);
    header.content_bits = sizeof header * 8;
    std::memcpy(nothing.data(), &header, sizeof header);
    out.push_back({key.first, std::move(nothing), records.calls_dropped, records.others_dropped});
  }
  thread->sieve.add(records.chunk);
  held_ += records.chunk.size() + kCutBytes;
  thread->waiting.push_back({std::move(records.chunk)});
  release(key, *thread, out);
  cut_decided(*thread);
  if (held_ > kMostHeld) drop(key, *thread, out);
}

// Takes what is decided, in order: one chunk in, one decision out.
void LiveFilter::release(Key key, Thread& thread, std::vector<LiveRecords>& out) {
  while (thread.sieve.ready()) {
    Waiting waiting = std::move(thread.waiting.front());
    thread.waiting.pop_front();
    SiftedChunk sifted = thread.sieve.take();
    held_ -= waiting.bytes.size() + kCutBytes;
    if (waiting.is_cut) sifted.cut = ChunkCut();
    std::deque<std::vector<uint8_t>> pieces;
    append_pieces(sifted, std::move(waiting.bytes), rules_, pieces);
    for (std::vector<uint8_t>& piece : pieces)
      if (piece.size() > sizeof(penna_chunk)) out.push_back({key.first, std::move(piece), 0, 0});
  }
}

// A decided chunk that only waits for one before it is cut at once, so that it takes no more room than what will remain
// of it.
void LiveFilter::cut_decided(Thread& thread) {
  for (size_t i = 0; i < thread.waiting.size(); ++i) {
    Waiting& waiting = thread.waiting[i];
    const SiftedChunk* sifted = waiting.is_cut ? nullptr : thread.sieve.decided(i);
    if (sifted == nullptr) continue;
    std::vector<uint8_t> left;
    sifted->cut.apply(waiting.bytes, left);
    left.shrink_to_fit();
    held_ -= waiting.bytes.size() - left.size();
    waiting.bytes.swap(left);
    waiting.is_cut = true;
  }
}

// Too much is held back: the thread's records are given up. They could only be shown if the lengths of their calls were
// known. They are counted, and reported as records that came too fast.
void LiveFilter::drop(Key key, Thread& thread, std::vector<LiveRecords>& out) {
  thread.sieve.lose();
  uint64_t calls = 0, others = 0;
  std::vector<LiveRecords> given;
  release(key, thread, given);
  for (const LiveRecords& one : given) {
    RecordCursor in(one.chunk);
    Record record;
    while (in.next(record)) {
      calls += record.kind == PENNA_KIND_CALL_ENTRY;
      others += !record.is_call() && classify(record.kind) != PENNA_CLASS_COUNT;
    }
  }
  if (given.empty()) return;
  given.back().chunk.resize(sizeof(penna_chunk));
  penna_chunk header = header_of(given.back().chunk);
  header.content_bits = sizeof header * 8;
  std::memcpy(given.back().chunk.data(), &header, sizeof header);
  out.push_back({key.first, std::move(given.back().chunk), calls, others});
}

void LiveFilter::wait_until(uint64_t ticks, std::vector<LiveRecords>& out) {
  for (auto& [key, thread] : threads_) {
    if (thread->waiting.empty()) continue;
    thread->sieve.wait_until(ticks);
    release(key, *thread, out);
  }
}

// No more records of the process will come: what waits is decided as if its calls had been long enough.
void LiveFilter::end(uint32_t process, std::vector<LiveRecords>& out) {
  const auto first = threads_.lower_bound({process, 0});
  auto last = first;
  for (; last != threads_.end() && last->first.first == process; ++last) {
    last->second->sieve.finish();
    release(last->first, *last->second, out);
  }
  threads_.erase(first, last);
  points_.erase(process);
  selections_.erase(process);
}

}  // namespace penna
