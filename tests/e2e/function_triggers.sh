#!/bin/bash
# SPDX-License-Identifier: MIT
# -T FUNC@depth=N, time=, filter, notrace, finish, and --thread while recording: with any other filter, recording with
# them gives the same rows as reading with them; with recursion, longjmp, exceptions, forks, threads and deep recursion.
# And the same meaning as in uftrace.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# Without the notes about unmatched options: a recording without events cannot give them.
rows() { penna report calls "$@" --format csv | awk -F, '$1 ~ /^[0-9]+$/ { print $1, $NF }' | tr -d '"' | sort; }
tree() { penna replay --tree --all "$@" 2>/dev/null | grep -vE '^($|# |There are no events|.* matched no function)' | sort; }
others() { penna export csv "$@" 2>/dev/null | awk -F, '$4 ~ /^(point|alloc|free)$/ { print $4, $5, $7 }' | sort | uniq -c; }

cat >ways.cc <<'PROGRAM'
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "penna/point.h"
#define F extern "C" __attribute__((noipa))
static jmp_buf back;
F void leaf(int i) { asm volatile("" : : "r"(i)); }
F void nap() { usleep(500000); }
F void inner(int i) {
  leaf(i);
  free(malloc(10));
  PENNA_EVENT(ways, inner, PENNA_ARG(i, i));
  if (i == 1) nap();
}
F void goal(int i) { leaf(i), inner(i); }
F void way(int i) { i % 3 ? inner(i) : goal(i); }
F void jumps() { goal(2), longjmp(back, 1); }
F void lands() { if (!setjmp(back)) jumps(); leaf(1); }
F void throws(int i) { leaf(i), throw i; }
F void catches(int i) { try { throws(i); } catch (int) { leaf(i); } }
F int fib(int n) { leaf(n); return n < 2 ? n : fib(n - 1) + fib(n - 2); }
F void deep(int n) { n > 0 ? deep(n - 1) : goal(1); asm volatile(""); }
F void* work(void* name) {
  if (name != nullptr) pthread_setname_np(pthread_self(), static_cast<char*>(name));
  for (int i = 0; i < 1500; i++) way(i);
  for (int i = 0; i < 20; i++) catches(i);
  fib(10);
  return nullptr;
}
F void born() { leaf(2), way(3), way(4), nap(); }
F void last() { leaf(3); }
int main() {
  char one[] = "one", two[] = "two";
  pthread_t first, second;
  pthread_create(&first, nullptr, work, one), pthread_join(first, nullptr);
  pthread_create(&second, nullptr, work, two), pthread_join(second, nullptr);
  lands();
  deep(2000);
  if (fork() == 0) born(), _exit(0);
  wait(nullptr);
  last();
  work(nullptr);
}
PROGRAM
build_c ways -finstrument-functions -finstrument-functions-exclude-file-list=penna/
penna record -q -o all.penna -- ./ways

# both OPTIONS...: they filter the same while recording and when reading. Time limits differ by factors of thousands, as
# no two runs are alike.
both() {
  penna record -f -q -o some.penna "$@" -- ./ways 2>notes.txt || fail "record $* failed: $(<notes.txt)"
  cmp <(rows all.penna "$@") <(rows some.penna) || fail "$*: $(diff <(rows all.penna "$@") <(rows some.penna) | head -n 20)"
  cmp <(tree all.penna "$@") <(tree some.penna) || fail "$*: call trees differ"
  cmp <(others all.penna "$@") <(others some.penna) || fail "$*: events differ"
}
both -T goal@depth=1
expect_eq "" "$(tree some.penna | grep -A 1 'goal$' | grep leaf)" "calls of goal"
both -T fib@depth=2 --depth 3
both --depth 1 -T goal@depth=2
expect_eq "goal inner leaf main work" "$(rows some.penna | awk '{ print $2 }' | sort | xargs)" "functions at depth 1, and two of goal"
both -T work@time=300ms
expect_eq "5" "$(rows some.penna | awk '$2 == "nap" { print $1 }')" "long calls inside of work, and others"
both --min-time 300ms -T goal@time=0ns
both --min-time 300ms -T deep@time=0ns,depth=3
both -T goal@filter
cmp <(rows some.penna) <(rows all.penna --caller goal) || fail "the filter differs from --caller"
both -T goal@notrace
cmp <(rows some.penna) <(rows all.penna --hide goal) || fail "notrace differs from --hide"
both -T goal@filter,depth=2 -N leaf
both -T last@finish
expect_eq "" "$(rows some.penna | awk '$2 == "work" && $1 > 2')" "work after the end"
both -T deep@finish -F deep -F goal
both -T goal@finish
expect_eq "1 goal" "$(rows some.penna | grep goal)" "calls of goal"
both --thread one
both --thread two -T fib@depth=2
both --thread '/^(one|two)$/' --min-time 300ms

# uftrace on the same kind of program, built for it.
if command -v uftrace >uftrace.txt; then
  cat >plain.c <<'PROGRAM'
#define F __attribute__((noinline))
F void leaf(void) { __asm__(""); }
F void inner(int i) { leaf(); if (i & 1) leaf(); __asm__(""); }
F void goal(int i) { leaf(); inner(i); __asm__(""); }
F void way(int i) { i % 3 ? inner(i) : goal(i); __asm__(""); }
F int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { for (int i = 0; i < 100; i++) way(i); fib(6); leaf(); __asm__(""); return 0; }
PROGRAM
  build_c plain -finstrument-functions
  penna record -q -k calls -o plain.penna -- ./plain
  # as_uftrace OPTION...: uftrace and penna keep the same calls.
  as_uftrace() {
    rm -rf uftrace.data
    uftrace record --no-libcall --no-event "${@/--depth/-D}" ./plain >/dev/null 2>&1 || fail "uftrace $*: failed"
    uftrace report 2>/dev/null | awk '$1 ~ /^[0-9]/ { print $(NF - 1), $NF }' | sort >uftrace.txt
    cmp <(rows plain.penna "$@") uftrace.txt || fail "uftrace $*: $(diff <(rows plain.penna "$@") uftrace.txt)"
  }
  as_uftrace -T goal@depth=1
  as_uftrace -T goal@depth=2
  as_uftrace --depth 1 -T goal@depth=2
  as_uftrace --depth 3 -T fib@depth=2
  as_uftrace -T goal@filter
  as_uftrace -T goal@filter,depth=1
  as_uftrace -T goal@notrace
  as_uftrace -T goal@filter -T inner@notrace
  as_uftrace -T inner@time=1s
fi

# Random combinations of all. The program mostly sleeps: some are recorded at a time.
functions=(leaf nap inner goal way jumps lands throws catches fib deep work born last main)
one() { echo "${functions[RANDOM % ${#functions[@]}]}"; }
RANDOM=${PENNA_SEED:-17}
# draw: sets `filter`.
draw() {
  local once=()
  filter=()
  for _ in $(seq $((1 + RANDOM % 4))); do
    case $((RANDOM % 16)) in
      0) filter+=(-F "$(one)") ;;
      1) filter+=(-N "$(one)") ;;
      2) filter+=(--hide "$(one)") ;;
      3) filter+=(--caller "$(one)") ;;
      4) filter+=(--paths-to "$(one)") ;;
      5) once=(--depth $((1 + RANDOM % 4))) ;;
      6) once=(--min-time 300ms) ;;
      7) filter+=(-T "$(one)@on") ;;
      8) filter+=(-T "$(one)@off") ;;
      9) filter+=(-T "$(one)@depth=$((1 + RANDOM % 3))") ;;
      10) filter+=(-T "$(one)@time=300ms") ;;
      11) filter+=(-T "$(one)@time=0ns,depth=2") ;;
      12) filter+=(-T "$(one)@filter") ;;
      13) filter+=(-T "$(one)@notrace") ;;
      14) filter+=(-T "$(one)@finish") ;;
      15) filter+=(--thread "$(echo 'one two ways' | xargs -n 1 | shuf -n 1 --random-source=<(yes $RANDOM))") ;;
    esac
    [[ " ${filter[*]} " == *" ${once[0]-} "* ]] || filter+=("${once[@]}")
    once=()
  done
}
# compare NAME: a recording that was made with `filter`, with what is read with it.
compare() {
  cmp -s <(rows all.penna "${filter[@]}" 2>/dev/null) <(rows "$1" 2>/dev/null) ||
    fail "${filter[*]}: $(diff <(rows all.penna "${filter[@]}") <(rows "$1"))"
  cmp -s <(tree all.penna "${filter[@]}") <(tree "$1") ||
    fail "${filter[*]}: $(diff <(tree all.penna "${filter[@]}") <(tree "$1") | head -n 20)"
}
readonly at_once=4
for ((round = 0; round < ${PENNA_ROUNDS:-20}; round += at_once)); do
  recorders=() drawn=()
  for ((i = 0; i < at_once; i++)); do
    draw
    drawn+=("$(declare -p filter)")
    "$PENNA" record -f -q -o "some.$i.penna" "${filter[@]}" -- ./ways 2>"notes.$i.txt" &
    recorders+=($!)
  done
  for ((i = 0; i < at_once; i++)); do
    eval "${drawn[i]}"
    wait "${recorders[i]}" || fail "record ${filter[*]}: $(<"notes.$i.txt")"
    compare "some.$i.penna"
  done
done
