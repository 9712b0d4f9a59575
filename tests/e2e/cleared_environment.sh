#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that clears its environment, as daemons do, and one started without any, including everything that they fork
# and exec.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >cleared.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void use(size_t bytes) {
  void* volatile block = malloc(bytes);
  free(block);
}
int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "started") == 0) return use(4321), 0;
  clearenv();
  for (int round = 0; count > 1 || round < 3; ++round, usleep(2000)) {
    use(1234);
    if (fork() == 0) use(777), _exit(0);
    wait(0);
    if (fork() == 0) execve(arguments[0], (char*[]){arguments[0], "started", 0}, round % 2 ? (char*[]){0} : 0), _exit(127);
    wait(0);
    printf("%d\n", round), fflush(stdout);
  }
}
C
build_c cleared

seen() { # of a recording
  for bytes in 1234 777 4321; do penna replay "$1" | grep -c "malloc($bytes)" || true; done
}
run penna record -k alloc -o cleared.penna ./cleared
expect_eq 0 "$status" status
expect_eq $'3\n3\n3' "$(seen cleared.penna)" "allocations of the program, of forked children, and of programs it starts"

start output.txt ./cleared forever
await output.txt '^3$'
run penna record -p "$pid" -k alloc -o attached.penna --duration 1s
expect_eq 0 "$status" "status: $err"
expect_missing "$(seen attached.penna)" $'\n0'
expect_match "$(penna replay attached.penna | grep -m1 'malloc(1234)')" 1234
