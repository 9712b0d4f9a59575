#!/bin/bash
# SPDX-License-Identifier: MIT
# penna ctl PID off -k: what begins while its kind is off is left out, in all processes and threads; what had begun is recorded
# to its end, so that no block looks leaked and no call open.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >steps.c <<'PROGRAM'
// A round for each line that it reads, and says so: a call, a block that the round after the next frees, a lock. "fork": in a child.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static void *kept[2];
__attribute__((noipa)) static void step(long round) {
  free(kept[round % 2]);
  kept[round % 2] = malloc(1000);
  pthread_mutex_lock(&ledger);
  pthread_mutex_unlock(&ledger);
}
__attribute__((noipa)) static int rounds(void) {
  char line[64];
  for (long round = 0; fgets(line, sizeof line, stdin);) {
    if (strncmp(line, "fork", 4) == 0) {
      const int child = fork();
      if (child == 0) step(0), _exit(0);
      waitpid(child, NULL, 0);
    } else {
      step(round++);
    }
    printf("done\n");
  }
  return 7;
}
int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("%d\n", getpid());
  const int status = rounds();
  free(kept[0]), free(kept[1]);
  return status;
}
PROGRAM
cc -O1 -g -finstrument-functions steps.c -o steps -pthread
begin() {
  rm -f to from
  mkfifo to from
  "$PENNA" record -q "$@" ./steps <to >from &
  recorder=$!
  exec 8>to 9<from
  read -r pid <&9
}
round() { echo "${1:-go}" >&8; read -r answer <&9; }
end() {
  exec 8>&-
  ended=0
  wait "$recorder" || ended=$?
  exec 9<&-
}
# From "penna report TABLE --json": the sum of a column over rows that have a word.
sum() { "$PENNA" report "$1" "$2" --json -n 0 | python3 -c '
import json, re, sys
rows = next(value for value in json.load(sys.stdin).values() if isinstance(value, list) and (not value or isinstance(value[0], dict)))
print(sum(row[sys.argv[1]] for row in rows if re.search(rf"\b{sys.argv[2]}\b", json.dumps(row))))' "$3" "$4"; }

begin -o steps.penna -k calls,alloc,locks
round                                  # 1
round                                  # 2
run penna ctl "$pid" off -k calls,alloc,locks
expect_eq 0 "$status" "exit status of ctl"
expect_contains "$err" "calls,alloc,locks switched off: what has begun is recorded to its end, nothing else"
round                                  # the block of round 1 is freed
round fork
round                                  # the block of round 2 is freed
run penna ctl "$recorder" on -k calls -k locks
expect_contains "$err" "calls,locks switched on: what begins from now on is recorded again"
round                                  # 3
run penna ctl "$pid" on -k alloc
round                                  # 4
round fork                             # 5, in a child
end
expect_eq 7 "$ended" "exit status of the program"
expect_eq 5 "$(sum steps.penna calls calls step)" "calls of step"
expect_eq 1 "$(sum steps.penna calls calls rounds)" "calls of rounds, which is inside all the time"
run penna report calls steps.penna
expect_missing "$out" "still open"
expect_eq 5 "$(sum steps.penna locks taken ledger)" "times that the lock was taken"
expect_eq 4 "$(sum steps.penna alloc count step)" "blocks of step"
expect_eq 1 "$(sum steps.penna leaks blocks step)" "leaked blocks of step: that of the child"
run penna report health steps.penna
expect_match "$out" 'calls were switched off after [0-9.]+ s: what began from then on is not recorded'
expect_match "$out" 'lock events were switched on again after'
expect_match "$out" '[0-9]+ events began while their kind was switched off'
run penna info steps.penna
expect_match "$out" '^state +complete$'
expect_match "$out" '^lost +nothing$'

# A filter that was given from the start goes on; another thread's switch changes nothing twice.
begin -o filtered.penna -k calls -F step
round
for i in 1 2; do run penna ctl "$pid" off -k calls; expect_eq 0 "$status" "exit status of ctl"; done
round
round
penna ctl "$pid" on -k calls 2>/dev/null
round
end
expect_eq 2 "$(sum filtered.penna calls calls step)" "calls of step, filtered"
expect_eq 0 "$(sum filtered.penna calls calls rounds)" "calls that the filter leaves out"
run penna report health filtered.penna
expect_eq 1 "$(grep -c 'calls were switched off' <<<"$out")" "notes of one switch"

# Many switches, while threads write as fast as they can: nothing is torn, lost or left open.
cat >busy.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noipa)) static void inner(void) { free(malloc(10)); }
__attribute__((noipa)) static void outer(void) { for (int i = 0; i < 10; ++i) inner(); }
static void *work(void *file) {
  while (access(file, F_OK) == 0) outer();
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, argv[argc - 1]);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 0;
}
PROGRAM
cc -O1 -g -finstrument-functions busy.c -o busy -pthread
touch go
"$PENNA" record -q -o busy.penna -k calls,alloc ./busy go &
recorder=$!
started+=("$recorder")
for i in $(seq 200); do run penna ctl "$recorder" off -k alloc; [ "$status" = 0 ] && break; sleep 0.05; done
for i in $(seq 30); do
  penna ctl "$recorder" off -k calls,alloc 2>/dev/null
  penna ctl "$recorder" on -k calls,alloc 2>/dev/null
done
rm go
wait "$recorder"
run penna info busy.penna
expect_match "$out" '^lost +nothing$'
run penna report health busy.penna -n 0
expect_match "$out" '^torn +0 '
run penna report leaks busy.penna
expect_missing "$out" "inner"
run penna report calls busy.penna
expect_missing "$out" "still open"

# What cannot be switched is refused.
begin -o calls.penna -k calls
run penna ctl "$pid" off -k locks
expect_eq 125 "$status" "a kind that is not recorded"
expect_contains "$err" "this recording does not take locks: start it with locks among its kinds (-k locks)"
end
run penna ctl $$ off -k points
expect_eq 125 "$status" "of a process that is not recorded"
for wrong in 'off -k love' 'off -k calls shop:*' 'stop -k calls' 'off -k'; do
  # shellcheck disable=SC2086
  run penna ctl $$ $wrong
  expect_eq 125 "$status" "exit status of ctl $wrong"
done
echo PASS
