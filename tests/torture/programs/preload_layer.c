/* SPDX-License-Identifier: MIT
 * A preload library like those of users: counts allocations, changes one function, reports its loading and unloading.
 * Built twice, with LAYER "a" and "b"; the order in which they are called must stay. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long count;
static void* (*next_malloc)(size_t);

/* Silent in all other programs that are started with it. */
static void tell(const char* text) {
  if (strcmp(program_invocation_short_name, "preload_user") == 0) write(1, text, strlen(text));
}

__attribute__((constructor)) static void begin(void) { tell("layer " LAYER " begins\n"); }
__attribute__((destructor)) static void end(void) { tell("layer " LAYER " ends\n"); }

long preload_count(void) { return count; }

void* malloc(size_t size) {
  if (next_malloc == NULL) next_malloc = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  count += size == 26; /* one of preload_user's own sizes: libc's are not counted */
  return next_malloc(size);
}

pid_t getppid(void) {
  tell("getppid in layer " LAYER "\n");
  pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getppid");
  next();
  return -1;
}
