// SPDX-License-Identifier: MIT
// See stacks.h. The walk is src/unwind's; here are the stack tree in shared memory, and where a thread's memory of its
// last stack comes from.
#include "agent/stacks.h"

#include <sys/mman.h>

#include <new>

#include "agent/modules.h"
#include "agent/state.h"
#include "agent/sys.h"
#include "unwind/walk.h"

namespace penna::agent {

// Too large for a thread's own storage (a minimal stack has 16 KiB), so from a pool.
struct ThreadState {
  unwind::ThreadMemory memory;
  ThreadState* next;  // in the pool
};

namespace {

unwind::Walker walker;
bool walker_ready;

// States given back by threads that have ended: a stack whose head carries a count in the upper 16 bits, against ABA.
uint64_t pool_head;

constexpr uint64_t kPointerMask = (uint64_t{1} << 48) - 1;

void* map_zeroed(size_t bytes) {
  long got = sys(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return sys_failed(got) ? nullptr : reinterpret_cast<void*>(got);
}

ThreadState* take_state() {
  uint64_t head = __atomic_load_n(&pool_head, __ATOMIC_ACQUIRE);  // pairs with the release below and in give_state()
  while ((head & kPointerMask) != 0) {
    auto* state = reinterpret_cast<ThreadState*>(head & kPointerMask);
    // A state is never unmapped, so this read is of a state even when another thread takes it first.
    uint64_t next =
        ((head >> 48) + 1) << 48 | reinterpret_cast<uintptr_t>(__atomic_load_n(&state->next, __ATOMIC_RELAXED));
    if (__atomic_compare_exchange_n(&pool_head, &head, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return state;
  }
  return static_cast<ThreadState*>(map_zeroed(sizeof(ThreadState)));
}

void give_state(ThreadState* state) {
  uint64_t head = __atomic_load_n(&pool_head, __ATOMIC_RELAXED);
  uint64_t mine;
  do {
    __atomic_store_n(&state->next, reinterpret_cast<ThreadState*>(head & kPointerMask), __ATOMIC_RELAXED);
    mine = ((head >> 48) + 1) << 48 | reinterpret_cast<uintptr_t>(state);
  } while (!__atomic_compare_exchange_n(&pool_head, &head, mine, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

bool prepare_walker() {
  void* table = map_zeroed(unwind::RuleCache::kBytes);
  if (table == nullptr) return false;
  new (&walker.cache) unwind::RuleCache(table);
  walker.options.max_depth = static_cast<uint16_t>(process.stack_depth);
  walker.options.mark_truncation = true;
  walker_ready = true;
  return true;
}

// Parents that stand for "the outermost frame, and the walk ended so": no node of their own.
constexpr uint32_t kMarkers = UINT32_MAX - 15;

constexpr penna_stack_end told_as(unwind::End end) {
  switch (end) {
    case unwind::End::complete: return PENNA_STACK_COMPLETE;
    case unwind::End::depth_limit: return PENNA_STACK_DEPTH_LIMIT;
    case unwind::End::no_rule:
    case unwind::End::unsupported: return PENNA_STACK_NO_RULE;
    default: return PENNA_STACK_BAD_MEMORY;
  }
}

uint64_t mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0x9e3779b97f4a7c15;
  return value ^ value >> 29;
}

// The node for `pc` below `parent`, from the tree that all threads share; 0 when the tree is full.
uint32_t find_or_add(uint64_t pc_generation, uint32_t parent, uint32_t flags, uint32_t depth) {
  uint32_t mine = 0;
  uint64_t hash = mix(pc_generation ^ uint64_t{parent} << 32 ^ flags);
  for (uint32_t probe = 0; probe < 64; ++probe) {
    uint32_t* slot = process.stack_hash + ((hash + probe) & process.hash_mask);
    uint32_t id = __atomic_load_n(slot, __ATOMIC_ACQUIRE);  // pairs with the release of the exchange below
    if (id == 0) {
      if (mine == 0) {
        mine = __atomic_fetch_add(&process.channel->node_count, 1, __ATOMIC_RELAXED);
        if (mine >= process.max_nodes) {
          __atomic_store_n(&process.channel->node_count, process.max_nodes, __ATOMIC_RELAXED);
          return 0;
        }
        penna_stack_node* node = process.stack_nodes + mine;
        node->parent = parent;
        node->depth_flags = depth | flags << 16;
        __atomic_store_n(&node->pc_generation, pc_generation, __ATOMIC_RELEASE);  // pairs with the collector's acquire
      }
      if (__atomic_compare_exchange_n(slot, &id, mine, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return mine;
      // Another thread took the slot, perhaps for the same frame; then our node stays unused.
    }
    if (id >= process.max_nodes) return 0;
    const penna_stack_node& node = process.stack_nodes[id];
    if (node.pc_generation == pc_generation && node.parent == parent && node.depth_flags >> 16 == flags) return id;
  }
  return 0;
}

struct Hooks {
  uint32_t intern(uint32_t parent, uintptr_t pc) const {
    if (parent == 0 && pc < 16) return kMarkers + static_cast<uint32_t>(pc);
    uint64_t key = (pc & ((uint64_t{1} << 48) - 1)) | uint64_t{__atomic_load_n(&module_generation, __ATOMIC_RELAXED)}
                                                          << 48;
    if (parent >= kMarkers) return find_or_add(key, 0, told_as(static_cast<unwind::End>(parent - kMarkers)), 1);
    uint32_t depth = parent == 0 ? 0 : process.stack_nodes[parent].depth_flags & 0xffff;
    return find_or_add(key, parent, 0, depth + 1);
  }
  void on_new_pc(uintptr_t, const dl_find_object& module) const { ensure_module(module); }
};

__attribute__((noinline)) bool prepare_thread() {
  if (!walker_ready && !prepare_walker()) return false;
  thread.state = take_state();
  return thread.state != nullptr;
}

void count_truncated(unwind::End end) {
  if (end == unwind::End::tree_full)
    __atomic_fetch_add(&process.channel->counters.stack_tree_full, 1, __ATOMIC_RELAXED);
  else
    __atomic_fetch_add(&process.channel->counters.stacks_truncated[told_as(end)], 1, __ATOMIC_RELAXED);
}

}  // namespace

uint32_t current_stack(const unwind::Registers& caller) {
  if (__builtin_expect(thread.state == nullptr, 0) && !prepare_thread()) return 0;
  Hooks hooks;
  unwind::WalkResult result = unwind::walk(walker, caller, thread.state->memory, hooks);
  if (__builtin_expect(result.end != unwind::End::complete, 0)) count_truncated(result.end);
  return result.node < kMarkers ? result.node : 0;
}

void forget_last_stack() {
  if (thread.state != nullptr) thread.state->memory.count = 0;
}

void release_thread_state() {
  ThreadState* state = thread.state;
  if (state == nullptr) return;
  thread.state = nullptr;
  state->memory.stacks = {};  // the next thread's stack lies elsewhere
  state->memory.count = 0;
  give_state(state);
}

void forget_unwind_rules() {
  if (walker_ready) walker.cache.clear();
}

}  // namespace penna::agent
