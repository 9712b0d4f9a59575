#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built with the sanitizers of gcc and clang, whose runtimes are part of the program or a library: their
# output, reports and exit status are as without us, also if started by another program; and their allocations and locks
# are recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need clang libclang-rt-dev
cp "$PENNA_SOURCE/tests/programs/sanitized.c" .
runtimes=$(dirname "$(clang -print-file-name=libclang_rt.asan-x86_64.so)")
build() { # NAME COMPILER OPTION...
  local name=$1
  shift
  "$@" -O1 -g -fno-omit-frame-pointer -w -D_GNU_SOURCE sanitized.c -o "$name" -pthread || fail "$name does not compile"
}
for kind in address thread leak undefined; do
  build gcc_$kind gcc -fsanitize=$kind
  build clang_$kind clang -fsanitize=$kind
done
build clang_memory clang -fsanitize=memory
build gcc_address_static gcc -fsanitize=address -static-libasan
build gcc_thread_static gcc -fsanitize=thread -static-libtsan
build gcc_undefined_static gcc -fsanitize=undefined -static-libubsan
for kind in address undefined; do
  build clang_${kind}_shared clang -fsanitize=$kind -shared-libsan "-Wl,-rpath,$runtimes"
done
build gcc_both gcc -fsanitize=address,undefined
build plain gcc
# libhwasan needs a kernel and a processor that tag addresses.

export UBSAN_OPTIONS=print_stacktrace=1
# What differs from run to run: addresses, ids, the neighbours of a block, and the order of threads in a race. gcc's
# runtime as part of the program does not hide its hooks: its allocator is hooked, and frames of ours are in its
# reports.
plainly() {
  if [[ $program == gcc_*_static ]] || grep -q 'ThreadSanitizer: data race' "$1"; then
    grep 'SUMMARY:' "$1" || true
    return
  fi
  sed -E '/^penna: /d; /^(=>|  )0x[0-9a-f]+:/d; s/0x[0-9a-f]+/ADDR/g; s/==[0-9]+==/==N==/
          s/pid=[0-9]+|tid=[0-9]+/ID/g; s/^ *#[0-9]+ /#N /; s/\+ADDR//' "$1"
}
# same PROGRAM WORD...: it behaves the same with us.
same() {
  run "$@"
  local alone="$status $out $(plainly err.txt)"
  run penna record -f -o sanitized.penna -- "$@"
  expect_eq "$alone" "$status $out $(plainly err.txt)" "$*"
}

for program in gcc_* clang_*; do
  [ -x "$program" ] || continue
  faults='work leak arithmetic'
  case $program in
    *address* | *both*) faults+=' use_after_free overflow double_free' ;;
    *thread*) faults+=' race use_after_free' ;;
    *memory*) faults+=' uninitialised' ;;
  esac
  for fault in $faults; do same ./$program $fault; done
  run penna record -f -o sanitized.penna -- ./$program work
  expect_match "$err" '[1-9],?[0-9]+ allocation events, [2-5],[0-9]{3} lock events'
  [ $program = gcc_leak ] || expect_missing "$err" 'was not recorded'
  case $program in clang_*_shared | gcc_*) frames=1 ;; *) frames=12 ;; esac  # what is the runtime's own library is no frame
  run penna report sanitized.penna alloc --frames $frames
  expect_match "$out" ' work \(sanitized.c:'
done

# Their runtimes read return addresses from the stack: calls that would return through a trampoline are not recorded,
# which is reported, and every frame of a report is the program's. Reports of UndefinedBehaviorSanitizer use the
# unwinder: there, such calls are recorded.
sanitizers_way() { # PROGRAM OPTION...: the same with these options, in all of its faults
  local program=$1 fault faults='leak use_after_free race uninitialised'
  shift
  [[ $program != *undefined* ]] || faults=arithmetic
  for fault in $faults; do
    run "./$program" $fault
    alone="$status $out $(plainly err.txt)"
    set -f
    # shellcheck disable=SC2086
    run penna record -f -o sanitized.penna $* -- "./$program" $fault
    set +f
    expect_eq "$alone" "$status $out $(plainly err.txt)" "$program $fault with $*"
  done
}
for program in gcc_address clang_address gcc_thread clang_thread clang_memory gcc_both clang_undefined gcc_address_static; do
  for way in '--libcalls' '-k calls -F *' '-k calls -F work --libcalls'; do sanitizers_way $program "$way"; done
  [[ $program == *undefined* ]] || expect_contains "$err" "sanitizer would print Penna's return trampolines"
done
run penna record -f -k calls -F work -o sanitized.penna -- ./clang_undefined work
expect_match "$(penna report calls sanitized.penna)" ' work \('
for hook in -pg '-pg -mfentry' -fpatchable-function-entry=5; do
  # shellcheck disable=SC2086
  build prepared gcc -fsanitize=address $hook
  program=prepared sanitizers_way prepared
  expect_contains "$err" "sanitizer would print Penna's return trampolines"
done
build prepared gcc -fsanitize=address -finstrument-functions
program=prepared sanitizers_way prepared
expect_match "$(penna report calls sanitized.penna)" ' main \('

# However they are started, and by whichever program.
for program in gcc_address gcc_thread gcc_leak clang_address clang_address_shared gcc_both; do
  for how in exec exec_env spawn spawn_env; do
    same ./plain $how ./$program
    same ./gcc_address $how ./$program
  done
  for how in system popen shell; do
    same ./plain $how "./$program use_after_free 2>&1 | grep -c ERROR; exit 3"
    same ./$program $how "./plain; exit 3"
  done
done
# The runtime is the user's choice.
same env LD_PRELOAD=libasan.so.8 ASAN_OPTIONS=detect_leaks=0 ./plain
same env LD_PRELOAD=libasan.so.8 ASAN_OPTIONS=detect_leaks=0 ./plain system './gcc_address'
same env "LD_PRELOAD=libasan.so.8:libpthread.so.0" ASAN_OPTIONS=detect_leaks=0 ./plain spawn ./plain
