// SPDX-License-Identifier: MIT
// The slow path of the writer: chunks are taken, opened, closed and handed to the collector.
//
// Why nothing here locks: a signal handler may run this code in the middle of itself. Every step is one atomic
// instruction; the context that swings the cursor owns the chunk that it swung away from, and hands it over. Signals
// are blocked meanwhile, because a handler that does not return would leave the chunk, or its ring slot, without an
// owner.
// Invariant: a chunk's number is in exactly one place: the free bitmap, a thread's cursor, or the ring.
#include <linux/futex.h>
#include <time.h>

#include "agent/core/channel_room.h"
#include "agent/core/lifecycle.h"
#include "agent/core/signal_block.h"
#include "agent/core/stopping.h"
#include "agent/core/sys.h"
#include "agent/core/writer.h"
#include "penna/ring.h"

namespace penna::agent {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr int kSweepTries = 20;  // of 50 ms

uint32_t chunk_in(uint64_t cursor) { return static_cast<uint32_t>(cursor >> 32); }

penna_chunk* header_of(uint32_t chunk) { return reinterpret_cast<penna_chunk*>(chunk_address(chunk)); }

// Takes the lowest free chunk, whose pages are most likely warm. kNone if all are in use.
uint32_t take_free_chunk() {
  for (uint32_t word = 0; word < chunks_ready() / 64; ++word) {
    uint64_t* bits = process.free_bitmap + word;
    uint64_t seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
    while (seen != 0) {
      uint64_t bit = seen & -seen;
      // Acquire: pairs with the collector's release when it returned the chunk, zeroed.
      seen = __atomic_fetch_and(bits, ~bit, __ATOMIC_ACQUIRE);
      if ((seen & bit) != 0) return word * 64 + static_cast<uint32_t>(__builtin_ctzll(bit));
      seen &= ~bit;
    }
  }
  return kNone;
}

bool backlog_full() { return __atomic_load_n(&process.channel->backlog, __ATOMIC_RELAXED) >= process.backlog_limit; }

// Sleeps until the collector returns a chunk, at most 50 ms: a dead recorder wakes no thread.
void wait_for_room(uint32_t generation) {
  timespec limit{0, 50'000'000};
  __atomic_fetch_add(&process.channel->free_waiters, 1, __ATOMIC_SEQ_CST);  // pairs with the collector's load
  sys(SYS_futex, reinterpret_cast<long>(&process.channel->freed_generation), FUTEX_WAIT, generation,
      reinterpret_cast<long>(&limit));
  __atomic_fetch_sub(&process.channel->free_waiters, 1, __ATOMIC_RELAXED);
}

}  // namespace

// The collector sleeps only after it has announced that and checked the bell once more.
void ring_doorbell() {
  penna_doorbell* doorbell = process.doorbell;
  __atomic_fetch_add(&doorbell->bell, 1, __ATOMIC_SEQ_CST);  // pairs with the collector's load of the bell
  if (__atomic_load_n(&doorbell->collector_sleeps, __ATOMIC_SEQ_CST) != 0)
    sys(SYS_futex, reinterpret_cast<long>(&doorbell->bell), FUTEX_WAKE, 1);
}

namespace {

// Set when a thread waited unsuccessfully for a chunk and none was returned since: the generation, with bit 32 set.
// Then no thread waits again, or the program would stall at every event.
uint64_t waited_in_vain;

// A free chunk according to --on-full; kNone if the event must be dropped. Signals are unblocked while it waits.
uint32_t obtain_chunk(SignalBlock& signals) {
  uint64_t began = 0;
  uint32_t chunk = kNone;
  for (int tries = 0;; ++tries) {
    uint32_t generation = __atomic_load_n(&process.channel->freed_generation, __ATOMIC_ACQUIRE);
    bool backlogged = backlog_full();
    if (!backlogged)
      while ((chunk = take_free_chunk()) == kNone && grow_chunks()) {
      }
    if (chunk != kNone || process.on_full != PENNA_ON_FULL_BLOCK) break;
    // All chunks are in use by threads. The collector may find that some of these are dead, but the wait is bounded.
    const uint64_t now_in_vain = uint64_t{1} << 32 | generation;
    if (!backlogged && tries == kSweepTries) __atomic_store_n(&waited_in_vain, now_in_vain, __ATOMIC_RELAXED);
    if (!backlogged && __atomic_load_n(&waited_in_vain, __ATOMIC_RELAXED) == now_in_vain) break;
    if (!recorder_alive()) {
      stop_recording();
      break;
    }
    if (began == 0) began = penna_now();
    if (!backlogged) ring_doorbell();
    signals.open();
    wait_for_room(generation);
    signals.close();
  }
  if (began != 0) __atomic_fetch_add(&process.channel->counters.blocked_ticks, penna_now() - began, __ATOMIC_RELAXED);
  return chunk;
}

void open_chunk(uint32_t chunk) {
  penna_chunk* header = header_of(chunk);
  header->stream = 0;
  header->time_begin = penna_now();
  thread.time_end = header->time_begin + kChunkTicks;
  header->packet_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
  header->events_discarded = thread.discarded;
  header->tid = thread.tid;
  header->thread_serial = thread.serial;
  header->sequence = penna_arch_add_local(&thread.sequence, 1);
  header->pc_high = thread.pc_high;
  header->generation = __atomic_load_n(&module_generation, __ATOMIC_RELAXED);
  // Release: if we die, the collector sees the whole header of an open chunk, or none of it.
  __atomic_store_n(&header->ctf_magic, PENNA_CTF_MAGIC, __ATOMIC_RELEASE);
}

// Hands a chunk whose content ends at `content_bytes` to the collector.
void hand_over(uint32_t chunk, uint32_t content_bytes) {
  penna_chunk* header = header_of(chunk);
  header->time_end = penna_now();
  header->content_bits = uint64_t{content_bytes} * 8;
  __atomic_fetch_add(&process.channel->backlog, 1, __ATOMIC_RELAXED);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): who has a chunk has a channel
  auto* ring = reinterpret_cast<penna_ring*>(reinterpret_cast<uint8_t*>(process.channel) + process.channel->full_at);
  uint32_t ticket;
  // The ring has a slot for every chunk. If it is full even so, the collector finds the chunk after the process has
  // died.
  if (void* slot = penna_ring_reserve(ring, &ticket)) {
    __builtin_memcpy(slot, &chunk, sizeof chunk);
    penna_ring_commit(ring, ticket);  // release: pairs with the acquire in penna_ring_read
  }
  ring_doorbell();
}

// The reservation at `offset` did not fit: fill the rest of the chunk, so that no gap stays open.
void pad_tail(uint32_t chunk, uint32_t offset) {
  if (offset >= PENNA_CHUNK_BYTES) return;
  auto* word = reinterpret_cast<uint64_t*>(chunk_address(chunk) + offset);
  __atomic_store_n(word, penna_full_header(PENNA_KIND_PAD, (PENNA_CHUNK_BYTES - offset) / 8, penna_now()),
                   __ATOMIC_RELEASE);
}

// Metadata of this thread: its name if it is new, and what it lost while no chunk was free.
void write_notes(bool new_thread) {
  uint64_t now = penna_now();
  if (new_thread) {
    penna_thread name{};
    if (!system_calls_filtered) sys(SYS_prctl, 16 /* PR_GET_NAME */, reinterpret_cast<long>(name.name));
    write_record(PENNA_KIND_THREAD, name, kNoClass, now);
  }
  penna_lost lost{};
  uint32_t sum = 0;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    lost.count[i] = thread.lost_class[i];
    thread.lost_class[i] = 0;
    sum |= lost.count[i];
  }
  if (sum != 0) write_record(PENNA_KIND_LOST, lost, kNoClass, now);
}

void count_lost(penna_event_class event_class, uint32_t events) {
  thread.lost_class[event_class] += events;
  thread.discarded += events;
  __atomic_fetch_add(&process.channel->counters.lost[event_class], events, __ATOMIC_RELAXED);
}

}  // namespace

void lose(penna_event_class event_class) {
  if (event_class != kNoClass) count_lost(event_class, 1);
}

void lose_for(penna_loss why, penna_event_class event_class, uint32_t events) {
  count_lost(event_class, events);
  __atomic_fetch_add(&process.channel->counters.lost_for[why], events, __ATOMIC_RELAXED);
}

uint64_t* reserve_in_new_chunk(uint64_t at, uint32_t bytes, penna_event_class event_class) {
  if (thread.muted != 0) {
    if (thread.muted == kNoRoom && process.channel != nullptr) lose(event_class);
    __atomic_store_n(&thread.cursor, kNoChunk, __ATOMIC_RELAXED);
    return nullptr;
  }
  SignalBlock signals;
  bool new_thread = enter_thread();
  for (;;) {
    uint32_t old = chunk_in(at);
    if (old != kNone) pad_tail(old, static_cast<uint32_t>(at));
    uint64_t seen = __atomic_load_n(&thread.cursor, __ATOMIC_RELAXED);
    if (chunk_in(seen) == old) {
      uint32_t fresh = process.channel != nullptr ? obtain_chunk(signals) : kNone;
      uint64_t next = kNoChunk;
      if (fresh != kNone) {
        open_chunk(fresh);
        next = uint64_t{fresh} << 32 | (uint32_t{PENNA_CHUNK_HEADER_BYTES} + bytes);
      }
      if (penna_arch_cas_local(&thread.cursor, seen, next)) {
        if (old != kNone) hand_over(old, PENNA_CHUNK_BYTES);
        if (fresh == kNone) {
          if (process.channel != nullptr) lose(event_class);
          return nullptr;
        }
        write_notes(new_thread);
        return place(uint64_t{fresh} << 32 | PENNA_CHUNK_HEADER_BYTES);
      }
      // Opened for nothing: handed over empty, because its sequence number is used and a gap would mean a loss.
      if (fresh != kNone) hand_over(fresh, PENNA_CHUNK_HEADER_BYTES);
    }
    // A signal handler interrupted us and swung the cursor: reserve in its chunk.
    at = penna_arch_add_local(&thread.cursor, bytes);
    if (fits(at, bytes)) return place(at);
  }
}

void close_chunk() {
  SignalBlock signals;
  uint64_t seen = __atomic_load_n(&thread.cursor, __ATOMIC_RELAXED);
  while (!penna_arch_cas_local(&thread.cursor, seen, kNoChunk))
    seen = __atomic_load_n(&thread.cursor, __ATOMIC_RELAXED);
  if (chunk_in(seen) == kNone) return;
  uint32_t offset = static_cast<uint32_t>(seen);
  hand_over(chunk_in(seen), offset < PENNA_CHUNK_BYTES ? offset : uint32_t{PENNA_CHUNK_BYTES});
}

uint64_t* reserve_again(uint64_t* words, uint32_t word_count, penna_event_class event_class) {
  __atomic_store_n(words, penna_full_header(PENNA_KIND_PAD, word_count, penna_now()), __ATOMIC_RELEASE);
  close_chunk();
  return reserve(word_count * 8, event_class);
}

void write_call_in_new_chunk(uintptr_t pc, penna_tag tag, uint64_t at) {
  uint64_t* word = reserve_in_new_chunk(at, 8, PENNA_CALLS);
  if (word == nullptr) return;
  uint64_t time = penna_now();
  if (!fits_compact(chunk_of(word), pc, time)) return write_long_call(pc, tag, time, word);
  __atomic_store_n(word, penna_call_header(tag, pc, time), __ATOMIC_RELEASE);
}

void write_long_call(uintptr_t pc, penna_tag tag, uint64_t time, uint64_t* reserved) {
  thread.pc_high = static_cast<uint32_t>(pc >> 32);  // the next chunk's
  __atomic_store_n(reserved, penna_full_header(PENNA_KIND_PAD, 1, time), __ATOMIC_RELEASE);
  penna_kind kind = tag == PENNA_TAG_ENTRY ? PENNA_KIND_CALL_ENTRY : PENNA_KIND_CALL_EXIT;
  write_record(kind, penna_call{pc}, PENNA_CALLS, time);
}

}  // namespace penna::agent
