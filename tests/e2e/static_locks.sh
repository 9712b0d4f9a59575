#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks of libraries, linked statically and dynamically, and of the program itself: absl::Mutex and its conditions,
# nsync, and pthread_* functions defined by a program. Waits, holders and conditions are those of the program; with all
# kinds recorded, too.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libabsl-dev libnsync-dev

# A holder keeps its lock until 50 ms after another thread has come for it.
cat >meet.h <<'HEADER'
#include <atomic>
#include <functional>
#include <thread>
#include <unistd.h>
#define PLACE __attribute__((noipa))
static void ms(int n) { usleep(n * 1000); }
struct Meeting {
  std::atomic<bool> held{false}, came{false};
  void hold() { for (held = true; !came;) ms(1); ms(50); }
  void come() { while (!held) ms(1); came = true; }
};
static void both(std::function<void(Meeting &)> one, std::function<void(Meeting &)> other) {
  Meeting meeting;
  std::thread first([&] { one(meeting); }), second([&] { meeting.come(); other(meeting); });
  first.join();
  second.join();
}
HEADER
cat >absl_user.cc <<'PROGRAM'
#include "meet.h"
#include <absl/synchronization/mutex.h>
#include <cstdio>
absl::Mutex ledger, table, box;
absl::CondVar filled;
int items, level;
static bool is_high(int *level) { return *level >= 3; }
PLACE void audit(Meeting &meeting) { absl::MutexLock lock(&ledger); meeting.hold(); }
PLACE void pay(Meeting &) { absl::MutexLock lock(&ledger); }
PLACE void look_up(Meeting &meeting) { absl::ReaderMutexLock lock(&table); meeting.hold(); }
PLACE void update(Meeting &) { absl::WriterMutexLock lock(&table); }
PLACE void take(Meeting &meeting) { absl::MutexLock lock(&box); while (items == 0) { meeting.held = true; filled.Wait(&box); } }
PLACE void give(Meeting &) { ms(50); absl::MutexLock lock(&box); items++; filled.Signal(); }
PLACE void await(Meeting &meeting) { absl::MutexLock lock(&box); meeting.held = true; box.Await(absl::Condition(is_high, &level)); }
PLACE void watch(Meeting &) { box.ReaderLockWhen(absl::Condition(is_high, &level)); ms(1); box.ReaderUnlock(); }
PLACE void refill(Meeting &) { box.LockWhen(absl::Condition(is_high, &level)); ms(1); box.Unlock(); }
PLACE void lift(Meeting &) { ms(50); absl::MutexLock lock(&box); level = 3; }
int main() {
  both(audit, pay);
  both(look_up, update);
  both(take, give);
  both(await, lift);
  Meeting alone;
  watch(alone);
  refill(alone);
  int never = 0;
  absl::MutexLock lock(&box);
  puts(box.AwaitWithTimeout(absl::Condition(is_high, &never), absl::Milliseconds(20)) ? "high" : "late");
  puts(ledger.TryLock() ? "got" : "busy");
  ledger.Unlock();
}
PROGRAM
cat >nsync_user.cc <<'PROGRAM'
#include "meet.h"
#include <cstdio>
#include <nsync.h>
using namespace nsync;
nsync_mu ledger = NSYNC_MU_INIT, table = NSYNC_MU_INIT, box = NSYNC_MU_INIT;
nsync_cv filled = NSYNC_CV_INIT;
int items;
PLACE void audit(Meeting &meeting) { nsync_mu_lock(&ledger); meeting.hold(); nsync_mu_unlock(&ledger); }
PLACE void pay(Meeting &) { nsync_mu_lock(&ledger); nsync_mu_unlock(&ledger); }
PLACE void look_up(Meeting &meeting) { nsync_mu_rlock(&table); meeting.hold(); nsync_mu_runlock(&table); }
PLACE void update(Meeting &) { nsync_mu_lock(&table); nsync_mu_unlock(&table); }
PLACE void take(Meeting &meeting) { nsync_mu_lock(&box); while (items == 0) { meeting.held = true; nsync_cv_wait(&filled, &box); } nsync_mu_unlock(&box); }
PLACE void give(Meeting &) { ms(50); nsync_mu_lock(&box); items++; nsync_cv_signal(&filled); nsync_mu_unlock(&box); }
int main() {
  both(audit, pay);
  both(look_up, update);
  both(take, give);
  puts(nsync_mu_trylock(&ledger) ? "got" : "busy");
  nsync_mu_unlock(&ledger);
}
PROGRAM
# Its mutexes forward to libc's, found by RTLD_NEXT; its spinlocks sleep.
cat >bringer.cc <<'PROGRAM'
#include "meet.h"
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>
#define NEXT(name) static auto *next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name)
extern "C" PLACE int pthread_mutex_lock(pthread_mutex_t *lock) throw() { NEXT("pthread_mutex_lock"); return next(lock); }
extern "C" PLACE int pthread_mutex_trylock(pthread_mutex_t *lock) throw() { NEXT("pthread_mutex_trylock"); return next(lock); }
extern "C" PLACE int pthread_mutex_unlock(pthread_mutex_t *lock) throw() { NEXT("pthread_mutex_unlock"); return next(lock); }
extern "C" PLACE int pthread_spin_trylock(pthread_spinlock_t *lock) throw() { return __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) ? EBUSY : 0; }
extern "C" PLACE int pthread_spin_lock(pthread_spinlock_t *lock) throw() {
  if (pthread_spin_trylock(lock) == 0) return 0;
  errno = 0;  // a loop that begins with the function is too close to the jump into it
  while (pthread_spin_trylock(lock) != 0) ms(1);
  return 0;
}
extern "C" PLACE int pthread_spin_unlock(pthread_spinlock_t *lock) throw() { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); return 0; }
pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t table;
PLACE void audit(Meeting &meeting) { pthread_mutex_lock(&ledger); meeting.hold(); pthread_mutex_unlock(&ledger); }
PLACE void pay(Meeting &) { pthread_mutex_lock(&ledger); pthread_mutex_unlock(&ledger); }
PLACE void look_up(Meeting &meeting) { pthread_spin_lock(&table); meeting.hold(); pthread_spin_unlock(&table); }
PLACE void update(Meeting &) { pthread_spin_lock(&table); pthread_spin_unlock(&table); }
int main() {
  both(audit, pay);
  both(look_up, update);
  puts(pthread_mutex_trylock(&ledger) == 0 ? "got" : "busy");
  pthread_mutex_unlock(&ledger);
}
PROGRAM

cat >check.py <<'CHECK'
import json, sys
ledger_kind, table_kind, conditions = sys.argv[1], sys.argv[2], sys.argv[3:]
tables = {name: json.load(open(name + '.json')) for name in ('locks', 'waits')}
def one(name, member=('', '.mu_', '.word', '.atm_')):
    found = [row for row in tables['locks']['locks'] if row['lock'] in [name + more for more in member]]
    assert len(found) == 1, (name, tables['locks']['locks'])
    return found[0]
def is_waited_for(lock, kind, holder, taken):
    assert lock['kind'] == kind and lock['waits'] == 1 and lock['taken'] == taken, lock
    assert 40 < lock['wait_ns'] / 1e6 and 50 <= lock['hold_ns'] / 1e6, lock
    assert lock['holder'].startswith(holder + '('), lock  # and no scoped lock that is inlined into it
is_waited_for(one('ledger'), ledger_kind, 'audit', 3)
is_waited_for(one('table'), table_kind, 'look_up', 2)
seen = {row['condition'].split('.')[0]: row for row in tables['locks'].get('conditions', [])}
assert sorted(seen) == sorted(conditions), seen
for name, row in seen.items():
    assert row['wait_ns'] / 1e6 > 40, row
if 'filled' in seen:
    assert seen['filled']['signals'] == 1 and seen['filled']['unheard'] == 0, seen
    box = one('box')
    assert box['hold_ns'] / 1e6 < 25, box  # whoever waits with a condition does not hold it
if 'box' in seen:
    assert seen['box']['timeouts'] == 1, seen
assert not [row for row in tables['locks']['others'] if row['kind'] in ('futex', 'semaphore')], tables['locks']['others']
CHECK
# is_told PROGRAM LEDGER TABLE CONDITIONS...: with locks recorded, and with all kinds.
is_told() {
  local name=$1 untraced
  shift
  untraced=$("./$name")
  for kinds in locks calls,alloc,locks,points; do
    run penna record -f -o "$name.penna" -k $kinds -- "./$name"
    expect_eq 0 "$status" "status of $name, $kinds"
    expect_eq "$untraced" "$out" "what $name prints"
    expect_missing "$(penna report "$name.penna" health)" "locks by"
    for table in locks waits; do penna report "$name.penna" $table --json >$table.json; done
    /usr/bin/python3 check.py "$@" || fail "$name, $kinds: $(penna report "$name.penna" locks)"
  done
}

absl=$(pkg-config --libs absl_synchronization | tr ' ' '\n' | grep -- '^-labsl' | tr '\n' ' ')
build_c absl_user -std=c++17 -Wl,-Bstatic $absl -Wl,-Bdynamic
is_told absl_user rwlock rwlock filled box
build_c absl_user -std=c++17 $absl
is_told absl_user rwlock rwlock filled box
build_c nsync_user -lnsync_cpp
is_told nsync_user rwlock rwlock filled
build_c bringer -std=c++14 -rdynamic
is_told bringer mutex spinlock
build_c bringer -std=c++14 -fvisibility=hidden
is_told bringer mutex spinlock
