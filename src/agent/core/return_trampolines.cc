// SPDX-License-Identifier: MIT
// See return_trampolines.h.
#include "agent/core/return_trampolines.h"

namespace penna::agent {
namespace {

constexpr uint32_t kMostUsed = kTrampolines / 8 * 7;  // keeps searches short
constexpr uint32_t kProbes = kMaxProbes - 1;          // per home
uint32_t used;

// Where the search begins: close together for neighbouring callers. calls_x86_64.S computes the same.
uint32_t home_of(uintptr_t caller, uintptr_t resume) {
  return static_cast<uint32_t>((caller >> 1) + (resume >> 4)) & (kTrampolines - 1);
}

// Where neighbouring functions call neighbouring functions, the slots around their homes fill up. Then other homes are
// tried, all over the table; every call of such a pair takes this slower search.
constexpr uint32_t kHomes = 16;
uint32_t nth_home(uintptr_t caller, uintptr_t resume, uint32_t nth) {
  if (nth == 0) return home_of(caller, resume);
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
  const uint64_t mixed = ((caller * kMix ^ resume) + nth) * kMix;
  return static_cast<uint32_t>(mixed >> 32) & (kTrampolines - 1);
}

uintptr_t trampoline_of(uint32_t number) {
  return reinterpret_cast<uintptr_t>(penna_return_trampolines) + uintptr_t{number} * kTrampolineBytes;
}

bool take(ReturnLink& link) {
  uintptr_t unused = 0;
  return __atomic_compare_exchange_n(&link.caller, &unused, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// The link of a pair: an existing one, or one that was claimed and is still to be filled (`is_new`). Null: table full.
ReturnLink* find_or_claim(uintptr_t caller, uintptr_t resume, bool* is_new) {
  *is_new = false;
  // The last slot of the table stays unused, so that every search ends.
  for (uint32_t probe = 0; probe < kHomes * kProbes; ++probe) {
    ReturnLink& link = penna_return_links[nth_home(caller, resume, probe / kProbes) + probe % kProbes];
    const uintptr_t seen = __atomic_load_n(&link.caller, __ATOMIC_ACQUIRE);  // pairs with the release in publish()
    if (seen == caller && link.resume == resume) return &link;
    if (seen != 0) continue;
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) >= kMostUsed) return nullptr;
    // Two threads may create two links for one pair: both are correct.
    if (!take(link)) continue;
    __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    link.resume = resume;
    *is_new = true;
    return &link;
  }
  return nullptr;
}

void publish(ReturnLink& link, uintptr_t caller, uintptr_t function, uintptr_t way) {
  link.function = function;
  __atomic_store_n(&link.way, way,
                   __ATOMIC_RELEASE);  // for a stale one; pairs with the order of loads in calls_x86_64.S
  __atomic_store_n(&link.caller, caller, __ATOMIC_RELEASE);
}

bool is_stale(const ReturnLink& link) { return (__atomic_load_n(&link.way, __ATOMIC_ACQUIRE) & kStale) != 0; }

}  // namespace

const ReturnLink* return_link(uintptr_t caller, uintptr_t resume, uintptr_t flags,
                              LinkedFunction (*function_of)(uintptr_t)) {
  bool is_new;
  ReturnLink* link = find_or_claim(caller, resume, &is_new);
  if (link == nullptr) return nullptr;
  const auto number = static_cast<uint32_t>(link - penna_return_links);
  if (is_new || is_stale(*link)) {
    const LinkedFunction known = function_of(resume);
    publish(*link, caller, known.function, trampoline_of(number) | flags | known.flags);
  }
  return link;
}

void add_follower(uintptr_t jumper, const ReturnLink& link) {
  if ((link.way & kAsks) != 0) return;
  bool is_new;
  ReturnLink* follower = find_or_claim(jumper, link.resume, &is_new);
  if (follower != nullptr && (is_new || is_stale(*follower)))
    publish(*follower, jumper, link.function, (link.way & ~kWayFlags) | kFollows);
}

void pass_pair(uintptr_t caller, uintptr_t resume) {
  bool is_new;
  ReturnLink* link = find_or_claim(caller, resume, &is_new);
  if (link != nullptr && (is_new || is_stale(*link))) publish(*link, caller, 0, kFollows);
}

bool any_return_links() { return __atomic_load_n(&used, __ATOMIC_RELAXED) != 0; }

void describe_returns(penna_attachment* shared) {
  shared->trampolines = reinterpret_cast<uintptr_t>(penna_return_trampolines);
  shared->trampoline_bytes = sizeof penna_return_trampolines;
  shared->links = reinterpret_cast<uintptr_t>(penna_return_links);
  shared->link_count_at = reinterpret_cast<uintptr_t>(&used);
}

void mark_return_links_stale(uintptr_t start, uintptr_t end) {
  if (!any_return_links()) return;  // leaves the table's memory alone
  for (ReturnLink& link : penna_return_links) {
    const uintptr_t caller = __atomic_load_n(&link.caller, __ATOMIC_ACQUIRE);
    if (caller == 0 || caller == kTaken) continue;
    if (caller - start < end - start || link.resume - start < end - start)
      __atomic_fetch_or(&link.way, kStale, __ATOMIC_RELEASE);
  }
}

}  // namespace penna::agent
