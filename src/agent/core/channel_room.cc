// SPDX-License-Identifier: MIT
// See channel_room.h.
#include "agent/core/channel_room.h"

#include <sys/mman.h>

#include "agent/core/call_filters.h"
#include "agent/core/pages.h"
#include "agent/core/sys.h"

namespace penna::agent {
namespace {

constexpr uint32_t kFirstNodes = 1 << 20;
// Besides those that wait for the collector: each thread has one.
constexpr uint32_t kFirstChunks = 256;

uint32_t least(uint32_t one, uint32_t other) { return one < other ? one : other; }
// The bitmap of free chunks is searched by words.
uint32_t whole_words(uint32_t chunks) { return (chunks + 63) & ~63u; }
uint32_t doubled(uint32_t ready, uint32_t most) { return ready > most / 2 ? most : ready * 2; }

bool make_ready(void* begin, uint64_t bytes) {
  return !sys_failed(
      sys(SYS_mprotect, reinterpret_cast<long>(begin), static_cast<long>(page_up(bytes)), PROT_READ | PROT_WRITE));
}

bool may_grow() { return (call_refusals & kRefusesGrowth) == 0; }

bool nodes_are_ready(uint8_t* slots, void* nodes, uint32_t count) {
  return make_ready(slots, uint64_t{slots_for_nodes(count)} * sizeof(uint32_t)) &&
         make_ready(nodes, uint64_t{count} * sizeof(penna_stack_node));
}

}  // namespace

bool open_room(const penna_channel& plan, uint8_t* base, long fd, ReadyRoom* ready) {
  if (!may_grow()) {
    *ready = {plan.max_nodes, plan.chunk_count};
    return !sys_failed(sys(SYS_mmap, reinterpret_cast<long>(base), static_cast<long>(plan.total_bytes),
                           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
  }
  *ready = {least(plan.max_nodes, kFirstNodes),
            least(plan.chunk_count, whole_words(plan.backlog_limit + kFirstChunks))};
  return make_ready(base, plan.hash_at) && nodes_are_ready(base + plan.hash_at, base + plan.nodes_at, ready->nodes) &&
         make_ready(base + plan.chunks_at, uint64_t{ready->chunks} * PENNA_CHUNK_BYTES);
}

// Release, here and below: a thread that sees the number can use these. Another thread may have grown it first.
bool grow_stack_tree() {
  const uint32_t most = process.channel->max_nodes;
  uint32_t ready = nodes_ready();
  if (ready >= most || !may_grow()) return false;
  const uint32_t wanted = doubled(ready, most);
  if (!nodes_are_ready(reinterpret_cast<uint8_t*>(process.stack_hash), process.stack_nodes, wanted)) return false;
  __atomic_compare_exchange_n(&process.nodes_ready, &ready, wanted, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  return true;
}

bool grow_chunks() {
  const uint32_t most = process.channel->chunk_count;
  uint32_t ready = chunks_ready();
  if (ready >= most || !may_grow()) return false;
  const uint32_t wanted = doubled(ready, most);
  if (!make_ready(process.chunks, uint64_t{wanted} * PENNA_CHUNK_BYTES)) return false;
  __atomic_compare_exchange_n(&process.chunks_ready, &ready, wanted, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  return true;
}

}  // namespace penna::agent
