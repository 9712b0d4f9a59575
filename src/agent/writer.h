// SPDX-License-Identifier: MIT
// The hot path: reserve room in this thread's chunk, stamp, store, commit.
//
// Why like this: the cursor holds chunk number and offset in one word, so one unlocked xadd reserves atomically against
// signal handlers of the same thread; there is no loop and no lock. Invariant: whoever reserved room writes a record or
// a PAD over it; what was reserved past the end of a chunk belongs to nobody.
//
// Machine code of a call record: xadd, compare, rdtsc, two compares with the chunk's header, one store.
#pragma once

#include "agent/state.h"
#include "penna/clock.h"

namespace penna::agent {

// For records that are no event, but tell about events (modules, names): their loss is not counted as one.
inline constexpr auto kNoClass = static_cast<penna_event_class>(PENNA_CLASS_COUNT);

// The slow half of reserve(): closes the chunk in which the reservation `at` did not fit and opens another one. Null
// when there is no room (counted as lost). Async-signal-safe; may wait (PENNA_ON_FULL_BLOCK).
uint64_t* reserve_in_new_chunk(uint64_t at, uint32_t bytes, penna_event_class event_class);

// Hands over this thread's chunk before it is full: at the exit of a thread.
void close_chunk();

inline uint8_t* chunk_address(uint32_t chunk) {
  return process.chunks + (static_cast<size_t>(chunk) << PENNA_CHUNK_BITS);
}

inline penna_chunk* chunk_of(const uint64_t* record) {
  return reinterpret_cast<penna_chunk*>(reinterpret_cast<uintptr_t>(record) & ~uintptr_t{PENNA_CHUNK_BYTES - 1});
}

__attribute__((always_inline)) inline uint64_t* reserve(uint32_t bytes, penna_event_class event_class) {
  uint64_t at = penna_arch_add_local(&thread.cursor, bytes);
  if (__builtin_expect(static_cast<uint32_t>(at) + bytes > PENNA_CHUNK_BYTES, 0))
    return reserve_in_new_chunk(at, bytes, event_class);
  return reinterpret_cast<uint64_t*>(chunk_address(static_cast<uint32_t>(at >> 32)) + static_cast<uint32_t>(at));
}

// A full record that is being written: fill words[1..], then commit(). words == nullptr: it was lost, and counted.
struct Record {
  uint64_t* words;
  uint64_t header;

  explicit operator bool() const { return words != nullptr; }
  // Release: pairs with the collector's acquire load of the header (or of the ring slot that carries the chunk).
  void commit() { __atomic_store_n(words, header, __ATOMIC_RELEASE); }
};

// Out of line: the record's time cannot be told in its chunk any more (open for more than 15 hours).
uint64_t* reserve_again(uint64_t* words, uint32_t word_count, penna_event_class event_class);

__attribute__((always_inline)) inline Record begin_record(penna_kind kind, uint32_t word_count,
                                                          penna_event_class event_class, uint64_t time) {
  uint64_t* words = reserve(word_count * 8, event_class);
  if (__builtin_expect(words == nullptr, 0)) return {nullptr, 0};
  if (__builtin_expect(static_cast<int64_t>(time - chunk_of(words)->time_begin) >> (PENNA_FULL_TIME_BITS - 1) > 0, 0)) {
    words = reserve_again(words, word_count, event_class);
    if (words == nullptr) return {nullptr, 0};
  }
  uint64_t header = penna_full_header(kind, word_count, time);
  // Busy before the payload: whoever finds this record unfinished knows how far to skip. The same thread's later stores
  // are seen in this order, because the reader looks at the header with acquire, or after the thread's death.
  __atomic_store_n(words, header | PENNA_TAG_BUSY, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return {words, header};
}

// For small payloads: the whole record. Returns false when it was lost.
template <typename Payload>
__attribute__((always_inline)) inline bool write_record(penna_kind kind, const Payload& payload,
                                                        penna_event_class event_class, uint64_t time) {
  static_assert(sizeof(Payload) % 8 == 0);
  Record record = begin_record(kind, 1 + sizeof(Payload) / 8, event_class, time);
  if (!record) return false;
  __builtin_memcpy(record.words + 1, &payload, sizeof(Payload));
  record.commit();
  return true;
}

// A call in long form, where the compact one does not fit: far in time, or in other code than the chunk's pc_high.
void write_long_call(uint64_t* reserved, penna_tag tag, uint64_t pc, uint64_t time);

__attribute__((always_inline)) inline void write_call(penna_tag tag, uint64_t pc) {
  uint64_t* word = reserve(8, PENNA_CALLS);
  if (__builtin_expect(word == nullptr, 0)) return;
  uint64_t time = penna_now();
  const penna_chunk* chunk = chunk_of(word);
  if (__builtin_expect(time - chunk->time_begin >= (uint64_t{1} << (PENNA_CALL_TIME_BITS - 1)) ||
                           static_cast<uint32_t>(pc >> 32) != chunk->pc_high,
                       0))
    return write_long_call(word, tag, pc, time);
  // Release, as Record::commit().
  __atomic_store_n(word, penna_call_header(tag, pc, time), __ATOMIC_RELEASE);
}

}  // namespace penna::agent
