// SPDX-License-Identifier: MIT
// The cost of one stack of 25 frames: walked from scratch, with remembered frames, and by the peers.
//
// same_stack: the same stack again and again, as in malloc in a loop. without_memory: all frames walked and interned,
// their rules cached. changing_inner/N: N + 2 inner frames are left and entered again between two walks.
// first_sight_of_a_pc: no rule is cached, so the CFI of every frame is read.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "unwind/walk.h"

namespace {

using namespace penna::unwind;

// The simplest possible tree: a hash table of (parent, pc), never full in this benchmark.
class Tree {
 public:
  uint32_t intern(uint32_t parent, uintptr_t pc) {
    const uint64_t key = (uint64_t{parent} << 48) ^ pc;
    uint64_t at = key * 0x9e3779b97f4a7c15ULL >> (64 - kBits);
    while (keys_[at] != key && keys_[at] != 0) at = (at + 1) & ((1 << kBits) - 1);
    keys_[at] = key;
    return static_cast<uint32_t>(at) + 1;
  }
  uint32_t parent_of(uint32_t node, uintptr_t pc) const {
    if (node - 1 >= keys_.size()) return kNoNode;
    const uint32_t parent = static_cast<uint32_t>(keys_[node - 1] >> 48);
    return (keys_[node - 1] ^ uint64_t{parent} << 48) == pc ? parent : kNoNode;
  }
  void on_new_pc(uintptr_t, const dl_find_object&) {}

 private:
  static constexpr int kBits = 16;
  std::vector<uint64_t> keys_ = std::vector<uint64_t>(1 << kBits);
};

struct State {
  Walker walker{RuleCache(std::calloc(1, RuleCache::kBytes)), {}};
  ThreadMemory* memory = static_cast<ThreadMemory*>(std::calloc(1, sizeof(ThreadMemory)));
  Tree tree;
};
State& state() {
  static State the_state;
  return the_state;
}

using Body = void (*)(benchmark::State&);

// `depth` more frames between the loop and its caller.
[[gnu::noinline]] void deepen(int depth, Body body, benchmark::State& run) {
  volatile char locals[48];
  locals[0] = 1;
  if (depth == 0) {
    body(run);
  } else {
    deepen(depth - 1, body, run);
  }
  benchmark::DoNotOptimize(locals[0]);
}

[[gnu::noinline]] uint32_t hook_node() {
  State& s = state();
  return walk(s.walker, caller_registers(), *s.memory, s.tree).node;
}
[[gnu::noinline]] WalkResult hook() {
  State& s = state();
  return walk(s.walker, caller_registers(), *s.memory, s.tree);
}
[[gnu::noinline]] WalkResult hook_without_memory() {
  State& s = state();
  s.memory->count = 0;
  return walk(s.walker, caller_registers(), *s.memory, s.tree);
}
// A hook, called below `extra` more frames.
[[gnu::noinline]] WalkResult hook_deeper(int extra) {
  WalkResult result = extra == 0 ? hook() : hook_deeper(extra - 1);
  benchmark::DoNotOptimize(result);
  return result;
}

// From one call site: an unrolled loop (hence -fno-unroll-loops) would have two, and the stack would change.
template <typename Call>
void loop(benchmark::State& run, Call call) {
  while (run.KeepRunning()) benchmark::DoNotOptimize(call());
}

void report(benchmark::State& run, int depth, int fresh) {
  run.counters["frames"] = depth;
  run.counters["fresh"] = fresh;
}

// The frames outside of deepen(): main, benchmark's runner; measured once so that the whole stack has `wanted` frames.
int outer_frames(benchmark::State& run) {
  static int count = [&] {
    int depth = 0;
    static int* out;
    out = &depth;
    deepen(
        0, [](benchmark::State&) { *out = hook().depth; }, run);
    out = nullptr;
    return depth;
  }();
  return count;
}
int padding(benchmark::State& run, int wanted) { return std::max(0, wanted - outer_frames(run)); }

constexpr int kFrames = 25;

void same_stack(benchmark::State& run) {
  deepen(
      padding(run, kFrames),
      [](benchmark::State& r) {
        loop(r, hook_node);
        const WalkResult result = hook();
        report(r, result.depth, result.fresh);
      },
      run);
}
BENCHMARK(same_stack);

void without_memory(benchmark::State& run) {
  deepen(
      padding(run, kFrames),
      [](benchmark::State& r) {
        loop(r, hook_without_memory);
        const WalkResult result = hook_without_memory();
        report(r, result.depth, result.fresh);
        r.counters["ns/frame"] = benchmark::Counter(
            result.depth, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
      },
      run);
}
BENCHMARK(without_memory);

void changing_inner(benchmark::State& run) {
  static int extra;
  extra = static_cast<int>(run.range(0));
  deepen(
      padding(run, kFrames),
      [](benchmark::State& r) {
        int turn = 0;
        for (auto _ : r) {
          turn ^= 1;
          // Two call sites, which the compiler must not merge: the inner frames differ in their return address each
          // time.
          if (turn) {
            benchmark::DoNotOptimize(hook_deeper(extra));
            asm volatile("nop");
          } else {
            benchmark::DoNotOptimize(hook_deeper(extra));
            asm volatile("nop; nop");
          }
        }
        const WalkResult result = hook_deeper(extra);
        report(r, result.depth, result.fresh);
      },
      run);
}
BENCHMARK(changing_inner)->Arg(0)->Arg(2)->Arg(8);

void first_sight_of_a_pc(benchmark::State& run) {
  deepen(
      padding(run, kFrames),
      [](benchmark::State& r) {
        for (auto _ : r) {
          r.PauseTiming();
          state().walker.cache.clear();
          r.ResumeTiming();
          benchmark::DoNotOptimize(hook_without_memory());
        }
      },
      run);
}
BENCHMARK(first_sight_of_a_pc)->Iterations(2000);

void peer_libunwind_backtrace(benchmark::State& run) {
  deepen(
      padding(run, kFrames),
      [](benchmark::State& r) {
        void* pcs[64];
        unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
        loop(r, [&] { return unw_backtrace(pcs, 64); });
        report(r, unw_backtrace(pcs, 64), 0);
      },
      run);
}
BENCHMARK(peer_libunwind_backtrace);

// The physical limit of any verification: load one word per frame.
void limit_one_load_a_frame(benchmark::State& run) {
  std::vector<uintptr_t> stack(kFrames * 8);
  for (auto _ : run) {
    uintptr_t sum = 0;
    for (size_t i = 0; i < kFrames; ++i) {
      sum |= stack[i * 8];
      asm volatile("" : "+r"(sum));
    }
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(limit_one_load_a_frame);

}  // namespace

BENCHMARK_MAIN();
