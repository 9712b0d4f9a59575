#!/bin/bash
# SPDX-License-Identifier: MIT
# --paths-to and --hide on real programs, recording and reading; and the meaning of -C and -N in uftrace.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need uftrace
rows() { penna report calls "$@" --format csv | awk -F, 'NR > 1 { print $1, $NF }' | tr -d '"' | sort; }
tree() { penna replay --tree --all "$@" 2>/dev/null | grep -v '^# '; }

# A Python program, its interpreter's functions hooked by name.
cat >sort.py <<'PROGRAM'
for i in range(300):
    sorted([3, 1, 2, i])
    str(i)
print(len({i: str(i) for i in range(100)}))
PROGRAM
python=(env PYTHONHASHSEED=0 /usr/bin/python3 -S -E -s sort.py)
entered=(-k calls -F 'PyList_*' -F 'PyObject_*' -F 'PyDict_*' -F 'PyLong_*' -F 'PyRun_*' -F 'PyImport_*')
run penna record -f -q -o python.penna "${entered[@]}" -- "${python[@]}"
expect_eq "0 100" "$status $out" "the program"
# same FILTER: the rows and trees are the same when filtering while recording and while reading. Two runs of the
# interpreter make the same calls only at the same addresses (what it frees at exit is in tables by address): so without
# ASLR.
record() { setarch -R "$PENNA" record -f -q "${entered[@]}" "$@" -- "${python[@]}" >/dev/null; }
record -o python.penna
same() {
  # shellcheck disable=SC2086
  record -o some.penna $1
  # shellcheck disable=SC2086
  cmp -s <(rows python.penna $1) <(rows some.penna) && cmp -s <(tree python.penna $1) <(tree some.penna)
}
for filter in '--paths-to PyObject_RichCompareBool' '--paths-to PyObject_RichCompare --hide PyImport_*' '--hide PyImport_* --hide PyObject_Call*'; do
  same "$filter" || fail "$filter: rows or call trees differ"
  [ "$(stat -c %s some.penna)" -lt "$(stat -c %s python.penna)" ] || fail "$filter: the recording did not get smaller"
done

# Threads, a child, a longjmp, a switch of stacks; a truncated recording.
cat >ways.c <<'PROGRAM'
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define F __attribute__((noipa))
static jmp_buf back;
static ucontext_t home, other;
static char stack[65536];
F void leaf(void) {}
F void goal(void) { leaf(); }
F void way(int i) { i % 3 ? leaf() : goal(); }
F void jumps(void) { goal(), longjmp(back, 1); }
F void lands(void) { if (!setjmp(back)) jumps(); leaf(); }
F void visit(void) { goal(); swapcontext(&other, &home); }
F void travels(void) {
  getcontext(&other);
  other.uc_stack.ss_sp = stack, other.uc_stack.ss_size = sizeof stack, other.uc_link = &home;
  makecontext(&other, visit, 0);
  swapcontext(&home, &other);
}
F void *work(void *unused) {
  for (int i = 0; i < 30000; i++) way(i);
  return unused;
}
F void born(void) { leaf(), way(3), way(4); }
int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, work, NULL), pthread_create(&two, NULL, work, NULL);
  pthread_join(one, NULL), pthread_join(two, NULL);
  lands();
  if (fork() == 0) born(), _exit(0);
  wait(NULL);
  for (int i = 0; i < 9000; i++) leaf();
  travels();
}
PROGRAM
build_c ways -finstrument-functions
penna record -q -k calls -o ways.penna -- ./ways
for filter in '--paths-to goal' '--paths-to goal --hide work' '--paths-to goal --min-time 1ns' '--hide goal --depth 3' '--paths-to leaf --hide goal'; do
  # shellcheck disable=SC2086
  penna record -f -q -k calls -o some.penna $filter -- ./ways
  # shellcheck disable=SC2086
  cmp <(rows ways.penna $filter) <(rows some.penna) || fail "$filter: rows differ"
  # shellcheck disable=SC2086
  cmp <(tree ways.penna $filter | sort) <(tree some.penna | sort) || fail "$filter: call trees differ"
done
expect_eq "20001 20003" "$(rows ways.penna --paths-to goal | awk '$2 == "goal" || $2 == "way" { print $1 }' | sort | xargs)" "calls of goal, and ways to it"
head -c $(($(stat -c %s ways.penna) - 1500)) ways.penna >cut.penna
run penna report calls cut.penna --paths-to goal --format csv
expect_eq 0 "$status" "status of a recording that is cut"
expect_contains "$out" "goal"
expect_missing "$out" "leaf"

# Live, and unmatched patterns.
run penna record --live --tree -q -f -k calls -o live.penna --paths-to jumps -- ./ways
expect_contains "$out" "main
|   lands
|   |   jumps"
expect_missing "$out" "goal"
expect_missing "$out" "leaf"
run penna report calls ways.penna --paths-to gaol
expect_contains "$out" "--paths-to 'gaol' matched no function that was called (did you mean 'goal'?)"
run penna record -f -o some.penna -k calls --hide laef -- ./ways
expect_contains "$err" "no function that was called matches --hide 'laef'"

# uftrace on the same program, built for it.
echo '#define F __attribute__((noinline))
F void leaf(void) { __asm__(""); }
F void inner(int i) { leaf(); if (i & 1) leaf(); }
F void goal(int i) { leaf(); inner(i); }
F void way(int i) { i % 3 ? inner(i) : goal(i); __asm__(""); }
int main(void) { for (int i = 0; i < 100; i++) way(i); leaf(); __asm__(""); return 0; }' >plain.c
build_c plain -finstrument-functions
penna record -q -k calls -o plain.penna -- ./plain
# uftrace_rows OPTIONS...
uftrace_rows() {
  rm -rf uftrace.data
  uftrace record --no-libcall --no-event "$@" ./plain >/dev/null 2>&1 && uftrace report 2>/dev/null | awk '$1 ~ /^[0-9]/ { print $(NF - 1), $NF }' | sort
}
cmp <(uftrace_rows -C goal) <(rows plain.penna --paths-to goal) || fail "uftrace -C: $(uftrace_rows -C goal)"
cmp <(uftrace_rows -N goal) <(rows plain.penna --hide goal) || fail "uftrace -N: $(uftrace_rows -N goal)"
