// SPDX-License-Identifier: MIT
// own_time FILE COMMAND...: runs a command and appends to FILE the processor time of the command itself, in
// milliseconds.
//
// Why: for a recorded command, the shell's `time` reports the sum with the recorder; and /usr/bin/time has steps of 10
// ms.
// Invariant: ends like the command.
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
