// SPDX-License-Identifier: MIT
// The hot path: reserve room in this thread's chunk, take the time, store, commit.
//
// Why this way: the cursor holds chunk number and offset in one word, so one unlocked xadd reserves atomically with
// respect to signal handlers of the same thread; there is no loop and no lock.
// Invariant: code that reserved room writes a record or a PAD over it; reservations past the end of a chunk have no
// owner.
//
// Machine code of a call record: xadd, compare, rdtsc, two compares with the chunk's header, one store; no frame.
#pragma once

#include "agent/core/state.h"
#include "penna/clock.h"

namespace penna::agent {

// For records that describe events (modules, names) instead of being one: their loss is not counted as a lost event.
inline constexpr auto kNoClass = static_cast<penna_event_class>(PENNA_CLASS_COUNT);

// The slow path of reserve(): closes the chunk in which the reservation `at` did not fit and opens another one. Null if
// there is no room (counted as lost). Async-signal-safe; may wait (PENNA_ON_FULL_BLOCK).
uint64_t* reserve_in_new_chunk(uint64_t at, uint32_t bytes, penna_event_class event_class);

// Counts an event for which there is no chunk.
void lose(penna_event_class event_class);
// Counts `events` events that are lost for another reason.
void lose_for(penna_loss why, penna_event_class event_class, uint32_t events);
// A lost call: its entry and its exit.
inline void lose_call(penna_loss why) { lose_for(why, PENNA_CALLS, 2); }

// Hands over this thread's chunk before it is full, when the thread ends.
void close_chunk();

// Wakes the collector if it sleeps.
void ring_doorbell();

inline uint8_t* chunk_address(uint32_t chunk) {
  return process.chunks + (static_cast<size_t>(chunk) << PENNA_CHUNK_BITS);
}

inline penna_chunk* chunk_of(const uint64_t* record) {
  return reinterpret_cast<penna_chunk*>(reinterpret_cast<uintptr_t>(record) & ~uintptr_t{PENNA_CHUNK_BYTES - 1});
}

// True when a reservation of `bytes` at cursor `at` lies inside its chunk.
__attribute__((always_inline)) inline bool fits(uint64_t at, uint32_t bytes) {
  return __builtin_expect(static_cast<uint32_t>(at) <= PENNA_CHUNK_BYTES - bytes, 1);
}

// The address of a reservation that fits. Because it fits, the upper half of the offset's 32 bits is zero, and one
// shift turns the chunk number into its distance.
__attribute__((always_inline)) inline uint64_t* place(uint64_t at) {
  static_assert(PENNA_CHUNK_BITS == 16);
  return reinterpret_cast<uint64_t*>(process.chunks + (at >> 16) + static_cast<uint32_t>(at));
}

// The collector has zeroed the memory ahead, so it is in another core's cache. Prefetched this far ahead, it arrives
// before it is needed; otherwise the program's next locked instruction would wait for it (points_x86_64.S does the
// same).
inline constexpr uint32_t kPrefetchBytes = 512;
__attribute__((always_inline)) inline void prefetch_ahead_of(const uint64_t* record) {
  __builtin_prefetch(reinterpret_cast<const uint8_t*>(record) + kPrefetchBytes, 1);
}

__attribute__((always_inline)) inline uint64_t* reserve(uint32_t bytes, penna_event_class event_class) {
  uint64_t at = penna_arch_add_local(&thread.cursor, bytes);
  if (!fits(at, bytes)) return reserve_in_new_chunk(at, bytes, event_class);
  return place(at);
}

// A full record being written: fill words[1..], then commit(). words == nullptr: it was lost, and counted.
struct Record {
  uint64_t* words;
  uint64_t header;

  explicit operator bool() const { return words != nullptr; }
  // Release: pairs with the collector's acquire load of the header (or of the ring slot that carries the chunk).
  void commit() { __atomic_store_n(words, header, __ATOMIC_RELEASE); }
};

// Slow path: the chunk has been open for more than 15 hours, so the record's time cannot be encoded in it.
uint64_t* reserve_again(uint64_t* words, uint32_t word_count, penna_event_class event_class);

// A chunk takes no more records this long after it was opened.
inline constexpr uint64_t kChunkTicks = uint64_t{1} << (PENNA_FULL_TIME_BITS - 1);

// Whether `time` can be encoded in the chunk that holds `words`; it may be slightly before the chunk's begin.
__attribute__((always_inline)) inline bool in_time(const uint64_t* words, uint64_t time) {
  return __builtin_expect(time < chunk_of(words)->time_begin + kChunkTicks, 1);
}
// The same for the chunk that the next reservation gets, without touching the chunk.
__attribute__((always_inline)) inline bool will_be_in_time(uint64_t time) {
  return __builtin_expect(time < thread.time_end, 1);
}

// Busy before the payload: a reader that finds this record unfinished knows how far to skip. The thread's later stores
// are seen in this order, because the reader loads the header with acquire, or reads it after the thread's death.
__attribute__((always_inline)) inline void mark_busy(uint64_t* words, uint64_t header) {
  __atomic_store_n(words, header | PENNA_TAG_BUSY, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
// The busy header already holds the time: finishing a point only changes the tag.
__attribute__((always_inline)) inline Record open_record(uint64_t* words, uint64_t header) {
  mark_busy(words, header);
  return {words, header};
}

// Continues after a reservation, whether it fit or not.
__attribute__((always_inline)) inline Record begin_record_at(uint64_t at, penna_kind kind, uint32_t word_count,
                                                             penna_event_class event_class, uint64_t time) {
  uint64_t* words = fits(at, word_count * 8) ? place(at) : reserve_in_new_chunk(at, word_count * 8, event_class);
  if (words != nullptr && !in_time(words, time)) words = reserve_again(words, word_count, event_class);
  if (words == nullptr) return {nullptr, 0};
  return open_record(words, penna_full_header(kind, word_count, time));
}

inline Record begin_record(penna_kind kind, uint32_t word_count, penna_event_class event_class, uint64_t time) {
  return begin_record_at(penna_arch_add_local(&thread.cursor, word_count * 8), kind, word_count, event_class, time);
}

// For a record that describes a module or a site (penna_channel.descriptions).
inline void commit_description(Record record) {
  record.commit();
  __atomic_fetch_add(&process.channel->descriptions, 1, __ATOMIC_RELEASE);  // pairs with ChannelMap::descriptions()
}

template <typename Payload>
void fill(Record record, const Payload& payload) {
  __builtin_memcpy(record.words + 1, &payload, sizeof(Payload));
  record.commit();
}

// Slow path of write_record(): the reservation `at` does not fit, or may be too late.
template <typename Payload>
__attribute__((noinline, cold)) bool write_record_at(uint64_t at, penna_kind kind, Payload payload,
                                                     penna_event_class event_class, uint64_t time) {
  Record record = begin_record_at(at, kind, 1 + sizeof(Payload) / 8, event_class, time);
  if (record) fill(record, payload);
  return static_cast<bool>(record);
}

// Writes a whole record with a small payload. Returns false if it was lost.
template <typename Payload>
__attribute__((always_inline)) inline bool write_record(penna_kind kind, const Payload& payload,
                                                        penna_event_class event_class, uint64_t time) {
  static_assert(sizeof(Payload) % 8 == 0);
  constexpr uint32_t kWords = 1 + sizeof(Payload) / 8;
  const bool late = !will_be_in_time(time);
  const uint64_t at = penna_arch_add_local(&thread.cursor, kWords * 8);
  if (late || !fits(at, kWords * 8)) return write_record_at(at, kind, payload, event_class, time);
  uint64_t* const words = place(at);
  prefetch_ahead_of(words);
  mark_busy(words, penna_full_header(kind, kWords, 0));  // a constant: skipping it needs no time
  fill({words, penna_full_header(kind, kWords, time)}, payload);
  return true;
}

// Slow path of write_call(): the chunk is full, or the time or the code address cannot be encoded relative to the
// chunk.
void write_call_in_new_chunk(uintptr_t pc, penna_tag tag, uint64_t at);
void write_long_call(uintptr_t pc, penna_tag tag, uint64_t time, uint64_t* reserved);

__attribute__((always_inline)) inline bool fits_compact(const penna_chunk* chunk, uintptr_t pc, uint64_t time) {
  return __builtin_expect(time - chunk->time_begin < (uint64_t{1} << (PENNA_CALL_TIME_BITS - 1)), 1) &&
         __builtin_expect(static_cast<uint32_t>(pc >> 32) == chunk->pc_high, 1);
}

// Its slow paths are tail calls with the arguments in place, so that the fast one needs no frame and saves no register.
__attribute__((always_inline)) inline void write_call(uintptr_t pc, penna_tag tag) {
  uint64_t at = penna_arch_add_local(&thread.cursor, 8);
  if (!fits(at, 8)) return write_call_in_new_chunk(pc, tag, at);
  uint64_t* word = place(at);
  uint64_t time = penna_now();
  if (!fits_compact(chunk_of(word), pc, time)) return write_long_call(pc, tag, time, word);
  // Release, like Record::commit().
  __atomic_store_n(word, penna_call_header(tag, pc, time), __ATOMIC_RELEASE);
}

}  // namespace penna::agent
