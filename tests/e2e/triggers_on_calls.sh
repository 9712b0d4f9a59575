#!/bin/bash
# SPDX-License-Identifier: MIT
# record -T FUNC@stack: the stack of each call, in every kind of call tracing; consistent with the nesting of calls.
# record -T FUNC@snapshot: the events before FUNC was entered, and no more, however long the program runs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include <pthread.h>
#include <cstdio>
#include <stdexcept>
#ifdef __clang__
#define KEEP __attribute__((noinline, optnone))
#else
#define KEEP __attribute__((noipa))
#endif
KEEP int work(int n) {
  if (n % 7 == 3) throw std::runtime_error("three");
  return n + 1;
}
KEEP int careful(int n) {
  try {
    return work(n) + 1;
  } catch (const std::exception&) {
    return 0;
  }
}
KEEP int deep(int n) { return n == 0 ? work(7) + careful(3) : deep(n - 1) + 1; }
KEEP int aligned(int n) {
  alignas(64) volatile char room[100] = {};
  room[0] = 1;
  return careful(n) + room[0];
}
KEEP int tail(int n) { return aligned(n + 1); }
KEEP void run(int times) {
  int sum = 0;
  for (int i = 0; i < times; i++) sum += deep(i % 5) + tail(i) + aligned(2);
  std::printf("%d\n", sum);
}
KEEP void* other(void*) {
  run(10);
  return nullptr;
}
int main() {
  pthread_t thread;
  run(30);
  pthread_create(&thread, nullptr, other, nullptr);
  pthread_join(thread, nullptr);
}
PROGRAM

# follows REC: each entry's stack matches the enclosing calls. Prints the number of entries.
follows() {
  penna export csv -o - "$1" | awk -F, '
    { sub(/\(.*/, "", $5); gsub(/\([^;]*\)/, "", $9) }
    $4 == "enter" {
      entries++
      around = ""
      for (i = 1; i <= depth[$3]; i++) around = around ";" open[$3, i]
      got = $9
      if (depth[$3] != 0 && substr(";" got, length(got) - length(around) + 2) != around) {
        print "of " $5 ": " got ", not " around; exit
      }
      if (got == "") { print "no stack of " $5; exit }
      open[$3, ++depth[$3]] = $5
    }
    $4 == "exit" { depth[$3]-- }
    END { print entries }'
}

# compare COMPILER FLAGS...
compare() {
  local function each=() plain
  for function in work careful deep aligned tail run other main; do each+=(-F "$function" -T "$function@stack"); done
  "$1" -g -std=c++17 "${@:2}" app.cc -o app -pthread
  plain=$(./app)
  run penna record -q -f -o app.penna -k calls "${each[@]}" ./app
  expect_eq "$plain" "$out" "what the program prints, $*"
  [ "$(follows app.penna)" -ge 400 ] || fail "$*: $(follows app.penna)"
}
compare g++ -O2 -pg
compare g++ -O0 -pg
compare g++ -O1 -pg -mfentry
compare g++ -O2 -fpatchable-function-entry=5
compare g++ -O1 -finstrument-functions
compare clang++ -O1 -fxray-instrument -fxray-instruction-threshold=1

# Without preparation: FUNC is hooked like a function of -A.
cat >plain.c <<'PROGRAM'
#include <stdio.h>
__attribute__((noipa)) int work(int n) { return n % 3 == 0 ? n * 17 / (n + 2) : n + printf("%d\n", n); }
__attribute__((noipa)) int left(int n) { return work(n) + 1; }
__attribute__((noipa)) int right(int n) { return left(n) + work(n); }
int main(void) { return right(4) & 0; }
PROGRAM
gcc -O2 -g plain.c -o plain
run penna record -f -o plain.penna -k calls -T work@stack ./plain
expect_eq 0 "$status"
expect_eq "work();
left (plain.c:3) [plain]
right (plain.c:4) [plain]
main (plain.c:5) [plain]" "$(penna replay --stacks plain.penna | grep -A 3 -m 1 'work();' | sed -E 's/^.* (work|left|right|main)/\1/')" "the stack of the first call"
expect_missing "$(penna replay plain.penna)" "[plain]"
expect_match "$(penna replay --stacks --merge plain.penna)" '^ +left \(plain.c:3\)'
expect_match "$(penna export chrome -o - plain.penna)" '"name":"work",.*"args":\{"stack":"_start;.*;main;right;left"\}'
expect_eq "" "$(penna report calls plain.penna --format csv | grep -v -E 'work|^calls' || true)" "functions that nobody asked for"

# Together with arguments and results: one record per call, with the stack first if there is room.
run penna record -f -o plain.penna -k calls -T 'wo*@stack' -A work -R work@retval/d32 ./plain
expect_eq "work(n=4) = 6;
left (plain.c:3) [plain]" "$(penna replay --stacks plain.penna | grep -A 1 -m 1 'work(' | sed -E 's/^.* (work|left)/\1/')" "with arguments"
expect_match "$(penna export csv -o - plain.penna)" ',enter,work,.*;main;right;left,n=4'
run penna record -f -o plain.penna -k calls -T work@stack -A work@arg1,arg2,arg3,arg4,arg5,arg6,arg7,arg8,arg9,arg10,arg11,arg12 ./plain
expect_match "$(penna replay --stacks plain.penna)" ' work\(arg1=4, .*, arg11=-?[0-9]+, \.\.\.\);'

# For a library's function, through its calls from other modules; in a forked child.
run penna record -f -o libcalls.penna -k calls --libcalls -T printf@stack ./plain
expect_match "$(penna replay --stacks libcalls.penna)" '^ +main \(plain.c:5\) \[plain\]'

# A filter decides about a call including its stack.
gcc -O2 -g -pg -mfentry plain.c -o plain
penna record -q -f -o plain.penna -k calls -T work@stack -N work ./plain >/dev/null
expect_missing "$(penna replay --stacks plain.penna)" "plain.c"
penna record -q -f -o plain.penna -k calls -T work@stack ./plain >/dev/null
expect_eq "$(penna replay --stacks plain.penna --caller left | grep -c 'left (plain.c:3)')" 1 "stacks of kept calls"

# Impossible requests are reported.
gcc -O1 -g -finstrument-functions plain.c -o plain
run penna record -f -o plain.penna -k calls -T work@stack -A work ./plain
expect_contains "$err" "values of work [plain] are not recorded: the hooks that -finstrument-functions calls cannot see them"
expect_match "$(penna replay --stacks plain.penna)" '^ +left \(plain.c:3\)'
run penna report calls plain.penna -T work@stack
expect_eq 125 "$status"
expect_contains "$err" "-T 'work@stack' is for penna record"
run penna record -f -o wrong.penna -k alloc -T work@stack ./plain
expect_eq 125 "$status"
expect_contains "$err" "-T is about calls: add calls to -k"

# ---- @snapshot: a flight recorder -----------------------------------------------------------------------------------

cat >flight.c <<'PROGRAM'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define F __attribute__((noipa))
F int leaf(int n) { return n + 1; }
F int trouble(int n) { return leaf(n) * 17 / (n + 3) + leaf(2); }
F int step(int n) {
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += leaf(i);
  return sum + n;
}
F int before(int n) { return step(n); }
F int after(int n) { return step(n); }
F int inside(int times, int wait) {
  int sum = 0;
  for (int i = 0; i < times; i++) sum += before(i);
  if (wait < 0) kill(getppid(), SIGSTOP);
  sum += trouble(1);
  if (wait < 0) wait = 0;
  usleep((unsigned)wait * 1000);
  for (int i = 0; i < times; i++) sum += after(i);
  return sum;
}
F void* other(void* unused) {
  for (int i = 0; i < 3000; i++) step(i);
  return unused;
}
int main(int argc, char** argv) {
  const int times = atoi(argv[1]), pause = atoi(argv[2]);
  pthread_t thread;
  if (argc > 3 && fork() == 0) {
    inside(times, 0);
    _exit(0);
  }
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);  // on a busy machine, it would fill the ring in front of the snapshot
  printf("%d\n", inside(times, pause));
  while (wait(NULL) > 0) continue;
}
PROGRAM
gcc -O1 -g -pg -mfentry flight.c -o flight -pthread
calls_of() { penna report calls flight.penna --format csv | awk -F, -v name="$1" '$NF ~ name { print $1 }'; }
counter() { penna report health flight.penna --format csv | awk -F, -v name="$1" '$1 == name { print $2 }'; }

# 4 million calls: those shortly before, and the callers up to the outermost, with their true length.
run penna record -f -o flight.penna -k calls -T trouble@snapshot --keep 1 ./flight 20000 300
expect_eq 0 "$status"
expect_contains "$err" "1 snapshot was taken; "
expect_eq 1 "$(calls_of trouble)" "calls of trouble"
expect_eq 1 "$(calls_of main)" "calls of main"
[ "$(calls_of before)" -ge 300 ] && [ "$(calls_of before)" -lt 10000 ] || fail "before: $(calls_of before) calls"
[ "$(calls_of after)" -lt 10000 ] || fail "after: $(calls_of after) calls"
for name in 'stray exits' 'unwound calls' 'missing chunks' 'lost calls'; do expect_eq 0 "$(counter "$name")" "$name"; done
[ "$(counter 'thrown away')" -gt 4000000 ] || fail "thrown away: $(counter 'thrown away')"
expect_match "$(penna info flight.penna)" '^left out +[0-9,]+ events before, between and after snapshots'
expect_match "$(penna info flight.penna)" '^options .*trigger=trouble@snapshot'
expect_missing "$(penna replay flight.penna)" "not left at the end"
took=$(penna report calls flight.penna --format csv | awk -F, '$NF ~ /main/ { print $2 }')
whole=$(penna info flight.penna --format csv | awk -F, '$1 == "duration" { print $2 }')
[ "$took" -gt 300000000 ] || fail "main took $took ns of $whole"
[ "$(stat -c %s flight.penna)" -lt 4000000 ] || fail "the recording has $(stat -c %s flight.penna) bytes"

# The recorder gets no processor until the program is at its end: what came later is no part of it, all the same.
"$PENNA" record -q -f -o flight.penna -k calls -T trouble@snapshot --keep 1 ./flight 5000 -1 >/dev/null &
recorder=$!
until_true "the recorder is stopped" grep -q '^State:.T' /proc/$recorder/status
sleep 0.5
kill -CONT $recorder
wait $recorder
expect_eq 1 "$(calls_of trouble)" "calls of trouble, the recorder was late"
[ "$(calls_of before)" -ge 300 ] || fail "before: $(calls_of before) calls, the recorder was late"
[ "$(calls_of after)" -lt 1000 ] || fail "after: $(calls_of after) calls, the recorder was late"

# Several times, in several processes; everything counted is recorded.
run penna record -f -o flight.penna -T trouble@snapshot --keep 1 ./flight 5000 200 fork
expect_match "$err" '[12] snapshots? (was|were) taken'
expect_eq 2 "$(calls_of trouble)" "calls of trouble"
for name in 'stray exits' 'unwound calls' 'missing chunks'; do expect_eq 0 "$(counter "$name")" "$name"; done

# All events fit: none is discarded before it.
run penna record -f -o flight.penna -k calls -T trouble@snapshot ./flight 100 0
expect_eq 100 "$(calls_of before)" "calls that fit"

# With a filter; without preparation.
run penna record -f -o flight.penna -k calls -T trouble@snapshot --keep 1 -F before ./flight 5000 200
expect_eq "" "$(calls_of trouble)$(calls_of leaf)" "calls that are left out"
[ "$(calls_of before)" -ge 300 ] || fail "before: $(calls_of before) calls"
gcc -O1 -g flight.c -o flight -pthread
run penna record -f -o flight.penna -k calls -T trouble@snapshot ./flight 10 0
expect_eq 1 "$(calls_of trouble)" "calls of a function that nobody prepared"

# Never entered: no events, and this is reported. Other recorded kinds stay.
gcc -O1 -g -pg -mfentry flight.c -o flight -pthread
run penna record -f -o flight.penna -k calls -T 'truble@snapshot' --keep 1 ./flight 1000 0
expect_match "$(penna report calls flight.penna)" '^No calls were recorded: no snapshot was taken, so none was kept\.$'
expect_contains "$err" "no snapshot was taken: "
expect_contains "$err" "no function that was called matches -T 'truble@snapshot'"
run penna report calls flight.penna
expect_contains "$out" "No snapshot was taken: "
expect_eq "" "$(calls_of main)"
expect_match "$(penna info flight.penna)" '^events +nothing'

# The recorder is killed: its stored data remains, and only what was discarded is missing.
"$PENNA" record -q -f -o flight.penna -k calls -T trouble@snapshot --keep 1 ./flight 3000 20000 >/dev/null 2>&1 &
recorder=$!
for ((i = 0; i < 100; i++)); do
  sleep 0.1
  [ "$(stat -c %s flight.penna 2>/dev/null || echo 0)" -lt 50000 ] || break
done
kill -KILL $recorder
wait $recorder 2>/dev/null || true
expect_eq 1 "$(calls_of trouble)" "calls of trouble, the recorder was killed"
expect_eq 0 "$(counter 'missing chunks')" "missing chunks, the recorder was killed"

for wrong in '-T work@snap' '-T @snapshot' '--keep 0 -T work@snapshot'; do
  # shellcheck disable=SC2086
  run penna record -o wrong.penna $wrong -- ./flight 1 0
  expect_eq 125 "$status" "record $wrong"
done
run penna report calls flight.penna -T trouble@snapshot
expect_eq 125 "$status"
expect_contains "$err" "-T 'trouble@snapshot' is for penna record"
