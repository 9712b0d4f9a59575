#!/bin/bash
# SPDX-License-Identifier: MIT
# --tid and --thread, in every report and export: only these threads' events are shown, but frees and holds by others
# still count.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >pair.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "penna/point.h"
#define F __attribute__((noipa))
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER, unused = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *passed[10];
F void bake(int i) { passed[i] = malloc(100); PENNA_EVENT(shop, baked, PENNA_ARG(i, i)); }
F void *baker(void *unusable) {
  pthread_setname_np(pthread_self(), "baker");
  pthread_mutex_lock(&door);
  pthread_barrier_wait(&both);
  usleep(100000);
  for (int i = 0; i < 10; i++) bake(i);
  pthread_mutex_unlock(&door);
  return unusable;
}
F void eat(int i) { free(passed[i]); }
F void *eater(void *unusable) {
  pthread_setname_np(pthread_self(), "eater");
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&door);
  for (int i = 0; i < 9; i++) eat(i);
  passed[0] = malloc(7);
  pthread_mutex_unlock(&door);
  pthread_mutex_lock(&unused), pthread_mutex_unlock(&unused);
  return unusable;
}
int main(void) {
  pthread_t first, second;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&first, NULL, baker, NULL), pthread_create(&second, NULL, eater, NULL);
  pthread_join(first, NULL), pthread_join(second, NULL);
}
PROGRAM
build_c pair -finstrument-functions -finstrument-functions-exclude-file-list=penna/
penna record -q -o pair.penna ./pair
eater=$(penna report threads pair.penna --format csv | awk -F, '$3 == "eater" { print $2 }')
# column REPORT COLUMN [OPTIONS]: one column of a table, without its title.
column() { python3 -c 'import csv, subprocess, sys
rows = csv.DictReader(subprocess.run([*sys.argv[2:]], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
print(*[row[sys.argv[1]] for row in rows])' "$2" "$PENNA" report "$1" pair.penna --format csv "${@:3}"; }

for choice in "--thread eater" "--tid $eater" "--thread $eater" "--thread e*r" "--thread /^eat/"; do
  # shellcheck disable=SC2086
  expect_eq "eat eater" "$(column calls function $choice | xargs -n 1 | sort | xargs)" "calls of $choice"
done
expect_eq "10" "$(column calls calls --thread baker -F bake)" "calls of another"
expect_eq "bake baker eat eater" "$(column calls function --thread baker --tid "$eater" | xargs -n 1 | sort | xargs)" "calls of both"
expect_eq "baker" "$(column threads name --thread baker)" "threads"
expect_eq "shop:baked" "$(column points point --thread baker)" "points"
expect_eq "" "$(column points point --thread eater)" "points of another"

# Blocks are those allocated by the thread, whichever thread freed them; frees of other threads' blocks are not
# unmatched.
expect_eq "10" "$(column alloc count --thread baker --size 100)" "allocations"
expect_eq "1" "$(column leaks blocks --thread baker --size 100)" "leaks"
expect_eq "7" "$(column leaks leaked_bytes --thread eater)" "leaks of another"
run penna report alloc pair.penna --thread eater
expect_missing "$out" "unmatched"
expect_contains "$out" "Only what 1 of 3 threads did is shown."
expect_eq "alloc" "$(penna export csv pair.penna --thread baker -F nothing 2>/dev/null | awk -F, '$4 ~ /^(alloc|free)$/ && $7 == 100 { print $4 }' | sort -u)" "lines of the baker"
expect_eq "free" "$(penna export csv pair.penna --thread eater -F nothing 2>/dev/null | awk -F, '$4 ~ /^(alloc|free)$/ && $7 == 100 && (/alloc/ || $8 > 0) { print $4 }' | sort -u)" "lines of the eater, with sizes"

# A wait belongs to the waiter and reports the holder; a hold belongs to the holder, with the waits of others.
expect_eq "1" "$(column locks waits --thread eater --lock door)" "waits of the eater"
run penna report waits pair.penna --thread eater --lock door
expect_contains "$out" "baker"
expect_eq "" "$(column waits waits --thread baker --lock door)" "waits of the baker"
expect_match "$(column holds waited_ns --thread baker --lock door)" '^[0-9]{8,}$'
expect_eq "0" "$(column holds waited_ns --thread eater --lock door)" "waits for the eater"
expect_eq "door unused" "$(column locks lock --thread eater | xargs -n 1 | grep -E 'door|unused' | sort | xargs)" "locks of the eater"
expect_missing "$(column locks lock --thread baker)" "unused"

# The other verbs.
for verb in "replay" "replay --merge" "replay --tree" "export chrome" "export folded --weight calls" "export speedscope"; do
  # shellcheck disable=SC2086
  run penna $verb pair.penna --thread eater
  expect_contains "$out" "eat"
  expect_missing "$out" "bake("
done
run penna graph eat pair.penna --thread baker
expect_contains "$err" "no function that was called has the name 'eat'"
run penna diff pair.penna pair.penna --thread eater --format csv
expect_eq 3 "$(wc -l <<<"$out")" "rows of a comparison"
penna export massif pair.penna --thread eater -o eater.massif
expect_missing "$(<eater.massif)" "bake"
run penna report chains pair.penna --thread eater
expect_contains "$out" "eater"
cmp <(penna report chains pair.penna --tid "$eater") <(penna report chains pair.penna --thread eater) || fail "chains --tid"

# Recording only these threads gives the same: blocks freed by others are freed, locks held by others are held.
facts() { # REC [OPTIONS]
  penna report threads "$@" --format csv | cut -d, -f3 | sort  # whoever has more events comes first
  penna report calls "$@" --format csv | awk -F, 'NR > 1 { print $1, $NF }' | sort
  penna report points "$@" --format csv | cut -d, -f1,2
  penna report alloc "$@" --size 100 --by function --format csv | wc -l
  penna report leaks "$@" --size 7 --format csv | wc -l
  penna report leaks "$@" --size 100 --format csv | wc -l
  penna report waits "$@" --lock door --format csv | wc -l
  penna report holds "$@" --lock door --format csv | wc -l
  penna export csv "$@" 2>/dev/null | awk -F, '$4 ~ /^(point|alloc|free)$/ && ($7 == 100 || $7 == 7) { print $4, $7 }' | sort | uniq -c
}
for choice in "--thread eater" "--thread baker" "--thread /^(baker|eater)$/" "--thread pair"; do
  # shellcheck disable=SC2086
  penna record -f -q -o chosen.penna $choice ./pair
  # shellcheck disable=SC2086
  cmp <(facts pair.penna $choice) <(facts chosen.penna) || fail "$choice: $(diff <(facts pair.penna $choice) <(facts chosen.penna))"
done
run penna record -f -o chosen.penna --tid 1 -k calls,points ./pair
expect_match "$err" "^penna: --tid 1 left out [0-9]+ events of other threads$"
expect_contains "$err" "no thread matches --tid '1'"
run penna info chosen.penna
expect_match "$out" '^left out +[0-9]+ events of other threads$'
expect_match "$out" '^options .*tid=1'
run penna record --live -q -f -o chosen.penna --thread baker ./pair
expect_contains "$out" "bake("
expect_missing "$out" "eat("

# Nonexistent names are reported.
run penna report calls pair.penna --thread eatre
expect_eq "125 " "$status $out" "status of a name that is none's"
expect_contains "$err" "no thread matches --thread 'eatre' (did you mean 'eater'?): 'penna report threads' lists them"
run penna replay pair.penna --thread eater --tid 1
expect_contains "$status $err" "no thread matches --tid '1'"
expect_contains "$out" "eat"
for wrong in "--tid eater" "--thread /(/" "order --thread eater" "locks --lock /(/" "leaks --stack /(/"; do
  # shellcheck disable=SC2086
  run penna report pair.penna $wrong
  expect_eq "125 " "$status $out" "$wrong"
done
