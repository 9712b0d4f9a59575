#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs whose runtime walks its stacks itself: none of their functions is hooked by a detour, which is reported; they
# run as without us, whatever is requested. C code in them is recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need golang-go ocaml-nox
export GOCACHE=$work/cache GO111MODULE=off GOFLAGS= GOMAXPROCS=4

mkdir go with_c library network
# Stacks that grow and move, collections, tracebacks, a panic from a fault.
cat >go/main.go <<'PROGRAM'
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

//go:noinline
func work(n int) int {
	if n == 0 {
		var pcs [64]uintptr
		return runtime.Callers(0, pcs[:]) % 2
	}
	s := make([]byte, n*10)
	return work(n-1) + len(s)%7
}

func main() {
	var wg sync.WaitGroup
	sum := make([]int, 8)
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for j := 0; j < 100; j++ {
				sum[i] += work(50 + j)
			}
		}(i)
	}
	wg.Wait()
	runtime.GC()
	fmt.Println(sum)
	defer func() { fmt.Println(recover()); os.Exit(3) }()
	var p *int
	fmt.Println(*p)
}
PROGRAM
# C called by Go and calling Go, which walks back through both.
cat >with_c/main.go <<'PROGRAM'
package main

/*
#include <stdlib.h>
#include <string.h>
extern int goBack(int);
__attribute__((noinline)) static int inC(int n) { char* b = malloc(n + 1); memset(b, n, n + 1); int s = goBack(b[n]); free(b); return s + 1; }
*/
import "C"
import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

//export goBack
func goBack(n C.int) C.int {
	var pcs [64]uintptr
	if runtime.Callers(0, pcs[:]) < 4 {
		panic("short")
	}
	return C.int(len(make([]byte, 1000*int(n)))/1000) + 1
}

func main() {
	var wg sync.WaitGroup
	sums := make([]int, 8)
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for j := 0; j < 200; j++ {
				sums[i] += int(C.inC(C.int(j % 100)))
			}
		}(i)
	}
	wg.Wait()
	runtime.GC()
	fmt.Println(sums)
	defer func() { fmt.Println(recover()); os.Exit(3) }()
	var p *int
	fmt.Println(*p)
}
PROGRAM
# Go's linker includes C objects by itself.
cat >network/main.go <<'PROGRAM'
package main

import (
	"fmt"
	"net"
	"os/user"
)

func main() {
	_, err := net.LookupHost("no-such-host.invalid")
	u, _ := user.LookupId("0")
	fmt.Println(err != nil, u.Username)
}
PROGRAM
cat >library/main.go <<'PROGRAM'
package main

import "C"
import "runtime"

//export Deep
func Deep(n C.int) C.int {
	if n == 0 {
		runtime.GC()
		return 0
	}
	return Deep(n-1) + 1
}

func main() {}
PROGRAM
cat >host.c <<'PROGRAM'
#include <stdio.h>
int Deep(int);
__attribute__((noipa)) int in_host(int n) { return Deep(n) + 1; }
int main(void) { return printf("%d\n", in_host(3000)) != 5; }
PROGRAM
(cd go && go build -o ../go_static main.go && go build -ldflags=-linkmode=external -o ../go_linked main.go && go build -buildmode=pie -o ../go_pie main.go)
(cd with_c && go build -o ../go_with_c main.go && go build -ldflags='-s -w' -o ../go_with_c_stripped main.go)
(cd network && go build -ldflags=-linkmode=internal -o ../go_network main.go)
(cd library && go build -buildmode=c-shared -o ../libdeep.so main.go)
gcc -O1 host.c -o go_hosted -L. -ldeep -Wl,-rpath,"$PWD"

# Collections and exceptions, which look up every return address.
cat >collect.ml <<'PROGRAM'
exception E of int
let rec f n = if n = 0 then raise (E 3) else let l = List.init 50 (fun i -> i * n) in List.fold_left (+) 0 l + f (n - 1)
let apply g a b = g a b
let () =
  let s = ref 0 in
  for i = 1 to 1000 do (try s := !s + f (i mod 60) with E k -> s := !s + k + apply (fun a b -> a * b) i 2) done;
  Gc.full_major ();
  Printf.printf "%d %s\n" !s (String.concat "," (List.map string_of_int (List.sort compare [3; 1; 2])))
PROGRAM
ocamlopt -g collect.ml -o ml_collect

programs='go_static go_linked go_pie go_with_c go_with_c_stripped go_network go_hosted ml_collect'
for program in $programs; do
  run "./$program"
  expect_eq '' "$err" "$program alone"
  plain="$status $out"
  for way in '-k calls,alloc,locks,points' '-k calls -F *' '-k calls,alloc,locks -F * --libcalls --auto-args' '-k calls -F main.* -F caml*' \
    '-k locks --lock-functions runtime.lock2=runtime.unlock2'; do
    set -f
    # shellcheck disable=SC2086
    run timeout 60 "$PENNA" record -q -f -o one.penna $way -- "./$program"
    set +f
    expect_eq "$plain" "$status $out" "$program with $way"
  done
done

# The excluded functions and the reason are reported; C functions are recorded.
run penna record -f -k calls -F 'main.*' -F inC -F '_cgo_*' -o c.penna -- ./go_with_c
expect_contains "$err" 'it belongs to Go, whose runtime walks its stacks itself'
run penna report calls c.penna --format csv
expect_match "$out" 'inC.*,1600\b|,1600,.*inC|_cgo_.*inC'
expect_missing "$out" main.goBack
run penna record -f -k calls -F in_host -F 'main.*' -o hosted.penna -- ./go_hosted
expect_contains "$(penna report calls hosted.penna --format csv)" in_host
run penna record -f -k calls -F 'camlCollect__*' -F 'caml_alloc*' -o ml.penna -- ./ml_collect
expect_contains "$err" 'it belongs to OCaml, whose runtime walks its stacks itself'
expect_contains "$(penna report calls ml.penna --format csv)" caml_alloc

# A damaged table gives no information: then all code of the file is left alone. A valid one gives the location of Go's
# code.
cat >table.c <<'PROGRAM'
#include <stdio.h>
__attribute__((noipa)) int in_c(int n) { return n * 5 / 3 + n % 7 - 3; }
int main(void) { return printf("%d\n", in_c(4)) != 2; }
PROGRAM
table() { echo "__asm__(\".pushsection .gopclntab,\\\"a\\\"\\n.long $1\\n.byte 0,0,1,8\\n.quad $2,0,$3,0,0,0,0,$4\\n.long 0,0,$5,0\\n.popsection\");"; }
for damage in '0xfffffff1 1 0x500000 72 0x10' '0xfffffff1 0xffffffffffffffff 0x500000 72 0x10' '0xfffffff1 1 0x500000 0xfffffffffffffff8 0x10' \
  '0xfffffff1 1 -8 72 0x10' '0x11111111 1 0x500000 72 0x10' '0xfffffff0 0x100 0x500000 72 0x10'; do
  # shellcheck disable=SC2086
  { cat table.c; table $damage; } >damaged.c
  gcc -O1 -no-pie damaged.c -o damaged
  run penna record -f -k calls -F in_c -o damaged.penna -- ./damaged
  expect_eq '0 7' "$status $out" "with a table of $damage"
  case $damage in
    '0xfffffff1 1 0x500000 72 0x10') expect_contains "$(penna report calls damaged.penna --format csv)" in_c ;;
    *) expect_contains "$err" 'it belongs to Go' ;;
  esac
done

# Java's virtual machine generates code that calls its own functions: those whose address its own code takes. It is
# recognised by a symbol it has for debuggers.
cat >machine.c <<'PROGRAM'
#include <stdio.h>
#ifdef MACHINE
void* gHotSpotVMStructs = 0;
#endif
__attribute__((noipa)) int called_by_written(int n) { return n * 5 / 3 + n % 7 - 3; }
__attribute__((noipa)) int called_by_c(int n) { return n * 7 / 3 + n % 5 - 3; }
__attribute__((noipa)) int call(int (*function)(int)) { return function(4); }
int main(void) { return printf("%d\n", call(called_by_written) + called_by_c(4)) != 3; }
PROGRAM
for machine in '' -DMACHINE; do
  # shellcheck disable=SC2086
  build_c machine -fPIE -pie $machine
  run penna record -f -k calls -F 'called_by_*' -o machine.penna -- ./machine
  expect_eq '0 17' "$status $out" "a machine"
  calls=$(penna report calls machine.penna --format csv)
  expect_contains "$calls" called_by_c
  if [ -z "$machine" ]; then expect_contains "$calls" called_by_written
  else
    expect_missing "$calls" called_by_written
    expect_contains "$err" "calls of called_by_written [machine] are not recorded: it is called by code of Java's machine"
  fi
done

# Mono unwinds through what it has compiled: ahead of time, that is a library like others, except for one symbol.
need mono-mcs mono-runtime
cat >managed.cs <<'PROGRAM'
using System;
class Managed {
  static int Deep(int n) { if (n == 0) throw new ArgumentException("caught"); return Deep(n - 1) + 1; }
  static void Main() {
    try { Deep(50); } catch (Exception e) { Console.WriteLine(e.Message + " " + e.StackTrace.Split('\n').Length); }
    GC.Collect();
    Environment.Exit(3);
  }
}
PROGRAM
mcs managed.cs && mono --aot managed.exe >/dev/null && [ -e managed.exe.so ] || fail "managed.cs does not compile"
run mono managed.exe
expect_eq '3 caught 52' "$status $out" "Mono alone"
run penna record -f -k calls -F '*' -o managed.penna -- mono managed.exe
expect_eq '3 caught 52' "$status $out" "Mono"
expect_contains "$(penna report calls managed.penna --format csv)" mono_main
run penna record -f -k calls -F '*Managed_Deep*' -F mono_main -o managed.penna -- mono managed.exe
expect_eq '3 caught 52' "$status $out" "Mono, a few functions"
expect_match "$err" 'Managed_Deep.* \[managed.exe.so\] are not recorded: it belongs to Mono, whose runtime walks its stacks itself'
