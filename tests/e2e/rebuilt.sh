#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that is changed and rebuilt in place: its older recording keeps its functions, lines and locks, because it
# contains the names of what occurred; without these, one sentence says which file was rebuilt. Names of the later build
# are never shown.
. "$(dirname "$0")/common.sh"

cat >shop.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void *FIRST(int n) {
  void *p = malloc(n);
  pthread_mutex_lock(&till);
  pthread_mutex_unlock(&till);
  return p;
}
PADDING
int main(void) {
  for (int i = 0; i < 10; ++i) FIRST(100 + i);
}
C
built() { # NAME PADDING [OPTION...]
  sed "s/FIRST/$1/; s/FIRST/$1/; s/PADDING/$2/" shop.c >"shop_$1.c"
  sed -i "s/FIRST/$1/" "shop_$1.c"
  gcc -O1 -g -finstrument-functions -pthread "${@:3}" "shop_$1.c" -o shop || fail "shop_$1.c does not compile"
}

built pay_before ''
run penna record -q -o before.penna ./shop
expect_eq 0 "$status" "record"
run penna record -q --no-names -o without.penna ./shop
built pay_after 'int more(int n) { return n * 3; }'
run penna record -q -o after.penna ./shop

# The report of calls, of allocations with file and line, of locks; a filter by name.
run penna report before.penna calls
expect_match "$out" '^ *10 .*pay_before'
expect_missing "$out" pay_after
run penna report before.penna leaks
expect_match "$out" 'pay_before \(shop_pay_before.c:5\)'
expect_missing "$out$err" "rebuilt"
run penna report before.penna locks
expect_match "$out" '\btill\b'
run penna report before.penna calls -F pay_before
expect_match "$out" '^ *10 .*pay_before'
run penna report before.penna calls -F pay_after
expect_contains "$out$err" "-F 'pay_after' matched no function that was called"
# Both builds side by side, each with its own names.
run penna diff before.penna after.penna
expect_contains "$out" pay_before
expect_contains "$out" pay_after

# Without stored names: which file, and what to do; functions are shown as addresses.
run penna report without.penna leaks
expect_missing "$out" pay_after
expect_match "$out$err" "/shop was rebuilt since the recording .*keep the old file, or name its folder with --debug-dir"
run penna report without.penna calls
expect_missing "$out" pay_after
expect_match "$out$err" "/shop was rebuilt since the recording"
run penna report without.penna locks
expect_match "$out$err" "/shop was rebuilt since the recording"

# Without a build-id to identify the build: the names of the recording, or none, but never those of a file written
# later.
built pay_before '' -Wl,--build-id=none
run penna record -q -f -o before.penna ./shop
run penna record -q -f --no-names -o without.penna ./shop
sleep 0.1
built pay_after 'int more(int n) { return n * 3; }' -Wl,--build-id=none
run penna report before.penna calls
expect_match "$out" '^ *10 .*pay_before'
expect_missing "$out" pay_after
run penna report without.penna calls
expect_missing "$out" pay_after
expect_match "$out$err" "/shop was written since the recording, and has no build-id"

# On another machine, without the file.
rm shop
run penna report before.penna calls
expect_match "$out" '^ *10 .*pay_before'
