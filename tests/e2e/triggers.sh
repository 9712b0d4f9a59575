#!/bin/bash
# SPDX-License-Identifier: MIT
# Triggers across a program and its libraries, without anything of ours but the header, and with the agent in the
# process: switched together, each site counted once, libraries loaded later are already switched on, and unloading is
# harmless.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >shared.h <<'SOURCE'
#include <stdio.h>
#include "penna/trigger.h"
#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN extern
#endif
static inline void hit(const char* where) { printf(" %s", where); }
EXTERN void pass_mid(void);
EXTERN void pass_low(void);
SOURCE
# low: two sites of one number; mid depends on it; the program only on mid. plugin: C++, loaded by dlopen.
cat >low.c <<'SOURCE'
#include "shared.h"
void pass_low(void) {
  PENNA_TRIGGER_ID(25, hit, "low1");
  PENNA_TRIGGER_ID(25, hit, "low2");
}
SOURCE
cat >mid.c <<'SOURCE'
#include "shared.h"
void pass_mid(void) {
  PENNA_TRIGGER(lib, mid, hit, "mid");
  pass_low();
}
SOURCE
cat >plugin.cc <<'SOURCE'
#include "shared.h"
inline void in_header(const char* text) { PENNA_TRIGGER(lib, inlined, hit, text); }
__attribute__((constructor)) static void loading() { PENNA_TRIGGER_ID(25, hit, "constructor"); }
extern "C" void pass_plugin(void) {
  PENNA_TRIGGER_ID(25, [] { hit("plugin"); });
  in_header("inline1");
  in_header("inline2");
}
SOURCE
cat >main.c <<'SOURCE'
#include <dlfcn.h>
#include <string.h>
#include "shared.h"
static void (*plugin)(void);
static void pass(const char* when) {
  printf("%s:", when);
  PENNA_TRIGGER_ID(25, hit, "main");
  pass_mid();
  if (plugin) plugin();
  printf("\n");
}
static int count_writable(void) { /* pages both writable and executable */
  int count = 0;
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) count += strstr(line, " rwx") != 0;
  if (maps) fclose(maps);
  return count;
}
int main(void) {
  setvbuf(stdout, 0, _IONBF, 0);
  pass("off");
  printf("enabled %d\n", penna_enable_id(25));
  pass("on");
  for (int round = 0; round < 2; round++) {
    printf("loading:");
    void* library = dlopen("./libplugin.so", RTLD_NOW | (round ? RTLD_GLOBAL : RTLD_LOCAL));
    printf("\n");
    if (!library) return puts(dlerror()), 1;
    plugin = (void (*)(void))dlsym(library, "pass_plugin");
    pass("with plugin");
    printf("enabled %d\n", penna_enable("lib:*"));
    pass("with lib");
    printf("on %d\n", penna_is_enabled("*"));
    plugin = 0;
    dlclose(library);
    printf("gone %d\n", dlopen("./libplugin.so", RTLD_NOW | RTLD_NOLOAD) == 0);
    pass("without plugin");
    printf("disabled %d\n", penna_disable("lib:*"));
  }
  printf("disabled %d\n", penna_disable_id(25));
  printf("disabled %d\n", penna_disable_id(25));
  pass("off");
  printf("enabled %d\n", penna_enable("*"));
  pass("all");
  printf("disabled %d\n", penna_disable_all());
  pass("off");
  printf("writable %d\n", count_writable());
  return 0;
}
SOURCE
expected='off:
enabled 3
on: main low1 low2
loading: constructor
with plugin: main low1 low2 plugin
enabled 2
with lib: main mid low1 low2 plugin inline1 inline2
on 7
gone 1
without plugin: main mid low1 low2
disabled 1
loading: constructor
with plugin: main low1 low2 plugin
enabled 2
with lib: main mid low1 low2 plugin inline1 inline2
on 7
gone 1
without plugin: main mid low1 low2
disabled 1
disabled 3
disabled 3
off:
enabled 4
all: main mid low1 low2
disabled 4
off:
writable 0'

# build CC CXX OPTIONS...: everything, in the current directory.
build() {
  local cc=$1 cxx=$2
  shift 2
  "$cc" "$@" -fPIC -shared -I"$PENNA_SOURCE/include" low.c -o liblow.so
  "$cc" "$@" -fPIC -shared -I"$PENNA_SOURCE/include" mid.c -o libmid.so -L. -llow -Wl,-rpath,'$ORIGIN'
  "$cxx" "$@" -std=c++20 -fPIC -shared -I"$PENNA_SOURCE/include" plugin.cc -o libplugin.so
  "$cc" "$@" -I"$PENNA_SOURCE/include" main.c -o main -L. -lmid -Wl,-rpath,'$ORIGIN' -Wl,--allow-shlib-undefined
}
for way in 'gcc g++ -O0' 'gcc g++ -O2' 'gcc g++ -O2 -flto' 'clang clang++ -O2' 'clang clang++ -O0 -ffunction-sections -Wl,--gc-sections'; do
  # shellcheck disable=SC2086
  build $way
  run ./main
  expect_eq "$expected" "$out" "what ./main says, built with $way"
done
# Done by the agent, with a recording or without one.
for options in '-k points' '-k alloc' '-e net:*'; do
  # shellcheck disable=SC2086
  run penna record -q -f -o main.penna $options -- ./main
  expect_eq "$expected" "$out" "what ./main says under penna record $options"
done
# From outside: penna ctl switches triggers by name or number.
cat >wait.c <<'SOURCE'
#include <unistd.h>
#include "penna/trigger.h"
static int seen;
static void see(int what) { seen |= what; }
int main(void) {
  for (int i = 0; i < 20000 && seen != 3; i++) {
    PENNA_TRIGGER(wait, name, see, 1);
    PENNA_TRIGGER_ID(7, see, 2);
    PENNA_EVENT(wait, event, i);
    usleep(1000);
  }
  return seen;
}
SOURCE
build_c wait
"$PENNA" record -q -k points -e 'none:*' -o wait.penna -- ./wait &
recorder=$!
for _ in $(seq 200); do
  run penna ctl "$recorder" on wait:name 7
  [[ $err != *"'7' names 1 site of 1 process"* ]] || break
  sleep 0.05
done
status=0
wait "$recorder" || status=$?
expect_eq 3 "$status" "what the triggers saw"

# Everything in one static program: nothing is loaded later.
# shellcheck disable=SC2016
sed -i 's/libplugin.so/libnone.so/' main.c
gcc -O2 -static -I"$PENNA_SOURCE/include" main.c mid.c low.c -o static 2>/dev/null || fail "the static program does not link"
run ./static
expect_contains "$out" $'off:\nenabled 3\non: main low1 low2\nloading:'
