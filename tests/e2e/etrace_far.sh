#!/bin/bash
# SPDX-License-Identifier: MIT
# etrace on two machines: the program runs where --connect is, its tree is printed where --listen is. Both are this
# machine here.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$(readlink -f "$(dirname "$PENNA")/..")
etrace=$build/bin/etrace library=$build/lib/libpenna-etrace.so
instrumented=(-finstrument-functions -finstrument-functions-exclude-file-list=/usr)
waited() { for _ in $(seq 600); do ! "$@" || return 0; sleep 0.1; done; fail "no effect: $*"; }
shown() { grep -q -- "$1" "$2"; }
preloaded() { LD_PRELOAD=$library "$@"; }
# listening ADDRESS [ARGS of etrace...]: its output in ../there/tree.txt, its port in $port
listening() {
  : >../there/listen.err
  (cd ../there && exec "$etrace" --listen "$@" >tree.txt 2>listen.err) &
  listener=$!
  waited shown '^etrace: waiting at port' ../there/listen.err
  port=$(grep -o 'port [0-9]*' ../there/listen.err | cut -d' ' -f2)
}
# connecting ADDRESS [ARGS of etrace...]
connecting() {
  : >connect.err
  "$etrace" --connect "$@" >connect.out 2>connect.err &
  connector=$!
  waited shown '^etrace: waiting; start the program' connect.err
}
ended() { status=0; wait "$1" || status=$?; }

mkdir here there && cd here
cp "$PENNA_SOURCE/examples/crumble.c" .
gcc -O1 -g "${instrumented[@]}" crumble.c -o crumble
tree=$(<"$PENNA_SOURCE/tests/programs/crumble.tree")

# ---- The tree, by IPv4 and IPv6 -------------------------------------------------------------------------------------------
addresses=(127.0.0.1:0 localhost:0 0 '*:0')
[ ! -e /proc/net/if_inet6 ] || ! grep -qw lo /proc/net/if_inet6 || addresses+=('[::1]:0')
for address in "${addresses[@]}"; do
  listening "$address"
  host=${address%:*}
  case $host in 0 | '*') host=127.0.0.1 ;; esac
  connecting "$host:$port"
  preloaded ./crumble
  ended $connector
  expect_eq "0 " "$status $(<connect.out)" "who sends to $address"
  ended $listener
  expect_eq "0 $tree" "$status $(<../there/tree.txt)" "the tree at $address"
  [ ! -L TRACE ] || fail "TRACE still exists after etrace ended"
done
# Only on the requested address: another address of this machine is not answered.
listening 127.0.0.1:0
run "$etrace" --connect "127.0.0.2:$port"
expect_eq 125 "$status" "status at an address where nobody listens"
expect_contains "$err" "etrace: cannot connect to 127.0.0.2:$port: Connection refused; first start there: etrace --listen"
kill $listener
ended $listener

# ---- In full, with a recording beside it; names of a program that only the other side has ---------------------------
listening 0 --all
connecting "$port" -o kept.penna
preloaded ./crumble
ended $connector
ended $listener
expect_eq 17 "$(wc -l <../there/tree.txt)" "calls in full"
expect_eq "$tree" "$(penna replay --tree kept.penna)" "what -o kept"
cp crumble ../there/whole
nm crumble >../there/whole.nm
strip -o bare crumble
for names in whole whole.nm; do
  listening 0 $names
  connecting "$port"
  preloaded ./bare
  ended $listener
  expect_eq "$tree" "$(<../there/tree.txt)" "the tree by the names of $names, which the other machine has"
  ended $connector
done
listening 0
connecting "$port"
preloaded ./bare
ended $listener
ended $connector
expect_match "$(<../there/tree.txt)" '^bare\+0x[0-9a-f]*$'

# ---- Threads, children, a crash --------------------------------------------------------------------------------------------
build_c ends "${instrumented[@]}"
listening 0
connecting "$port"
run preloaded ./ends
expect_eq 139 "$status" "status of the crash"
ended $listener
expect_eq 2 "$(grep -c '^work()$' ../there/tree.txt)" "trees of two threads"
expect_eq 1 "$(grep -c '^|   work()$' ../there/tree.txt)" "the tree of a child"
expect_eq 1 "$(grep -c '^not left at the end: main > b() > c()$' ../there/tree.txt)" "what was open in the crash"
ended $connector

# ---- The other side disappears, or does not read: the program continues, and missing calls are reported -------------
cat >steps.c <<'PROGRAM'
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) void step(void) {}
__attribute__((noipa)) void pause_until(const char* file) { while (access(file, F_OK) != 0) usleep(1000); }
int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    pause_until(argv[i]);
    for (int n = 0; n < 3000000; n++) step();
  }
  puts("done");
  return 4;
}
PROGRAM
gcc -O1 "${instrumented[@]}" steps.c -o steps
# What comes last is shown, though its reader was late.
listening 0
connecting "$port"
kill -STOP $listener
preloaded ./steps one >steps.txt &
program=$!
sleep 0.5 # until all of it has been sent
kill -CONT $listener
waited shown '^|   pause_until$' ../there/tree.txt
touch one
ended $program
expect_eq "4 done" "$status $(<steps.txt)" "the program whose reader was late"
ended $listener
ended $connector
rm -f one
for signal in KILL STOP; do
  listening 0
  connecting "$port"
  preloaded ./steps one two >steps.txt &
  program=$!
  waited shown '^|   pause_until$' ../there/tree.txt
  kill -$signal $listener
  [ $signal = STOP ] || ended $listener
  [ $signal = STOP ] || waited shown 'etrace: the etrace that shows the calls is gone; the program goes on' connect.err
  touch one two
  ended $program
  expect_eq "4 done" "$status $(<steps.txt)" "the program when its reader got SIG$signal"
  ended $connector
  expect_eq 125 "$status" "status of who could not tell everything"
  told=$(grep -o 'too early: at least [0-9,]* calls' connect.err | tr -dc 0-9)
  ((told > 0)) || fail "missing calls are not reported: $(<connect.err)"
  # All calls made after the kill, and no call twice
  [ $signal = STOP ] || ((told >= 6000000 && told <= 6000004)) || fail "reported missing: $told of 6,000,000 calls"
  kill -KILL $listener 2>/dev/null || true
  ended $listener
  rm -f one two
done
# The program's machine is lost: open calls are reported on this side.
listening 0
connecting "$port"
preloaded ./steps one >steps.txt &
program=$!
waited shown '^|   pause_until$' ../there/tree.txt
kill -KILL $connector
ended $connector
ended $listener
expect_eq 125 "$status" "status when the connection broke"
expect_contains "$(<../there/listen.err)" 'etrace: the connection broke: what the program did later is not shown'
expect_contains "$(<../there/tree.txt)" 'not left at the end: main > pause_until'
touch one
ended $program
expect_eq "4 done" "$status $(<steps.txt)" "the program when its etrace was killed"
rm -f one TRACE

# ---- Clients that are not etrace ------------------------------------------------------------------------------------
# stranger PORT TEXT: sends it, and waits for the end of the connection
stranger() {
  exec 9<>"/dev/tcp/127.0.0.1/$1"
  printf "$2" >&9
  cat <&9 >/dev/null || true
  exec 9<&-
}
listening 127.0.0.1:0
stranger "$port" 'GET / HTTP/1.0\r\n\r\n'
stranger "$port" ''  # says nothing
stranger "$port" 'etr'
expect_eq 3 "$(grep -c '^etrace: 127.0.0.1 has connected, and is not an etrace of this version: disconnected$' ../there/listen.err)" \
  "strangers that were sent away"
connecting "127.0.0.1:$port"  # and still it waits for one
preloaded ./crumble
ended $connector
ended $listener
expect_eq "0 $tree" "$status $(<../there/tree.txt)" "the tree after strangers"
listening 127.0.0.1:0
stranger "$port" 'etrace 1\n\001\0\0\0\377\377\377\377'
ended $listener
expect_eq 125 "$status" "status after nonsense"
expect_contains "$(<../there/listen.err)" 'etrace: what the other side sends is not what an etrace sends'

# ---- Errors, each a sentence ----------------------------------------------------------------------------------------------------
listening 127.0.0.1:0
refused() { # SENTENCE ARGS...
  local sentence=$1
  shift
  run timeout 60 "$etrace" "$@"
  expect_eq 125 "$status" "status of etrace $*"
  expect_contains "$err" "etrace: $sentence"
}
refused "cannot listen at 127.0.0.1:$port: Address already in use; choose another port" --listen "127.0.0.1:$port"
refused 'cannot find the host nosuch.invalid:' --connect nosuch.invalid:4711
refused "'::1:4711' is no HOST:PORT, as build.example:4711, [::1]:4711, or 4711 alone" --listen ::1:4711
refused "'here' is no HOST:PORT" --connect here
refused 'there is no port 70000' --connect 70000
refused '--listen and --connect are for two machines' --listen 0 --connect 1
refused '-o keeps the recording where the program runs' --listen 0 -o x.penna
refused '--all is for who shows the calls' --connect 1 --all
: >TRACE
refused 'TRACE is a file here' --connect "$port"
rm TRACE
kill $listener
ended $listener
