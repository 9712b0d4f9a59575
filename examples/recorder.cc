// SPDX-License-Identifier: MIT
// A program that records itself: no other process, one recording for each of its runs.
//
//     c++ -std=c++17 -O2 -g examples/recorder.cc $(pkg-config --cflags --libs penna) \
//       -Wl,-rpath,$(pkg-config --variable=libdir penna) -o recorder
//     ./recorder && penna report points
// With -lpenna-agent behind -lpenna it could record calls, allocations and locks, too.
#include "penna/recorder.h"

#include <cstdio>
#include <thread>
#include <vector>

#include "penna/point.h"

static void serve(int worker) {
  for (int request = 0; request < 1000; request++) {
    PENNA_SPAN(demo, request, PENNA_ARG(worker, worker), PENNA_ARG(request, request));
    PENNA_EVENT(demo, bytes, PENNA_ARG(sent, request * 64));
  }
}

int main() {
  penna::RecorderOptions options;
  options.file = "recorder.penna";
  options.events = "demo:*";
  penna::Recorder recorder(options);
  if (!recorder) std::fprintf(stderr, "unrecorded: %s\n", recorder.error());
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; i++) workers.emplace_back(serve, i);
  for (std::thread& worker : workers) worker.join();
  if (recorder && !recorder.stop()) std::fprintf(stderr, "%s\n", recorder.error());
  std::puts("4,000 requests");
}
