// SPDX-License-Identifier: MIT
// ./filters MODE: works for ever under a seccomp filter of that kind, and says how far it is.
//   docker       as Docker's usual one: an error for what manages the system
//   list         kills for all but what it makes itself, and what penna says that it needs
//   strict       the mode of that name
//   only         kills for all but read, write, nanosleep and exit
//   kill NR      kills for that system call
//   errno NR     EPERM for that one
//   tsync NR     kills for that one, in two threads
//   thread NR    kills for that one, in the second of two threads only
//   late NR      the same as kill, once there is a file "now"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "penna/point.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skip)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

static struct sock_filter code[1024];
static unsigned short length;
static void add(struct sock_filter step) { code[length++] = step; }
static void answer_to(int number, unsigned answer) {
  add((struct sock_filter)UNLESS(number, 1));
  add((struct sock_filter)ANSWER(answer));
}
static int install(unsigned flags) {
  struct sock_fprog program = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static const int kManaging[] = {
    SYS_mount,   SYS_umount2,      SYS_swapon, SYS_reboot,         SYS_bpf,     SYS_perf_event_open,
    SYS_add_key, SYS_keyctl,       SYS_setns,  SYS_unshare,        SYS_kcmp,    SYS_init_module,
    SYS_acct,    SYS_settimeofday, SYS_ioperm, SYS_lookup_dcookie, SYS_quotactl};
static const int kOwn[] = {SYS_read, SYS_write,           SYS_clock_nanosleep, SYS_exit_group,
                           SYS_exit, SYS_restart_syscall, SYS_madvise,         SYS_futex,
                           SYS_mmap, SYS_munmap,          SYS_mprotect};
// docs/attaching.md has the same list.
static const int kOfPenna[] = {
    SYS_brk,        SYS_clone,   SYS_close,          SYS_connect,      SYS_fcntl,       SYS_fstat,     SYS_ftruncate,
    SYS_futex,      SYS_getcwd,  SYS_geteuid,        SYS_getpid,       SYS_getppid,     SYS_getrandom, SYS_getsockopt,
    SYS_gettid,     SYS_madvise, SYS_memfd_create,   SYS_mmap,         SYS_mprotect,    SYS_munmap,    SYS_nanosleep,
    SYS_newfstatat, SYS_openat,  SYS_prctl,          SYS_pread64,      SYS_prlimit64,   SYS_read,      SYS_readlink,
    SYS_recvfrom,   SYS_recvmsg, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sched_yield, SYS_sendmsg,   SYS_setsockopt,
    SYS_socket,     SYS_stat,    SYS_exit,           SYS_membarrier,   SYS_open,        SYS_pwrite64};

static void work(void) {
  static long round;
  for (;; ++round) {
    char text[32];
    void* volatile block = malloc(1234);
    free(block);
    PENNA_EVENT(filters, round, round);
    const int bytes = snprintf(text, sizeof text, "%ld\n", round);
    if (write(1, text, (size_t)bytes) != bytes) abort();
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
}

static int go;
static void* second(void* number) {
  if (number != NULL) {
    add((struct sock_filter)LOAD(nr));
    answer_to(atoi(number), SECCOMP_RET_KILL_PROCESS);
    add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
    if (install(0) != 0) _exit(3);
  }
  __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  for (;;) nanosleep(&(struct timespec){1, 0}, NULL);
  return NULL;
}

int main(int count, char** words) {
  const char* const mode = count > 1 ? words[1] : "";
  const int number = count > 2 ? atoi(words[2]) : -1;
  void* volatile first = malloc(10);
  free(first);
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(mode, "strict") == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 3;
    for (char byte;;)
      if (read(0, &byte, 1) <= 0) syscall(SYS_exit, 0);
  }
  if (strcmp(mode, "tsync") == 0 || strcmp(mode, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, mode[1] == 'h' ? words[2] : NULL);
    while (__atomic_load_n(&go, __ATOMIC_ACQUIRE) == 0) sched_yield();
    if (mode[1] == 'h') work();
  }
  if (strcmp(mode, "late") == 0)
    for (;; nanosleep(&(struct timespec){0, 2000000}, NULL)) {
      void* volatile block = malloc(4321);
      free(block);
      if (access("now", F_OK) == 0) break;
    }
  add((struct sock_filter)LOAD(nr));
  if (strcmp(mode, "docker") == 0) {
    for (size_t i = 0; i < COUNT(kManaging); ++i) answer_to(kManaging[i], SECCOMP_RET_ERRNO | EPERM);
  } else if (strcmp(mode, "list") == 0) {
    for (size_t i = 0; i < COUNT(kOwn); ++i) answer_to(kOwn[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < COUNT(kOfPenna); ++i) answer_to(kOfPenna[i], SECCOMP_RET_ALLOW);
    add((struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS));
  } else if (strcmp(mode, "only") == 0) {
    for (size_t i = 0; i < 6; ++i) answer_to(kOwn[i], SECCOMP_RET_ALLOW);
    add((struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS));
  } else {
    answer_to(number, strcmp(mode, "errno") == 0 ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS);
  }
  add((struct sock_filter)ANSWER(SECCOMP_RET_ALLOW));
  if (install(strcmp(mode, "tsync") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0) != 0) return 3;
  work();
}
