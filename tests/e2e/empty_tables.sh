#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tables without rows: empty lists under their name in JSON, the same column header as with rows in CSV.
. "$(dirname "$0")/common.sh"

cat >prog.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include "penna/point.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void work(int n) {
  void *volatile block = malloc((size_t)n);
  free(block);
  PENNA_EVENT(empty, point, n);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
int main(void) { work(10); void *volatile left = malloc(7); (void)left; return 0; }
C
build_c prog -finstrument-functions
penna record -q -k calls,alloc,locks,points -o full.penna ./prog
penna record -q -k points -o none.penna true

# The keys of its lists, one per line, without the sentences.
lists() { python3 -c '
import json, sys
for key, value in json.load(sys.stdin).items():
  if isinstance(value, list) and key not in ("about", "notes", "warnings"): print(key)'; }

same_shape() {  # VERB... with REC where the recording stands
  local full=("${@/REC/full.penna}") none=("${@/REC/none.penna}")
  penna "${full[@]}" --json >full.json
  penna "${none[@]}" --json >none.json || fail "$* --json"
  [ -n "$(lists <none.json)" ] || fail "$* --json has no list: $(<none.json)"
  expect_eq "$(lists <full.json)" "$(lists <none.json)" "lists of $* --json"
  [ "${1-} ${3-}" != "report " ] || return 0  # the summary has several tables and no CSV
  penna "${full[@]}" --format csv >full.csv
  penna "${none[@]}" --format csv >none.csv
  [ -s none.csv ] || fail "$* --format csv is empty"
  expect_eq "$(head -n 1 full.csv)" "$(head -n 1 none.csv)" "header of $* --format csv"
}

same_shape report REC
for table in calls tree alloc leaks temp peak sizes lifetimes heap locks waits holds chains order points threads health; do
  same_shape report REC $table
done
for by in function thread call freer; do same_shape report REC alloc --by $by; done
same_shape report REC leaks --by function
same_shape report REC calls --by thread
for by in holder lock; do same_shape report REC waits --by $by; done
same_shape report REC alloc --unmatched
same_shape report REC locks --lock 'none*'
same_shape info REC
same_shape list REC
same_shape replay REC

# In text, they do not appear.
run penna report none.penna
expect_missing "$out" 'Calls:'
expect_contains "$out" 'There is nothing to show'
run penna report none.penna lifetimes
expect_missing "$out" 'Lives of freed blocks'
