#!/bin/bash
# SPDX-License-Identifier: MIT
# penna ctl on programs that record themselves: their points are switched exactly, including those of forked children;
# with two such programs, always those of the right one.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
lib=$(readlink -f "$(dirname "$PENNA")/../lib")
cat >steps.c <<'PROGRAM'
// Passes its points once for each line that it reads, and says so. "fork" makes a child, to which all later lines are handed on.
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
int main(void) {
  char line[64];
  long round = 0;
  setvbuf(stdout, 0, _IOLBF, 0);
  setvbuf(stdin, 0, _IONBF, 0);
  printf("%d\n", getpid());
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "fork", 4) == 0) {
      const int child = fork();
      if (child != 0) {
        int status;
        if (waitpid(-1, &status, __WALL) != child || status != 0) return 9;  // what stops the child is none of our business
        continue;
      }
      printf("%d\n", getpid());
      continue;
    }
    if (strncmp(line, "end", 3) == 0) return 0;
    pass(++round);
    printf("done %ld\n", round);
  }
  return 0;
}
PROGRAM
build_c steps -O2 -L"$lib" "-Wl,-rpath,$lib" -Wl,--no-as-needed -lpenna
# start NAME: with its own input and output.
declare -A to from pids
start() {
  mkfifo "$1.to" "$1.from"
  PENNA_RECORD=$1.penna PENNA_RECORD_EVENTS=${2:-} ./steps <"$1.to" >"$1.from" &
  exec {fd}>"$1.to"; to[$1]=$fd
  exec {fd}<"$1.from"; from[$1]=$fd
  read -r answer <&"${from[$1]}"
  pids[$1]=$answer
}
round() { echo "$2" >&"${to[$1]}"; read -r answer <&"${from[$1]}"; }
start one 'net:*'
start two ''
one=${pids[one]} two=${pids[two]}

round one go                           # 1: net
run penna ctl "$one" on 'db:*'
expect_eq 0 "$status" "exit status of ctl"
expect_contains "$err" "'db:*' names 2 sites of 1 process: 2 switched on"
round one go                           # 2: all three
run penna ctl "$two" off '/^db:/' net:send
expect_eq 0 "$status" "exit status of ctl for the other program"
expect_contains "$err" "'net:send' names 1 site of 1 process: 1 switched off"
round one go                           # 3: all three
round two go                           # nothing
run penna ctl "$two" on 'db:commit'
round two go                           # commit
round two go                           # commit
run penna ctl "$one" off 'db:commit' net:send
expect_contains "$err" "'db:commit' names 1 site of 1 process: 1 switched off"
round one go                           # 4: query
run penna ctl "$one" off db:commit
expect_contains "$err" "0 switched off, 1 was off already"
run penna ctl "$one" on 'no:such'
expect_eq 1 "$status" "exit status for a pattern without a point"
run penna ctl "$one" on "x$(printf '%0300d' 0)"
expect_eq 125 "$status" "exit status for a pattern that is too long"
expect_contains "$err" "the pattern is longer than"
# Many requests at once to both: each is carried out, and the programs continue.
for i in $(seq 20); do
  penna ctl "$one" on 'net:*' 2>>many.one & a=$!
  penna ctl "$two" on 'net:*' 2>>many.two & b=$!
  wait "$a" "$b"
  penna ctl "$one" off 'net:*' 2>>many.one & a=$!
  penna ctl "$two" off 'net:*' 2>>many.two & b=$!
  wait "$a" "$b"
done
expect_eq 40 "$(grep -c '1 switched' many.one)" "switches of one"
expect_eq 40 "$(grep -c '1 switched' many.two)" "switches of the other"

# A forked child inherits its parent's state and is switched separately, by users permitted to trace it, such as root.
round one fork
child=$answer
round one go                           # 5: query, in the child
run as_root "$PENNA" ctl "$child" on 'net:*'
expect_eq 0 "$status" "exit status of ctl for a child"
expect_contains "$err" "'net:*' names 1 site of 1 process: 1 switched on"
round one go                           # 6: query and send, in the child
run penna list "$child"
expect_match "$out" '^net:send .* penna +steps'
run penna list "$one"
expect_match "$out" '^net:send .* no +steps'
for i in $(seq 8); do as_root "$PENNA" ctl "$child" on "db:commit" 2>>many.child & as_root "$PENNA" ctl "$child" off "db:commit" 2>>many.child & done
wait $(jobs -p | tail -n 16)
expect_eq 16 "$(grep -c "'db:commit' names 1 site of 1 process: " many.child)" "answers to those who asked at once"
run as_root "$PENNA" ctl "$child" off '*'
round one go                           # 7: nothing
# The recorder's socket is for its own user only, and an intruder learns nothing.
socket=$(python3 - "$one" <<'PY'
import re, socket, struct, sys
for line in open('/proc/net/unix'):
    path = line.split()[-1]
    if not re.search('/penna-....../control$', path): continue
    with socket.socket(socket.AF_UNIX) as s:
        try: s.connect(path)
        except OSError: continue
        if struct.unpack('3i', s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0] == int(sys.argv[1]): print(path)
PY
)
expect_eq 600 "$(stat -c %a "$socket")" "mode of the socket"
expect_eq 700 "$(stat -c %a "$(dirname "$socket")")" "mode of its directory"
# Invalid requests are answered with a sentence; clients that send nothing, or a million bytes, do no harm.
python3 - "$socket" <<'PY'
import socket, sys
def say(data):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            return s.recv(9999)
        except OSError:
            return b'error'
for data in b'', b'\0' * 4096, b'on\n', b'on -5 x\n', b'on 99999999999999999999 x\n', b'maybe 1 x\n', b'x' * (1 << 20):
    assert say(data).startswith(b'error'), data
silent = [socket.socket(socket.AF_UNIX) for _ in range(4)]
for s in silent: s.connect(sys.argv[1])
PY
echo end >&"${to[one]}"                # of the child
round one go                           # 5: query, in the parent
eval "exec ${to[one]}>&- ${to[two]}>&-"

wait

passed() { penna export csv "$1" 2>/dev/null | grep -c "$2" || true; }
expect_eq 4 "$(passed one.penna net:send)" "net:send of one and its child"
expect_eq 6 "$(passed one.penna db:query)" "db:query of one and its child"
expect_eq 2 "$(passed one.penna db:commit)" "db:commit of one"
expect_eq 2 "$(passed two.penna db:commit)" "db:commit of the other"
expect_eq 0 "$(passed two.penna db:query)" "db:query of the other"
for recording in one two; do
  run penna info $recording.penna
  expect_match "$out" '^state +complete$'
  expect_match "$out" '^lost +nothing$'
done
run penna report one.penna health
expect_contains "$out" "points 'db:*' were switched on while pid $one ran"
expect_contains "$out" "points 'net:*' were switched on while pid $child ran"

# Incorrect usage.
run penna ctl "$one" on x
expect_eq 125 "$status" "exit status for a program that has ended"
