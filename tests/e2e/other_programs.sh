#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of 32 bits and of another libc, which the agent cannot be preloaded into: however they are started, they print and end as
# without us, and it is told that they are not recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libc6-i386
mkdir bin
cat >small.c <<'C'
extern int puts(const char*);
extern void exit(int);
void _start(void) {
  puts("thirty-two");
  exit(3);
}
C
gcc -m32 -fno-pic -fno-stack-protector -c small.c -o small.o
ld -m elf_i386 -dynamic-linker /lib/ld-linux.so.2 small.o /usr/lib32/libc.so.6 -o bin/small
printf '#! %s/bin/small\n' "$work" >bin/wrapped
# As musl's programs name their dynamic linker; that it is glibc's here, makes no difference.
cp /lib64/ld-linux-x86-64.so.2 ld-musl-x86_64.so.1
echo 'int puts(const char*); int main(void) { puts("musl"); return 4; }' >other.c
gcc other.c -o bin/other -Wl,--dynamic-linker="$work/ld-musl-x86_64.so.1"
chmod +x bin/wrapped
cat >starts.py <<'P'
import os, subprocess, sys
for program in ["small", "wrapped", "other"]:
    print(subprocess.run(["bin/" + program], capture_output=True))
    print(subprocess.run([program], capture_output=True))
    print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("bin/" + program, ["x"], os.environ), 0)[1]))
    print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawnp(program, ["x"], os.environ), 0)[1]))
    print(os.system("bin/" + program + " 2>&1"))
os.execve(os.open("bin/small", os.O_RDONLY), ["x"], os.environ)
P
export PATH="$PATH:$work/bin"

for program in small wrapped other; do
  run bin/$program
  alone="$status $out $err"
  run penna record -q -f -k alloc -o program.penna -- $program
  expect_eq "$alone" "$status $out $err" "$program"
  run penna info program.penna
  expect_match "$out" 'nothing was recorded of .*(32-bit|its libc is musl)'
done
run /usr/bin/python3 -u starts.py
alone="$status $out $err"
run penna record -q -f -k alloc -o starts.penna -- /usr/bin/python3 -u starts.py
expect_eq "$alone" "$status $out $err" "programs that a program starts"
run penna info starts.penna
told() { grep -cE "^[^ ]*$1 \(pid [1-9][0-9]*\) was not recorded: $2" <<<"$out"; }
expect_eq "6 5 5" "$(told small 'it is a 32-bit program') $(told wrapped 'it is a 32-bit program') $(told other 'its libc is musl')" "programs"
