// SPDX-License-Identifier: MIT
// Memory pools of the program: called by the armed sites of penna/alloc.h.
//
// A pool's name becomes an id the first time that it is used, and a SITE record describes it to the channel; a forked
// child keeps its parent's ids, and describes them again when it uses them.
// Sampling is for malloc and its kin: events of pools are all recorded.
// Invariant: an id is described to a channel before this thread's first record with it; async-signal-safe; no locks.
#include "agent/core/text.h"
#include "agent/hooks/alloc/alloc_record.h"
#include "agent/patch/site_records.h"

namespace penna::agent {
namespace {

constexpr uint32_t kPools = 256, kName = 56;
struct Pool {
  char name[kName];  // truncated if longer, zero-terminated
  uint32_t id;
  const void* described_to;  // the channel that has its SITE record
};
Pool storage[kPools];
uint32_t stored;
Pool* pools[kPools];  // by hash, open addressing; entries are written once, filled before (release)

struct Name {
  char text[kName] = {};
  uint32_t bytes = 0, hash = 2166136261;  // FNV-1a

  explicit Name(const char* from) {
    if (from == nullptr) from = "?";
    for (; bytes < kName - 1 && from[bytes] != '\0'; ++bytes) {
      text[bytes] = from[bytes];
      hash = (hash ^ static_cast<uint8_t>(from[bytes])) * 16777619;
    }
  }
};

void describe(const Name& name, uint32_t id) {
  constexpr char kProvider[] = "pool";
  char text[sizeof kProvider + kName + 1] = {};  // provider, name, and no source file
  __builtin_memcpy(text, kProvider, sizeof kProvider);
  __builtin_memcpy(text + sizeof kProvider, name.text, name.bytes);
  penna_site_info info{};
  info.site = id;
  info.kind = PENNA_SITE_POOL;
  info.text_bytes = static_cast<uint16_t>(sizeof kProvider + name.bytes + 2);
  record_site(info, text);
}

Pool* make_pool(const Name& name) {
  const uint32_t number = __atomic_fetch_add(&stored, 1, __ATOMIC_RELAXED);
  // `stored` may go past the end: it is only compared.
  if (number >= kPools) return nullptr;
  Pool* pool = &storage[number];
  __builtin_memcpy(pool->name, name.text, kName);
  pool->id = new_site_id();
  return pool;
}

Pool* find_or_make(const Name& name) {
  Pool* mine = nullptr;
  for (uint32_t nth = 0; nth < kPools; ++nth) {
    Pool** place = &pools[(name.hash + nth) % kPools];
    Pool* pool = __atomic_load_n(place, __ATOMIC_ACQUIRE);  // pairs with the release below
    if (pool == nullptr) {
      if (mine == nullptr && (mine = make_pool(name)) == nullptr) return nullptr;
      if (__atomic_compare_exchange_n(place, &pool, mine, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return mine;
      // Another thread took the slot, perhaps for this pool; then ours stays unused.
    }
    if (text_begins(pool->name, name.text, name.bytes + 1)) return pool;
  }
  return nullptr;
}

// The pool's id, after its SITE record was written; 0: there are too many pools.
uint32_t pool_id(const char* from) {
  const Name name(from);
  Pool* pool = find_or_make(name);
  if (pool == nullptr) {
    lose_for(PENNA_LOSS_POOLS, PENNA_ALLOC, 1);
    return 0;
  }
  // Two threads that get here at once both describe the pool, each before its own first record with the id.
  if (__atomic_load_n(&pool->described_to, __ATOMIC_RELAXED) != process.channel) {
    describe(name, pool->id);
    __atomic_store_n(&pool->described_to, process.channel, __ATOMIC_RELAXED);
  }
  return pool->id;
}

}  // namespace
}  // namespace penna::agent

using namespace penna::agent;

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

PENNA_EXPORT void penna_agent_pool_alloc(const char* name, const void* block, size_t size) {
  if (block == nullptr || !recording(PENNA_ALLOC)) return;
  const uint32_t pool = pool_id(name);
  if (pool == 0) return;
  await_address();
  const uint32_t stack = current_stack(penna::unwind::caller_registers());
  write_record(PENNA_KIND_POOL_ALLOC, penna_pool_alloc{reinterpret_cast<uintptr_t>(block), size, stack, pool},
               PENNA_ALLOC, penna_now());
}

PENNA_EXPORT void penna_agent_pool_free(const char* name, const void* block) {
  if (block == nullptr || !recording(PENNA_ALLOC)) return;
  const uint32_t pool = pool_id(name);
  if (pool == 0) return;
  const uint32_t stack =
      (process.alloc_options & kFreeStacks) != 0 ? current_stack(penna::unwind::caller_registers()) : 0;
  write_record(PENNA_KIND_POOL_FREE, penna_pool_free{reinterpret_cast<uintptr_t>(block), stack, pool}, PENNA_ALLOC,
               free_time());
}
