#!/bin/bash
# SPDX-License-Identifier: MIT
# penna replay --tree: the calls of a program as a tree of names, folded and in full, of threads, of children, of a
# crash.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c crumble -finstrument-functions
penna record -q -k calls -o crumble.penna -- ./crumble
run penna replay --tree crumble.penna
expect_eq "$(<"$PENNA_SOURCE/tests/programs/crumble.tree")" "$out" "the folded tree"
run penna replay --tree --all crumble.penna
expect_eq 17 "$(wc -l <<<"$out")" "calls in the full tree"
expect_eq '\-- main
|   \-- Crumble_make_apple_crumble
|   |   \-- Crumble_buy_stuff
|   |   |   \-- Crumble_buy' "$(head -n 4 <<<"$out")" "the full tree"

# Recursion keeps its depth: fib(6) is 25 calls.
cat >fib.c <<'PROGRAM'
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { return fib(6) != 8; }
PROGRAM
build_c fib -finstrument-functions
penna record -q -k calls -o fib.penna -- ./fib
run penna replay --tree --all fib.penna
expect_eq 25 "$(grep -c ' fib$' <<<"$out")" "calls of fib"
expect_eq '|   |   |   |   |   |   \-- fib' "$(sort <<<"$out" | grep -v main | awk '{ if (length > length(longest)) longest = $0 } END { print longest }')" "the deepest"

# A thread and a child have trees of their own; a crash shows the open calls; an exception leaves the depth right.
cat >ends.cc <<'PROGRAM'
#include <sys/wait.h>
#include <unistd.h>
#include <stdexcept>
#include <thread>
__attribute__((noipa)) void leaf() {}
__attribute__((noipa)) void thrower() { leaf(); throw std::runtime_error("x"); }
__attribute__((noipa)) void middle() { thrower(); }
__attribute__((noipa)) void catcher() { try { middle(); } catch (std::exception&) {} leaf(); }
__attribute__((noipa)) void crash() { leaf(); *(volatile int*)8 = 1; }
__attribute__((noipa)) void work() { catcher(); }
int main() {
  std::thread thread(work);
  thread.join();
  if (fork() == 0) {
    work();
    _exit(0);
  }
  wait(nullptr);
  crash();
}
PROGRAM
build_c ends -finstrument-functions -finstrument-functions-exclude-file-list=/usr
run penna record -q -k calls -o ends.penna -- ./ends
expect_eq 139 "$status" "status of the program that crashes"
run penna replay --tree ends.penna
tree='work()
|   catcher()
|   |   middle()
|   |   |   thrower()
|   |   |   |   leaf()
|   |   leaf()'
expect_eq 3 "$(grep -c '^# ends, pid ' <<<"$out")" "trees"
expect_eq "$tree" "$(grep -A 6 '^# ends' <<<"$out" | sed -n '/^work/,/^|   |   leaf/p' | head -n 6)" "the tree of the thread"
expect_eq 1 "$(grep -c '^not left at the end: main > crash()$' <<<"$out")" "what was open in the crash"
expect_eq 2 "$(grep -c '^|[| ]*catcher()$' <<<"$out")" "calls of catcher, by the thread and by the child"

run penna replay --tree --merge ends.penna
expect_eq 125 "$status" "status of --tree with --merge"
expect_contains "$err" "--tree and --merge contradict each other: give one of them"
run penna replay --all ends.penna
expect_contains "$err" "--all is for --tree"
run penna replay --tree -n 3 crumble.penna
expect_eq 3 "$(wc -l <<<"$out")" "lines with -n 3"
