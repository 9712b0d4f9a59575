#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Losses of threads killed before they had room to report them: the table of threads still includes them, and adds up to
# the total loss.
. "$(dirname "$0")/common.sh"

cat >busy.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *busy(void *unused) {
  for (;;) { void *volatile block = malloc(10); free(block); }
  return unused;
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 4; ++i) pthread_create(&thread, 0, busy, 0);
  usleep(300000);
  kill(getpid(), SIGKILL);
}
C
sed -i '1i #include <signal.h>' busy.c
build_c busy
run penna record -k alloc --on-full=drop --pool=4 -o a.penna ./busy
penna report a.penna threads --json >threads.json
python3 - <<'PYTHON' || fail "the table does not add up: $(<threads.json)"
import json
report = json.load(open('threads.json'))
lost = sum(report['loss'][kind] for kind in ('calls', 'alloc', 'locks', 'points'))
rows = sum(row['lost'] or 0 for row in report['threads'])
assert rows == lost, (rows, lost)
untold = [row for row in report['threads'] if row['tid'] is None]
assert not lost or not untold or untold[0]['lost'] > 0
PYTHON
