/* SPDX-License-Identifier: MIT
 * Eight threads pass blocks on: each puts what it allocates into a slot that all share, and frees what it finds there. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 8, kSlots = 16, kRounds = 20000 };
static void* slots[kSlots];

static void* pass(void* number) {
  uint64_t random = (uintptr_t)number * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < kRounds; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    void* block = malloc(16 + (random >> 33) % 200);
    free(__atomic_exchange_n(&slots[(random >> 50) % kSlots], block, __ATOMIC_ACQ_REL));
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, pass, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < kSlots; i++) free(slots[i]);
  puts("passed");
}
