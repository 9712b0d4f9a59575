#!/bin/bash
# SPDX-License-Identifier: MIT
# Static programs that recorded programs start, in whatever way, are recorded from their first code on like one that penna starts: same
# records, same output and status. So are those that these start. What cannot have the agent runs unrecorded, and why is told.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need musl-tools

cat >works.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile early;
static void* volatile kept;
__attribute__((constructor)) static void first(void) { early = malloc(4321); }
__attribute__((noinline)) int leaf(int x) { __asm__(""); return x * 3 + 1; }
// ./works WORD [PROGRAM WORD...]
int main(int count, char** words) {
  int sum = 0;
  for (int i = 0; i < 50; ++i) {
    char* block = malloc(100 + i);
    memset(block, i, 100);
    pthread_mutex_lock(&mutex), sum += leaf(i), pthread_mutex_unlock(&mutex);
    free(block);
  }
  if (sum != 3 * 1225 + 50) return puts("WRONG sum"), 3;
  kept = malloc(1717);
  if (strcmp(words[1], "unrecorded") == 0)  // such a program keeps the variables that are for its dynamic children
    puts("unrecorded");
  else
    printf("%s with %s and %s\n", words[1], getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "nothing preloaded",
         getenv("PENNA_SOCKET") ? "PENNA_SOCKET" : "no socket");
  fflush(stdout);
  if (count < 3 || strcmp(words[1], "script") == 0) return 7;  // of a script, its own name comes next
  const pid_t child = fork();
  if (child == 0) execv(words[2], words + 2), _exit(99);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return puts("WRONG child"), 5;
  return WEXITSTATUS(status);
}
C
gcc -O2 -g -pthread works.c -o dynamic
gcc -O2 -g -static -pthread works.c -o glibc_static
gcc -O2 -g -static-pie -fPIE -pthread works.c -o glibc_pie
musl-gcc -O2 -g -static -pthread works.c -o musl_static
cp glibc_static stripped
strip stripped
printf '#!%s script\n' "$PWD/glibc_static" >script
chmod +x script

cat >starts.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static char** words;
static void* run(void* none) { return execv(words[0], words), none; }
// ./starts HOW PROGRAM WORD...: a first try fails.
int main(int count, char** all) {
  const char* how = all[1];
  pthread_t thread;
  pid_t child = 0;
  int status = 0, files = dup(0);
  words = all + 2;
  close(files);
  if (count < 4) return 1;
  if (execv("./damaged", words) != -1 || errno != ENOEXEC) return puts("WRONG exec"), 2;
  if (posix_spawn(&child, "./damaged", 0, 0, words, environ) != ENOEXEC) return puts("WRONG spawn"), 2;
  if (strcmp(how, "exec") == 0) execv(words[0], words);
  if (strcmp(how, "thread") == 0) pthread_create(&thread, 0, run, 0), pthread_join(thread, 0);
  if (strcmp(how, "fork") == 0 && (child = fork()) == 0) _exit(execv(words[0], words));
  if (strcmp(how, "vfork") == 0 && (child = vfork()) == 0) _exit(execve(words[0], words, environ));
  if (strcmp(how, "spawn") == 0 && posix_spawnp(&child, words[0], 0, 0, words, environ) != 0) return 3;
  if (strcmp(how, "system") == 0) {
    char line[1000] = "";
    for (char** word = words; *word != 0; ++word) strcat(strcat(line, " "), *word);
    return WEXITSTATUS(system(line));
  }
  if (waitpid(child, &status, 0) != child) return puts("WRONG wait"), 4;
  if (dup(0) != files) return puts("WRONG descriptor"), 5;
  return WEXITSTATUS(status);
}
C
gcc -O1 -g -pthread starts.c -o starts
gcc -O1 -g -static -pthread starts.c -o starts_static
head -c 4000 glibc_static >damaged # its headers are those of a static program
printf '\377\377' | dd of=damaged bs=1 seek=54 conv=notrunc status=none # the size of a program header
chmod +x damaged
./starts exec ./glibc_static one >/dev/null || [ $? = 7 ] || fail "starts does not work by itself"

# recorded PROGRAM...: one recording of it, as it is without us.
recorded() {
  run "$@"
  local output=$out want=$status
  run penna record -f -o it.penna -k alloc,locks,calls -F leaf -- "$@"
  expect_eq "$want" "$status" "status of $*"
  expect_eq "$output" "$out" "output of $*"
}
# calls of leaf, and blocks that are lost, TIMES as many as one run has.
expect_whole() {
  expect_missing "$err" 'not recorded'
  expect_match "$err" ' 0 lost'
  expect_eq $((50 * $1)) "$(penna export csv it.penna | grep -c ',enter,leaf')" "calls of leaf, $2"
  expect_match "$(penna report alloc it.penna --format csv)" "^(4321|$((4321 * $1))),.*first"
  expect_match "$(penna report leaks it.penna)" '1\.72 kB .* main '
  expect_contains "$(penna report alloc it.penna --unmatched)" 'Every recorded free was of a recorded block'
  expect_eq $((50 * $1)) "$(penna report locks it.penna -n 0 --format csv | awk -F, '$25 == "mutex" {sum += $12} END {print sum}')" \
    "acquisitions, $2"
}

for how in exec thread fork vfork spawn system; do
  recorded ./starts $how ./glibc_static one
  expect_whole 1 "$how"
done
for program in glibc_pie musl_static script; do
  recorded ./starts spawn ./$program one
  expect_whole 1 "$program"
done
recorded ./starts_static fork ./musl_static one
expect_whole 1 "from static to static"
recorded ./starts_static spawn ./glibc_static one
expect_whole 1 "spawned from static"
recorded ./glibc_static one ./musl_static two ./dynamic three ./glibc_pie four
expect_whole 4 "a chain"
LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6 recorded ./starts exec ./glibc_static one
expect_whole 1 "with a library that the user preloads"

# Many at once.
recorded bash -c 'for i in {1..12}; do ./glibc_static one & done; wait; echo done'
expect_whole 12 "twelve at once"

# What the agent cannot come to.
recorded bash -c './stripped unrecorded; ./glibc_static two; ./stripped unrecorded'
expect_eq 2 "$(grep -cE '^penna: ./stripped \(pid [0-9]+\) was not recorded: it is statically linked' <<<"$err")" "programs named"
run penna info it.penna
expect_match "$out" 'a statically linked program that was started has no symbols \(it was stripped\)'
expect_eq 50 "$(penna export csv it.penna | grep -c ',enter,leaf')" "calls of the one that is recorded"
recorded ./starts exec ./stripped unrecorded # nothing of it will meet the recorder any more
expect_match "$err" 'stripped \(pid [0-9]+\) was not recorded: it is statically linked'
recorded ./stripped unrecorded ./dynamic two
expect_eq 50 "$(penna export csv it.penna | grep -c ',enter,leaf')" "calls of one that an unrecorded one has started"

# Attached to a program that starts them; and given back while one of them runs.
build_c goes_on -O2 -static
start lines.txt bash -c 'until [ -e go ]; do sleep 0.02; done; ./goes_on; echo "status $?"'
shell=$pid
"$PENNA" record -f -o it.penna -k alloc -p "$shell" >recorder.txt 2>&1 & recorder=$!
started+=("$recorder")
await_served "$shell"
touch go
await lines.txt '^50$'
child=$(pgrep -P "$shell" goes_on)
run penna ctl "$recorder" stop
expect_eq 0 "$status" "$err"
wait "$recorder" || true
expect_match "$(<recorder.txt)" 'restored [1-9][0-9]* places? in [1-9] modules?, verified'
last=$(tail -n 1 lines.txt)
await lines.txt "^$((last + 50))\$"
"$PENNA" record -f -q -o again.penna -k alloc -p "$child" --duration 100ms || fail "it cannot be recorded again"
touch end
await lines.txt '^status 3$'
expect_match "$(penna report alloc it.penna -n 0)" 'main \(goes_on.c'

# The recorder is killed at some moment of the beginning: the program runs to its end.
rm -f end
name=goes_$$ # no other one has it
mv goes_on "$name"
for ((i = 0; i < 12; ++i)); do
  : >lines.txt
  "$PENNA" record -q -f -o it.penna -- bash -c "./$name; true" >lines.txt 2>/dev/null </dev/null & recorder=$!
  sleep 0.0$((i / 3 + 1))$((i % 3 * 3))
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
