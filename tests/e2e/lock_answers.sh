#!/bin/bash
# SPDX-License-Identifier: MIT
# While locks are recorded, each of their functions returns the same as without us, also for unusual locks: errorcheck,
# recursive, robust ones whose owner died, priority inheritance, invalid times and clocks, cancelled threads.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# waits_of NAME: sets $out to the waits of the program NAME.c.
waits_of() {
  build_c "$1"
  run penna record -q -f -k locks -o "$1.penna" -- "./$1"
  run penna report waits "$1.penna" --frames 1
}

build_c lock_answers
run timeout 20 ./lock_answers
expect_eq 0 "$status" 'exit status without us'
expect_contains "$out" 'pthread_mutex_lock(&mutex) = ENOTRECOVERABLE'
plain=$out
for kinds in locks locks,alloc; do
  run timeout 60 "$PENNA" record -q -f -k $kinds -o $kinds.penna -- ./lock_answers
  expect_eq 0 "$status" "exit status with -k $kinds"
  diff <(echo "$plain") <(echo "$out") || fail "-k $kinds: answers differ"
done

# Waiting for a robust lock held by another thread is still a wait.
cat >robust.c <<'PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t robust, inherits;
static void make(pthread_mutex_t *lock, int protocol) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutex_init(lock, &attributes);
}
static void *keep(void *lock) { pthread_mutex_lock(lock), usleep(100000), pthread_mutex_unlock(lock); return 0; }
static void one(pthread_mutex_t *lock) {
  pthread_t other;
  pthread_create(&other, 0, keep, lock);
  usleep(20000);
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  pthread_join(other, 0);
}
int main(void) {
  make(&robust, PTHREAD_PRIO_NONE), make(&inherits, PTHREAD_PRIO_INHERIT);
  one(&robust), one(&inherits);
  return 0;
}
PROGRAM
waits_of robust
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +robust +one '
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +inherits +one '
expect_eq 2 "$(grep -c 'held by robust (tid .*), taken in' <<<"$out")" 'waits whose holder is known'

# A refused lock is not a wait; an interrupted wait has no waker; a first call has none of our frames below it.
cat >unusual.c <<'PROGRAM'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, died;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t never;
static void tick(int signal) { (void)signal; }
__attribute__((noipa)) void interrupted(void) { sem_wait(&never); }
static void *die(void *nothing) { pthread_mutex_lock(&died), usleep(100000); return nothing; }
__attribute__((noipa)) void set_up(void) {
  pthread_t other;
  pthread_create(&other, 0, die, 0);
  pthread_join(other, 0);
}
int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&died, &attributes);
  pthread_mutex_lock(&checked), pthread_mutex_lock(&checked), pthread_mutex_unlock(&checked);
  pthread_rwlock_wrlock(&table), pthread_rwlock_rdlock(&table), pthread_rwlock_unlock(&table);
  pthread_once(&once, set_up);
  pthread_mutex_lock(&died), pthread_mutex_consistent(&died), pthread_mutex_unlock(&died);
  sem_init(&never, 0, 0);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = tick}, 0);
  alarm(1);
  interrupted();
  return 0;
}
PROGRAM
build_c unusual
run penna record -q -f -k locks -o unusual.penna -- ./unusual
run penna report locks unusual.penna
expect_match "$out" '^ *0 ns +0 .* 1 +0 % .* checked *$'
expect_match "$out" '^ *0 ns +0 .* 1 +0 % .* table *$'
expect_match "$out" '^ *0 ns +0 .* [0-9.]+ ms +[0-9.]+ [a-z]+ +[0-9.]+ ms +[0-9.]+ ms +2 +0 % .* died *$'
expect_contains "$(head -n 1 <<<"$out")" 'for semaphore never, whose holder is unknown.'
run penna report waits unusual.penna
expect_contains "$out" 'until it was interrupted or cancelled'
expect_match "$out" 'threads that were joined +set_up '
expect_missing "$out" 'penna::'

# A priority-inheritance futex is waited for, and has a known holder; a library's lock is attributed to the program's
# call.
cat >inherits.cc <<'PROGRAM'
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
namespace boost { struct mutex { pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; void lock() __attribute__((noipa)); }; }
void boost::mutex::lock() { pthread_mutex_lock(&m); }
static int word;
static boost::mutex library;
static void sleep_ms(int ms) { usleep(ms * 1000); }
static void futex(int operation) { syscall(SYS_futex, &word, operation, 0, 0, 0, 0); }
__attribute__((noipa)) void take_word() {
  int none = 0;
  if (!__atomic_compare_exchange_n(&word, &none, gettid(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) futex(FUTEX_LOCK_PI_PRIVATE);
}
__attribute__((noipa)) void give_word() {
  int mine = gettid();
  if (!__atomic_compare_exchange_n(&word, &mine, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) futex(FUTEX_UNLOCK_PI_PRIVATE);
}
__attribute__((noipa)) void take_both() { take_word(), library.lock(); }
__attribute__((noipa)) void give_both() { give_word(), sleep_ms(50), pthread_mutex_unlock(&library.m); }
static void* second(void*) { sleep_ms(20), take_both(), give_both(); return nullptr; }
int main() {
  pthread_t other;
  pthread_create(&other, nullptr, second, nullptr);
  take_both(), sleep_ms(100), give_both();
  pthread_join(other, nullptr);
}
PROGRAM
waits_of inherits
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +futex +word +futex\(int\) '
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +library\.m +take_both\(\) '

# Waiting for another thread's first call of a function (pthread_once) that never returns: the waiter has waited, and
# makes the call; a call that waits for itself is a deadlock.
cat >firsts.c <<'PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_once_t once = PTHREAD_ONCE_INIT, itself = PTHREAD_ONCE_INIT;
static void leave(void) { usleep(60000), pthread_exit(0); }
static void set(void) { usleep(30000); }
__attribute__((noipa)) void *first(void *nothing) { pthread_once(&once, leave); return nothing; }
__attribute__((noipa)) void *second(void *nothing) { pthread_once(&once, set); return nothing; }
static void again(void) { pthread_once(&itself, set); }
int main(int count, char **arguments) {
  pthread_t one, two;
  if (count > 1) pthread_once(&itself, again);
  pthread_create(&one, 0, first, 0);
  usleep(10000);
  pthread_create(&two, 0, second, 0);
  pthread_join(one, 0), pthread_join(two, 0);
}
PROGRAM
waits_of firsts
expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +once +second '
expect_match "$(penna report locks firsts.penna)" '^ *[0-9.]+ ms +1 .* 2 +50\.0 % .* once  *once  *first '
run timeout 10 "$PENNA" record -q -f -k locks -o itself.penna -- timeout -s KILL 1 ./firsts itself
expect_contains "$(penna report locks itself.penna)" 'eadlock'

# A wait for several words at once reports which of them woke the waiter, and who; impossible waits are answered as
# without us.
cat >several.cc <<'PROGRAM'
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
struct Word { uint64_t value, address; uint32_t flags, reserved; };
static uint32_t first_word, second_word;
static long wait(Word* words, unsigned count, timespec* until = nullptr) {
  errno = 0;
  return syscall(449, words, count, 0, until, CLOCK_MONOTONIC);
}
__attribute__((noipa)) void wake_second(void) { second_word = 1, syscall(SYS_futex, &second_word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }
static void* wake(void*) { usleep(50000), wake_second(); return nullptr; }
int main() {
  Word words[] = {{0, reinterpret_cast<uint64_t>(&first_word), 2 | 128, 0}, {0, reinterpret_cast<uint64_t>(&second_word), 2 | 128, 0}};
  pthread_t other;
  pthread_create(&other, nullptr, wake, nullptr);
  long answer = wait(words, 2);
  printf("woken %ld %d\n", answer, errno);
  pthread_join(other, nullptr);
  answer = wait(words, 2), printf("changed %ld %d\n", answer, errno);
  timespec past{1, 0};
  second_word = 0;
  answer = wait(words, 2, &past), printf("late %ld %d\n", answer, errno);
  answer = wait(words, 0), printf("none %ld %d\n", answer, errno);
  answer = wait(reinterpret_cast<Word*>(16), 2), printf("bad %ld %d\n", answer, errno);
  words[1].address = 16;
  answer = wait(words, 2), printf("bad word %ld %d\n", answer, errno);
}
PROGRAM
build_c several
run ./several
plain=$out
run penna record -q -f -k locks -o several.penna -- ./several
expect_eq "$plain" "$out" 'answers of futex_waitv'
run penna report waits several.penna --frames 1
if grep -q '^woken 1' <<<"$plain"; then  # else the kernel has none
  expect_match "$out" '^ *[0-9.]+ ms +1 +[0-9.]+ ms +futex +second_word '
  expect_match "$out" 'woken by .*'
  expect_contains "$out" 'wake_second()'
  expect_contains "$out" 'until it timed out'
  expect_missing "$(penna report locks several.penna)" 'not recorded'
fi
