#!/bin/bash
# SPDX-License-Identifier: MIT
# By uprobes, the kernel reports what happens: calls, allocations and locks of static and dynamic programs, as many as they
# count themselves and as breakpoints record; also while a debugger traces the process. Nothing is stopped, and afterwards,
# or when the recorder is killed, every byte is restored.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need musl-tools gdb sqlite3

cat >works.c <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_POINTS
#include "penna/point.h"
#else
#define PENNA_EVENT(...) (void)0
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile kept;
static jmp_buf away;
static int leaves_called;
__attribute__((noinline)) int leaf(int x) { __asm__(""); return x * 3 + 1; }
__attribute__((noinline)) int middle(int x) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += leaf(x + i);
  return sum;
}
__attribute__((noinline)) int goes_on(int x) { return middle(x + 7); }
__attribute__((noinline)) void leaves(int depth) {
  ++leaves_called;
  if (depth == 0) longjmp(away, 1);
  leaves(depth - 1);
  __asm__ volatile("");
}
static void* run(void* none) {
  long sum = 0, wanted = 0;
  for (int i = 0; i < 50; ++i) {
    sum += goes_on(i), wanted += 9L * (i + 7) + 12;
    char* block = malloc(100 + i);
    block = realloc(block, 5000);
    memset(block, i, 5000);
    free(block);
    pthread_mutex_lock(&mutex);
    PENNA_EVENT(works, round, i);
    pthread_mutex_unlock(&mutex);
  }
  return sum == wanted ? none : &mutex;
}
int main(int count, char** words) {
  do {
    pthread_t thread[16];
    const int threads = atoi(words[1]);
    for (int i = 0; i < threads; ++i) pthread_create(thread + i, 0, run, 0);
    for (int i = 0; i < threads; ++i) {
      void* wrong;
      pthread_join(thread[i], &wrong);
      if (wrong) return 3;
    }
    if (setjmp(away) == 0) leaves(4);
    if (leaves_called % 5 != 0) return 4;
    kept = malloc(1717);
    printf("right\n"), fflush(stdout);
    if (count > 2) usleep(20000);
  } while (count > 2);
  return 7;
}
C
gcc -O2 -g -static -pthread -DWITH_POINTS -I"$PENNA_SOURCE/include" works.c -o glibc_static
musl-gcc -O2 -g -static -pthread works.c -o musl_static
gcc -O2 -g -pthread -DWITH_POINTS -I"$PENNA_SOURCE/include" works.c -o glibc

# Without the rights, or on a kernel without them: one sentence, before anything is started.
chmod 755 .
run setpriv --reuid=65534 --regid=65534 --clear-groups "$PENNA" record --via uprobe -o /tmp/none.$$.penna -- touch started
expect_eq 125 "$status"
expect_match "$err" '^penna: uprobes are not available, since the kernel refuses .*: .*'
[ ! -e started ] || fail "the program was started"
run penna record --via uprobe --sample-bytes 1k -- ./glibc_static 1
expect_eq 125 "$status"
expect_contains "$err" '--sample-bytes cannot be had with uprobes'
if [[ $(penna doctor) =~ uprobes\ +limited ]]; then
  run penna record --via uprobe -f -o it.penna -- ./glibc_static 1
  expect_eq 125 "$status"
  expect_match "$err" 'uprobes are not available, since the kernel refuses'
  echo "not further tested: $err"
  exit 0
fi

calls_of() { # RECORDING FUNCTION
  penna report calls "$1" --json | python3 -c 'import json,sys
print(next((row["calls"] for row in json.load(sys.stdin)["calls"] if row["function"].split("@")[0] == sys.argv[1]), 0))' "$2"
}
# Per thread and round goes_on, middle and three leaf.
for program in glibc_static musl_static glibc; do
  for via in uprobe breakpoint; do
    run penna record --via $via -f -o $via.penna -k alloc,locks,calls,points -F leaf -F middle -F goes_on -F leaves -- ./$program 2
    expect_eq 7 "$status" "status of $program by $via: $err"
    expect_eq right "$out" "output of $program by $via"
    expect_match "$err" ' 0 lost'
    for function in leaf:300 middle:100 goes_on:100 leaves:5; do
      expect_eq "${function#*:}" "$(calls_of $via.penna "${function%:*}")" "calls of ${function%:*} in $program by $via"
    done
    expect_contains "$(penna report tree $via.penna)" leaves
    expect_match "$(penna report leaks $via.penna)" '1\.72 kB .* main '
    expect_missing "$(penna report leaks $via.penna)" ' run '
    expect_match "$(penna report locks $via.penna)" ' 100 .* mutex +mutex'
    case $program in glibc*) expect_eq 100 "$(penna replay $via.penna | grep -c 'works:round')" "points of $program by $via" ;; esac
  done
  # Two threads, 50 rounds: a block of 100 to 149 bytes each, grown to 5000.
  for via in uprobe breakpoint; do penna report alloc $via.penna --json >$via.json; done
  python3 - uprobe.json breakpoint.json <<'P'
import json, sys
def of_run(path):
    rows = json.load(open(path))['alloc']
    return sorted((row['count'], row['bytes']) for row in rows if row.get('function') == 'run')
one, two = map(of_run, sys.argv[1:])
assert one == two and one, f'allocations of run: {one} by uprobes, {two} by breakpoints'
P
done

# A function that begins with a vector instruction whose opcode is that of je elsewhere: the kernel's uprobes would jump.
cat >vector.c <<'C'
#include <stdio.h>
int vector(void), plain(void);
__asm__(".text\n.type vector, @function\nvector: vpcmpeqb %xmm0, %xmm0, %xmm1\n vpmovmskb %xmm1, %eax\n ret\n.size vector, . - vector\n"
        ".type plain, @function\nplain: mov $5, %eax\n ret\n.size plain, . - plain\n");
int main(void) {
  printf("%x %d\n", vector(), plain());
  return 0;
}
C
gcc -O2 -g vector.c -o vector
grep -qw avx /proc/cpuinfo || fail "this processor has no AVX"
run penna record --via uprobe -f -o it.penna -k calls -F vector -F plain -- ./vector
expect_eq 0 "$status" "$err"
expect_eq "ffff 5" "$out"
expect_match "$err" '1 call; 0 lost'
expect_contains "$err" "vector is not recorded: it begins with an instruction that the kernel's uprobes mistake for another one"
expect_missing "$err" 'still run'
run penna record --via uprobe -f -o it.penna -k calls -F 'str*' -F 'mem*' -F '__str*' -F '__mem*' -- ./vector # libc's own
expect_eq "ffff 5" "$out"

# Nothing of its last moments is lost where the reader gets a processor late, and others start and end all the time.
others=()
for _ in 1 2 3; do
  (while :; do /bin/true; done) & others+=($!)
done
for _ in {1..20}; do
  run penna record --via uprobe -f -o it.penna -k calls -F leaf -F leaves -- ./musl_static 2
  expect_eq "300 5" "$(calls_of it.penna leaf) $(calls_of it.penna leaves)" "calls beside a busy machine: $err"
done
kill "${others[@]}"
wait "${others[@]}" 2>/dev/null || true

# A real program, dynamic and stripped: as many calls as by breakpoints.
for via in uprobe breakpoint; do
  run penna record --via $via -f -o $via.penna -k calls -F sqlite3_column_count -F sqlite3_value_type -- \
    sqlite3 :memory: 'create table t(a); with recursive n(i) as (select 1 union all select i+1 from n where i<50) insert into t select i from n; select sum(a) from t;'
  expect_eq 0 "$status" "status of sqlite3 by $via: $err"
  expect_eq 1275 "$out" "output of sqlite3 by $via"
done
for function in sqlite3_column_count sqlite3_value_type; do
  expect_eq "$(calls_of breakpoint.penna $function)" "$(calls_of uprobe.penna $function)" "calls of $function"
done
[ "$(calls_of uprobe.penna sqlite3_value_type)" -ge 50 ] || fail "calls of sqlite3_value_type are missing"

# Forked children and programs that are started: from a moment after their start on.
cat >forks.sh <<'S'
for i in 1 2; do sh -c 'sleep 0.5; ./glibc_static 1 >/dev/null; true' & done; wait; echo done
S
run penna record --via uprobe -f -o it.penna -k calls -F leaf -- dash forks.sh
expect_eq 0 "$status" "status of a shell: $err"
expect_eq done "$out"
expect_match "$err" '(child or new program|children and new programs) got uprobes a moment after the start'

code() {
  python3 - "$1" <<'PYTHON'
import sys
with open(f'/proc/{sys.argv[1]}/mem', 'rb', 0) as memory:
    for line in open(f'/proc/{sys.argv[1]}/maps'):
        place, rights, *rest = line.split()
        if 'x' in rights and rest and rest[-1].startswith('/'):
            begin, end = (int(number, 16) for number in place.split('-'))
            memory.seek(begin)
            print(rest[-1], hash(memory.read(end - begin)))
PYTHON
}
export PYTHONHASHSEED=0
has_code() { [ "$2" = "$(code "$1")" ]; }
has_other_code() { ! has_code "$@"; }
for program in musl_static glibc; do
  start output.txt ./$program 4 forever
  await output.txt right
  before=$(code "$pid")
  run penna record --via uprobe --dry-run -F leaf -k calls,alloc -p "$pid"
  expect_match "$out" 'by uprobes would change [1-9][0-9]* places in [1-9] modules?, by the kernel. Nothing was changed'
  expect_match "$out" ' cc +leaf '
  expect_eq "$before" "$(code "$pid")" "code of $program after a dry run"
  run penna record --via uprobe -f -o it.penna -F leaf -k calls,alloc,locks --duration 300ms -p "$pid"
  expect_eq 0 "$status" "status of -p of $program: $err"
  expect_match "$err" 'restored [1-9][0-9]* places in [1-9] modules?, verified'
  expect_match "$(penna report alloc it.penna)" '^ *[1-9].* run '
  expect_eq "$before" "$(code "$pid")" "code of $program"
  # Killed: the recorder, and the process that reads the ring; once all places are set. A process that is killed while
  # the kernel sets them may leave one that does nothing, until the next recorder comes ("leaking uprobe" in its log).
  for victim in recorder watch; do
    "$PENNA" record --via uprobe -q -f -o it.penna -F leaf -p "$pid" & recorder=$!
    until_true "the code of $program is changed" has_other_code "$pid" "$before"
    await_served "$pid"
    run penna record -p "$pid"
    expect_contains "$err" "process $pid is already being recorded: penna ctl $pid"
    if [ $victim = recorder ]; then kill -9 $recorder; else kill -9 "$(pgrep -P $recorder penna-uprobes || pgrep penna-uprobes)"; fi
    until_true "the code of $program is restored" has_code "$pid" "$before"
    kill -9 $recorder 2>/dev/null || true
    wait $recorder || true
    : >output.txt
    await output.txt right
  done
  # A debugger traces it: chosen by itself, and told.
  gdb -q -batch -p "$pid" -ex 'shell touch held; while [ ! -e seen ]; do sleep 0.1; done' -ex detach >/dev/null 2>&1 & debugger=$!
  until_true "a debugger holds $program" test -e held
  run penna doctor "$pid"
  expect_match "$out" 'is already traced by process [0-9]+: recorded by uprobes'
  run penna record -f -o it.penna -k alloc --duration 200ms -p "$pid"
  touch seen
  expect_eq 0 "$status" "status of -p of $program under gdb: $err"
  expect_match "$err" 'is already traced by process [0-9]+: recording it by uprobes'
  wait "$debugger" || true
  rm held seen
  kill -0 "$pid" || fail "$program died"
  kill -9 "$pid"
done

# A program that ends as soon as it has started another one (by vfork).
build_c leaves
for ((i = 0; i < 4; ++i)); do
  run timeout 30 "$PENNA" record -q -f -o leaves.penna -k alloc --via uprobe ./leaves
  expect_eq 0 "$status" "status of a program that leaves another one: $err"
done
