// SPDX-License-Identifier: MIT
// own_time FILE COMMAND...: runs a command and appends to FILE how many milliseconds of processor time it alone took.
//
// Why: of a recorded command, the shell's `time` tells the sum with the recorder; and of /usr/bin/time the steps are 10 ms.
// Invariant: ends as the command does.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status;
  rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status)) return 1;
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  FILE* file = fopen(argv[1], "ae");
  if (file == nullptr) return 1;
  fprintf(file, "%.3f\n", ms(used.ru_utime) + ms(used.ru_stime));
  return fclose(file) == 0 ? WEXITSTATUS(status) : 1;
}
