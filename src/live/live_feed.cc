// SPDX-License-Identifier: MIT
// See live_feed.h.
#include "live/live_feed.h"

#include <cstring>
#include <utility>

#include "recording/records.h"

namespace penna {
namespace {

// Records that later ones refer to. They are kept when everything else is dropped: without its module, a function has
// no name for the rest of the recording.
bool describes(uint32_t kind) {
  return kind == PENNA_KIND_MODULE || kind == PENNA_KIND_SITE || kind == PENNA_KIND_THREAD;
}

// The chunk reduced to descriptions, at most `room` bytes of it; the events it loses are counted.
std::vector<uint8_t> descriptions_of(std::span<const uint8_t> chunk, size_t room, uint64_t& calls, uint64_t& others) {
  RecordCursor in(chunk);
  std::vector<uint8_t> kept(chunk.begin(), chunk.begin() + sizeof(penna_chunk));
  Record record;
  while (in.next(record)) {
    calls += record.kind == PENNA_KIND_CALL_ENTRY;
    others += !record.is_call() && classify(record.kind) != PENNA_CLASS_COUNT;
    if (!describes(record.kind)) continue;
    const uint8_t* header = record.payload - sizeof(uint64_t);
    if (kept.size() + sizeof(uint64_t) + record.payload_bytes > room) {
      ++others;
      continue;
    }
    kept.insert(kept.end(), header, record.payload + record.payload_bytes);
  }
  penna_chunk header = in.header();
  header.content_bits = kept.size() * 8;
  std::memcpy(kept.data(), &header, sizeof header);
  return kept;
}

uint32_t thread_of(std::span<const uint8_t> chunk) { return header_of(chunk).thread_serial; }

}  // namespace

void LiveFeed::began(const Process& process) {
  std::lock_guard hold(mutex_);
  waiting_.began.push_back(process);
}

// On the collector's thread: it holds the lock for a copy and never waits for the displaying thread.
void LiveFeed::records(uint32_t process, std::span<const uint8_t> chunk) {
  if (off_.load(std::memory_order_relaxed) || chunk.size() < sizeof(penna_chunk)) return;
  std::lock_guard hold(mutex_);
  Dropped& dropped = dropped_[{process, thread_of(chunk)}];
  if (waiting_.bytes + chunk.size() > kMaxBytes) {
    std::vector<uint8_t> kept = descriptions_of(chunk, kMaxBytes - waiting_.described, dropped.calls, dropped.others);
    if (kept.size() == sizeof(penna_chunk)) return;
    waiting_.described += kept.size();
    waiting_.records.push_back({process, std::move(kept), 0, 0});
    return;
  }
  waiting_.bytes += chunk.size();
  waiting_.records.push_back({process, {chunk.begin(), chunk.end()}, dropped.calls, dropped.others});
  dropped = {};
}

void LiveFeed::left_out(uint32_t process, uint32_t thread_serial, uint64_t calls, uint64_t others) {
  if (calls + others == 0) return;
  std::lock_guard hold(mutex_);
  Dropped& dropped = dropped_[{process, thread_serial}];
  dropped.calls += calls;
  dropped.others += others;
}

// Stacks are never dropped for lack of room: later records refer to them by number.
void LiveFeed::stacks(uint32_t process, uint32_t first, std::span<const penna_stack_node> nodes) {
  if (off_.load(std::memory_order_relaxed)) return;
  std::lock_guard hold(mutex_);
  waiting_.stacks.push_back({process, first, {nodes.begin(), nodes.end()}});
}

// Dropped events are reported before a thread's next records. For a process that has ended there are none: an empty
// chunk, made here, takes their place.
void LiveFeed::report_dropped(uint32_t process) {
  const auto first = dropped_.lower_bound({process, 0});
  auto last = first;
  for (; last != dropped_.end() && last->first.first == process; ++last) {
    if (last->second.calls + last->second.others == 0) continue;
    penna_chunk header{};
    header.ctf_magic = PENNA_CTF_MAGIC;
    header.thread_serial = last->first.second;
    header.content_bits = sizeof header * 8;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
    waiting_.records.push_back({process, {bytes, bytes + sizeof header}, last->second.calls, last->second.others});
  }
  dropped_.erase(first, last);
}

void LiveFeed::ended(const ProcessEnd& end) {
  std::lock_guard hold(mutex_);
  report_dropped(end.number);
  waiting_.ended.push_back(end);
}

// The flag is set under the lock and signalled outside of it, so that the woken thread finds the lock free.
void LiveFeed::up_to_date() {
  {
    std::lock_guard hold(mutex_);
    fresh_ = true;
  }
  came_.notify_one();
}

void LiveFeed::close() {
  {
    std::lock_guard hold(mutex_);
    closed_ = true;
  }
  came_.notify_one();
}

// The whole batch is exchanged, so that the lock is held only briefly.
bool LiveFeed::take(LiveBatch& batch) {
  std::unique_lock hold(mutex_);
  came_.wait(hold, [this] { return fresh_ || closed_; });
  fresh_ = false;
  batch = std::exchange(waiting_, {});
  return !closed_;
}

}  // namespace penna
