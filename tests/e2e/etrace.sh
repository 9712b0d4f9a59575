#!/bin/bash
# SPDX-License-Identifier: MIT
# etrace: from two terminals, and from a file TRACE. ET1 to ET9 are what its users have always expected of it, and more.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$(readlink -f "$(dirname "$PENNA")/..")
etrace=$build/bin/etrace library=$build/lib/libpenna-etrace.so
linked=(-L"$build/lib" "-Wl,-rpath,$build/lib" -lpenna-etrace)
instrumented=(-finstrument-functions -finstrument-functions-exclude-file-list=/usr)
waited() { for _ in $(seq 600); do ! "$@" || return 0; sleep 0.1; done; fail "no effect: $*"; }
shown() { grep -q -- "$1" "$2"; }
# live [ARGS of etrace...]: waits in the background, its output in live.txt
live() {
  : >live.err
  "$etrace" "$@" >live.txt 2>live.err &
  reader=$!
  waited shown '^etrace: waiting' live.err
}
preloaded() { LD_PRELOAD=$library "$@"; }

cp "$PENNA_SOURCE/examples/crumble.c" .
gcc -O1 "${instrumented[@]}" crumble.c -o crumble
gcc -O1 "${instrumented[@]}" crumble.c -o crumble_linked "${linked[@]}"
gcc -O1 "${instrumented[@]}" -no-pie crumble.c -o crumble_fixed
tree=$(<"$PENNA_SOURCE/tests/programs/crumble.tree")

# ---- ET2: no trace was requested ------------------------------------------------------------------------------------
files=$(ls)
preloaded ./crumble
./crumble_linked
expect_eq "$files" "$(ls)" "files after runs without TRACE"

# ---- ET1, ET3: the tree, live and from a file, of a program linked and preloaded, PIE and non-PIE -------------------
for program in ./crumble_linked 'preloaded ./crumble' 'preloaded ./crumble_fixed'; do
  live
  $program
  wait $reader
  expect_eq "$tree" "$(<live.txt)" "the tree of $program, live"
  [ ! -L TRACE ] || fail "TRACE still exists after etrace ended"
  touch TRACE
  $program
  expect_eq "$tree" "$("$etrace" crumble)" "the tree of $program, from its file"
  $program  # its file is replaced
  expect_eq 17 "$("$etrace" --all | wc -l)" "calls of $program in full"
  rm TRACE
done
live --all
preloaded ./crumble
wait $reader
expect_eq '\-- main
|   \-- Crumble_make_apple_crumble
|   |   \-- Crumble_buy_stuff
|   |   |   \-- Crumble_buy' "$(head -n 4 live.txt)" "the full tree"

cat >shared.c <<'PROGRAM'
__attribute__((noipa)) static void inner(void) {}
void outer(void) { inner(); }
PROGRAM
sed 's/inner/plugged_in/; s/outer/plugin/' shared.c >plugin.c
cat >user.c <<'PROGRAM'
#include <dlfcn.h>
void outer(void);
int main(void) {
  outer();
  void* library = dlopen("./plugin.so", RTLD_NOW);
  ((void (*)(void))dlsym(library, "plugin"))();
  return dlclose(library);
}
PROGRAM
gcc -O1 -shared -fPIC "${instrumented[@]}" shared.c -o libshared.so
gcc -O1 -shared -fPIC "${instrumented[@]}" plugin.c -o plugin.so
gcc -O1 "${instrumented[@]}" user.c -o user ./libshared.so
touch TRACE
preloaded ./user
expect_eq 'main
|   outer
|   |   inner
|   plugin
|   |   inner' "$("$etrace" user | sed 's/plugged_in/inner/')" "functions of libraries"

# The only code with hooks is dlopened: by its path, and by a name that the program's RUNPATH finds; other libraries
# come first.
for name in ./plugin.so plugin.so; do
  sed "s#outer();#dlopen(\"libm.so.6\", RTLD_NOW);#; /^void/d; s#./plugin.so#$name#" user.c >opener.c
  gcc -O1 opener.c -o opener -Wl,-rpath,"$PWD"
  rm -f TRACE
  touch TRACE
  preloaded ./opener
  expect_eq 'plugin
|   plugged_in' "$("$etrace" opener)" "functions of a library that is opened as $name"
done
preloaded true  # has no such code: TRACE stays what it is
expect_contains "$("$etrace" opener)" plugged_in

# ---- ET4: recursion; ET8: functions left without their exit hooks ---------------------------------------------------
cat >odd.cc <<'PROGRAM'
#include <csetjmp>
#include <stdexcept>
static jmp_buf place;
namespace odd {
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noipa)) void jump() { longjmp(place, 1); }
__attribute__((noipa)) void over() { jump(); }
__attribute__((noipa)) void jumper() { if (setjmp(place) == 0) over(); }
__attribute__((noipa)) void thrower() { throw std::runtime_error("x"); }
__attribute__((noipa)) void middle() { thrower(); }
__attribute__((noipa)) void outer() { middle(); }
__attribute__((noipa)) void catcher() { try { outer(); } catch (std::exception&) {} }
__attribute__((noipa)) void after() {}
}
int main() {
  odd::fib(6);
  odd::jumper();
  odd::catcher();
  odd::after();
}
PROGRAM
g++ -O1 "${instrumented[@]}" odd.cc -o odd
preloaded ./odd
run "$etrace" --all
expect_eq 25 "$(grep -c 'odd::fib(int)$' <<<"$out")" "calls of fib(6)"
expect_eq '|   |   |   |   |   |   \-- odd::fib(int)' "$(grep fib <<<"$out" | awk '{ if (length > length(longest)) longest = $0 } END { print longest }')" "the deepest"
expect_match "$out" '^\|   \\-- odd::catcher\(\)$'
expect_match "$out" '^\|   \\-- odd::after\(\)$'

# ---- ET5: threads and children; ET6: a crash -----------------------------------------------------------------------------------
build_c ends "${instrumented[@]}"
check_ends() {
  expect_eq 2 "$(grep -c '^work()$' "$1")" "trees of two threads $2"
  expect_eq 1 "$(grep -c '^|   work()$' "$1")" "the tree of a child $2"
  expect_eq 3 "$(grep -c '^|   \(|   \)\?leaf()$' "$1")" "their calls $2"
  expect_eq 1 "$(grep -c '^not left at the end: main > b() > c()$' "$1")" "what was open in the crash $2"
  ((3 <= $(grep -c '^# ends, pid [0-9]*, ends (tid [0-9]*)$' "$1"))) || fail "threads are not told apart $2: $(<"$1")"
}
run preloaded ./ends
expect_eq 139 "$status" "status of the crash"
"$etrace" ends >file.txt
check_ends file.txt "in the file"
rm TRACE
live
run preloaded ./ends
expect_eq 139 "$status" "status of the crash"
wait $reader
check_ends live.txt "live"

# ---- ET7: live while it runs; the reader is killed ------------------------------------------------------------------
cat >steps.c <<'PROGRAM'
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) void step(void) {}
__attribute__((noipa)) void pause_until(const char* file) { while (access(file, F_OK) != 0) usleep(1000); }
int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    pause_until(argv[i]);
    for (int n = 0; n < 3000000; n++) step();
  }
  puts("done");
  return 4;
}
PROGRAM
gcc -O1 "${instrumented[@]}" steps.c -o steps
live
preloaded ./steps one two three >steps.txt &
program=$!
waited shown '^|   pause_until$' live.txt
expect_missing "$(<live.txt)" step
touch one
waited shown '^|   step$' live.txt
touch two
kill -KILL $reader
wait $reader || true
[ -L TRACE ] || fail "TRACE is gone although etrace was killed"
touch three
status=0; wait $program || status=$?
expect_eq "4 done" "$status $(<steps.txt)" "the program when its reader was killed"
run preloaded ./crumble  # TRACE leads nowhere
expect_eq "0 " "$status $err" "a program that finds the TRACE of one who is gone"
live                   # and the next etrace takes its place
expect_eq 125 "$(timeout 60 "$etrace" >/dev/null 2>&1; echo $?)" "status of a second etrace"
preloaded ./crumble
wait $reader
expect_eq "$tree" "$(<live.txt)" "the tree after all that"

# ---- ET9: names from another file -----------------------------------------------------------------------------------
gcc -O1 -g "${instrumented[@]}" crumble.c -o whole
nm whole >whole.nm
nm -S whole >whole.sizes
objcopy --only-keep-debug whole whole.debug
strip -o bare whole
touch TRACE
preloaded ./bare
expect_missing "$("$etrace" bare)" Crumble
for names in whole whole.debug whole.nm whole.sizes; do
  expect_eq "$tree" "$("$etrace" $names)" "the tree by the names of $names"
done
rm TRACE
live whole.nm
preloaded ./bare
wait $reader
expect_eq "$tree" "$(<live.txt)" "the tree by the names of a list, live"
run "$etrace" crumble.c
expect_eq 125 "$status" "status with a file that has no names"
expect_contains "$err" 'crumble.c is neither a program, nor its debug file, nor a list of functions as nm prints it'

# ---- A file called TRACE that is not one ----------------------------------------------------------------------------
echo 'my words' >TRACE
run preloaded ./crumble
expect_eq "0  my words" "$status $err $(<TRACE)" "a file of somebody else's"
: >TRACE
run "$etrace" crumble
expect_contains "$err" 'etrace: TRACE is empty: run the program here'
preloaded sh -c 'true; ./crumble; true'  # not the shell's: it has no calls
expect_eq "$tree" "$("$etrace")" "the tree of a program that a preloaded shell starts"
rm TRACE && mkdir TRACE
run "$etrace" crumble
expect_contains "$err" 'TRACE is neither a file nor a link'
run preloaded ./crumble
expect_eq "0 " "$status $err" "a directory called TRACE"
rmdir TRACE
live -o kept.penna
preloaded ./crumble
wait $reader
expect_eq "$tree" "$(penna replay --tree kept.penna)" "what -o kept"

# ---- docs/from-etrace.md: its commands, in a copy of the pages -----------------------------------------------------------------
copy_of_pages
(
  cd copy
  gcc -finstrument-functions examples/crumble.c -o crumble
  eval "$(doc_block from-etrace.md 'etrace ./crumble
')" >live.txt 2>live.err &
  reader=$!
  waited test -S TRACE
  eval "$(doc_block from-etrace.md LD_PRELOAD)"
  wait $reader
  expect_eq "$(doc_block from-etrace.md 'total: 5 times')" "$(<live.txt)" "the tree of the page"
  eval "$(doc_block from-etrace.md 'gcc -finstrument')"
  eval "$(doc_block from-etrace.md 'touch TRACE')"
  expect_eq "$(doc_block from-etrace.md 'total: 5 times')" "$(<log)" "the log of the page"
)

# ---- Two terminals ------------------------------------------------------------------------------------------------------------------
need tmux
screen() { tmux -S tmux.socket capture-pane -p -J -t "$1"; }
on_screen() { screen "$1" | grep -q -- "$2"; }
tmux -S tmux.socket -f /dev/null new-session -d -x 120 -y 40 -s two "env PS1='$ ' bash --norc --noprofile"
tmux -S tmux.socket split-window -t two "env PS1='$ ' bash --norc --noprofile"
waited on_screen two.0 '\$'
waited on_screen two.1 '\$'
tmux -S tmux.socket send-keys -t two.0 "$etrace -q crumble" Enter
waited test -S TRACE
tmux -S tmux.socket send-keys -t two.1 "LD_PRELOAD=$library ./crumble" Enter
waited on_screen two.0 '|   |   |   Crumble_bake'
waited on_screen two.0 '^\$ *$'  # and the prompt is back
got=$(screen two.0 | sed -n '/^main$/,/Crumble_bake/p')
tmux -S tmux.socket kill-server
expect_eq "$tree" "$got" "what stands in the first terminal"
