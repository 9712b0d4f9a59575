#!/bin/bash
# SPDX-License-Identifier: MIT
# Allocation stacks: any depth up to 256, cut at --stack-depth, in destructors during exception unwinding, in dlopened
# code; cut at assembly without unwind information and counted by module; none of the agent's own frames in them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >deep.cc <<'CXX'
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
static void* volatile sink;
static void once() { sink = malloc(9000); free(sink); }
__attribute__((constructor)) static void made() { static pthread_once_t flag; pthread_once(&flag, once); }
NOINLINE void down(int depth) {
  char* room = static_cast<char*>(alloca(static_cast<size_t>(16 + depth % 7 * 24)));
  memset(room, depth, 16);
  if (depth > 1) down(depth - 1);
  else sink = malloc(5000), free(sink);
  __asm__ volatile("" : : "r"(room) : "memory");
}
struct OnTheWay { NOINLINE ~OnTheWay() { sink = malloc(6000); free(sink); } };
NOINLINE void thrower() { OnTheWay guard; throw 1; }
NOINLINE void catcher() { try { thrower(); } catch (int) { sink = malloc(6100); free(sink); } }
extern "C" { NOINLINE void in_the_end() { sink = malloc(7000); free(sink); } void no_rules(); }
// Without unwind information, and without a frame pointer.
__asm__(".text\n.globl no_rules\n.type no_rules, @function\nno_rules: xor %ebp, %ebp\n sub $40, %rsp\n call in_the_end\n add $40, %rsp\n ret\n.size no_rules, .-no_rules\n");
NOINLINE void calls_assembly() {
  __asm__ volatile("push %%rbp\n call no_rules\n pop %%rbp" : : : "memory", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0");
}
int main(int, char** words) {
  down(200);
  catcher();
  calls_assembly();
  void* plugin = dlopen(words[1], RTLD_NOW);
  reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_allocates"))();
}
CXX
echo '#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { void* volatile block = malloc(9100); free(block); }
__attribute__((noinline)) void plugin_allocates(void) { void* volatile block = malloc(8000); free(block); __asm__ volatile(""); }' >plugin.c
gcc -shared -fPIC -O2 -g plugin.c -o plugin.so

frames_of() { grep ",malloc,0x[0-9a-f]*,$1," deep.csv | cut -d, -f9; }
for compiler in g++ clang++; do
  for level in -O0 -O1 -O2 -O3; do
    $compiler $level -g -fomit-frame-pointer -mno-red-zone -fno-builtin -fno-optimize-sibling-calls deep.cc -o deep -ldl
    run penna record -f -o deep.penna -k alloc -- ./deep "$PWD/plugin.so"
    expect_eq 0 "$status" "$compiler $level"
    penna export csv deep.penna >deep.csv
    expect_eq 200 "$(frames_of 5000 | tr ';' '\n' | grep -c '^down')" "$compiler $level: frames of down"
    expect_match "$(frames_of 5000)" '^_start;.*;main;down'
    expect_match "$(frames_of 6000)" ';main;catcher.*;thrower.*OnTheWay::~OnTheWay'
    expect_match "$(frames_of 6100)" ';main;catcher(\(\))?$'
    expect_match "$(frames_of 7000)" 'in_the_end$'
    expect_missing "$(frames_of 7000)" "main"
    expect_match "$(frames_of 8000)" ';main;plugin_allocates$'
    # Called through our hooks, whose frames are between the callers and these functions.
    expect_match "$(frames_of 9000)" 'made.*;__pthread_once_slow(\.isra\.0)?;once(\(\))?$'
    expect_match "$(frames_of 9100)" ';main;dlopen;.*;loaded$'
    expect_missing "$(frames_of '[0-9]*')" 'penna'
  done
done
penna report deep.penna health --format json >health.json
python3 - <<'PYTHON' || fail "stacks by module: $(<health.json)"
import json
rows = {row['module']: row for row in json.load(open('health.json'))['module_stacks']}
assert rows['deep']['truncated'] == 1, rows
assert rows['deep']['complete'] >= 3, rows
assert rows['plugin.so'] == {'module': 'plugin.so', 'complete': 2, 'truncated': 0, 'unknown': 0}, rows
PYTHON
g++ -O0 -g -fomit-frame-pointer -fno-builtin deep.cc -o deep -ldl
# Never fewer frames than requested, and at most twice as many; complete if there are no more.
for depth in 1 50 256; do
  run penna record -f -o deep.penna -k alloc --stack-depth $depth -- ./deep "$PWD/plugin.so"
  penna export csv deep.penna >deep.csv
  count=$(frames_of 5000 | tr ';' '\n' | grep -c '^down')
  kept=$((depth < 200 ? depth : 200))
  [ "$count" -ge $kept ] && [ "$count" -le $((depth < 200 ? 2 * depth : 200)) ] || fail "--stack-depth $depth: $count frames"
  run penna report deep.penna health -n 0
  if [ $depth -lt 200 ]; then expect_match "$out" '^stacks too deep +[1-9]'; else expect_match "$out" '^stacks too deep +0 '; fi
done
