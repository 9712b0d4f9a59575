#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that record themselves: with PENNA_RECORD, and with penna/recorder.h.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
lib=$(readlink -f "$(dirname "$PENNA")/../lib")
points=(-L"$lib" "-Wl,-rpath,$lib" -Wl,--no-as-needed -lpenna)
everything=("${points[@]}" -lpenna-agent)
# events REC KIND: the number of such events in the recording.
events() { penna export csv "$1" 2>/dev/null | awk -F, -v kind="$2" '$4 == kind { n++ } END { print n + 0 }'; }

# ---- PENNA_RECORD: a program that does not mention recorders --------------------------------------------------------
cat >quiet.c <<'PROGRAM'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "penna/point.h"
static volatile int elsewhere, alarms;
static void on_alarm(int number) {
  (void)number;
  alarms++;
  elsewhere |= gettid() != getpid();
}
int main(int argc, char** argv) {
  extern char** environ;
  int ours = 0;
  for (char** entry = environ; *entry; entry++) ours += strncmp(*entry, "PENNA_RECORD", 12) == 0;
  PENNA_EVENT(quiet, began, argc);
  if (argc > 1) return 5;
  signal(SIGALRM, on_alarm);
  struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, 0);
  long passed = 0;
  for (; passed < 200000 || alarms < 20; passed++) PENNA_EVENT(quiet, loop, passed);
  often.it_interval.tv_usec = often.it_value.tv_usec = 0;
  setitimer(ITIMER_REAL, &often, 0);
  printf("%d %d\n", ours, elsewhere);
  fflush(stdout);
  FILE* counted = getenv("COUNT_IN") ? fopen(getenv("COUNT_IN"), "w") : 0;
  if (counted) fprintf(counted, "%ld\n", passed), fclose(counted);
  char command[4096];
  snprintf(command, sizeof command, "%s again; echo $?", argv[0]);
  return system(command) != 0 ? 4 : 3;
}
PROGRAM
build_c quiet -O2 "${points[@]}"
run ./quiet
said=$out
expect_eq 3 "$status" "status of the program alone"
for turn in 1 2; do  # the second replaces the recording of the first
  run env PENNA_RECORD=quiet.penna COUNT_IN=passed.txt ./quiet
  expect_eq 3 "$status" "status with PENNA_RECORD"
  expect_eq "$said" "$out" "what the program says"
  expect_eq "" "$err" "what we say"
done
expect_eq 600 "$(stat -c %a quiet.penna)" "mode of the recording"
run penna info quiet.penna
expect_match "$out" '^state +complete$'
expect_match "$out" '^command +\./quiet$'
expect_match "$out" '^kinds +points$'
expect_eq 1 "$(penna export csv quiet.penna 2>/dev/null | grep -c quiet:began)" "programs recorded, this one and none that it started"
kept=$(penna export csv quiet.penna 2>/dev/null | grep -c quiet:loop)
lost=$(penna report health quiet.penna --format csv | awk -F, '$1 == "lost points" { print $2 }')
((kept > 1000)) || fail "only $kept points"
expect_eq "$(<passed.txt)" "$((kept + lost))" "points recorded and lost, of those that the program passed"
run env PENNA_RECORD=began.penna PENNA_RECORD_EVENTS='quiet:*,!*:loop' ./quiet
expect_eq 1 "$(events began.penna point)" "points that were asked for"

# Obstacles are reported; the program continues regardless.
run env PENNA_RECORD=nowhere/x.penna ./quiet
expect_eq "3 $said" "$status $out" "the program with a recording that cannot be made"
expect_contains "$err" 'penna: PENNA_RECORD=nowhere/x.penna: cannot write nowhere/x.penna: No such file or directory'
run env PENNA_RECORD=x.penna PENNA_RECORD_KINDS=points,alloc ./quiet
expect_contains "$err" 'add -lpenna-agent behind -lpenna'
run env PENNA_RECORD=x.penna PENNA_RECORD_KINDS=sounds ./quiet
expect_contains "$err" "there is no kind 'sounds': choose from"
[ ! -e x.penna ] || fail "a refused recording left a file"
# A limit that leaves no room for events.
run bash -c 'ulimit -f 1000; PENNA_RECORD=x.penna ./quiet'
expect_eq "3 $said" "$status $out" "the program with a limit"
# A program with more privileges than its caller ignores the environment variable; one without does not.
nobody() { as_root setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all env "$@"; }
mkdir open && chmod 777 . open && cp "$lib"/libpenna{.so.?,-agent.so} open
build_c quiet -O2 -L"$lib" "-Wl,-rpath,$work/open" -Wl,--no-as-needed -lpenna -o open/plain
cp open/plain open/privileged
as_root chown root: open/privileged && as_root chmod 4755 open/privileged
for program in plain privileged; do
  status=0
  nobody PENNA_RECORD="$work/open/$program.penna" "$work/open/$program" >said.txt 2>&1 || status=$?
  expect_eq "3 $said" "$status $(<said.txt)" "status and words of a $program program"
done
[ -s open/plain.penna ] || fail "a program with write permission wrote no recording"
[ ! -e open/privileged.penna ] || fail "a privileged program wrote a file that its caller named"
chmod 700 .
# Under penna record, the outer recorder records.
run penna record -q -k points -o outer.penna -- env PENNA_RECORD=inner.penna ./quiet
expect_eq "3 $said" "$status $out" "the program with two recorders"
expect_contains "$err" 'this process is or was already recorded'
[ ! -e inner.penna ] || fail "the inner recorder left a file"
expect_eq 2 "$(penna export csv outer.penna | grep -c quiet:began)" "programs in the outer recording"

# ---- penna/recorder.h: everything, nothing lost, forked children too ------------------------------------------------
cat >all.cc <<'PROGRAM'
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>
#include "penna/point.h"
#include "penna/recorder.h"
static std::mutex mutex;
static void allocate(size_t size) {
  void* volatile block = malloc(size);
  free(block);
}
__attribute__((noinline)) void work(int i) {
  std::lock_guard<std::mutex> hold(mutex);
  allocate(10);
  PENNA_EVENT(all, work, i);
}
int main(int, char** argv) {
  setbuf(stdout, nullptr);
  work(-1);  // before
  penna::Recorder recorder({.file = argv[1], .kinds = "calls,alloc,locks,points", .block = 1});
  if (!recorder) return puts(recorder.error()), 1;
  penna::Recorder second({.file = "second.penna"});
  if (second) return puts("a second recorder"), 1;
  puts(second.error());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([] { for (int i = 0; i < 20000; ++i) work(i); });
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) {
      allocate(1);
      PENNA_EVENT(all, child, i);
    }
    exit(0);  // its destructors leave the parent's recording alone
  }
  for (std::thread& thread : threads) thread.join();
  waitpid(child, nullptr, 0);
  if (!recorder.stop()) return puts(recorder.error()), 1;
  work(-2);  // after
  return 0;
}
PROGRAM
build_c all -finstrument-functions -finstrument-functions-exclude-file-list=/usr,penna/ "${everything[@]}"
run ./all all.penna
expect_eq "0 this process is or was already recorded: a process can be recorded only once" "$status $out" "what the program says"
[ ! -e second.penna ] || fail "the second recorder left a file"
expect_eq 80010 "$(events all.penna point)" "points"
expect_eq 160000 "$(penna export csv all.penna | grep -c ',\(enter\|exit\),work(int),')" "entries and exits of work(int)"
expect_eq 80000 "$(penna export csv all.penna | awk -F, '$4 == "alloc" && $7 == 10' | wc -l)" "allocations of 10 bytes"
expect_eq 10 "$(penna export csv all.penna | awk -F, '$4 == "alloc" && $7 == 1' | wc -l)" "allocations of the child"
expect_eq 80000 "$(penna export csv all.penna | grep -c '^[0-9]*,[0-9]*,[0-9]*,\(lock\|lock_wait\),mutex,')" "locks taken"
run penna info all.penna
expect_match "$out" '^lost +nothing$'
expect_missing "$(penna report all.penna threads)" 'penna-'  # the recorder's own threads are not in it
expect_eq 6 "$(penna report all.penna threads | grep -c ' all ')" "threads"

# ---- Descriptors are separate: the program may close unknown ones, and what it closes is closed ---------------------
cat >daemon.c <<'PROGRAM'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "penna/point.h"
#include "penna/recorder.h"
int main(void) {
  int ends[2];
  char byte, error[200];
  if (pipe(ends) != 0) return 2;
  if (penna_recorder_start(&(penna_recorder_options){.size = sizeof(penna_recorder_options), .file = "daemon.penna", .block = 1}, error, sizeof error) != 0)
    return puts(error), 1;
  close(ends[1]);
  if (read(ends[0], &byte, 1) != 0) return 3;  // the end of the pipe: nobody else holds it
  closefrom(3);
  int data[20];
  for (int i = 0; i < 20; i++) {
    char name[20];
    snprintf(name, sizeof name, "data.%d", i);
    data[i] = open(name, O_WRONLY | O_CREAT, 0600);
    if (data[i] != 3 + i || write(data[i], "mine", 4) != 4) return 4;
  }
  for (long i = 0; i < 500000; i++) PENNA_EVENT(daemon, tick, i);
  return penna_recorder_stop(error, sizeof error);
}
PROGRAM
build_c daemon -O2 "${points[@]}"
run ./daemon
expect_eq "0 " "$status $out" "a program that closes every descriptor"
for i in $(seq 0 19); do expect_eq mine "$(<data.$i)" "what it wrote into data.$i"; done
expect_eq 500000 "$(events daemon.penna point)" "its points"

# ---- Options of an older and of a newer program: unknown fields must be zero ----------------------------------------
cat >versions.c <<'PROGRAM'
#include <stdio.h>
#include <string.h>
#include "penna/point.h"
#include "penna/recorder.h"
#include "penna/version.h"
// The struct of a later version.
struct later {
  penna_recorder_options known;
  unsigned char more[24];
};
static void try(const char* what, size_t size, int last, uint32_t reserved) {
  struct later options;
  char error[300] = "";
  memset(&options, 0, sizeof options);
  options.known.size = size;
  options.known.file = "versions.penna";
  options.known.stack_depth = 100000;  // whoever takes the options, refuses them for this
  options.known.reserved = reserved;
  options.more[sizeof options.more - 1] = (unsigned char)last;
  const int outcome = penna_recorder_start(&options.known, error, sizeof error);
  printf("%s: %d %s\n", what, outcome, error);
}
int main(void) {
  char error[300];
  try("this version", sizeof(penna_recorder_options), 1, 0);
  try("a later one, nothing new", sizeof(struct later), 0, 0);
  try("a later one", sizeof(struct later), 1, 0);
  try("reserved", sizeof(penna_recorder_options), 0, 1);
  try("none", 0, 0, 0);
  try("too small", sizeof(penna_recorder_options) - 1, 0, 0);
  try("garbage", (size_t)-1, 0, 0);
  puts(PENNA_VERSION);
  struct later options = {{.size = sizeof options, .file = "versions.penna", .events = "versions:kept"}, {0}};
  if (penna_recorder_start(&options.known, error, sizeof error) != 0) return puts(error), 1;
  PENNA_EVENT(versions, kept);
  PENNA_EVENT(versions, dropped);
  return penna_recorder_stop(error, sizeof error);
}
PROGRAM
build_c versions -O2 "${points[@]}"
run ./versions
refused="-1 a stack depth of 100000: choose 1 to 256"
unknown="-1 the program sets an option that this libpenna ($(penna --version | cut -d' ' -f2)) does not know: link it with the version that it was compiled for, or leave the option out"
unset="set it to sizeof(penna_recorder_options)"
expect_eq "0 this version: $refused
a later one, nothing new: $refused
a later one: $unknown
reserved: $unknown
none: -1 penna_recorder_options.size is 0: $unset
too small: -1 penna_recorder_options.size is 55: $unset
garbage: -1 penna_recorder_options.size is 18446744073709551615: $unset
$(penna --version | cut -d' ' -f2)" "$status $out" "sizes of penna_recorder_options"
expect_eq 1 "$(events versions.penna point)" "points recorded with the options of a later version"

# ---- All kinds of exits ---------------------------------------------------------------------------------------------
cat >ends.c <<'PROGRAM'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "penna/point.h"
#include "penna/recorder.h"
int main(int argc, char** argv) {
  (void)argc;
  char error[200];
  penna_recorder_options options = {.size = sizeof options, .file = "ends.penna", .pool_mib = 4, .block = 1};
  if (penna_recorder_start(&options, error, sizeof error) != 0) return puts(error), 1;
  if (strcmp(argv[1], "killed") == 0) {
    for (long i = 0; i < 1000000; i++) PENNA_EVENT(ends, tick, i);
    kill(getpid(), SIGKILL);
  }
  // The child lives on when its recorder is gone, and must not wait for it.
  const pid_t child = fork();
  if (child == 0) {
    for (long i = 0; i < 3000000; i++) PENNA_EVENT(ends, child, i);
    FILE* done = fopen("child.done", "w");
    return fclose(done);
  }
  if (strcmp(argv[1], "abandoned") == 0) kill(getpid(), SIGKILL);
  usleep(20000);
  return penna_recorder_stop(error, sizeof error);
}
PROGRAM
build_c ends -O2 "${points[@]}"
run ./ends killed
expect_eq 137 "$status" "status of the killed program"
run penna info ends.penna
expect_eq 0 "$status" "status of penna info"
kept=$(events ends.penna point)
((kept > 800000)) || fail "$kept of 1,000,000 points of a killed program"
# Single events reach the file within a second, or two on a busy machine: all that the program saw that long before the
# end.
cat >slow.c <<'PROGRAM'
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "penna/point.h"
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
int main(void) {
  for (int i = 0; i < 40; i++) {
    PENNA_EVENT(slow, tick, i);
    dprintf(1, "%.3f\n", now());
    usleep(100000);
  }
  dprintf(2, "%.3f\n", now());
  kill(getpid(), SIGKILL);
}
PROGRAM
build_c slow -O2 "${points[@]}"
# expect_kept REC END: all ticks in ticks.txt up to two seconds before END, and none that did not occur.
expect_kept() {
  local kept least all
  kept=$(events "$1" point)
  least=$(awk -v end="$2" '$1 < end - 2 { n++ } END { print n + 0 }' ticks.txt)
  all=$(wc -l <ticks.txt)
  ((least > 0 && kept >= least && kept <= all)) || fail "$1 has $kept points of $all, $least of which came before the last two seconds"
}
env PENNA_RECORD=slow.penna ./slow >ticks.txt 2>end.txt || true
expect_kept slow.penna "$(tail -n 1 end.txt)"
# The same for a killed recorder, and for one that is not killed.
"$PENNA" record -q -o one.penna -k points -- ./slow >ticks.txt 2>end.txt &
sleep 3.5
killed=$(date +%s.%N)
kill -KILL $!
wait $! || true
expect_kept one.penna "$killed"
run penna record -q -o whole.penna -k points -- ./slow
expect_eq 40 "$(events whole.penna point)" "points of a recording that came to its end"
run penna info whole.penna
expect_match "$out" '^events +40 points$'
expect_match "$out" '^lost +nothing$'
for way in stopped abandoned; do
  rm -f child.done
  run ./ends $way
  for _ in $(seq 600); do [ ! -e child.done ] || break; sleep 0.1; done
  [ -e child.done ] || fail "a child still waits for its recorder, which was $way"
done

# ---- The example ----------------------------------------------------------------------------------------------------------
build_c recorder -O2 "${points[@]}"
run ./recorder
expect_eq "0 4,000 requests" "$status $out" "the example"
expect_match "$(penna report recorder.penna points)" '^4,000 +[0-9-].* demo:bytes '
run penna info recorder.penna
expect_match "$out" '^lost +nothing$'
