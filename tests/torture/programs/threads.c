/* SPDX-License-Identifier: MIT
 * 1,000 short-lived threads, 20 at a time, each with work of every kind, half of them detached, some ending by
 * pthread_exit, each with thread-specific data whose destructor works too. */
#include "torture.h"

static pthread_key_t key;
static long total, gone;

static void destroy(void* value) {
  work(3);
  __atomic_add_fetch(&gone, (long)value, __ATOMIC_SEQ_CST);
}
static void* body(void* number) {
  pthread_setspecific(key, (void*)1);
  __atomic_add_fetch(&total, work((int)(long)number % 10), __ATOMIC_SEQ_CST);
  if ((long)number % 3 == 0) pthread_exit(number);
  return number;
}

int main(void) {
  pthread_key_create(&key, destroy);
  long returned = 0;
  for (long batch = 0; batch < 50; batch++) {
    pthread_t threads[20];
    for (long i = 0; i < 20; i++)
      if (pthread_create(&threads[i], NULL, body, (void*)(batch * 20 + i)) != 0) DIE("pthread_create");
    for (long i = 0; i < 20; i++) {
      void* result = NULL;
      if (i % 2 == 0)
        pthread_detach(threads[i]);
      else if (pthread_join(threads[i], &result) == 0)
        returned += (long)result;
    }
  }
  while (__atomic_load_n(&gone, __ATOMIC_SEQ_CST) < 1000) usleep(1000);
  printf("total %ld, returned %ld, destroyed %ld\n", total, returned, gone);
}
