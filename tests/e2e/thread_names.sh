#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that are named after their first event, by themselves, as is common, or by others: reports use that name,
# whichever function set it; and the results of these functions are unchanged.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >names.cc <<'PROGRAM'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
static void* volatile kept;
static void* by_pthread(void*) {
  kept = malloc(10);
  pthread_setname_np(pthread_self(), "by pthread");
  kept = malloc(20);
  return nullptr;
}
static void* by_prctl(void*) {
  kept = malloc(10);
  prctl(PR_SET_NAME, "by prctl and longer");
  kept = malloc(20);
  return nullptr;
}
static pthread_barrier_t meeting;
static void* by_others(void*) {
  kept = malloc(10);
  pthread_barrier_wait(&meeting);
  pthread_barrier_wait(&meeting);
  kept = malloc(20);
  return nullptr;
}
int main() {
  pthread_barrier_init(&meeting, nullptr, 2);
  pthread_t thread;
  pthread_create(&thread, nullptr, by_pthread, nullptr);
  pthread_join(thread, nullptr);
  pthread_create(&thread, nullptr, by_prctl, nullptr);
  pthread_join(thread, nullptr);
  pthread_create(&thread, nullptr, by_others, nullptr);
  pthread_barrier_wait(&meeting);
  kept = malloc(30);
  pthread_setname_np(thread, "by main");
  pthread_setname_np(thread, "by main again");
  pthread_barrier_wait(&meeting);
  pthread_join(thread, nullptr);
  char name[17] = "";
  int error = pthread_setname_np(pthread_self(), "longer than is allowed");
  printf("%s\n", error == ERANGE ? "too long" : "?");
  errno = 0;
  printf("%d %d\n", prctl(-1, 0, 0, 0, 0), errno == EINVAL);
  printf("%d %s\n", prctl(PR_GET_NAME, name), name);
  printf("%d\n", prctl(PR_GET_DUMPABLE));
}
PROGRAM
build_c names -pthread
plain=$(./names)
run penna record -q -k alloc -o names.penna -- ./names
expect_eq "0 $plain" "$status $out" "status and output"
run penna report alloc names.penna --by thread
expect_match "$out" ' 3 .* names$'
for name in 'by pthread' 'by prctl and lo' 'by main again'; do
  expect_match "$out" " 2 .* $name\$"
done
expect_match "$(penna replay names.penna)" 'thread is named by pthread'
expect_match "$(penna replay names.penna)" 'names the thread with tid [0-9]+ by main again'
run penna record -q -f -k locks,alloc --live -o live.penna -- ./names
expect_contains "$out" 'by main again'
