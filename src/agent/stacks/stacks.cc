// SPDX-License-Identifier: MIT
// See stacks.h. The walk is in src/unwind; here are the stack tree in shared memory, and the pool of ThreadStates,
// which hold a thread's memory of its last stack.
#include "agent/stacks/stacks.h"

#include <new>

#include "agent/core/attachment.h"
#include "agent/core/channel_room.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/state.h"
#include "agent/modules/modules.h"
#include "agent/modules/own_code.h"
#include "unwind/walk.h"

namespace penna::agent {

// Too large for thread-local storage (a minimal stack has 16 KiB), so allocated from a pool.
struct ThreadState {
  unwind::ThreadMemory memory;
  ThreadState* next;  // in the pool
};

namespace {

unwind::Walker walker;
bool walker_ready;

// States that threads returned when they ended: a stack whose head has a counter in the upper 16 bits, against ABA.
uint64_t pool_head;

constexpr uint64_t kPointerMask = (uint64_t{1} << 48) - 1;

ThreadState* take_state() {
  uint64_t head = __atomic_load_n(&pool_head, __ATOMIC_ACQUIRE);  // pairs with the release below and in return_state()
  while ((head & kPointerMask) != 0) {
    auto* state = reinterpret_cast<ThreadState*>(head & kPointerMask);
    // A state is never unmapped, so this reads a state even if another thread takes it first.
    uint64_t next =
        ((head >> 48) + 1) << 48 | reinterpret_cast<uintptr_t>(__atomic_load_n(&state->next, __ATOMIC_RELAXED));
    if (__atomic_compare_exchange_n(&pool_head, &head, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return state;
  }
  return static_cast<ThreadState*>(map_kept(sizeof(ThreadState)));
}

void return_state(ThreadState* state) {
  uint64_t head = __atomic_load_n(&pool_head, __ATOMIC_RELAXED);
  uint64_t mine;
  do {
    __atomic_store_n(&state->next, reinterpret_cast<ThreadState*>(head & kPointerMask), __ATOMIC_RELAXED);
    mine = ((head >> 48) + 1) << 48 | reinterpret_cast<uintptr_t>(state);
  } while (!__atomic_compare_exchange_n(&pool_head, &head, mine, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

bool prepare_walker() {
  void* table = map_kept(unwind::RuleCache::kBytes);
  if (table == nullptr) return false;
  new (&walker.cache) unwind::RuleCache(table);
  walker.options.max_depth = static_cast<uint16_t>(process.stack_depth);
  walker.options.mark_truncation = true;
  walker.options.stand_ins = {reinterpret_cast<uintptr_t>(penna_return_trampolines), sizeof penna_return_trampolines,
                              [](uintptr_t pc) { return link_of_trampoline(pc).caller; }};
  walker_ready = true;
  return true;
}

// Pseudo parents that stand for "the outermost frame, where the walk ended this way": they have no node.
constexpr uint32_t kMarkers = UINT32_MAX - 15;

constexpr penna_stack_end stack_end_of(unwind::End end) {
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

// A frame in the tree: the contents of its node except for the depth.
struct Key {
  uint64_t pc_generation;
  uint32_t parent;
  uint32_t flags;

  uint64_t hash() const { return mix(pc_generation ^ uint64_t{parent} << 32 ^ flags); }
};

bool is_node_of(uint32_t id, const Key& key) {
  const penna_stack_node& node = process.stack_nodes[id];
  return node.pc_generation == key.pc_generation && node.parent == key.parent && node.depth_flags >> 16 == key.flags;
}

// Where the nth probe goes: as close to the parent's own two slots as there is room. The frames of a new stack get
// consecutive ids, and most nodes have one or two children, so the slots of a stack share cache lines. Further children
// go to their parent's page of the table, those of a parent with hundreds to a few pages around it, those of one with
// thousands to more pages, and so on: touching a new page costs more than a hundred probes, but once a parent has
// filled its pages, proximity does not help. The nth probe of a key never moves, no matter how much has become usable
// meanwhile.
struct Around {
  uint32_t until, bits;  // probes below `until` go to the 2^bits slots around the parent
};
constexpr Around kAround[] = {{10, 10}, {26, 14}, {42, 18}, {58, 21}, {74, 24}, {90, 27}};
constexpr uint32_t kLooks = 90;

uint64_t place_of(const Key& key, uint64_t hash, uint32_t nth) {
  const uint64_t near = uint64_t{key.parent} * 2 + (hash >> 63);
  if (nth < 2) return near ^ nth;
  uint32_t around = 0;
  while (nth >= kAround[around].until) ++around;
  const uint64_t mask = (uint64_t{1} << kAround[around].bits) - 1;
  return ((near & ~mask) | (((hash >> around * 7) + nth) & mask)) & process.hash_mask;
}

// 0: the tree is full.
uint32_t take_id() {
  uint32_t id = __atomic_load_n(&process.channel->node_count, __ATOMIC_RELAXED);
  do {
    while (id >= nodes_ready())
      if (!grow_stack_tree()) return 0;
  } while (!__atomic_compare_exchange_n(&process.channel->node_count, &id, id + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  return id;
}

// Makes a node that is not in the table yet; 0: the tree is full.
uint32_t make_node(const Key& key) {
  const uint32_t id = take_id();
  if (id == 0) return 0;
  const uint32_t depth = key.parent == 0 ? 1 : (process.stack_nodes[key.parent].depth_flags & 0xffff) + 1;
  penna_stack_node* node = process.stack_nodes + id;
  node->parent = key.parent;
  node->depth_flags = depth | key.flags << 16;
  __atomic_store_n(&node->pc_generation, key.pc_generation, __ATOMIC_RELEASE);  // pairs with the collector's acquire
  return id;
}

uintptr_t left_out_begin, left_out_bytes;

bool is_left_out(uintptr_t pc) { return is_own_code(pc) || pc - left_out_begin < left_out_bytes; }

__attribute__((noinline)) uint32_t search_or_add(Key key) {
  if (is_left_out(key.pc_generation & ((uint64_t{1} << 48) - 1)) && key.parent != 0) return key.parent;
  const uint64_t hash = key.hash();
  uint32_t mine = 0;
  for (uint32_t nth = 0; nth < kLooks; ++nth) {
    const uint64_t at = place_of(key, hash, nth);
    while (at >= slots_ready())
      if (!grow_stack_tree()) return 0;
    uint32_t* const place = process.stack_hash + at;
    uint32_t id = __atomic_load_n(place, __ATOMIC_ACQUIRE);  // pairs with the release of the exchange below
    if (id == 0) {
      if (mine == 0 && (mine = make_node(key)) == 0) return 0;
      if (__atomic_compare_exchange_n(place, &id, mine, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return mine;
      // Another thread took the slot, perhaps for the same frame; then this node stays unused.
    }
    if (id >= nodes_ready()) return 0;
    if (is_node_of(id, key)) return id;
  }
  return 0;
}

// The node of a frame, in the tree that all threads share; 0: the tree is full. The first probe is inlined.
__attribute__((always_inline)) inline uint32_t find_or_add(const Key& key) {
  const uint32_t id =
      __atomic_load_n(process.stack_hash + place_of(key, key.hash(), 0), __ATOMIC_ACQUIRE);  // as in search_or_add()
  if (__builtin_expect(id - 1 < nodes_ready() - 1 && is_node_of(id, key), 1)) return id;
  return search_or_add(key);
}

struct Hooks {
  uint64_t generation = uint64_t{__atomic_load_n(&module_generation, __ATOMIC_RELAXED)} << 48;

  Key key_of(uint32_t parent, uintptr_t pc) const { return {(pc & ((uint64_t{1} << 48) - 1)) | generation, parent, 0}; }
  uint32_t intern(uint32_t parent, uintptr_t pc) const {
    if (__builtin_expect(parent == 0 && pc < 16, 0)) return kMarkers + static_cast<uint32_t>(pc);
    Key key = key_of(parent, pc);
    if (__builtin_expect(parent >= kMarkers, 0))
      key = {key.pc_generation, 0, stack_end_of(static_cast<unwind::End>(parent - kMarkers))};
    return find_or_add(key);
  }
  uint32_t parent_of(uint32_t id, uintptr_t pc) const {
    if (id - 1 >= nodes_ready() - 1) return unwind::kNoNode;
    const uint32_t parent = process.stack_nodes[id].parent;
    return is_node_of(id, key_of(parent, pc)) ? parent : unwind::kNoNode;
  }
  void on_new_pc(uintptr_t, const dl_find_object& module) {
    ensure_module(module);
    generation = Hooks().generation;
  }
};

__attribute__((noinline)) bool prepare_thread() {
  // A hook may return from a long-running function in a process that is no longer recorded.
  if (process.channel == nullptr) return false;
  if (!walker_ready && !prepare_walker()) return false;
  thread.state = take_state();
  return thread.state != nullptr;
}

void count_truncated(unwind::End end) {
  if (process.channel == nullptr) return;
  if (end == unwind::End::tree_full)
    __atomic_fetch_add(&process.channel->counters.stack_tree_full, 1, __ATOMIC_RELAXED);
  else
    __atomic_fetch_add(&process.channel->counters.stacks_truncated[stack_end_of(end)], 1, __ATOMIC_RELAXED);
}

}  // namespace

uint32_t current_stack(const unwind::Registers& caller) {
  if (__builtin_expect(thread.state == nullptr, 0) && !prepare_thread())
    return count_truncated(unwind::End::tree_full), 0;
  Hooks hooks;
  unwind::WalkResult result = unwind::walk(walker, caller, thread.state->memory, hooks);
  if (__builtin_expect(result.end != unwind::End::complete, 0)) count_truncated(result.end);
  return result.node < kMarkers ? result.node : 0;
}

void own_code(uint64_t* start, uint64_t* end) {
  *start = reinterpret_cast<uintptr_t>(__ehdr_start);
  *end = reinterpret_cast<uintptr_t>(etext);
}

void leave_out_of_stacks(uintptr_t begin, uintptr_t end) {
  left_out_begin = begin;
  left_out_bytes = end - begin;
}

void forget_last_stack() {
  if (thread.state != nullptr) thread.state->memory.forget();
}

void release_thread_state() {
  ThreadState* state = thread.state;
  if (state == nullptr) return;
  thread.state = nullptr;
  return_thread_state(state);
}

void return_thread_state(ThreadState* state) {
  state->memory.stacks = {};  // the next thread has another stack
  state->memory.forget();
  return_state(state);
}

void forget_unwind_rules() {
  if (walker_ready) walker.cache.clear();
}

}  // namespace penna::agent
