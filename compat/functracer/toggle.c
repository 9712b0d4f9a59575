/* SPDX-License-Identifier: MIT
 *
 * libpenna-functracer.so, preloaded into the program: SIGUSR1 and SIGUSR2 go to functracer, and not to the program.
 *
 * functracer has always taken these two signals away from the program that it traces. It did so from outside, by
 * ptrace; this library does it inside: by handlers, and by sigaction and signal, which pretend to the program that it
 * has set its own. All other signals are the program's.
 * Invariant: the handler makes only system calls, keeps errno, and does nothing without functracer.
 */
#define _GNU_SOURCE
#include "toggle.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "penna/clock.h"

#define PUBLIC __attribute__((visibility("default")))

static struct sockaddr_un functracer;  /* no path: we are not used */
static struct sigaction of_program[2]; /* what the program believes it has set, for SIGUSR1 and SIGUSR2 */

static int is_ours(int number) { return functracer.sun_path[0] != 0 && (number == SIGUSR1 || number == SIGUSR2); }

/* Runs in a signal handler. A socket for each signal, because the program could close any descriptor that we kept open,
 * or use it for something else. */
static void tell(int number) {
  const int kept = errno;
  const struct functracer_signal told = {FUNCTRACER_MAGIC, getpid(), number, 0, penna_now()};
  const int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (out >= 0) {
    sendto(out, &told, sizeof told, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr*)&functracer,
           sizeof functracer);
    close(out);
  }
  errno = kept;
}

typedef int (*sigaction_function)(int, const struct sigaction*, struct sigaction*);
/* Found when it is first needed, which is in the constructor: dlsym() is not async-signal-safe, and is never called in
 * the handler. */
static int real_sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  static sigaction_function real; /* any thread finds the same */
  sigaction_function found = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (found == NULL) {
    void* symbol = dlsym(RTLD_NEXT, "sigaction");
    memcpy(&found, &symbol, sizeof found);
    __atomic_store_n(&real, found, __ATOMIC_RELAXED);
  }
  return found(number, action, old);
}

/* The program's handler is kept for the next call that asks for it, and never called. */
PUBLIC int sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  if (!is_ours(number)) return real_sigaction(number, action, old);
  struct sigaction* kept = &of_program[number == SIGUSR2];
  const struct sigaction before = *kept;
  if (action != NULL) *kept = *action;
  if (old != NULL) *old = before;
  return 0;
}

/* BSD semantics, like glibc's own signal(3): it is not reset, and interrupted system calls are restarted. */
PUBLIC sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction action = {0}, old = {0};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* The path is set last: is_ours() checks it, so until then both signals are the program's. */
__attribute__((constructor)) static void begin(void) {
  const char* path = getenv(FUNCTRACER_VARIABLE);
  if (path == NULL || strlen(path) >= sizeof functracer.sun_path) return;
  struct sigaction action = {0};
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  real_sigaction(SIGUSR1, &action, &of_program[0]);
  real_sigaction(SIGUSR2, &action, &of_program[1]);
  functracer.sun_family = AF_UNIX;
  memcpy(functracer.sun_path, path, strlen(path));
}
