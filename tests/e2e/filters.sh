#!/bin/bash
# SPDX-License-Identifier: MIT
# Filters of calls and of time: recording with one gives the same rows as applying it to a full recording; in threads,
# children and plugins, across exceptions and kills.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >calls.cc <<'PROGRAM'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdexcept>
#include <thread>
#include "penna/point.h"
#define F __attribute__((noipa))
namespace shop {
F void pause(int ms) { usleep(ms * 1000); }
F void leaf(int i) { asm volatile("" : : "r"(i)); }
F void inner(int i) {
  leaf(i);
  free(malloc(10));
  PENNA_EVENT(shop, inner, PENNA_ARG(i, i));
  if (i == 500) pause(500);
}
F void outer(int i) {
  inner(i);
  if (i % 3 == 0) leaf(1);
}
F void thrower(int i) { leaf(i), throw std::runtime_error("x"); }
F void catcher(int i) { try { thrower(i); } catch (std::exception&) {} }
F void sleeper() { pause(500); leaf(1); }
F int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
F void work() {
  for (int i = 0; i < 3000; i++) outer(i);
  for (int i = 0; i < 50; i++) catcher(i);
  fib(12);
}
F void tune() { leaf(2); }
}  // namespace shop
int main() {
  for (const char* plugin : {"./one.so", "./two.so", "./one.so"}) {
    void* library = dlopen(plugin, RTLD_NOW);
    reinterpret_cast<void (*)()>(dlsym(library, "run"))();
    dlclose(library);
  }
  std::thread first(shop::work), second(shop::work);
  first.join(), second.join();
  shop::sleeper();
  shop::tune();
  if (fork() == 0) {
    shop::work();
    _exit(0);
  }
  wait(nullptr);
}
PROGRAM
for plugin in one two; do
  echo "static __attribute__((noipa)) void in_$plugin(void) {} void run(void) { for (int i = 0; i < 1000; i++) in_$plugin(); }" >$plugin.c
  build_c $plugin -shared -fPIC -finstrument-functions
  mv $plugin $plugin.so
done
build_c calls -O1 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/,penna/
penna record -q -o all.penna -- ./calls

# rows REC [OPTIONS]: the functions with their calls, in full; tree REC [OPTIONS]: the call tree, each call, without
# times.
rows() { penna report calls "$@" --format csv | cut -d, -f1,9- | sort; }
tree() { penna replay --tree --all "$@" 2>/dev/null | grep -v '^# ' ; }
others() { penna export csv "$@" 2>/dev/null | awk -F, '$4 == "point" { print $4, $5 }' | sort | uniq -c; }

# both OPTIONS...: the same rows and trees, whether filtered while recording or afterwards, and not those of a full
# recording.
both() {
  penna record -f -q -o some.penna "$@" -- ./calls
  cmp <(rows all.penna "$@") <(rows some.penna) || fail "$*: rows differ"
  cmp <(tree all.penna "$@" | sort) <(tree some.penna | sort) || fail "$*: call trees differ"
  [ "$(rows all.penna "$@")" != "$(rows all.penna)" ] || fail "$*: filtered out nothing"
  [ -n "$(rows some.penna)" ] || fail "$*: filtered out everything"
  penna report health some.penna -n 0 >health.txt
  expect_eq "" "$(grep -E '^(stray exits|unwound calls|missing chunks|damaged chunks) ' health.txt | grep -v ' 0  ')" "$*: what went wrong"
}
# calls_of FUNCTION REC [OPTIONS]
calls_of() { local name=$1; shift; penna report calls "$@" --format csv | grep -F "$name(" | cut -d, -f1; }

both -F leaf
expect_eq $((3 * (3000 + 1000 + 50) + 2)) "$(calls_of leaf some.penna)" "calls of leaf"
both -N 'shop::*'
both -F 'shop::*' -N leaf -N 'shop::fib(int)'
both -F '/^shop::(leaf|inner)$/' -N '/inner/'
expect_eq $((3 * (3000 + 1000 + 50) + 2)) "$(calls_of leaf some.penna)" "calls of leaf, by an expression"
both --module '/one[.]so$/' -F '/in_./'
run penna record -F '/(leaf/' -- ./calls
expect_eq 125 "$status"
expect_contains "$err" "'/(leaf/' is not a regular expression"
run penna report calls all.penna -T '/fib*+*[/@on'
expect_contains "$status $err" "'/fib*+*[/' is not a regular expression"
both --caller catcher
expect_eq 150 "$(calls_of thrower some.penna)" "calls inside a caller"
both --caller work -F leaf -F inner
both --caller fib --depth 3
expect_eq $((3 * 7)) "$(calls_of fib some.penna)" "calls of fib, three deep"
both --depth 2
both --hide inner
expect_eq "$((3 * (1000 + 50) + 2))" "$(calls_of leaf some.penna)" "calls of leaf that are not hidden"
both --hide outer --hide '/catch/' -T fib@on
both --hide work --caller sleeper
both --paths-to thrower
expect_eq "catcher main thrower work" "$(penna report calls some.penna --format csv | awk -F, 'NR > 1 { print $NF }' | sed -E 's/.*shop::([a-z]*).*/\1/; s/"//g' | sort -u | xargs)" "functions on the way"
both --paths-to pause
both --paths-to leaf --hide work
both --paths-to fib --depth 4 -T fib@on
both -F outer --paths-to pause
both --paths-to pause --min-time 300ms
both --paths-to in_two
both --module 'one.so'
expect_eq 2000 "$(penna report calls some.penna --format csv | grep in_one | cut -d, -f1)" "calls in a plugin that was loaded twice"
both -F in_two
both --source 'one.c' --source two.c
both -T fib@off
both -T fib@on
both -T tune@on -T pause@off
both --min-time 300ms
expect_eq "main
|   shop::sleeper()
|   |   shop::pause(int)" "$(penna replay --tree some.penna | grep -A 2 '^main' | head -n 3)" "the long calls of the main thread"
both --min-time 300ms -F outer -F pause

# What is no call stays: allocations, points, their number.
penna record -f -q -o some.penna -F nothing -- ./calls
cmp <(others all.penna) <(others some.penna) || fail "events of other kinds differ"

# It is smaller, and says what is not there.
run penna record -f -o some.penna -k calls -F 'shop::leaf' --depth 1 -- ./calls
expect_match "$err" "^penna: -F shop::leaf --depth 1 left out [0-9,]+ calls$"
run penna info some.penna
expect_match "$out" '^left out +[0-9,]+ calls by filters$'
expect_match "$out" '^options .*function=shop::leaf, depth=1'
penna record -f -q -o calls.penna -k calls -- ./calls
penna record -f -q -o some.penna -k calls -F fib -- ./calls
[ "$(stat -c %s some.penna)" -lt "$(($(stat -c %s calls.penna) / 2))" ] || fail "the recording did not get smaller"
run penna record -f -o some.penna -F laef -- ./calls
expect_contains "$err" "no function that was called matches -F 'laef'"
# A function that was called but cannot be entered is named as such, not as never called.
echo '__attribute__((noinline)) void tiny(void) { __asm__(""); } int main(void) { tiny(); return 0; }' >tiny.c
build_c tiny
run penna record -f -o tiny.penna -k calls -F tiny -F laef -- ./tiny
expect_match "$err" "^penna: calls of tiny \[tiny\] are not recorded: it "
expect_match "$err" "no function that was called matches -F 'laef'$"
run penna report calls all.penna -F laef
expect_contains "$out" "the filters leave out all that were recorded"
expect_contains "$out" "-F 'laef' matched no function that was called"
run penna graph leaf some.penna
expect_contains "$err" "the filters that it was recorded with left out all of them"

# Every verb reads through them.
run penna graph inner all.penna -N leaf
expect_missing "$out" "leaf"
expect_eq 1 "$(penna export folded all.penna -F work 2>/dev/null | cut -d' ' -f1 | sort -u | wc -l)" "frames of an export"
run penna diff all.penna all.penna -F fib --format csv
expect_eq 2 "$(wc -l <<<"$out")" "rows of a comparison"
expect_eq 1 "$(penna replay all.penna -F tune | grep -c 'tune()')" "lines of a replay"

# Time: nothing of any kind outside; calls that reach over its ends are cut there.
middle=$(penna replay --merge all.penna | awk '/sleeper\(\)/ && !found++ { print $1 }')
range="${middle}s+10ms" # the pause takes 500
run penna report calls all.penna -r "$range" --format csv
expect_eq "main shop::pause(int) shop::sleeper()" "$(tail -n +2 <<<"$out" | awk -F, '{ print $NF }' | tr -d '"' | sort | xargs)" "functions in the middle of a pause"
expect_eq "10000000" "$(grep -F main <<<"$out" | cut -d, -f2 | sed -E 's/^(9999999|1000000[01])$/10000000/')" "its length"
expect_eq "" "$(others all.penna -r "$range")" "other events in a pause"
# The program's timing varies between runs: the recorded range must contain these calls.
for range in 0ms-20ms 25ms- 5ms+10ms; do
  penna record -f -q -o some.penna -r $range -- ./calls
  cmp <(rows some.penna) <(rows some.penna -r $range) || fail "-r $range filters out what it should keep"
  cmp <(others some.penna) <(others some.penna -r $range) || fail "-r $range filters out events that it should keep"
done

# A killed program loses nothing recorded before.
cat >dies.c <<'PROGRAM'
#include <signal.h>
__attribute__((noipa)) void leaf(void) {}
__attribute__((noipa)) void inner(void) { leaf(); raise(SIGKILL); }
__attribute__((noipa)) void outer(void) { for (int i = 0; i < 30000; i++) leaf(); inner(); }
int main(void) { outer(); }
PROGRAM
build_c dies -finstrument-functions
run penna record -q -o dies.penna --min-time 1s -- ./dies
expect_eq 137 "$status" "status of a program that is killed"
run penna replay --tree dies.penna
expect_contains "$out" "not left at the end: main > outer > inner"
expect_missing "$out" "leaf"

# Incorrect usage.
for wrong in '--min-time 10' '-r 3s-2s' '-T leaf' '--depth 0'; do
  # shellcheck disable=SC2086
  run penna report calls all.penna $wrong
  expect_eq "125 " "$status $out" "$wrong"
  # shellcheck disable=SC2086
  run penna record -o wrong.penna $wrong -- ./calls
  expect_eq 125 "$status" "record $wrong"
  [ ! -e wrong.penna ] || fail "record $wrong left a recording"
done
