// SPDX-License-Identifier: MIT
// The cost of each agent hook: run plain, under `penna record`, or under it with other kinds (`-k`), where the hooks
// are installed but inactive. bench/report.py runs all three and compares.
//
// Each benchmark is the smallest program that hits one hook; the numbers include the call through the PLT and the
// function's own work.
#include <benchmark/benchmark.h>
#include <pthread.h>

#include <cstdlib>

#include "penna/point.h"

extern "C" {
void __cyg_profile_func_enter(void* function, void* call_site);
void __cyg_profile_func_exit(void* function, void* call_site);
}

namespace {

void call(benchmark::State& state) {
  void* function = reinterpret_cast<void*>(&call);
  for (auto _ : state) {
    __cyg_profile_func_enter(function, nullptr);
    __cyg_profile_func_exit(function, nullptr);
  }
}
BENCHMARK(call)->ThreadRange(1, 2);

void point_without_arguments(benchmark::State& state) {
  for (auto _ : state) PENNA_EVENT(bench, empty);
}
BENCHMARK(point_without_arguments);

void point_with_two_integers(benchmark::State& state) {
  int low = 1;
  long whole = 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(low);
    benchmark::DoNotOptimize(whole);
    PENNA_EVENT(bench, pair, low, whole);
  }
}
BENCHMARK(point_with_two_integers)->ThreadRange(1, 2);

void point_with_a_string(benchmark::State& state) {
  const char* text = "forty characters of text, more or less..";
  for (auto _ : state) {
    benchmark::DoNotOptimize(text);
    PENNA_EVENT(bench, text, text);
  }
}
BENCHMARK(point_with_a_string);

void malloc_and_free(benchmark::State& state) {
  for (auto _ : state) {
    void* block = malloc(64);
    asm volatile("" : : "r"(block) : "memory");
    free(block);
  }
}
BENCHMARK(malloc_and_free)->ThreadRange(1, 2);

// Only the free, its malloc untimed: frees have no stack.
void free_only(benchmark::State& state) {
  constexpr int kBatch = 1024;
  static void* blocks[kBatch];
  while (state.KeepRunningBatch(kBatch)) {
    state.PauseTiming();
    for (void*& block : blocks) block = malloc(64);
    state.ResumeTiming();
    for (void* block : blocks) free(block);
  }
}
BENCHMARK(free_only);

void lock_and_unlock(benchmark::State& state) {
  thread_local pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (auto _ : state) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}
BENCHMARK(lock_and_unlock)->ThreadRange(1, 2);

}  // namespace

BENCHMARK_MAIN();
