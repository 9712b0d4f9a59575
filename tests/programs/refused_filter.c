// SPDX-License-Identifier: MIT
// Wants a seccomp filter for all threads, which one of them cannot have, and works on without it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t meeting;
static void* volatile kept;

static int forbid(unsigned number, int flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void* have_another(void* unused) {
  if (forbid(SYS_ptrace, 0) != 0) exit(1);
  pthread_barrier_wait(&meeting);
  pthread_barrier_wait(&meeting);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&meeting, NULL, 2);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  if (pthread_create(&thread, NULL, have_another, NULL) != 0) return 1;
  pthread_barrier_wait(&meeting);
  puts(forbid(SYS_rt_sigprocmask, SECCOMP_FILTER_FLAG_TSYNC) > 0 ? "refused" : "taken");
  pthread_barrier_wait(&meeting);
  for (int i = 0; i < 20000; ++i) kept = malloc(10);
  return 0;
}
