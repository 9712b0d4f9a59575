// SPDX-License-Identifier: MIT
// Event, EventFilter, and ThreadCursor: the events of one thread in the order in which it wrote them.
//
// Why separate from events.h: it decodes chunk by chunk and knows nothing of other threads.
// Invariant: holds one decoded chunk at a time (with `unpackers`, also those of a ChunkFeed), and a batch of its
// events; event().time never decreases.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filter/point_selection.h"
#include "filter/selection.h"
#include "filter/sifted_chunks.h"
#include "model/events/chunk_feed.h"
#include "recording/reader.h"

namespace penna {

inline constexpr uint32_t kNoIndex = UINT32_MAX;  // "any" or "none" where an index is expected

// One event. `record` points into the cursor's chunk: valid during the visit.
struct Event {
  uint32_t process = 0;     // index into recording.processes()
  uint32_t thread = 0;      // index into recording.threads()
  uint64_t time = 0;        // ticks; record.time, raised to that of the thread's event before it
  bool after_loss = false;  // something the thread did right before was lost
  bool undone = false;      // a free by realloc that the thread's next block record takes back: it did not happen
  bool inherited =
      // an entry in the process that this one was forked from, whose call is open here: not a call of this process
      false;
  Record record;
};

// Consecutive calls of one thread. Valid during the visit.
struct CallRun {
  uint32_t process = 0;  // as in Event
  uint32_t thread = 0;
  std::span<const CallEvent> calls;  // never empty
};
// For code that takes both.
inline uint64_t count_of(const Event&) { return 1; }
inline uint64_t count_of(const CallRun& run) { return run.calls.size(); }

// Bits of EventFilter::classes: those of penna_event_class, and one for records that are no events.
inline constexpr uint32_t kCallEvents = 1u << PENNA_CALLS;
inline constexpr uint32_t kAllocEvents = 1u << PENNA_ALLOC;  // also REALLOC_FAILED
inline constexpr uint32_t kLockEvents = 1u << PENNA_LOCKS;
inline constexpr uint32_t kPointEvents = 1u << PENNA_POINTS;
inline constexpr uint32_t kOtherRecords = 1u
                                          << PENNA_CLASS_COUNT;  // MODULE, SITE, THREAD, LOST, BLOCKED, unknown kinds
inline constexpr uint32_t kEventClasses = kOtherRecords - 1;
inline constexpr uint32_t kAllRecords = kEventClasses | kOtherRecords;

// The bit of a record kind. Values belong to their calls, and jumps to the calls that they end; neither matters in a
// chunk without calls.
inline constexpr std::array<uint16_t, 64> kBitOfKind = [] {
  std::array<uint16_t, 64> bits{};
  for (size_t kind = 0; kind < bits.size(); ++kind) bits[kind] = static_cast<uint16_t>(1u << kClassOfKind[kind]);
  bits[PENNA_KIND_JUMP] = bits[PENNA_KIND_VALUES] = kCallEvents;
  return bits;
}();
inline uint32_t class_bit(uint32_t kind) { return kind < kBitOfKind.size() ? kBitOfKind[kind] : kOtherRecords; }
static_assert(kOtherRecords == 1u << PENNA_CLASS_COUNT, "classify() gives PENNA_CLASS_COUNT for what is no event");

// Which events a walk visits. Chunks without any are not even read. A time range cuts events that analyses pair (calls,
// allocations, locks) in half: they count the halves as unmatched.
struct EventFilter {
  uint32_t classes = kEventClasses;
  uint32_t process = kNoIndex;  // only this one
  uint32_t thread = kNoIndex;   // only this one
  uint64_t begin = 0;           // ticks, [begin, end)
  uint64_t end = std::numeric_limits<uint64_t>::max();
  bool past = false;         // only what precedes the range that is read (-r); without a range nothing
  bool all_threads = false;  // also threads that were not asked for, for code that pairs their events (selection.h)
  bool wants_thread(const Recording& recording, uint32_t index) const;
};

class ThreadCursor {
 public:
  // `unpackers`: unpack some of a long thread's chunks ahead; null: nobody does.
  ThreadCursor(const Recording& recording, uint32_t thread, const EventFilter& filter,
               std::shared_ptr<Unpackers> unpackers = nullptr);
  ThreadCursor(const ThreadCursor&) = delete;
  ThreadCursor& operator=(const ThreadCursor&) = delete;

  // Moves event() to the next event that passes the filter; false at the end. No event() before the first next().
  bool next() { return ++event_ < end_ || next_batch(); }
  const Event& event() const { return *event_; }

  // After next(), at the first event of a batch: all of it, for code that wants to know early what comes. Else empty.
  std::span<const Event> foreseen() const {
    return {event_, event_ == batch_.data() ? static_cast<size_t>(end_ - event_) : 0};
  }

  // The calls right after event() and before `limit`, or some of them; empty: next() says what follows. Once there are
  // calls, event() is stale.
  std::span<const CallEvent> next_calls(uint64_t limit) {
    takes_runs_ = true;
    if (event_ + 1 < end_ || !in_range_ || (filter_.classes & kCallEvents) == 0) return {};
    const size_t count = records_.next_calls(calls_, time_, limit);
    if (count != 0) time_ = calls_[count - 1].time;
    return std::span<const CallEvent>(calls_).first(count);
  }

  // Before the first next(): a time before which it returns no event, and whether it may return any. Opens no chunk.
  uint64_t earliest() const;
  bool has_more() const;

  // Index of event()'s chunk among the thread's chunks, if they are read unsifted.
  size_t chunk() const { return at_ - 1; }

  uint64_t chunks() const { return chunks_; }
  uint64_t unreadable() const { return unreadable_; }
  uint64_t damaged() const { return damaged_ + (in_chunk_ && records_.damaged()); }
  uint64_t torn() const { return torn_ + (in_chunk_ ? records_.torn() : 0); }
  uint64_t holes() const { return holes_ + (in_chunk_ ? records_.holes() : 0); }
  const std::string& first_error() const { return first_error_; }

 private:
  bool next_batch();
  void take_batch();
  bool next_chunk();
  bool next_sifted();
  bool next_own();
  bool open_inherited();
  Result<> read(const ChunkRef& ref);
  bool wanted(const ChunkRef& ref) const;
  bool passes(const Record& record) const {
    return (filter_.classes & class_bit(record.kind)) != 0 &&
           (in_range_ || (time_ >= filter_.begin && time_ < filter_.end)) &&
           (selection_ == nullptr || record.kind != PENNA_KIND_POINT || is_selected(record));
  }
  bool is_selected(const Record& record) const;
  bool is_taken_back(const Record& free) const;
  void close_chunk();

  static constexpr size_t kBatch = 32;

  const Recording& recording_;
  const uint32_t process_, thread_;
  EventFilter filter_;
  std::span<const ChunkRef> refs_;
  size_t at_ = 0;  // next of refs_
  // Inherited calls come before the first chunk with the thread's own calls, which waits meanwhile.
  std::deque<std::vector<uint8_t>> inherited_;
  std::vector<uint8_t> waiting_;
  bool waiting_in_range_ = false;
  std::shared_ptr<Unpackers> unpackers_;
  std::unique_ptr<ChunkFeed> feed_;  // the wanted chunks from at_ on; null: not started
  std::vector<uint8_t> bytes_;
  RecordCursor records_;
  std::unique_ptr<PointSelection> selection_;  // null: all points
  std::unique_ptr<SiftedChunks> sifted_;       // null: chunks are read unsifted
  bool in_chunk_ = false;
  bool in_range_ = false;  // the whole chunk is
  bool after_loss_ = false;
  bool inherited_now_ = false;                  // the chunk holds inherited calls
  uint64_t last_sequence_ = 0, discarded_ = 0;  // of the previous chunk
  bool takes_runs_ = false;          // next_calls() is used: a batch ends with its first call, so that runs follow
  uint64_t time_ = 0;                // of the last record that was decoded
  std::array<Event, kBatch> batch_;  // of one chunk
  const Event *event_ = batch_.data(), *end_ = event_;  // of batch_
  std::array<CallEvent, 256> calls_;                    // of next_calls()
  uint64_t chunks_ = 0, unreadable_ = 0, damaged_ = 0, torn_ = 0, holes_ = 0;
  std::string first_error_;
};

}  // namespace penna
