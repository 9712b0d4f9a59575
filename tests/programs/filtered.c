// SPDX-License-Identifier: MIT
// ./filtered prctl|syscall kill|trap|errno NUMBER exec|fork|child|stay|threads: forbids itself system call NUMBER, as sandboxes do, and then starts
// itself anew, works in a forked child, which then starts itself anew ("child"), or works itself, alone or with a second thread. What comes out is told by who is left.
#include <errno.h>
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

#include "penna/point.h"

static void* volatile kept;

static void* work(void* unused) {
  for (int i = 0; i < 20000; ++i) kept = malloc(10);
  PENNA_EVENT(filtered, worked);
  return unused;
}

static int forbid(const char* by, const char* answer, int number) {
  const unsigned action = strcmp(answer, "kill") == 0   ? SECCOMP_RET_KILL_PROCESS
                          : strcmp(answer, "trap") == 0 ? SECCOMP_RET_TRAP
                                                        : SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  if (strcmp(by, "prctl") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

// With a program, the child starts it.
static int in_child(const char* program) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    work(NULL);
    if (program != NULL) execl(program, program, "again", (char*)NULL);
    _exit(5);
  }
  return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char** argv) {
  if (argc == 2) return puts("started") < 0 || work(NULL) != NULL;
  if (argc != 5) return 1;
  work(NULL);
  if (forbid(argv[1], argv[2], atoi(argv[3])) != 0) return 2;
  execl("/none/filtered", argv[0], "again", (char*)NULL);  // as shells look for it
  if (strcmp(argv[4], "exec") == 0) return execl(argv[0], argv[0], "again", (char*)NULL);
  if (strcmp(argv[4], "fork") == 0) return printf("%x\n", (unsigned)in_child(NULL)) < 0;
  if (strcmp(argv[4], "child") == 0) return printf("%x\n", (unsigned)in_child(argv[0])) < 0;
  work(NULL);
  if (strcmp(argv[4], "stay") == 0) return puts("stayed") < 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0) puts("both");
  return 0;
}
