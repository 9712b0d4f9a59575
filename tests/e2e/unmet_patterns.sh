#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmatched patterns are reported, with the most likely intended name.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >shop.c <<'C'
#include "penna/point.h"
__attribute__((noipa)) int checkout(int price) { return price + 1; }
int main(void) {
  for (int i = 0; i < 3; ++i) {
    int price = checkout(i);
    PENNA_EVENT(shop, sold, price);
  }
  return 0;
}
C
build_c shop -fpatchable-function-entry=8
recorded() { run penna record -f -o shop.penna "$@" -- ./shop; }

recorded -e 'shpo:*'
expect_contains "$err" "-e 'shpo:*' matched no point (did you mean 'shop:sold'?)"
recorded -e 'nothing:like:it'
expect_contains "$err" "-e 'nothing:like:it' matched no point (see: penna list)"
recorded -A 'chekout@arg1'
expect_contains "$err" "no function of the program or its libraries matches -A 'chekout' (did you mean 'checkout'?)"
recorded -T 'chekout@stack'
expect_contains "$err" "matches -T 'chekout@stack' (did you mean 'checkout'?)"
expect_contains "$(penna report health shop.penna)" "matches -T 'chekout@stack' (did you mean 'checkout'?)"
recorded -F 'chekout'
expect_contains "$err" "no function that was called matches -F 'chekout' (did you mean 'checkout'?)"
cat >shelf.cc <<'CC'
__attribute__((noinline)) int place(int item) { return item ? place(item - 1) + 1 : 0; }
int main() { return place(3) - 3; }
CC
build_c shelf -fpatchable-function-entry=8
run penna record -f -o shelf.penna -A 'plase(int)' -R 'place(long)' -F 'plase(int)' -- ./shelf
expect_contains "$err" "-A 'plase(int)' (did you mean 'place(int)'?)"
expect_contains "$err" "-R 'place(long)' (did you mean 'place(int)'?)"
expect_contains "$err" "-F 'plase(int)' (did you mean 'place(int)'?)"
# Matched patterns are not reported, nor are names that only other patterns exclude.
recorded -e 'shop:*' -A 'checkout@arg1' -F checkout
expect_missing "$err" ' met no '
expect_missing "$err" ' matches '
recorded -F checkout -e 'shop:*'
run penna report calls shop.penna -F 'chekout'
expect_contains "$out$err" "-F 'chekout' matched no function that was called (did you mean 'checkout'?)"
run penna report points shop.penna --where 'prise > 1'
expect_contains "$out$err" "--where 'prise > 1' filtered out nothing: no point has such arguments, prise (did you mean 'price'?)"
run penna report points shop.penna --where 'price > 1'
expect_missing "$out$err" 'filtered out nothing'

# Functions of the program's own locks, limits on functions, points switched by penna ctl.
cat >latch.c <<'C'
#include <unistd.h>
#include <stdlib.h>
#include "penna/point.h"
__attribute__((noipa)) void latch_take(int *latch) { *latch = 1; }
__attribute__((noipa)) void latch_give(int *latch) { *latch = 0; }
__attribute__((noipa)) void *reserve(int n) { return malloc(n); }
int main(int argc, char **argv) {
  int latch;
  latch_take(&latch);
  PENNA_EVENT(shop, sold, argc);
  free(reserve(argc));
  latch_give(&latch);
  while (argc > 1 && access(argv[1], F_OK) != 0) usleep(10000);
  return 0;
}
C
build_c latch -finstrument-functions
run penna record -f -o latch.penna --lock-functions 'latch_taek=latch_give' -- ./latch
expect_contains "$err" "--lock-functions 'latch_taek=latch_give' (did you mean 'latch_take'?): no such function is defined"
run penna record -f -o latch.penna --lock-functions 'nothing_like_it=latch_give' -- ./latch
expect_contains "$err" "--lock-functions 'nothing_like_it=latch_give': no such function is defined"
run penna record -f -o latch.penna --lock-functions 'latch_take=latch_give' -- ./latch
expect_missing "$err" --lock-functions
run penna check latch.penna --max-allocs 'reserfe=0' --no-lock-in 'reserv'
expect_contains "$out$err" "no function of this name was called (did you mean 'reserve'?): it is kept, if the name is right"
expect_eq 2 "$(grep -c "did you mean 'reserve'?" <<<"$out$err")" "limits on functions that are not there"
run penna check latch.penna --max-allocs 'reserve=5'
expect_missing "$out$err" 'did you mean'
start said "$PENNA" record -f -o latch.penna -- ./latch "$PWD/stop"
recorder=$pid
until_true "the command runs" pgrep -P "$recorder" -x latch
until_true "penna ctl reaches it" penna ctl "$recorder" on 'shop:sold'
for who in "$recorder" "$(pgrep -P "$recorder" -x latch)"; do
  run penna ctl "$who" off 'shop:slod'
  expect_eq 1 "$status" "a pattern that names no point"
  expect_contains "$err" "'shop:slod' names no point of 1 process yet (did you mean 'shop:sold'?); it holds for what is loaded later"
  run penna ctl "$who" off 'nothing:like:it'
  expect_contains "$err" "'nothing:like:it' names no point of 1 process yet; it holds"
done
touch stop
wait "$recorder"

# An ifunc is matched, and the reason for not recording its calls is reported; --libcalls records them under its name.
cat >forms.c <<'C'
static int by_one(int n) { return n + 1; }
static int (*choose(void))(int) { return by_one; }
int form(int n) __attribute__((ifunc("choose")));
C
cat >form.c <<'C'
int form(int n);
int main(void) { return form(-1); }
C
gcc -g -O1 -shared -fPIC forms.c -o libforms.so
gcc -g -O1 form.c -o form -L. -lforms -Wl,-rpath,.
run penna record -f -o form.penna -F form -- ./form
expect_eq 0 "$status" "the program's status"
expect_contains "$err" 'calls of form [libforms.so] are not recorded: it is an ifunc'
expect_missing "$err" "matches -F 'form'"
expect_contains "$(penna report health form.penna)" 'calls of form [libforms.so] are not recorded: it is an ifunc'
run penna record -f -o form.penna -k calls -F form --libcalls --auto-args -A 'form@arg1/i32' -- ./form
expect_eq 0 "$status" "the program's status"
expect_missing "$err" 'is an ifunc, of which'
expect_match "$(penna replay form.penna)" ' form\(arg1=-1\)'
# One that no other file can call is not recorded by that option either.
sed 's/int form(int n);//' form.c | cat forms.c - >alone.c
gcc -g -O1 alone.c -o alone
run penna record -f -o form.penna -k calls -F form --libcalls -- ./alone
expect_contains "$err" 'calls of form [alone] are not recorded: it is an ifunc'
expect_missing "$err" 'is it'
# Debug information has only the resolver's types: they are not taken for the function's.
run penna record -f -o form.penna -k calls -F form --libcalls -A form -- ./form
expect_contains "$err" 'values of form [libforms.so] are not recorded: it is an ifunc'
expect_missing "$(penna replay form.penna)" 'form(arg'
# Among libc's functions, the one called by programs is preferred to the dynamic linker's own copy.
run penna record -f -o form.penna -F memcpy -- ./form
expect_match "$err" 'calls of memcpy \[libc\.so\.6\] are not recorded: it is an ifunc'
