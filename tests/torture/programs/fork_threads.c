/* SPDX-License-Identifier: MIT
 * fork_threads [TIMES]: forks that often (100) while three threads allocate and lock; the children allocate, lock, start a thread,
 * and fork again. */
#include "torture.h"

static volatile int stop;

static void* churn(void* unused) {
  while (!stop) work(10);
  return unused;
}
static void* child_thread(void* unused) {
  work(5);
  return unused;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 100;
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, churn, NULL);
  long sum = 0;
  for (int i = 0; i < times; i++) {
    /* The program's own lock must not be held by a thread that the child does not have. */
    pthread_mutex_lock(&torture_lock);
    pid_t pid = fork();
    pthread_mutex_unlock(&torture_lock);
    if (pid < 0) DIE("fork");
    if (pid == 0) {
      pthread_t thread;
      work(20);
      if (pthread_create(&thread, NULL, child_thread, NULL) == 0) pthread_join(thread, NULL);
      pid_t grandchild = i % 10 == 0 ? fork() : -1;
      if (grandchild == 0) _exit((int)work(4));
      int status = 0;
      if (grandchild > 0) waitpid(grandchild, &status, 0);
      _exit(WEXITSTATUS(status) + i % 50);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid) DIE("waitpid");
    sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  }
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  printf("sum %ld\n", sum);
}
