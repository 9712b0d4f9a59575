#!/bin/bash
# SPDX-License-Identifier: MIT
# A static program started by penna gets the agent before its own first code runs: constructors are recorded, too. It
# prints, exits and dies as it would otherwise, even if the recorder is killed while the agent is being loaded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need musl-tools strace

cat >begins.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile kept;
static void* volatile early;
__attribute__((constructor)) static void first(void) { early = malloc(4321); }
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
static void* run(void* none) {
  long sum = 0, wanted = 0;
  for (int i = 0; i < 50; ++i) {
    sum += leaf(i), wanted += 3L * i + 1;
    char* block = malloc(100 + i);
    memset(block, i, 100);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    free(block);
  }
  return sum == wanted ? none : &mutex;
}
int main(int count, char** words) {
  char line[100];
  if (fgets(line, sizeof line, stdin)) printf("read %s", line);
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    void* wrong;
    pthread_create(&thread, 0, run, 0), pthread_join(thread, &wrong);
    if (wrong) return puts("WRONG sum"), 3;
  }
  kept = malloc(1717);
  for (int i = 1; i < count; ++i) printf("%s ", words[i]);
  printf("with %s\n", getenv("LD_PRELOAD") ? "LD_PRELOAD" : "nothing preloaded"), fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(run(0) == 0 ? 9 : 4);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 9) return puts("WRONG child"), 5;
  if (count > 2) kill(getpid(), atoi(words[2]));
  return 7;
}
C
gcc -O2 -g -static -pthread begins.c -o glibc_static
gcc -O2 -g -static-pie -fPIE -pthread begins.c -o glibc_pie
musl-gcc -O2 -g -static -pthread begins.c -o musl_static
printf '#!%s\n' "$PWD/glibc_static" >script
chmod +x script

for program in glibc_static glibc_pie musl_static script; do
  status=0
  echo words | "$PENNA" record -f -o it.penna -k alloc,locks,calls -F leaf -- ./$program one >out.txt 2>err.txt || status=$?
  said=$(<err.txt)
  expect_eq 7 "$status" "status of $program: $said"
  [ $program != script ] || sed -i 's/^.*script //' out.txt # its path comes first
  expect_eq "read words
one with nothing preloaded" "$(<out.txt)" "output of $program"
  expect_missing "$said" breakpoint
  expect_match "$said" '200 calls, .* 0 lost'
  calls=$(penna export csv it.penna)
  expect_eq 200 "$(grep -c ',enter,leaf' <<<"$calls")" "calls of leaf in $program"
  report=$(penna report alloc it.penna --format csv)
  expect_match "$report" '4321.*first'
  expect_match "$(penna report leaks it.penna)" '1\.72 kB .* main '
  expect_contains "$(penna report alloc it.penna --unmatched)" 'Every recorded free was of a recorded block'
  expect_match "$(penna report locks it.penna)" ' 150 .* mutex +mutex'
  [ $program != script ] || continue
  run penna record -q -f -o it.penna -- ./$program one 11
  expect_eq 139 "$status" "status of $program when it dies"
done

# The program is faster than the recorder, whose every message to the tracing process is late: it has come to its exec
# before anyone is told to wait for it.
run timeout -s KILL 60 strace -o calls.txt -e trace=sendto -e inject=sendto:delay_enter=50000 "$PENNA" record -f \
  -o it.penna -k alloc -- ./glibc_static one
expect_eq 7 "$status" "status of a program that is early: $err"
expect_contains "$(<calls.txt)" DELAYED
expect_contains "$(penna report alloc it.penna --unmatched)" 'Every recorded free was of a recorded block'
expect_match "$(penna report leaks it.penna)" '1\.72 kB .* main '

# Signals that it inherits blocked or ignored stay so, SIGTRAP among them.
cat >mask.c <<'C'
#include <signal.h>
#include <stdio.h>
int main(void) {
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int i = 1; i < 32; ++i)
    if (sigismember(&blocked, i)) printf("%d ", i);
  return puts(signal(SIGUSR2, SIG_IGN) == SIG_IGN ? "ignored" : "default") < 0;
}
C
gcc -O2 -g -static mask.c -o mask
cat >blocked.py <<'P'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP, signal.SIGUSR1, signal.SIGHUP])
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
P
expect_eq '1 5 10 ignored' "$(python3 blocked.py ./mask)" "without penna"
run python3 blocked.py "$PENNA" record -f -o it.penna -- ./mask
expect_eq 0 "$status" "$err"
expect_eq '1 5 10 ignored' "$out" "signals of a held program"

# Programs that cannot have an agent are recorded by breakpoints, and this is reported; one that does not exist is not
# started.
cp glibc_static stripped
strip stripped
run penna record -f -o it.penna -- ./stripped one
expect_eq 7 "$status" "status of a stripped program"
expect_contains "$err" './stripped is statically linked and has no symbols (it was stripped): recording it by breakpoints'
run penna record --via breakpoint -f -o it.penna -F leaf -- ./glibc_static one
expect_eq 7 "$status" "status by breakpoints"
expect_match "$err" '200 calls, .* 0 lost'
run penna record --via inject -q -f -o it.penna -- ./stripped one
expect_eq 7 "$status" "status of a stripped program that is not recorded"

# The recording may end earlier, and be switched meanwhile; afterwards the program is restored.
build_c goes_on -O2 -static
"$PENNA" record -f -o it.penna -- ./goes_on >lines.txt 2>recorder.txt </dev/null & recorder=$!
started+=("$recorder")
await lines.txt '^50$'
run penna ctl "$recorder" stop
expect_eq 0 "$status" "$err"
last=$(tail -n 1 lines.txt)
await lines.txt "^$((last + 50))\$"
touch end
status=0
wait "$recorder" || status=$?
expect_eq 3 "$status" "status of a program that went on"
expect_match "$(<recorder.txt)" 'restored [1-9][0-9]* places? in 1 module, verified'
rm end

# The recorder is killed at some moment during startup: the program runs to its end.
name=goes_$$ # no other one has it
mv goes_on "$name"
for ((i = 0; i < 12; ++i)); do
  : >lines.txt
  "$PENNA" record -q -f -o it.penna -- "./$name" >lines.txt 2>/dev/null </dev/null & recorder=$!
  sleep 0.0$((i / 4))$((i % 4 * 3))
  kill -9 "$recorder"
  wait "$recorder" 2>/dev/null || true
  touch end
  for ((k = 0; k < 1000; ++k)); do
    pgrep -x "$name" >/dev/null || break
    sleep 0.02
  done
  ! pkill -9 -x "$name" || fail "the program hangs after its recorder was killed"
  rm end
done
