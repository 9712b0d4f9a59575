#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads borrowed in the middle of a sleep: it ends neither early nor with EINTR, regardless of its kind.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >asleep.c <<'C'
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
enum { kMs = 700 };
static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
static int sleep_by(const char* how) {
  struct timespec time = {0, kMs * 1000000L};
  if (!strcmp(how, "nanosleep")) return nanosleep(&time, 0);
  if (!strcmp(how, "poll")) return poll(0, 0, kMs);
  if (!strcmp(how, "ppoll")) return ppoll(0, 0, &time, 0);
  if (!strcmp(how, "select")) return select(0, 0, 0, 0, &(struct timeval){0, kMs * 1000});
  if (!strcmp(how, "epoll")) return epoll_wait(epoll_create1(0), &(struct epoll_event){0}, 1, kMs);
  sem_t never;
  sem_init(&never, 0, 0);
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += kMs * 1000000L;
  if (time.tv_nsec >= 1000000000) ++time.tv_sec, time.tv_nsec -= 1000000000;
  return sem_timedwait(&never, &time) == -1 && errno == ETIMEDOUT ? 0 : -1;
}
int main(int count, char** words) {
  while (count > 1 && access("enough", F_OK) != 0) {
    const long begin = now_ms();
    if (sleep_by(words[1]) != 0) return perror(words[1]), 1;
    if (now_ms() - begin < kMs - 2) return fprintf(stderr, "%s: only %ld ms\n", words[1], now_ms() - begin), 2;
    puts("slept"), fflush(stdout);
  }
  return 0;
}
C
build_c asleep
attach_to_each ./asleep 2 "-k alloc" nanosleep poll ppoll select epoll semaphore
