/* SPDX-License-Identifier: MIT
 * emitter FILE THREADS ITERATIONS: each iteration is one call, one allocation of EMITTER_BLOCK bytes and its free, and
 * one lock and its unlock. Built with -finstrument-functions. Counts in FILE as it goes (emitter.h). */
#define _GNU_SOURCE
#include "emitter.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static struct emitter_page* page;
static uint64_t iterations;
static pthread_mutex_t locks[EMITTER_MAX_THREADS];

__attribute__((noinline)) void emitter_function(void) { __asm__ volatile(""); }

QUIET static void* emit(void* number) {
  unsigned self = (unsigned)(uintptr_t)number;
  struct emitter_thread* told = &page->thread[self];
  for (uint64_t i = 0; i < iterations; ++i) {
    __atomic_store_n(&told->begun, i + 1, __ATOMIC_RELEASE);
    emitter_function();
    void* volatile block = malloc(EMITTER_BLOCK);
    free(block);
    pthread_mutex_lock(&locks[self]);
    pthread_mutex_unlock(&locks[self]);
    __atomic_store_n(&told->done, i + 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

QUIET int main(int count, char** words) {
  if (count != 4) return 2;
  int fd = open(words[1], O_RDWR | O_CLOEXEC);
  if (fd < 0 || ftruncate(fd, sizeof *page) != 0) return 2;
  page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return 2;
  unsigned threads = (unsigned)atoi(words[2]);
  iterations = strtoull(words[3], NULL, 10);
  page->threads = threads;
  page->function = (uintptr_t)emitter_function;
  pthread_t others[EMITTER_MAX_THREADS];
  for (unsigned i = 0; i < threads; ++i) {
    page->lock[i] = (uintptr_t)&locks[i];
    pthread_mutex_init(&locks[i], NULL);
  }
  __atomic_store_n(&page->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
  for (unsigned i = 0; i < threads; ++i) pthread_create(&others[i], NULL, emit, (void*)(uintptr_t)i);
  for (unsigned i = 0; i < threads; ++i) pthread_join(others[i], NULL);
  page->finished = 1;
  return 7;
}
