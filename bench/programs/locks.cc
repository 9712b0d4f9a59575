// SPDX-License-Identifier: MIT
// pthread_mutex_lock and pthread_mutex_unlock around one addition. A third argument "shared": one mutex for all threads;
// else each has its own. An operation is one lock and one unlock.
#include <cstring>

#include "harness.h"

namespace {

struct alignas(128) Guarded {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  long value = 0;
};
constexpr int kMaxThreads = 64;
Guarded guarded[kMaxThreads];
bool shared = false;

long body(long iterations, int thread) {
  Guarded& mine = guarded[shared ? 0 : thread];
  for (long i = 0; i < iterations; ++i) {
    pthread_mutex_lock(&mine.mutex);
    ++mine.value;
    pthread_mutex_unlock(&mine.mutex);
  }
  return iterations;
}

}  // namespace

int main(int argc, char** argv) {
  shared = argc > 3 && strcmp(argv[3], "shared") == 0;
  if (argc > 2 && atoi(argv[2]) > kMaxThreads) return 2;
  return bench::run(argc, argv, body);
}
