/* SPDX-License-Identifier: MIT
 * Instrumented code before main and after it: constructors of each priority, destructors, atexit, preinit. */
#include "torture.h"

static void tell(const char* text) { write(1, text, strlen(text)); }

static void before_all(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  tell("preinit\n");
  work(3);
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char**, char**) = before_all;

__attribute__((constructor(101))) static void first(void) { tell("first\n"), work(10); }
__attribute__((constructor(60000))) static void second(void) { tell("second\n"), work(10); }
__attribute__((destructor(101))) static void last(void) { tell("last\n"), work(10); }
__attribute__((destructor)) static void early(void) { tell("early\n"), work(10); }

static void* thread(void* text) {
  tell(text);
  work(5);
  return NULL;
}
__attribute__((constructor)) static void with_thread(void) {
  pthread_t other;
  pthread_create(&other, NULL, thread, "thread before main\n");
  pthread_join(other, NULL);
}
static void at_exit(void) { thread("at exit\n"); }

int main(void) {
  atexit(at_exit);
  tell("main\n");
  work(10);
  return 0;
}
