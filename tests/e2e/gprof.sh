#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that count their own calls (-pg): gprof shows the same counts, of the same callers, whether they are recorded
# or not.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >counted.c <<'PROGRAM'
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noipa))
static jmp_buf back;
APART int leaf(int n) { return n + 1; }
APART int mid(int n) { int s = 0; for (int i = 0; i < n; i++) s += leaf(i); return s; }
APART static int second(int n) { return leaf(n) + 2; }
APART int first(int n) { return second(n); } /* a tail call: the callee is main's, as it looks */
APART int pair(int (*f)(int), int n) { return f(n) + f(n + 1); }
APART void left(int n) { if (leaf(n) > 3) longjmp(back, 1); }
APART int many(double a, float b, int c, long d, int e, int f, int g, int h) { return (int)(a * b) + c + (int)d + e + f + g + h; }
APART int realigned(int n) { char block[64] __attribute__((aligned(64))); memset(block, n, 64); __asm__ volatile("" : : "r"(block) : "memory"); return block[3] + leaf(n); }
APART int recurses(int n) { return n == 0 ? 0 : 1 + recurses(n - 1); }
void moncontrol(int); /* no header of glibc declares it */
static void* body(void* n) { return (void*)(long)(mid(1000) + *(int*)n); }
int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  int sum = mid(100) + mid(50) + first(3) + pair(leaf, 3) + pair(second, 5) + many(1.5, 2, 3, 4, 5, 6, 7, 8) + realigned(4) + recurses(30);
  for (int i = 0; i < 5; i++)
    if (setjmp(back) == 0) left(i);
  for (int i = 0; i < 3; i++) { /* one after the other: libc does not count what two do at a time */
    pthread_t thread;
    pthread_create(&thread, NULL, body, &i);
    pthread_join(thread, NULL);
  }
  if (strcmp(way, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) return mid(7) != 28;
    int status;
    waitpid(child, &status, 0);
    sum += status + mid(9);
  }
  if (strcmp(way, "control") == 0) {
    moncontrol(0);
    sum += mid(500);
    moncontrol(1);
    sum += mid(3);
  }
  if (strcmp(way, "library") == 0)
    for (int i = 0; i < 3; i++) {
      void* library = dlopen("./counted.so", RTLD_NOW);
      int (*work)(int (*)(int)) = (int (*)(int (*)(int)))dlsym(library, "work");
      sum += work(leaf);
      dlclose(library);
    }
  printf("%d\n", sum);
  fflush(stdout);
  if (strcmp(way, "_exit") == 0) _exit(3);
}
PROGRAM
cat >library.c <<'PROGRAM'
__attribute__((noipa)) static int inner(int n) { return n * 2; }
int work(int (*f)(int)) { int s = 0; for (int i = 0; i < 20; i++) s += f(inner(i)); return s; }
PROGRAM
gcc -O2 -pg -fPIC -shared library.c -o counted.so

# counts PROGRAM WAY COMMAND...: gprof's output for each gmon.out that the command leaves.
counts() {
  local program=$1 way=$2
  shift 2
  rm -f gmon.* gmon.out
  GMON_OUT_PREFIX=gmon run "$@" "./$program" ${way:+"$way"}
  echo "status $status, $out"
  for file in gmon.*; do
    # Without times, and anything ordered or numbered by them.
    [ ! -e "$file" ] || gprof -b -p -q "./$program" "$file" | sed -E 's/[0-9]+\.[0-9]+//g; s/\[[0-9]+\]//g; s/ +/ /g' | sort | md5sum
  done | sort
}
for build in 'gcc -O2 -pg' 'gcc -O0 -pg' 'gcc -O2 -pg -mfentry' 'gcc -O2 -pg -mfentry -no-pie -fno-pie' 'gcc -O2 -pg -static-pie'; do
  # shellcheck disable=SC2086
  $build -w counted.c -o counted -pthread
  for way in '' fork _exit control library; do
    case "$build $way" in *static*library) continue ;; esac
    want=$(counts counted "$way")
    for options in '-k calls' '-k calls,alloc,locks,points' '-k alloc' '-k calls -F leaf -F mid' '-k calls --auto-args -T leaf@stack' '-k calls --max-overhead 1%'; do
      # With breakpoints it takes longer, and has other samples.
      case $build in *static*) options+=' --via inject' ;; esac
      # shellcheck disable=SC2086
      expect_eq "$want" "$(counts counted "$way" "$PENNA" record -q -f -o one.penna $options --)" "gprof of '$build' $way with $options"
    done
  done
done
gcc -O2 -pg -w counted.c -o counted -pthread
rm -f gmon.*
"$PENNA" record -q -f -k calls -o one.penna -- ./counted >/dev/null
gprof -b -p ./counted gmon.out >flat.txt
expect_match "$(<flat.txt)" ' 5 .* mid$'
expect_contains "$(penna report calls one.penna --format csv)" mid
expect_contains "$(penna report health one.penna)" 'nothing lost'

# A program compiled for counting, but not linked for it, counts nothing, as without us.
gcc -O2 -pg -c -w counted.c -o uncounted.o
gcc uncounted.o -o uncounted -pthread
expect_eq "$(counts uncounted '')" "$(counts uncounted '' "$PENNA" record -q -f -k calls -o one.penna --)" 'not linked with -pg'
