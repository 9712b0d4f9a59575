#!/bin/bash
# SPDX-License-Identifier: MIT
# 32-bit programs and those of another libc, into which the agent cannot be preloaded: however they are started, their
# output and exit status are unchanged, and they are reported as unrecorded.
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
# Named like the dynamic linker of musl's programs; that it is actually glibc's makes no difference.
cp /lib64/ld-linux-x86-64.so.2 ld-musl-x86_64.so.1
echo 'int puts(const char*); int main(void) { puts("musl"); return 4; }' >other.c
gcc other.c -o bin/other -Wl,--dynamic-linker="$work/ld-musl-x86_64.so.1"
chmod +x bin/wrapped
# Not all kernels run 32-bit programs. If this one does not, there is nothing to compare for them.
programs=(other)
if /usr/bin/python3 -c 'import os; os.execv("bin/small", ["small"])' >/dev/null 2>&1 || [ $? = 3 ]; then
  programs+=(wrapped small)  # small last: a script cannot be run by a descriptor that the exec closes
else
  echo "this kernel runs no 32-bit programs: only those of musl are tried"
fi
cat >starts.py <<'P'
import os, subprocess, sys
for program in sys.argv[1:]:
    print(subprocess.run(["bin/" + program], capture_output=True))
    print(subprocess.run([program], capture_output=True))
    print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("bin/" + program, ["x"], os.environ), 0)[1]))
    print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawnp(program, ["x"], os.environ), 0)[1]))
    print(os.system("bin/" + program + " 2>&1"))
os.execve(os.open("bin/" + program, os.O_RDONLY), ["x"], os.environ)
P
export PATH="$PATH:$work/bin"

for program in "${programs[@]}"; do
  run bin/$program
  alone="$status $out $err"
  run penna record --via inject -q -f -k alloc -o program.penna -- $program
  expect_eq "$alone" "$status $out $err" "$program"
  run penna info program.penna
  expect_match "$out" 'nothing was recorded of .*(32-bit|its libc is musl)'
done
run /usr/bin/python3 -u starts.py "${programs[@]}"
alone="$status $out $err"
run penna record -q -f -k alloc -o starts.penna -- /usr/bin/python3 -u starts.py "${programs[@]}"
expect_eq "$alone" "$status $out $err" "programs that a program starts"
run penna info starts.penna
# Each was started five times by the script, the last one once more, by its descriptor.
for program in "${programs[@]}"; do
  [ $program = other ] && why='its libc is musl' || why='it is a 32-bit program'
  [ $program = "${programs[-1]}" ] && starts=6 || starts=5
  expect_eq $starts "$(grep -cE "^[^ ]*$program \(pid [1-9][0-9]*\) was not recorded: $why" <<<"$out")" "starts of $program that are told"
done
