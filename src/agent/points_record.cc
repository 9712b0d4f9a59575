// SPDX-License-Identifier: MIT
// What an armed point with strings or arrays does: measure them, reserve, stamp, copy.
//
// Compiled for general registers only and without calls into libc: the function that was left for this may have its
// values in vector registers (see points_x86_64.S). What cannot be done so goes through penna_point_preserving().
// Invariant: on the usual way nothing is called, and nothing outside this file is inlined that could call.
#include "agent/points.h"
#include "agent/writer.h"

namespace penna::agent {

// points_x86_64.S: calls function(id, words, at) with the vector state kept.
extern "C" PointRecord penna_point_preserving(uint32_t id, uint32_t words, uint64_t at,
                                              PointRecord (*function)(uint32_t, uint32_t, uint64_t));

namespace {

constexpr uint32_t kHeadWords = 2;  // header, penna_point

// writer.h's reserve() and begin_record(), with every way that calls something left to the slow half. Points without
// strings do the same by hand, in points_x86_64.S.
__attribute__((always_inline)) inline PointRecord reserve_point(uint32_t id, uint32_t words) {
  if (__builtin_expect((armed() & class_bit(PENNA_POINTS)) == 0, 0)) {
    if (armed() != 0) return {nullptr, 0};
    return penna_point_preserving(id, words, 0, reserve_point_first);  // a forked child that knows no recorder yet
  }
  uint64_t at = penna_arch_add_local(&thread.cursor, words * 8);
  if (__builtin_expect(static_cast<uint32_t>(at) + words * 8 > PENNA_CHUNK_BYTES, 0))
    return penna_point_preserving(id, words, at, reserve_point_in_new_chunk);
  auto* record =
      reinterpret_cast<uint64_t*>(chunk_address(static_cast<uint32_t>(at >> 32)) + static_cast<uint32_t>(at));
  uint64_t time = penna_now();
  if (__builtin_expect(static_cast<int64_t>(time - chunk_of(record)->time_begin) >> (PENNA_FULL_TIME_BITS - 1) > 0, 0))
    return penna_point_preserving(id, words, reinterpret_cast<uintptr_t>(record), reserve_point_again);
  uint64_t header = penna_full_header(PENNA_KIND_POINT, words, time);
  __atomic_store_n(record, header | PENNA_TAG_BUSY, __ATOMIC_RELAXED);  // as in begin_record()
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record[1] = id;
  return {record, header};
}

// Bytes before the zero, at most `limit`; reads aligned words, so never a page that holds none of the string.
uint32_t bounded_length(const char* text, uint32_t limit) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  typedef uint64_t __attribute__((may_alias)) Word;
  unsigned skip = reinterpret_cast<uintptr_t>(text) & 7;
  const auto* at = reinterpret_cast<const Word*>(text - skip);
  uint64_t word = skip == 0 ? *at : *at | ((uint64_t{1} << (skip * 8)) - 1);  // bytes before the text: not zero
  for (uint32_t length = 8 - skip;; length += 8, word = *++at) {
    uint64_t zeros = (word - kOnes) & ~word & kHighs;
    if (zeros != 0) length = length - 8 + static_cast<uint32_t>(__builtin_ctzll(zeros) / 8);
    if (zeros != 0 || length >= limit) return length < limit ? length : limit;
  }
}

void copy_text(uint64_t* to, const char* from, uint32_t bytes) {
  typedef uint64_t __attribute__((may_alias, aligned(1))) WordAnywhere;
  for (; bytes >= 8; bytes -= 8, from += 8) *to++ = *reinterpret_cast<const WordAnywhere*>(from);
  if (bytes == 0) return;
  uint64_t last = 0;
  while (bytes-- > 0) last = last << 8 | static_cast<uint8_t>(from[bytes]);
  *to = last;
}

struct Text {
  const char* at;
  uint32_t bytes;
  uint32_t flags;
};

uint32_t type_of(const penna_point_state& state, uint32_t value) { return state.types >> (4 * value) & 15; }
constexpr bool is_pair(uint32_t type) { return type == PENNA_ARG_STRING || type == PENNA_ARG_ARRAY; }

// The pair of an array: whole elements only. What its word in the record says of them comes with its limit.
Text elements_of(const uint64_t* value, uint32_t room_bytes) {
  auto flags = static_cast<uint32_t>(value[1] >> 32);
  uint32_t element = flags >> PENNA_ELEMENT_BYTES_SHIFT & 15, bytes = static_cast<uint32_t>(value[1]);
  uint32_t most = room_bytes < PENNA_MAX_STRING ? room_bytes : uint32_t{PENNA_MAX_STRING};
  if (bytes <= most) return {reinterpret_cast<const char*>(value[0]), bytes, flags};
  return {reinterpret_cast<const char*>(value[0]), most & ~(element - 1), flags | PENNA_STRING_CUT};
}

// A value pair of a cold block, cut to PENNA_MAX_STRING and to the room that is left in the record.
Text text_of(const uint64_t* value, uint32_t room_bytes) {
  static const char kNull[] = "(null)";
  const auto* at = reinterpret_cast<const char*>(value[0]);
  uint64_t limit = value[1] & ~PENNA_TEXT_ENDS_AT_ZERO;
  if (at == nullptr) return {kNull, sizeof kNull - 1 <= room_bytes ? uint32_t{sizeof kNull - 1} : 0, 0};
  uint32_t bytes = limit > PENNA_MAX_STRING ? PENNA_MAX_STRING + 1 : static_cast<uint32_t>(limit);
  if (bytes != 0 && (value[1] & PENNA_TEXT_ENDS_AT_ZERO) != 0) bytes = bounded_length(at, bytes);
  uint32_t most = room_bytes < PENNA_MAX_STRING ? room_bytes : uint32_t{PENNA_MAX_STRING};
  return bytes <= most ? Text{at, bytes, 0} : Text{at, most, PENNA_STRING_CUT};
}

}  // namespace

extern "C" {

void penna_point_values(const penna_point_state* state, const uint64_t* values) {
  Text texts[PENNA_MAX_ARGS];
  uint32_t words = kHeadWords + state->arg_count;
  const uint64_t* value = values;
  for (uint32_t i = 0; i < state->arg_count; ++i, ++value) {
    uint32_t type = type_of(*state, i), room = (PENNA_MAX_RECORD_WORDS - words) * 8;
    if (!is_pair(type)) continue;
    texts[i] = type == PENNA_ARG_STRING ? text_of(value, room) : elements_of(value, room);
    ++value;
    words += (texts[i].bytes + 7) / 8;
  }
  PointRecord record = reserve_point(state->id, words);
  if (record.at == nullptr) return;
  uint64_t* to = record.at + kHeadWords;
  for (uint32_t i = 0; i < state->arg_count; ++i, ++values) {
    if (!is_pair(type_of(*state, i))) {
      *to++ = *values;
      continue;
    }
    ++values;
    *to++ = texts[i].bytes | uint64_t{texts[i].flags} << 32;
    copy_text(to, texts[i].at, texts[i].bytes);
    to += (texts[i].bytes + 7) / 8;
  }
  // Release: as Record::commit().
  __atomic_store_n(record.at, record.header, __ATOMIC_RELEASE);
}

}  // extern "C"
}  // namespace penna::agent
