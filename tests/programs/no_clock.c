// SPDX-License-Identifier: MIT
// ./no_clock strict|tsc|syscall|loop: forbids itself nearly every system call, or to read the time stamp counter, by libc's function for that or
// by syscall(2). Then it allocates on and, except with "strict", makes every kind of call that is recorded, and starts ./still in each way. (A
// program with a dynamic linker would die in that.) Exits with 3; with "loop", never.
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;

static void allocate(void) {
  for (int i = 0; i < 100000; ++i) {
    kept = malloc((size_t)i % 1000);
    free(kept);
  }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int has_run;

static void* run(void* argument) {
  pthread_setname_np(pthread_self(), "timeless");
  allocate();
  pthread_mutex_lock(&mutex);
  has_run = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void make_calls(void) {
  void* map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  map = mremap(map, 8192, 16384, MREMAP_MAYMOVE);
  munmap(map, 16384);
  if (sbrk(4096) != (void*)-1) sbrk(-4096);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0) abort();
  pthread_mutex_lock(&mutex);
  while (!has_run) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  sem_wait(&semaphore), sem_post(&semaphore);
  pthread_rwlock_rdlock(&shared), pthread_rwlock_unlock(&shared);
  dlclose(dlopen("libm.so.6", RTLD_NOW));
}

static int ends_well(pid_t child) {
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int start_programs(void) {
  char* words[] = {"./still", NULL};
  pid_t child = fork();
  if (child == 0) allocate(), _exit(0);
  if (!ends_well(child)) return 0;
  child = fork();
  if (child == 0) execv(words[0], words), _exit(1);
  if (!ends_well(child)) return 0;
  child = vfork();
  if (child == 0) execv(words[0], words), _exit(1);
  return ends_well(child) && posix_spawn(&child, words[0], NULL, NULL, words, environ) == 0 && ends_well(child);
}

int main(int argc, char** argv) {
  kept = malloc(100000);
  free(kept);
  if (argc != 2) return 1;
  const int strict = strcmp(argv[1], "strict") == 0;
  const long failed = strict                            ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)
                      : strcmp(argv[1], "syscall") == 0 ? syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)
                                                        : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (failed != 0) return 2;
  allocate();
  if (write(1, "ok\n", 3) != 3) return 1;
  if (strict) syscall(SYS_exit, 3);
  make_calls();
  if (!start_programs()) return 4;
  while (strcmp(argv[1], "loop") == 0) allocate(), usleep(1000);
  return 3;
}
