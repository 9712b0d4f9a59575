#!/bin/bash
# SPDX-License-Identifier: MIT
# etrace reads a TRACE file that a program wrote as text, as with etrace's own ptrace.c: names come from the program,
# its debug file or the output of nm; a REFERENCE line gives the load address of a PIE program.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
etrace=$(readlink -f "$(dirname "$PENNA")/..")/bin/etrace
cp "$PENNA_SOURCE/examples/crumble.c" .
# Writes such a text.
cat >writes.c <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define QUIET __attribute__((no_instrument_function))
extern int main();
static FILE* file;
QUIET static void ended(void) { fprintf(file, "EXIT %d\n", getpid()); fclose(file); file = NULL; }
QUIET static void tell(const char* what, void* function) {
  static int begun;
  if (!begun++) {
    file = fopen("TRACE", "a");
    if (getenv("REFERENCE") != NULL) fprintf(file, "REFERENCE: main %p\n", (void*)main);
    atexit(ended);
  }
  if (file != NULL) fprintf(file, "%s %p\n", what, function);
}
QUIET void __cyg_profile_func_enter(void* function, void* caller) { tell("enter", function), (void)caller; }
QUIET void __cyg_profile_func_exit(void* function, void* caller) { tell("exit", function), (void)caller; }
PROGRAM
tree=$(<"$PENNA_SOURCE/tests/programs/crumble.tree")
gcc -O1 -g -finstrument-functions crumble.c writes.c -no-pie -o fixed
gcc -O1 -g -finstrument-functions crumble.c writes.c -pie -o movable
for program in fixed movable; do
  rm -f TRACE
  REFERENCE=1 ./$program
  cp TRACE before
  nm $program >$program.nm
  objcopy --only-keep-debug $program $program.debug
  for names in ./$program $program.nm $program.debug; do
    run "$etrace" "$names"
    expect_eq "0 $tree" "$status $out" "the tree of $program, by $names"
    expect_eq "" "$err" "what etrace says"
  done
  expect_eq 17 "$("$etrace" --all $program | wc -l)" "calls of $program"
  cmp -s TRACE before || fail "TRACE was changed"
done
rm TRACE
./fixed
expect_eq "$tree" "$("$etrace" fixed)" "the tree without REFERENCE"

# Invalid lines are counted; if the end of a run is missing, open calls are reported; without a program there are no
# names, but a tree.
{ grep -v EXIT TRACE | head -n 3; echo 'enter 0xffffffffffffffffff'; echo nonsense; } >cut
mv cut TRACE
run "$etrace" fixed
expect_contains "$out" "not left at the end: main > Crumble_make_apple_crumble > Crumble_buy_stuff"
expect_contains "$err" "2 lines are passed over"
run "$etrace"
expect_eq 0 "$status" "without a program"
expect_contains "$err" "name the program"
echo 'REFERENCE: nowhere 0x1000' >TRACE
echo 'enter 0x1000' >>TRACE
run "$etrace" fixed
expect_eq 125 "$status" "a reference that the program has not"
expect_contains "$err" "has no such function"
