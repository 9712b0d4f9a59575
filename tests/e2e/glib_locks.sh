#!/bin/bash
# SPDX-License-Identifier: MIT
# GLib's mutexes and conditions, which wait on their own futexes, are locks with holders: waits have the true length and
# holder, even if a signal woke a waiter while the signaller kept the mutex.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libglib2.0-dev

cat >desk.c <<'PROGRAM'
#include <glib.h>
#include <stdio.h>
static GMutex ledger;
static GCond ready;
static int is_ready, pays;
static void sleep_ms(int ms) { g_usleep(ms * 1000); }
/* Prints how long it kept another thread waiting: on a busy machine, longer than it wants. */
static void hold(const char *who, int ms) {
  gint64 begin = g_get_monotonic_time();
  sleep_ms(ms);
  printf("%s %ld\n", who, (long)(g_get_monotonic_time() - begin));
}
__attribute__((noipa)) gpointer audit(gpointer x) {
  g_mutex_lock(&ledger);
  while (!g_atomic_int_get(&pays)) sleep_ms(1);
  hold("audit", 60);
  g_mutex_unlock(&ledger);
  return x;
}
__attribute__((noipa)) gpointer pay(gpointer x) {
  sleep_ms(10), g_atomic_int_set(&pays, 1);
  g_mutex_lock(&ledger), g_mutex_unlock(&ledger);
  return x;
}
__attribute__((noipa)) gpointer await(gpointer x) {
  g_mutex_lock(&ledger);
  while (!is_ready) g_cond_wait(&ready, &ledger);
  g_mutex_unlock(&ledger);
  return x;
}
__attribute__((noipa)) void tell(void) {
  g_mutex_lock(&ledger);
  is_ready = 1, g_cond_signal(&ready);
  hold("tell", 40);
  g_mutex_unlock(&ledger);
}
int main(void) {
  for (int i = 0; i < 200; i++) g_mutex_lock(&ledger), g_mutex_unlock(&ledger);
  GThread *waiter = g_thread_new("waiter", await, 0);
  sleep_ms(30), tell();
  g_thread_join(waiter);
  GThread *one = g_thread_new("auditor", audit, 0), *two = g_thread_new("payer", pay, 0);
  g_thread_join(one), g_thread_join(two);
  printf("%d\n", g_mutex_trylock(&ledger));
}
PROGRAM
# shellcheck disable=SC2046
build_c desk $(pkg-config --cflags --libs glib-2.0)
run penna record -q -f -k locks -o desk.penna -- ./desk
expect_eq 0 "$status" 'status'
expect_match "$out" '^1$' 'output'
program=$out # "audit US" and "tell US"
run penna report locks desk.penna
longest=$(awk 'NF == 2' <<<"$program" | sort -k 2nr | head -n 1)
expect_match "$(head -n 1 <<<"$out")" '^2 threads lost .* waiting for ledger[^ ]*, .* of it while .*'"${longest% *}"' \(desk.c:[0-9]+\)'
expect_match "$out" ' mutex +ledger'
expect_missing "$out" ' futex '
run penna report waits desk.penna --frames 1 --lock 'ledger*'
expect_match "$out" '^ *[0-9.]+ m?s +1 +[0-9.]+ m?s +ledger[^ ]* +pay '
expect_match "$out" '^ *[0-9.]+ m?s +1 +[0-9.]+ m?s +ledger[^ ]* +await '
expect_match "$out" '^ *held by desk \(tid [0-9]+\), released in( |$)'
expect_match "$out" '^ *tell \(desk.c:'

# Each waited about as long as the other held: at least half of it if it came late, more if it woke late.
run penna report waits desk.penna --by function --lock 'ledger*' --format csv
waited_us() { awk -F, -v who="$1" '$NF == who { printf "%d", $1 / 1000 }' <<<"$out"; }
held_us() { awk -v who="$1" '$1 == who { print $2 }' <<<"$program"; }
for pair in 'pay audit' 'await tell'; do
  waited=$(waited_us "${pair% *}") held=$(held_us "${pair#* }")
  [ "$waited" -gt $((held / 2)) ] && [ "$waited" -lt $((held + 200000)) ] || fail "$pair: waited $waited us, held $held us"
done
