// SPDX-License-Identifier: MIT
// See stack_room.h.
#include "agent/core/stack_room.h"

#include <sys/mman.h>

#include "agent/core/call_filters.h"
#include "agent/core/pages.h"
#include "agent/core/sys.h"

namespace penna::agent {
namespace {

void reserve(uint8_t* base, long fd, uint64_t begin, uint64_t end) {
  begin = page_up(begin);
  end = page_down(end);
  if (begin < end)
    sys(SYS_mmap, reinterpret_cast<long>(base + begin), static_cast<long>(end - begin), PROT_NONE,
        MAP_SHARED | MAP_FIXED, fd, static_cast<long>(begin));
}

bool make_ready(void* begin, uint64_t bytes) {
  return !sys_failed(
      sys(SYS_mprotect, reinterpret_cast<long>(begin), static_cast<long>(page_up(bytes)), PROT_READ | PROT_WRITE));
}

}  // namespace

void reserve_stack_tree(const penna_channel& plan, uint8_t* base, long fd) {
  const uint32_t ready = nodes_at_first(plan.max_nodes);
  if (ready == plan.max_nodes) return;
  reserve(base, fd, plan.hash_at + uint64_t{slots_for_nodes(ready)} * sizeof(uint32_t), plan.nodes_at);
  reserve(base, fd, plan.nodes_at + uint64_t{ready} * sizeof(penna_stack_node), plan.chunks_at);
}

bool grow_stack_tree() {
  const uint32_t most = process.channel->max_nodes;
  uint32_t ready = nodes_ready();
  if (ready >= most || (call_refusals & kRefusesGrowth) != 0) return false;
  const uint32_t wanted = ready > most / 2 ? most : ready * 2;
  if (!make_ready(process.stack_hash, uint64_t{slots_for_nodes(wanted)} * sizeof(uint32_t)) ||
      !make_ready(process.stack_nodes, uint64_t{wanted} * sizeof(penna_stack_node)))
    return false;
  // Release: a thread that sees the number can use these nodes. Another thread may have grown the tree first.
  __atomic_compare_exchange_n(&process.nodes_ready, &ready, wanted, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  return true;
}

}  // namespace penna::agent
