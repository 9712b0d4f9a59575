// SPDX-License-Identifier: MIT
// Memory with many threads: THREADS threads live at the same time, each has allocated, locked and called; then the
// process reports its resident memory.
//
// THREADS prints  rss_kib=N peak_kib=N threads=N , from the kernel's figures for this process (/proc/self/status).
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

pthread_barrier_t everyone, leave;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long sum;

void* live(void*) {
  for (int i = 0; i < 10; ++i) {
    volatile char* block = static_cast<char*>(malloc(64));
    block[0] = 1;
    pthread_mutex_lock(&mutex);
    sum += block[0];
    pthread_mutex_unlock(&mutex);
    free(const_cast<char*>(block));
  }
  pthread_barrier_wait(&everyone);
  pthread_barrier_wait(&leave);
  return nullptr;
}

long status_kib(const char* key) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, key, strlen(key)) == 0) value = atol(line + strlen(key));
  if (file) fclose(file);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  pthread_barrier_init(&everyone, nullptr, static_cast<unsigned>(count) + 1);
  pthread_barrier_init(&leave, nullptr, static_cast<unsigned>(count) + 1);
  std::vector<pthread_t> threads(static_cast<size_t>(count));
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, &small, live, nullptr) != 0) {
      perror("pthread_create");
      return 1;
    }
  }
  pthread_barrier_wait(&everyone);
  printf("rss_kib=%ld peak_kib=%ld threads=%d\n", status_kib("VmRSS:"), status_kib("VmHWM:"), count);
  pthread_barrier_wait(&leave);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  return 0;
}
