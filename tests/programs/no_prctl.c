// SPDX-License-Identifier: MIT
// ./no_prctl prctl|syscall: forbids itself prctl(), by a seccomp filter that kills, as sandboxes have them; then a thread of it,
// and one of a forked child, allocate.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;

static void* work(void* unused) {
  for (int i = 0; i < 20000; ++i) kept = malloc(10);
  return unused;
}

static int forbid(const char* by) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  if (strcmp(by, "prctl") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int argc, char** argv) {
  if (argc != 2 || forbid(argv[1]) != 0) return 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0) return 2;
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    work(NULL);
    _exit(5);
  }
  if (waitpid(child, &status, 0) != child) return 3;
  printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}
