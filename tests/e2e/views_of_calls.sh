#!/bin/bash
# SPDX-License-Identifier: MIT
# penna report calls --by, and flame: calls, allocations and waits as an icicle graph; its numbers add up.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >program.cc <<'PROGRAM'
#include <cstdlib>
#include <thread>
__attribute__((noipa)) void keep(size_t bytes) { void* volatile block = malloc(bytes); (void)block; }
__attribute__((noipa)) void small() { keep(1000); }
__attribute__((noipa)) void large() { keep(3000); }
__attribute__((noipa)) void work(int n) { for (int i = 0; i < n; i++) small(), large(); }
int main() {
  std::thread other(work, 10);
  other.join();
  work(20);
}
PROGRAM
build_c program -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -k calls,alloc -o program.penna -- ./program
column() { penna report program.penna calls --by "$1" --format csv | awk -F, -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i; next } { print $c }'; }
sum() { awk '{ n += $1 } END { printf "%d\n", n }'; }

# 10 and 20 rounds of 4 calls, work and main.
expect_eq '82
41' "$(column thread calls)" "calls of the threads"
expect_eq 123 "$(column module calls)" "calls of the only module"
expect_eq "program" "$(column module module)" "its name"
expect_eq 60 "$(column function calls | sort -n | tail -n 1)" "calls of keep"
total=$(penna report program.penna calls --format csv | awk -F, 'NR > 1 { n += $3 } END { print n }')
for by in thread module; do
  difference=$(($(column $by self_ns | sum) - total))
  ((difference * difference <= 10000)) || fail "self times --by $by differ from those of functions by $difference ns"
done
run penna report program.penna calls --by thread
expect_match "$out" '^CALLS .* PID +TID +THREAD$'

# Bytes: 30 * 1000 and 30 * 3000, and a little of the thread's. Lines are as wide as requested.
run penna report program.penna flame --weight alloc-bytes --width 80
expect_eq 0 "$status" "status of flame"
expect_match "$out" '^\[all [0-9]+ kB allocated +\]$'
expect_match "$out" '\[large\(\) [0-9.]+ % *\]\[sm'
expect_eq 80 "$(awk '{ if (length > n) n = length } END { print n }' <<<"$out")" "columns"
run penna report program.penna flame --weight calls --width 60
expect_match "$out" '^\[all 123 calls +\]$'
run penna report program.penna flame
expect_match "$out" '^\[all [0-9.]+ .?s of calls +\]$'
expect_missing "$out" "$(printf '\033')"
run penna report program.penna flame --color always
expect_contains "$out" "$(printf '\033[38;5;16;48;5;')"
run penna report program.penna flame --weight wait
expect_match "$out" '^There is nothing to draw: no weight of waits was recorded\.$'
# The same numbers as the export.
expect_eq "$(penna export folded program.penna --weight alloc-bytes | awk '{ n += $NF } END { printf "%.0f", n / 1000 }')" \
  "$(penna report program.penna flame --weight alloc-bytes --width 80 | sed -n '1s/^.all \([0-9]*\) kB.*/\1/p')" "kilobytes in all"
