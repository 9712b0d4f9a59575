#!/bin/bash
# SPDX-License-Identifier: MIT
# An invalid word on the command line is named in the error, with the nearest valid one, in the same form for all verbs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >calls.c <<'PROGRAM'
#include <stdlib.h>
__attribute__((noinline)) void leaf(int n) { free(malloc((size_t)n)); }
int main(void) {
  for (int i = 1; i < 10; ++i) leaf(i);
}
PROGRAM
build_c calls -finstrument-functions
penna record -q -o rec.penna ./calls >/dev/null

# blamed SENTENCE ARGS...: one line, and nothing else happens
blamed() {
  local want=$1
  shift
  run penna "$@"
  expect_eq "$want" "$(cut -c "1-${#want}" <<<"$err")" "what penna $* says"
  expect_eq "1 " "$(wc -l <err.txt) $out" "lines of penna $*"
  [ "$status" = 125 ] || [ "$1 $status" = "check 2" ] || fail "exit status $status of penna $*"
}

# ---- options: of every verb that has any ------------------------------------------------------------------------------------------
for verb in record report replay graph diff check info list lint export ctl doctor import pack trim merge config completion help; do
  blamed "penna $verb: there is no option --hepl; did you mean --help?" "$verb" --hepl
  blamed "penna $verb: there is no option -Q; 'penna help $verb' shows what is possible" "$verb" -Q
done
for verb in report replay graph diff export; do
  blamed "penna $verb: there is no option --tread; did you mean --thread?" "$verb" --tread main
done
blamed "penna record: there is no option --tread; did you mean --thread?" record --tread main ./calls
for verb in report replay graph diff check info list lint doctor; do
  blamed "penna $verb: there is no --format 'jsn' (did you mean 'json'?): choose from table, csv, json" "$verb" --format jsn x y
  blamed "penna $verb: --format and --json contradict each other: give one of them" "$verb" --json --format csv x y
  blamed "penna $verb: --json takes no value" "$verb" --json=no x y
done

# ---- words ------------------------------------------------------------------------------------------------------------------------
tables="did you mean 'calls'?): choose from calls, tree, flame"
blamed "penna report: there is no table and no recording 'cals' ($tables" report cals
blamed "penna report: there is no table 'cals' ($tables" report cals rec.penna
blamed "penna report: there is no table 'cals' ($tables" report rec.penna cals
blamed "penna: cannot open rce.penna: No such file or directory (did you mean 'rec.penna'?)" report rce.penna
blamed "penna export: there is no format 'cvs' (did you mean 'csv'?): choose from csv, chrome" export rec.penna cvs
blamed "penna help: there is no verb 'recrod' (did you mean 'record'?)" help recrod
blamed "penna config: there is no verb 'recrod' (did you mean 'record'?)" config recrod
blamed "penna: there is no verb and no program 'recrod'; did you mean 'penna record'?" recrod
blamed "penna completion: there is no shell 'bsh' (did you mean 'bash'?): choose from bash, zsh, fish" completion bsh
blamed "penna ctl: there is no command 'stopp' (did you mean 'stop'?): choose from on, off, snapshot, stop" ctl $$ stopp
blamed "penna graph: no function that was called has the name 'laef' (did you mean 'leaf'?)" graph laef rec.penna

# Names in a namespace: the scope may be left out, as in the pattern that is meant.
cat >shop.cc <<'PROGRAM'
#include <stdlib.h>
#include <pthread.h>
namespace shop {
pthread_mutex_t ledger_mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void* render(int n) { return malloc((size_t)n); }
__attribute__((noinline)) void lock_ledger(pthread_mutex_t* mutex) { pthread_mutex_lock(mutex); }
}
int main() {
  for (int i = 1; i < 10; ++i) free(shop::render(i));
  shop::lock_ledger(&shop::ledger_mutex);
  pthread_mutex_unlock(&shop::ledger_mutex);
}
PROGRAM
build_c shop -finstrument-functions
penna record -q -o shop.penna ./shop
expect_contains "$(penna report alloc shop.penna --stack rendr)" "--stack 'rendr' matched no function that allocates (did you mean 'render'?)"
expect_contains "$(penna report calls shop.penna -F rendr)" "-F 'rendr' matched no function that was called (did you mean 'render'?)"
expect_contains "$(penna report locks shop.penna --lock ledgermutex)" "No lock is called ledgermutex (did you mean 'ledger_mutex'?)"
expect_contains "$(penna check shop.penna --max-allocs rendr=3 || true)" "(did you mean 'render'?): it is kept, if the name is right"
expect_contains "$(penna check shop.penna --no-lock-in lock_leger || true)" "(did you mean 'lock_ledger'?): it is kept, if the name is right"
run penna record -f -o wrong.penna -k locks --lock-functions 'lock_leger=unlock' ./shop
expect_contains "$err" "'lock_leger=unlock' (did you mean 'lock_ledger'?)"
run penna record -f -o wrong.penna -k calls -F rendr ./shop
expect_contains "$err" "matches -F 'rendr' (did you mean 'render'?)"
rm -f shop.penna wrong.penna

# ---- which recording was taken ----------------------------------------------------------------------------------------------------
sleep 0.01
cp rec.penna newer.penna
for verb in "report calls" "report alloc" "report threads" "graph leaf" replay "replay --json" "report calls --json"; do
  expect_contains "$(penna $verb)" "of newer.penna, the newest recording here"
  expect_missing "$(penna $verb rec.penna)" "the newest recording here"
done
expect_contains "$(penna report)" "of newer.penna, the newest recording here"
expect_contains "$(penna info)" newer.penna

# ---- standard input ---------------------------------------------------------------------------------------------------------------
for verb in "report calls" "replay" "graph leaf" "export csv" "info --json" "list" "check --max-leak 1G"; do
  # shellcheck disable=SC2086
  expect_eq "$(penna $verb rec.penna | sed 's/rec\.penna/-/')" "$(penna $verb - <rec.penna)" "penna $verb of a file"
  expect_eq "$(penna $verb rec.penna | sed 's/rec\.penna/-/')" "$(cat rec.penna | penna $verb -)" "penna $verb of a pipe"
done
penna trim -r 0ms- rec.penna -o whole.penna 2>/dev/null
penna trim -r 0ms- - -o piped.penna <rec.penna 2>/dev/null
expect_eq "$(penna export csv whole.penna)" "$(penna export csv piped.penna)" "penna trim of a pipe"
rm whole.penna piped.penna
expect_eq "$(penna diff rec.penna rec.penna)" "$(penna diff - rec.penna <rec.penna)" "penna diff of a pipe"
blamed "penna record: a recording cannot go to standard output" record -o - ./calls
[ ! -e ./- ] || fail "a file named - was made"
