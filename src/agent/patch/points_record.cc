// SPDX-License-Identifier: MIT
// What an armed point with strings or arrays does: measure them, reserve, stamp, copy.
//
// Compiled for general registers only and without calls into libc: the function around the point may have values in
// vector registers (see points_x86_64.S). What needs more goes through penna_point_preserving().
// Invariant: the fast path calls nothing, and nothing outside this file that could call is inlined.
#include "agent/core/writer.h"
#include "agent/patch/points.h"
#include "penna/patch_plan.h"
#include "unwind/arch.h"

namespace penna::agent {

// points_x86_64.S: calls function(id, words, at) with the vector state saved.
extern "C" uint64_t* penna_point_preserving(uint32_t id, uint32_t words, uint64_t at,
                                            uint64_t* (*function)(uint32_t, uint32_t, uint64_t));

namespace {

constexpr uint32_t kHeadWords = 2;  // header, penna_point

// begin_record() of writer.h, with every path that calls something left to the slow half. Points without strings do the
// same in assembly, in points_x86_64.S.
__attribute__((always_inline)) inline uint64_t* reserve_point(uint32_t id, uint32_t words) {
  if (__builtin_expect((armed() & class_bit(PENNA_POINTS)) == 0, 0)) {
    if (armed() != 0) return nullptr;
    return penna_point_preserving(id, words, 0, reserve_point_first);  // a forked child that met no recorder yet
  }
  uint64_t at = penna_arch_add_local(&thread.cursor, words * 8);
  if (!fits(at, words * 8)) return penna_point_preserving(id, words, at, reserve_point_in_new_chunk);
  uint64_t* here = place(at);
  prefetch_ahead_of(here);
  uint64_t time = penna_now();
  if (!in_time(here, time))
    return penna_point_preserving(id, words, reinterpret_cast<uintptr_t>(here), reserve_point_again);
  open_record(here, penna_full_header(PENNA_KIND_POINT, words, time));
  here[1] = id;
  return here;
}

// ---- Text -----------------------------------------------------------------------------------------------------------
// Strings of unknown length are read by aligned words: never from a page that contains none of it.

typedef uint64_t __attribute__((may_alias)) Word;
typedef uint64_t __attribute__((may_alias, aligned(1))) WordAnywhere;

uint64_t load(const char* aligned) { return *reinterpret_cast<const Word*>(aligned); }
unsigned past_aligned(const char* at) { return reinterpret_cast<uintptr_t>(at) & 7; }
constexpr uint64_t low_bytes(unsigned bytes) { return (uint64_t{1} << (bytes * 8)) - 1; }  // bytes < 8

// The first zero byte of an aligned word, or null. Plain ASCII needs only the first test.
__attribute__((always_inline)) inline const char* zero_in(uint64_t word, const char* at) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  uint64_t less = word - kOnes;
  if (__builtin_expect((less & kHighs) == 0, 1)) return nullptr;
  uint64_t zeros = less & ~word & kHighs;
  return zeros == 0 ? nullptr : at + __builtin_ctzll(zeros) / 8;
}

// The bytes before the zero, at most `limit`, which is not 0. Four words at a time as long as that many may be read.
__attribute__((always_inline)) inline uint32_t bounded_length(const char* text, uint32_t limit) {
  const char* const end = text + limit;
  const char* at = text - past_aligned(text);
  const char* zero = zero_in(load(at) | low_bytes(past_aligned(text)), at);  // bytes before the text count as text
  if (zero == nullptr) {
    for (at += 8; end - at > 24; at += 32) {
      if ((zero = zero_in(load(at), at)) != nullptr) break;
      if ((zero = zero_in(load(at + 8), at + 8)) != nullptr) break;
      if ((zero = zero_in(load(at + 16), at + 16)) != nullptr) break;
      if ((zero = zero_in(load(at + 24), at + 24)) != nullptr) break;
    }
    for (; zero == nullptr && at < end; at += 8) zero = zero_in(load(at), at);
  }
  return zero != nullptr && zero < end ? static_cast<uint32_t>(zero - text) : limit;
}

// 1 to 7 bytes as a word.
__attribute__((always_inline)) inline uint64_t few_bytes(const char* from, uint32_t bytes) {
  unsigned past = past_aligned(from);
  uint64_t word = load(from - past) >> (past * 8);
  if (past + bytes > 8) word |= load(from - past + 8) << (64 - past * 8);
  return word & low_bytes(bytes);
}

// Returns where the next word goes.
__attribute__((always_inline)) inline uint64_t* copy_text(uint64_t* to, const char* from, uint32_t bytes) {
  auto* out = reinterpret_cast<char*>(to);
  uint64_t whole = bytes & ~7u, at = 0;
  for (; at != whole; at += 8) *reinterpret_cast<Word*>(out + at) = *reinterpret_cast<const WordAnywhere*>(from + at);
  if ((bytes & 7) != 0) {
    *reinterpret_cast<Word*>(out + at) = few_bytes(from + at, bytes & 7);
    at += 8;
  }
  return reinterpret_cast<uint64_t*>(out + at);
}

// ---- Values ---------------------------------------------------------------------------------------------------------

constexpr bool is_pair(uint32_t type) { return type == PENNA_ARG_STRING || type == PENNA_ARG_ARRAY; }

// The word before an array's bytes: whole elements only. The limit word gives their size.
__attribute__((always_inline)) inline uint64_t measure_array(const uint64_t* value, uint32_t most) {
  uint64_t flags = value[1] >> 32;
  uint32_t element = flags >> PENNA_ELEMENT_BYTES_SHIFT & 15;
  if (static_cast<uint32_t>(value[1]) <= most) return value[1];
  return (most & ~(element - 1)) | (flags | PENNA_STRING_CUT) << 32;
}

// The word before a string's bytes. A null pointer gets a word that says so.
__attribute__((always_inline)) inline uint64_t measure_text(uint64_t* value, uint32_t most) {
  static const char kNull[] = "(null)";
  if (__builtin_expect(value[0] == 0, 0)) {
    value[0] = reinterpret_cast<uintptr_t>(kNull);
    return sizeof kNull - 1 <= most ? sizeof kNull - 1 : 0;
  }
  uint64_t limit = value[1] & ~PENNA_TEXT_ENDS_AT_ZERO;
  uint32_t bytes = limit > PENNA_MAX_STRING ? PENNA_MAX_STRING + 1 : static_cast<uint32_t>(limit);
  if (bytes != 0 && (value[1] & PENNA_TEXT_ENDS_AT_ZERO) != 0)
    bytes = bounded_length(reinterpret_cast<const char*>(value[0]), bytes);
  return bytes <= most ? bytes : most | uint64_t{PENNA_STRING_CUT} << 32;
}

// Replaces the limit in each pair by the word that the record has in its place, and returns the words of the record.
// `types`: as in a penna_point_state; no value's type is 0.
__attribute__((always_inline)) inline uint32_t measure(uint64_t types, uint64_t* value, uint32_t words) {
  for (; types != 0; types >>= 4, ++value) {
    uint32_t type = types & 15, most = PENNA_MAX_STRING;
    if (!is_pair(type)) continue;
    if (__builtin_expect(words > PENNA_MAX_RECORD_WORDS - 32, 0)) most = (PENNA_MAX_RECORD_WORDS - words) * 8;
    uint64_t measured = type == PENNA_ARG_STRING ? measure_text(value, most) : measure_array(value, most);
    *++value = measured;
    words += (static_cast<uint32_t>(measured) + 7) / 8;
  }
  return words;
}

__attribute__((always_inline)) inline void store(uint64_t types, const uint64_t* value, uint64_t* to) {
  for (; types != 0; types >>= 4, ++value) {
    if (!is_pair(types & 15)) {
      *to++ = *value;
      continue;
    }
    const auto* from = reinterpret_cast<const char*>(*value++);
    *to++ = *value;
    to = copy_text(to, from, static_cast<uint32_t>(*value));
  }
}

// Release: like Record::commit(), and like the cold block of a point.
void commit(uint64_t* record) {
  __atomic_store_n(reinterpret_cast<uint8_t*>(record), uint8_t{PENNA_POINT_COMMIT}, __ATOMIC_RELEASE);
}

// `pc`, `sp`, `fp`: of the code that jumped here. For a probe that is generated code with its own frame: its walk
// starts at the probe's nop.
uint64_t* reserve_with_stack(const penna_point_state* state, uint32_t words, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  unwind::Registers registers{pc, sp, fp, false};
  if ((state->bytes & kOfProbe) != 0) {
    const auto* probe = reinterpret_cast<const penna_probe*>(state);
    registers.pc = probe->nop + 1;
    registers.sp += probe->frame;
  }
  return penna_point_preserving(state->id, words, reinterpret_cast<uintptr_t>(&registers), reserve_point_with_stack);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) void penna_point_values(const penna_point_state* state,
                                                                         uint64_t* values) {
  uint64_t* record = reserve_point(state->id, measure(state->types, values, kHeadWords + state->arg_count));
  if (record == nullptr) return;
  store(state->types, values, record + kHeadWords);
  commit(record);
}

extern "C" __attribute__((visibility("hidden"))) uint64_t* penna_point_reserve_with_stack(
    const penna_point_state* state, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  return reserve_with_stack(state, state->bytes / 8u, pc, sp, fp);
}

extern "C" __attribute__((visibility("hidden"))) void penna_point_values_with_stack(const penna_point_state* state,
                                                                                    uint64_t* values, uintptr_t pc,
                                                                                    uintptr_t sp, uintptr_t fp) {
  const uint32_t words = measure(state->types, values, kHeadWords + state->arg_count);
  uint64_t* record = reserve_with_stack(state, words, pc, sp, fp);
  if (record == nullptr) return;
  store(state->types, values, record + kHeadWords);
  commit(record);
}

}  // namespace penna::agent
