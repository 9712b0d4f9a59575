/* SPDX-License-Identifier: MIT
 * Points in a C program: a small queue of jobs that reports what it does.
 *
 *     cc -O2 -I include examples/points.c -o points
 *     penna record -k points -- ./points && penna report points
 *     gdb -ex 'break -probe demo:done' -ex run -ex 'print $_probe_arg1' ./points
 * Without penna the points cost two nops each. */
#include <stdio.h>
#include <stdlib.h>

#include "penna/point.h"

enum priority { LOW = -1, NORMAL = 0, HIGH = 1 };

struct job {
  unsigned id;
  enum priority priority;
  const char* name;
  double work;
};

static double run_job(const struct job* job) {
  double result = 0;
  PENNA_EVENT(demo, begin, job->id, job->name, job->priority);
  for (int i = 1; i <= (int)job->work; i++) result += 1.0 / i;
  PENNA_EVENT(demo, done, job->id, result, (void*)job);
  return result;
}

int main(int argc, char** argv) {
  static const char* const names[] = {"parse", "sort", "write"};
  int jobs = argc > 1 ? atoi(argv[1]) : 1000;
  double sum = 0;
  PENNA_EVENT(demo, start, jobs, argv[0]);
  for (int i = 0; i < jobs; i++) {
    struct job job = {(unsigned)i, (enum priority)(i % 3 - 1), names[i % 3], 10.0 * (i % 50 + 1)};
    sum += run_job(&job);
    if (i % 100 == 99) PENNA_EVENT(demo, progress, i + 1, (float)(i + 1) / (float)jobs, i + 1 == jobs);
  }
  PENNA_EVENT(demo, stop);
  printf("%d jobs, sum %.6f\n", jobs, sum);
  return 0;
}
