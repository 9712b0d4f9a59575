#!/bin/bash
# SPDX-License-Identifier: MIT
# A program's own lock, from a static library, by the functions given with --lock-functions: waits have the true length
# and holder, without additional waits for its futex; with trylock and timeouts. Impossible requests are reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >gate.h <<'HEADER'
namespace shop {
class Gate {
 public:
  void enter();
  void leave();
  bool try_enter();
 private:
  int word = 0;  // 0: free, 1: taken, 2: and waited for
};
}  // namespace shop
HEADER
cat >gate.cc <<'LIBRARY'
#include "gate.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
bool shop::Gate::try_enter() { return !__sync_val_compare_and_swap(&word, 0, 1); }
void shop::Gate::enter() {
  for (int i = 0; i < 100; i++)
    if (try_enter()) return;
  while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}
void shop::Gate::leave() {
  if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
LIBRARY
# The first holder keeps it until 50 ms after another thread has come. Three times.
cat >shop.cc <<'PROGRAM'
#include "gate.h"
#include <atomic>
#include <thread>
#include <unistd.h>
shop::Gate ledger;
std::atomic<int> held, came;
__attribute__((noipa)) void audit() {
  ledger.enter();
  for (held++; came < held;) usleep(100);
  usleep(50000);
  ledger.leave();
}
__attribute__((noipa)) void pay() {
  came++;
  ledger.enter();
  ledger.leave();
}
int main() {
  for (int i = 1; i <= 3; i++) {
    std::thread auditor(audit);
    while (held < i) usleep(100);
    std::thread payer(pay);
    auditor.join();
    payer.join();
  }
  if (ledger.try_enter()) ledger.leave();
}
PROGRAM
g++ -O2 -g -c gate.cc && ar rcs libgate.a gate.o
build_c shop -L. -lgate

cat >check.py <<'CHECK'
import json, sys
tables = {name: json.load(open(name + '.json')) for name in ('locks', 'waits')}
timed = sys.argv[1:] == ['timed']
locks = [row for row in tables['locks']['locks'] if row['lock'] == 'ledger.word' or row['lock'] == 'ledger']
assert len(locks) == 1, tables['locks']['locks']
ledger = locks[0]
assert ledger['kind'] == 'own lock' and ledger['taken'] == 6 + (not timed), ledger
assert ledger['waits'] == 3 or timed and ledger['waits'] > 3, ledger  # who is not let run for a moment seems to wait
assert 120 < ledger['wait_ns'] / 1e6 and 150 <= ledger['hold_ns'] / 1e6, ledger
assert 'audit' in ledger['holder'], ledger
others = [row['kind'] for row in tables['locks']['others']]
assert 'futex' not in others, others
CHECK
# shown NAME [timed]
shown() {
  for table in locks waits; do penna report "$1.penna" $table --json >$table.json; done
  /usr/bin/python3 check.py ${2:+$2} || fail "the waits of $1 are not those of the program: $(penna report "$1.penna" locks)"
}

run penna record -k locks -o tried.penna --lock-functions 'shop::Gate::enter=shop::Gate::leave,try=shop::Gate::try_enter' -- ./shop
expect_eq 0 "$status" status
expect_missing "$err" "lock-functions"
shown tried
expect_missing "$(penna report tried.penna health)" "inferred from time"
waits=$(penna report tried.penna waits)
expect_match "$waits" 'pay\(\) \(shop.cc'
expect_match "$waits" 'audit\(\) \(shop.cc'

# With calls of a program prepared by its compiler: the records of both start at the same instruction.
build_c shop -fpatchable-function-entry=5 gate.cc
run penna record -k calls,locks -o both.penna --lock-functions 'shop::Gate::enter=shop::Gate::leave,try=shop::Gate::try_enter' -- ./shop
expect_eq 0 "$status" status
shown both
expect_contains "$(penna replay both.penna)" "shop::Gate::enter()"
build_c shop -L. -lgate

# Whether it would wait is unknown: a call that takes long counts as a wait.
run penna record -k locks -o timed.penna --lock-functions 'shop::Gate::enter=shop::Gate::leave' -- ./shop
shown timed timed
expect_contains "$(penna report timed.penna health)" "waits in shop::Gate::enter() [shop] are inferred from time: about 5 us or more"

# Without the option it is not seen, only its futex.
penna record -q -k locks -o none.penna -- ./shop
expect_missing "$(penna report none.penna locks)" "own lock"
expect_contains "$(penna report none.penna locks)" "futex"

# Impossible requests.
says() { local want=$1; shift; run penna record -f -o wrong.penna "$@"; expect_contains "$err" "$want"; }
says "--lock-functions 'no_lock=no_unlock': no such function is defined" --lock-functions no_lock=no_unlock -- ./shop
expect_eq 0 "$status" "status of a program whose lock is not there"
expect_contains "$(penna report wrong.penna health)" "--lock-functions 'no_lock=no_unlock'"
says "gone is no function of this file, as shop::Gate::enter is" --lock-functions shop::Gate::enter=gone -- ./shop
says "gone is no function of this file" --lock-functions shop::Gate::enter=shop::Gate::leave,try=gone -- ./shop
says "no such function is defined" --lock-functions gone=shop::Gate::leave -- ./shop
says "names no function that releases the lock" --lock-functions enter -- ./shop
expect_eq 125 "$status" "status of an option that cannot be read"
says "add locks to -k" -k calls --lock-functions a=b -- ./shop
says "something other than try= after the comma" --lock-functions a=b,c -- ./shop
says "names one function twice" --lock-functions a=a -- ./shop

# A program into which nothing can be loaded.
echo 'int main(void) { return 0; }' >closed.c
gcc -static -s -o closed closed.c
says "no function was entered, because no process was recorded (is the program linked statically?)" --lock-functions a=b -- ./closed

# Functions that cannot be hooked are named, and none of the related functions is hooked.
cat >short.c <<'PROGRAM'
__attribute__((noipa)) void short_unlock(int *word) { __asm__ volatile("movl $0, (%0)" ::"r"(word)); }
__attribute__((noipa, naked)) void short_lock(int *word) { __asm__ volatile("incl (%%rdi)\n ret" ::); }
int main(void) { int word = 0; short_lock(&word); short_unlock(&word); return word; }
PROGRAM
build_c short
says "locks by short_lock=short_unlock in short are not recorded: short_lock returns in its first instructions" \
  --lock-functions short_lock=short_unlock -- ./short
expect_eq 0 "$status" "status of a program whose lock cannot be entered"
expect_missing "$(penna report wrong.penna locks 2>&1)" "own lock"

# A part that the compiler split off a lock function is not taken for the whole function.
cat >parts.c <<'PROGRAM'
#include <stdlib.h>
static volatile int sink;
__asm__(".globl cut_lock.part.0\n.type cut_lock.part.0, @function\ncut_lock.part.0: nopl 0(%rax,%rax,1)\nret\n.size cut_lock.part.0, . - cut_lock.part.0");
__attribute__((noipa)) void cut_lock(int *word) { while (__sync_lock_test_and_set(word, 1)) sink++; }
__attribute__((noipa)) void cut_unlock(int *word) { __sync_lock_release(word); if (sink) exit(1); }
int main(void) { int word = 0; cut_lock(&word); cut_unlock(&word); return word; }
PROGRAM
build_c parts
says "cut_lock.part.0 is a part of a function that the compiler has split" --lock-functions cut_lock=cut_unlock -- ./parts

# Events inside a lock function have the program's own frames and no others.
cat >inner.c <<'PROGRAM'
#include <stdlib.h>
#define PLACE __attribute__((noipa))
static void *volatile kept;
PLACE void fill(void) { kept = malloc(777); }
PLACE void my_lock(int *word) { word[0]++, word[1]++, fill(), word[2]++; }
PLACE void my_unlock(int *word) { word[0]--, word[2]++, free(kept), word[3]++; }
int main(void) {
  int words[9] = {0};
  for (int i = 0; i < 3; i++) my_lock(words), my_unlock(words);
}
PROGRAM
build_c inner
penna record -q -k alloc,locks -o inner.penna --lock-functions my_lock=my_unlock -- ./inner
expect_eq 3 "$(penna export csv inner.penna | grep -c ';main;my_lock;fill,')" "blocks of a lock function"
