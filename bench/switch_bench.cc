// SPDX-License-Identifier: MIT
// Switching 10,000 sites on and off again, in a program without the agent: triggers whose code is close together, as in
// a program of some megabytes, or one per page, while another thread runs or not.
//
// The sites are written in assembly, as the macros would expand: a compiler takes minutes for so many.
#include <benchmark/benchmark.h>

#include <atomic>
#include <thread>

#include "penna/trigger.h"

// SITES(tag, count, bytes): that many slots, that many bytes apart; each with its own record and state.
#define SITES(tag, count, bytes)                                                                \
  asm(".pushsection .text." tag                                                                 \
      ",\"ax\",@progbits\n"                                                                     \
      ".balign 4096\n begin_" tag                                                               \
      ":\n"                                                                                     \
      ".pushsection .bss.penna,\"aw\",@nobits\n .balign 8\n states_" tag ": .zero 32 * " #count \
      "\n .popsection\n"                                                                        \
      ".pushsection .rodata\n text_" tag ": .asciz \"bench\"\n .asciz \"" tag                   \
      "\"\n .asciz \"sites\"\n .popsection\n"                                                   \
      ".set number, 0\n"                                                                        \
      ".rept " #count                                                                           \
      "\n"                                                                                      \
      "1: .byte 0xa9,0,0,0,0\n ret\n"                                                           \
      ".pushsection penna_sites,\"ao\",@progbits,begin_" tag                                    \
      "\n .balign 8\n"                                                                          \
      ".4byte 1b - ., 1b - . + 5, text_" tag " - ., states_" tag                                \
      " + 32 * number - ., 0, 1, number\n"                                                      \
      ".byte 0, 4\n .2byte 18\n .8byte 0\n .popsection\n"                                       \
      ".set number, number + 1\n"                                                               \
      ".skip " #bytes                                                                           \
      " - 6\n"                                                                                  \
      ".endr\n"                                                                                 \
      ".popsection\n")

SITES("close", 10000, 64);
SITES("apart", 10000, 4096);
SITES("first", 10000, 4096);  // switched once: the kernel copies each page of the file that is written

namespace {

// Provides the module's note, and keeps the linker from dropping the tables.
[[gnu::noinline]] void one_of_ours() {
  PENNA_TRIGGER(bench, ours, [] {});
}

void switch_sites(benchmark::State& state, const char* pattern) {
  std::atomic<bool> stop{false};
  std::thread other;
  if (state.range(0) != 0)
    other = std::thread([&] {
      while (!stop.load(std::memory_order_relaxed)) one_of_ours();
    });
  int sites = 0;
  for (auto _ : state) {
    sites = penna_enable(pattern);
    state.PauseTiming();
    if (penna_disable(pattern) != sites || sites != 10000) state.SkipWithError("not all sites were switched");
    state.ResumeTiming();
  }
  stop = true;
  if (other.joinable()) other.join();
}
void arm_10000_sites_close_together(benchmark::State& state) { switch_sites(state, "bench:close"); }
void arm_10000_sites_in_a_page_each(benchmark::State& state) { switch_sites(state, "bench:apart"); }
void arm_10000_sites_in_a_page_each_first_time(benchmark::State& state) { switch_sites(state, "bench:first"); }
// Argument: number of other running threads.
BENCHMARK(arm_10000_sites_close_together)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(arm_10000_sites_in_a_page_each_first_time)
    ->Arg(0)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(arm_10000_sites_in_a_page_each)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
