/* SPDX-License-Identifier: MIT
 * Everything a program can see of itself: descriptors, environment, arguments, limits, signal handlers, mask, timers,
 * children. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "torture.h"

extern char** environ;

int main(int argc, char** argv) {
  work(10);
  DIR* directory = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) printf("fd %s\n", entry->d_name);
  printf("opendir uses %d, open gives %d\n", dirfd(directory), open("/dev/null", O_RDONLY));
  closedir(directory);
  for (int i = 1; i < argc; i++) printf("arg %s\n", argv[i]);
  for (char** entry = environ; *entry; entry++) printf("env %s\n", *entry);
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction action = {0};
    if (sigaction(signal, NULL, &action) != 0 || action.sa_handler == SIG_DFL) continue;
    printf("signal %d %s\n", signal, action.sa_handler == SIG_IGN ? "ignored" : "handled");
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int signal = 1; signal < NSIG; signal++)
    if (sigismember(&mask, signal) == 1) printf("blocked %d\n", signal);
  struct rlimit limit;
  for (int which = 0; which < RLIM_NLIMITS; which++)
    if (getrlimit(which, &limit) == 0) printf("limit %d: %lx %lx\n", which, limit.rlim_cur, limit.rlim_max);
  char name[16] = "", tasks = 0;
  prctl(PR_GET_NAME, name);
  directory = opendir("/proc/self/task");
  while (readdir(directory)) tasks++;
  printf("name %s, tasks %d, dumpable %d, no new privileges %d, seccomp %d, umask stays, errno %d\n", name, tasks - 2,
         prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECCOMP), errno);
  static pthread_key_t key;  // not created, as some programs use it
  const void* value = pthread_getspecific(key);
  const int error = pthread_setspecific(key, "");
  pthread_key_create(&key, NULL);
  printf("key 0: %s, set: %s, first key %u\n", value ? "set" : "empty", strerror(error), key);
  printf("children %d, session leader %d, stdin %s\n", waitpid(-1, NULL, WNOHANG), getsid(0) == getpid(),
         isatty(0) ? "terminal" : "no terminal");
}
