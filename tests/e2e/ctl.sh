#!/bin/bash
# SPDX-License-Identifier: MIT
# penna ctl: points of a running program are switched from outside, exactly, also those of programs and libraries loaded
# later.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >steps.c <<'PROGRAM'
// Passes its points once for each line that it reads, and says so; "fork" does it in a child, "exec" in a new program.
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "penna/point.h"
static void __attribute__((noinline, noclone)) pass(long round) {  // so that each has one site
  PENNA_EVENT(db, query, round);
  PENNA_EVENT(db, commit, round);
  PENNA_EVENT(net, send, round);
}
int main(int argc, char **argv) {
  char line[64];
  long round = 0;
  if (argc > 1) {
    PENNA_EVENT(other, begin, round);
    return 0;
  }
  setvbuf(stdout, 0, _IOLBF, 0);
  printf("%d\n", getpid());
  while (fgets(line, sizeof line, stdin)) {
    int child = strncmp(line, "fork", 4) == 0 || strncmp(line, "exec", 4) == 0 ? fork() : -1;
    if (child == 0 && line[0] == 'e') execl(argv[0], argv[0], "again", (char *)0);
    round++;
    if (child <= 0) pass(round);
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, 0, 0);
    printf("done %ld\n", round);
  }
  return 0;
}
PROGRAM
cc -O2 -g -I"$PENNA_SOURCE/include" steps.c -o steps
mkfifo to from
"$PENNA" record -q -o steps.penna -k points -e '/^net:/' -- ./steps <to >from &
recorder=$!
exec 8>to 9<from
read -r pid <&9
round() { echo "$1" >&8; read -r answer <&9; }

round go                               # 1: net
run penna ctl "$pid" on 'db:*'
expect_eq 0 "$status" "exit status of ctl"
expect_contains "$err" "'db:*' names 2 sites of 1 process: 2 switched on"
round go                               # 2: all three
run penna ctl "$pid" off '/^db:(commit|rollback)$/' net:send
expect_contains "$err" "'/^db:(commit|rollback)$/' names 1 site of 1 process: 1 switched off"
round go                               # 3: query
round fork                             # 4: query, in a child
run penna ctl "$pid" off db:commit
expect_contains "$err" "0 switched off, 1 was off already"
for i in $(seq 300); do penna ctl "$pid" on 'net:*' 2>>many.txt; penna ctl "$pid" off 'net:*' 2>>many.txt; done
expect_eq 600 "$(grep -c '1 switched' many.txt)" "switches"
run penna ctl "$recorder" on 'other:*'
round exec                             # 5: nothing here; the new program passes other:begin
run penna ctl "$recorder" off '*'
round go                               # 6: nothing
run penna ctl "$pid" on '/no(such/'
expect_eq 125 "$status" "what is no expression"
run penna ctl "$pid" on 'no:such'
expect_eq 1 "$status" "exit status for a pattern without a point"
expect_contains "$err" "holds for what is loaded later"
exec 8>&-
wait "$recorder"

run penna export csv steps.penna
passed() { grep -c "$1" <<<"$out" || true; }
expect_eq 2 "$(passed 'net:send')" "net:send"
expect_eq 3 "$(passed 'db:query')" "db:query"
expect_eq 1 "$(passed 'db:commit')" "db:commit"
expect_eq 1 "$(passed 'other:begin')" "other:begin"
run penna report steps.penna health
expect_contains "$out" "points '*' were switched off while all processes ran"

# Incorrect usage.
run penna ctl 1073741823 on x
expect_eq 125 "$status" "exit status"
expect_contains "$err" "there is no process 1073741823"
run penna ctl $$ on x
expect_contains "$err" "neither recorded nor a recorder"
# The process that adopts a recorded program is not its recorder: here process 1 of a container.
cat >adopts.sh <<'SCRIPT'
"$1" record -q -f -o adopted.penna -- sh -c 'setsid sleep 60 & exit 0' &
for i in $(seq 200); do read -r pid < <(pgrep -P 1 -x sleep) && break; sleep 0.05; done
"$1" ctl 1 on x
kill "$pid"
wait
SCRIPT
run as_root unshare --pid --fork --mount-proc bash adopts.sh "$PENNA"
expect_contains "$err" "process 1 is neither recorded nor a recorder"
run penna ctl $$ maybe x
expect_contains "$err" "there is no command 'maybe': choose from on, off, snapshot, stop"
"$PENNA" record -q -o calls.penna -k calls -- sleep 5 &
sleeper=$!
for i in $(seq 100); do pid=$(pgrep -P "$sleeper" -x sleep) && break; sleep 0.05; done
for i in $(seq 100); do run penna ctl "$pid" on x; [[ $err == *"is not recorded"* ]] || break; sleep 0.05; done
expect_eq 125 "$status" "exit status"
expect_contains "$err" "does not take points"
kill "$pid"
wait "$sleeper" || true

# Where one process cannot be asked, the others are, and so will those to come.
need strace
mkfifo to2
start two.txt "$PENNA" record -q -o two.penna -k points -e '/^net:/' -- sh -c './steps <to >one.txt & ./steps <to2; wait'
recorder=$pid
exec 7>to 8>to2
both_run() { [ "$(pgrep -c -P "$(pgrep -P "$recorder" -x sh)" -x steps)" = 2 ]; }
until_true "runs both" both_run
echo go >&7 && await one.txt 'done 1'
echo go >&8 && await two.txt 'done 1'
held=$(pgrep -P "$(pgrep -P "$recorder" -x sh)" -x steps | sort -n | head -n 1)
start strace.txt strace -qq -o trace.txt -p "$held"
strace=$pid
until_true "is traced" grep -q '^TracerPid:.*[1-9]' "/proc/$held/status"
run penna ctl "$recorder" on 'db:query'
expect_eq 125 "$status" "exit status of ctl"
expect_match "$err" "process $held: .*; 'db:query' is switched in 2 other processes, and in those to come"
kill "$strace" && wait "$strace" || true
echo go >&7 && echo go >&8
exec 7>&- 8>&-
wait "$recorder"
run penna export csv two.penna
expect_eq 1 "$(passed 'db:query')" "db:query"
run penna report two.penna health
expect_contains "$out" "points 'db:query' were switched on while all processes ran"
