#!/bin/bash
# SPDX-License-Identifier: MIT
# One library after the other at the same address: the stacks of each have the names of its own functions.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >plugin.c <<'PLUGIN'
#include <stdlib.h>
__attribute__((noipa)) void WORK(size_t size) { void* volatile block = malloc(size); free(block); }
PLUGIN
cat >places.c <<'PROGRAM'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void* first = NULL;
  for (int i = 0; i < 4; i++) {
    const int other = i % 2;
    void* plugin = dlopen(other ? "./other.so" : "./one.so", RTLD_NOW);
    if (!plugin) return 1;
    void (*work)(size_t) = (void (*)(size_t))dlsym(plugin, other ? "other_work" : "one_work");
    if (!work) return 1;
    if (!first) first = (void*)work;
    if (first != (void*)work) return 2;
    work(other ? 5002 : 5001);
    dlclose(plugin);
  }
  return 0;
}
PROGRAM
for name in one other; do gcc -O2 -g -fPIC -shared -fno-builtin -DWORK=${name}_work plugin.c -o $name.so; done
build_c places
run setarch -R "$PENNA" record -q -k alloc -o places.penna -- ./places
expect_eq 0 "$status" "status: 2 where the second library lies elsewhere"
stacks() { penna export csv places.penna | awk -F, -v size="$1" '$4 == "alloc" && $7 == size { print $9 }'; }
expect_eq "$(printf 'main;one_work\nmain;one_work')" "$(stacks 5001 | sed 's/.*;main;/main;/')" "stacks in the first library"
expect_eq "$(printf 'main;other_work\nmain;other_work')" "$(stacks 5002 | sed 's/.*;main;/main;/')" "stacks in the second"
