// SPDX-License-Identifier: MIT
// RuleCache: the rules of all call sites seen so far, one table per process, shared by all threads without locks.
//
// 64 Ki entries of one atomic word each: [rule 32 | tag 32]. The key (48 bits of pc) times an odd constant modulo 2^48
// is a bijection; its top 16 bits are the index and its low 32 bits the tag, so an entry that matches is for this very
// pc: no false hits. A newer pc with the same index replaces an older one.
// Relaxed order is enough: key and value are one word, nothing else is reached through it, and a miss only costs time.
// Invariant: an entry is 0 or the rule that the CFI of its pc gave since the last clear().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "unwind/arch.h"
#include "unwind/rule.h"

namespace penna::unwind {

class RuleCache {
 public:
  static constexpr size_t kEntries = size_t{1} << 16;
  static constexpr size_t kBytes = kEntries * sizeof(uint64_t);  // 512 KiB; pages without entries are never touched

  // `zeroed_block`: kBytes of zeroed memory, aligned to 8, that outlives the cache. Without it nothing may be called.
  RuleCache() = default;
  explicit RuleCache(void* zeroed_block) : entries_(static_cast<std::atomic<uint64_t>*>(zeroed_block)) {}

  // A bijection of keys below 2^48.
  static uint64_t hash(uintptr_t key) { return key * kMultiplier; }

  // The entry where a key with this hash belongs; read once. An empty entry may seem to match the key: its rule is
  // empty, and not a step.
  struct Entry {
    uint64_t word;
    bool is_of(uint64_t hashed) const { return static_cast<uint32_t>(word) == static_cast<uint32_t>(hashed >> 16); }
    Rule rule() const { return {static_cast<uint32_t>(word >> 32)}; }
    // Like that of rule(), one instruction sooner: the next step waits for it.
    intptr_t cfa_offset() const { return static_cast<intptr_t>(word) >> 48 << 3; }
  };
  // The part that a look-up needs, for a caller that wants it in a register.
  struct View {
    const std::atomic<uint64_t>* entries;
    // The tag leaves the 16 low bits of the hash out: they are 0, being those of the shifted multiplier.
    Entry look_up(uint64_t hashed) const { return {entries[hashed >> 48].load(std::memory_order_relaxed)}; }
  };
  View view() const { return {entries_}; }

  // The rule stored for `key`, or an empty one. Keys at or above 2^48 are never stored.
  Rule find(uintptr_t key) const {
    const Entry entry = view().look_up(hash(key));
    return entry.is_of(hash(key)) ? entry.rule() : Rule{};
  }

  // Stores a rule unless clear() ran since `generation` was read: it may come from a module that is gone.
  void put(uintptr_t key, Rule rule, uint32_t since_generation) {
    if (key >> Arch::kPcBits != 0 || since_generation != generation()) return;
    const uint64_t hashed = hash(key);
    const uint64_t tag = static_cast<uint32_t>(hashed >> 16);
    entries_[hashed >> 48].store(uint64_t{rule.bits} << 32 | tag, std::memory_order_relaxed);
  }

  // Forgets everything: call after dlclose. Any thread; walks may run meanwhile (a frame on a live stack is not of a
  // closed module, so what they store is still true).
  void clear() {
    generation_.fetch_add(1, std::memory_order_relaxed);
    for (size_t i = 0; i < kEntries; ++i)
      if (entries_[i].load(std::memory_order_relaxed) != 0) entries_[i].store(0, std::memory_order_relaxed);
  }

  // Changes with every clear(): what was derived from rules before must be derived again.
  uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  // 2^48 divided by the golden ratio, made odd, then shifted so that the product's top 48 bits are the bijection.
  static constexpr uint64_t kMultiplier = (0x9e3779b97f4bULL | 1) << 16;

  std::atomic<uint64_t>* entries_ = nullptr;
  std::atomic<uint32_t> generation_{0};
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == 8);

}  // namespace penna::unwind
