#!/bin/bash
# SPDX-License-Identifier: MIT
# A library whose program headers are far from its beginning, as BOLT leaves them in those of rustc, clang and python:
# its stacks are complete, and it is identified by its build-id.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >library.c <<'PROGRAM'
#include <stdlib.h>
__attribute__((aligned(4096))) const char room[4096] = "room for program headers";
void* inner(size_t bytes) { void* block = malloc(bytes); __asm__ volatile("" : "+r"(block)); return block; }
void* outer(size_t bytes) {
  volatile char frame[300];
  frame[bytes % 300] = 1;
  void* block = inner(bytes + frame[bytes % 300]);
  __asm__ volatile("" : "+r"(block));
  return block;
}
PROGRAM
cat >user.c <<'PROGRAM'
#include <stddef.h>
void* outer(size_t bytes);
int main(void) { return outer(1000) == NULL; }
PROGRAM
gcc -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC -Wl,--build-id library.c -o libmoved.so
gcc -O1 -g user.c -o user -L. -lmoved -Wl,-rpath,"$PWD"
/usr/bin/python3 - <<'MOVE'
import struct
data = bytearray(open("libmoved.so", "rb").read())
at, = struct.unpack_from("<Q", data, 32)
size, count = struct.unpack_from("<HH", data, 54)
room = data.index(b"room for program headers")
assert room % 4096 == 0 and room > 4096
data[room:room + size * count] = data[at:at + size * count]
data[at:at + size * count] = bytes(size * count)
struct.pack_into("<Q", data, 32, room)
open("libmoved.so", "wb").write(data)
MOVE
./user || fail "the library is broken"
run penna record -q -k alloc -o moved.penna -- ./user
expect_eq 0 "$status" "status of ./user"
run penna report alloc moved.penna --size 1001
expect_match "$out" '1.00 kB .* inner \(library.c:3\) \[libmoved.so\]$'
expect_match "$out" '^ +outer \(library.c:[0-9]+\) \[libmoved.so\]$'
expect_match "$out" '^ +main \(user.c:3\) \[user\]$'
expect_missing "$out" "no unwind information"
id=$(readelf -n libmoved.so 2>/dev/null | sed -n 's/.*Build ID: //p')
expect_contains "$(penna list moved.penna --json)" "${id:?}"
