#!/bin/bash
# SPDX-License-Identifier: MIT
# A forked child's calls appear below those open in its parent: in trees, graphs, exports, live, filtered, truncated.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >prefork.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION __attribute__((noipa)) void
FUNCTION lookup(void) {}
FUNCTION answer(void) { lookup(); }
FUNCTION again(void) {
  if (fork() == 0) {
    lookup();
    exit(0);
  }
  wait(0);
}
static long bare(void) { return syscall(SYS_fork); }
static long usual(void) { return fork(); }
FUNCTION serve(long (*split)(void)) {
  lookup();
  if (split() == 0) {
    answer();
    again();
    return;
  }
  wait(0);
}
__attribute__((noipa)) void* thread(void* unused) {
  serve(usual);
  return unused;
}
int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "daemon") == 0 && daemon(1, 1) != 0) return 1;
  if (strcmp(how, "thread") == 0) {
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
  } else {
    serve(strcmp(how, "bare") == 0 ? bare : usual);
  }
  return 0;
}
PROGRAM
build_c prefork -finstrument-functions
tree() { penna replay --tree "$@" 2>err.txt; }
# trees FILE: without their titles, which contain pids.
trees() { tree "$@" | sed 's/^# .*/#/' | grep -v '^Of calls'; }

whole='#
main
|   serve
|   |   lookup
|   |   usual
#
main
|   serve
|   |   usual
|   |   answer
|   |   |   lookup
|   |   again
#
main
|   serve
|   |   again
|   |   |   lookup
not left at the end: main > serve > again'
penna record -q -k calls -o plain.penna -- ./prefork
expect_eq "$whole" "$(trees plain.penna)" "the trees of three processes"
expect_missing "$(penna report health plain.penna)" 'inherited exits'
run penna report calls plain.penna --json
expect_eq 1 "$(python3 -c 'import json, sys; print([row["calls"] for row in json.load(sys.stdin)["calls"] if row["function"] == "main"][0])' <<<"$out")" "calls of main"
# They remain the parent's in a range that begins after the fork.
at=$(penna replay plain.penna --format csv 2>/dev/null | awk -F, '$8 == "answer" {print $1; exit}')
expect_match "$at" '^[0-9]+$'
expect_eq 1 "$(penna report calls plain.penna -r "${at}ns-" --json | python3 -c 'import json, sys; print(sum(row["calls"] for row in json.load(sys.stdin)["calls"] if row["function"] == "main"))')" "calls of main in a range"

# Every view has them.
run penna export folded --weight calls plain.penna
expect_match "$out" '^main;serve;answer;lookup 1$'
expect_missing "$out" $'\nanswer'
run penna graph lookup plain.penna
expect_missing "$out" 'nothing that was recorded'
run penna replay plain.penna
expect_eq 6 "$(grep -c 'begun before the process was forked \*/$' <<<"$out")" "inherited calls in the replay"
run penna replay --merge plain.penna
times=$(grep -v 'not left at the end' <<<"$out" | cut -c1-14 | grep '\.')
expect_eq "$(sort <<<"$times")" "$times" "times of the merged replay"
penna export uftrace plain.penna -o data >/dev/null
if command -v uftrace >/dev/null; then
  run uftrace replay -d data -F answer --no-comment -f none
  expect_contains "$out" 'answer() {'
fi

# However the process was created, and from whichever thread.
penna record -q -k calls -o daemon.penna -- ./prefork daemon
expect_eq "#
main
$whole" "$(trees daemon.penna | grep -v '^not left at the end: main$')" "the trees of a daemon"
penna record -q -k calls -o thread.penna -- ./prefork thread
expect_eq "$(sed 's/^main$/thread/; s/main >/thread >/' <<<"$whole")" "$(trees thread.penna | sed '1,2d')" "trees of a thread and of the child that it forked"
penna record -q -k calls -o bare.penna -- ./prefork bare
expect_eq "$(grep -v usual <<<"$whole")" "$(trees bare.penna | grep -v bare)" "the trees of a bare system call"

# Filters, afterwards and during recording.
expect_eq "$(printf '#\nmain\n|   serve\n%.0s' 1 2)" "$(trees plain.penna --depth 2 | grep -v '^not left')" "the trees of --depth 2"
expect_eq '#
again
#
again
|   lookup
not left at the end: again' "$(trees plain.penna --caller again)" "what is inside again"
penna record -q -k calls -o caller.penna --caller serve -- ./prefork
expect_eq "$(sed 's/^|   //; /^main$/d; s/main > //' <<<"$whole")" "$(trees caller.penna)" "recorded inside serve"
penna record -q -k calls -o named.penna -N serve -- ./prefork
expect_contains "$(trees named.penna)" '
main
|   usual
|   answer
|   |   lookup'

# While it runs.
run penna record -q --live --tree -k calls -o live.penna -- ./prefork
expect_match "$(sed -n '/|   serve/,$p' <<<"$out")" '^\|   \|   answer$'
expect_missing "$out" $'\n|   answer'

# A truncated recording shows the remaining part; one of the child alone shows what it knows.
size=$(stat -c %s plain.penna)
for part in 2 3 4; do
  head -c $((size * part / 5)) plain.penna >cut.penna
  run penna replay --tree cut.penna
  [ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 125 ] || fail "replay of a truncated recording: exit status $status"
done
