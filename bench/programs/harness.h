// SPDX-License-Identifier: MIT
// The common part of all programs in bench/programs: arguments, threads that start together, one line of results.
//
// PROGRAM ITERATIONS THREADS runs the body ITERATIONS times in each of THREADS threads and prints
//     ns=NANOSECONDS cpu_ns=NANOSECONDS all_ns=NANOSECONDS ops=OPERATIONS threads=THREADS
// where ns is the wall time of one operation in one thread, the mean over the threads, cpu_ns the same in the threads'
// own time, all_ns the wall time from a burst's first beginning to its last end for each operation of all threads, and
// ops counts all operations done, including the warm-up.
// The body runs in bursts; the first one warms up. BENCH_PAUSE_MS, in the environment, is the pause before each of the
// others: during it a recorder drains what was recorded, so that the next burst uses warm memory.
// Invariant: with one thread the body runs in the main thread, so that libc takes its single-threaded paths, as in most
// programs; only what is between the two clock readings is measured.
#pragma once

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace bench {

// Not instrumented in a program built with -finstrument-functions.
#define BENCH_PLAIN __attribute__((no_instrument_function))

// Makes the compiler believe that `value` is used and may have changed.
template <typename T>
BENCH_PLAIN inline void opaque(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

BENCH_PLAIN inline double now_ns(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// A program's body: does `iterations` operations as thread `thread` and returns how many it did.
using Body = long (*)(long iterations, int thread);
using Setup = void (*)(int thread);

inline constexpr long kBursts = 8;

struct Worker {
  Body body;
  Setup setup;
  long iterations;
  int thread;
  pthread_barrier_t* start;
  double ns = 0, cpu_ns = 0;
  double begin[kBursts] = {}, end[kBursts] = {};
  long ops = 0, warm_ops = 0;
};

// All threads begin a burst together.
BENCH_PLAIN inline void wait_for_burst(const Worker& worker) {
  static const char* const pause = getenv("BENCH_PAUSE_MS");
  if (pause != nullptr) usleep(static_cast<useconds_t>(atoi(pause)) * 1000);
  if (worker.start != nullptr) pthread_barrier_wait(worker.start);
}

BENCH_PLAIN inline void* work(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  if (worker.setup) worker.setup(worker.thread);
  // Warms caches, predictors, lazy bindings, and the memory for recording.
  worker.warm_ops = worker.body(1 + worker.iterations / kBursts, worker.thread);
  for (long burst = 0; burst < kBursts; ++burst) {
    wait_for_burst(worker);
    const double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC);
    worker.ops += worker.body(1 + worker.iterations / kBursts, worker.thread);
    const double end = now_ns(CLOCK_MONOTONIC);
    worker.ns += end - begin;
    worker.begin[burst] = begin, worker.end[burst] = end;
    worker.cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  }
  return nullptr;
}

// From the first beginning to the last end, of all bursts.
BENCH_PLAIN inline double whole_ns(const std::vector<Worker>& workers) {
  double sum = 0;
  for (long burst = 0; burst < kBursts; ++burst) {
    double begin = workers[0].begin[burst], end = workers[0].end[burst];
    for (const Worker& worker : workers) {
      if (worker.begin[burst] < begin) begin = worker.begin[burst];
      if (worker.end[burst] > end) end = worker.end[burst];
    }
    sum += end - begin;
  }
  return sum;
}

BENCH_PLAIN inline int run(int argc, char** argv, Body body, Setup setup = nullptr) {
  const long iterations = argc > 1 ? atol(argv[1]) : 0;
  const int threads = argc > 2 ? atoi(argv[2]) : 0;
  if (iterations < 1 || threads < 1) {
    fprintf(stderr, "usage: %s ITERATIONS THREADS ...\n", argv[0]);
    return 2;
  }
  pthread_barrier_t start;
  pthread_barrier_init(&start, nullptr, static_cast<unsigned>(threads));
  std::vector<Worker> workers(static_cast<size_t>(threads), Worker{body, setup, iterations, 0, &start});
  if (threads == 1) {
    workers[0].start = nullptr;
    work(&workers[0]);
  } else {
    std::vector<pthread_t> handles(workers.size());
    for (size_t i = 0; i < workers.size(); ++i) {
      workers[i].thread = static_cast<int>(i);
      if (pthread_create(&handles[i], nullptr, work, &workers[i]) != 0) abort();
    }
    for (pthread_t handle : handles) pthread_join(handle, nullptr);
  }
  double ns = 0, cpu_ns = 0;
  long ops = 0, measured = 0;
  for (const Worker& worker : workers) {
    ns += worker.ns / static_cast<double>(worker.ops) / threads;
    cpu_ns += worker.cpu_ns / static_cast<double>(worker.ops) / threads;
    measured += worker.ops;
    ops += worker.ops + worker.warm_ops;
  }
  const double all_ns = whole_ns(workers) / static_cast<double>(measured);
  printf("ns=%.4f cpu_ns=%.4f all_ns=%.4f ops=%ld threads=%d\n", ns, cpu_ns, all_ns, ops, threads);
  return 0;
}

}  // namespace bench
