// SPDX-License-Identifier: MIT
// The agent's own memcpy, memmove, memset, memcmp and bcmp, for the calls that compilers generate.
//
// Why not libc's: the user may want to record calls of them, and would then see the agent's. Also, libc's may use
// vector registers, which hold values of the program where the agent is entered from a patch.
// Invariant: hidden in this library, so the program never binds to these.
#include <stddef.h>
#include <stdint.h>

#include "agent/core/arch.h"

#define PENNA_HIDDEN extern "C" __attribute__((visibility("hidden"), used))

namespace {

typedef uint64_t __attribute__((may_alias, aligned(1))) Word;

constexpr size_t kFew = 128;  // above, rep movsb is faster than our loop

}  // namespace

PENNA_HIDDEN void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  auto* in = static_cast<const uint8_t*>(from);
  if (bytes > kFew) {
    penna::agent::copy_many(out, in, bytes);
    return to;
  }
  for (; bytes >= sizeof(Word); bytes -= sizeof(Word), out += sizeof(Word), in += sizeof(Word))
    *reinterpret_cast<Word*>(out) = *reinterpret_cast<const Word*>(in);
  for (; bytes != 0; --bytes) *out++ = *in++;
  return to;
}

PENNA_HIDDEN void* memmove(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  auto* in = static_cast<const uint8_t*>(from);
  if (out - in >= static_cast<ptrdiff_t>(bytes) || out <= in) {
    for (; bytes != 0; --bytes) *out++ = *in++;
  } else {
    while (bytes-- != 0) out[bytes] = in[bytes];
  }
  return to;
}

PENNA_HIDDEN void* memset(void* to, int value, size_t bytes) {
  penna::agent::fill_many(static_cast<uint8_t*>(to), value, bytes);
  return to;
}

PENNA_HIDDEN int memcmp(const void* a, const void* b, size_t bytes) {
  auto* left = static_cast<const uint8_t*>(a);
  auto* right = static_cast<const uint8_t*>(b);
  for (; bytes != 0; --bytes, ++left, ++right)
    if (*left != *right) return *left - *right;
  return 0;
}

// clang emits this for a memcmp whose sign is not used.
PENNA_HIDDEN int bcmp(const void* a, const void* b, size_t bytes) { return memcmp(a, b, bytes); }
