/* SPDX-License-Identifier: MIT
 * The library for look_up: functions that call each other, and one with a thread-local variable. */
static __thread int counted;

int plugin_count(int more) { return ++counted + more; }
int plugin_half(int value) { return value / 2; }
__attribute__((noinline)) int plugin_work(int value) {
  return value <= 1 ? plugin_half(value) : plugin_work(value - 1) + value;
}
