#!/bin/bash
# SPDX-License-Identifier: MIT
# Probes of other headers are recorded on request: every hit with its arguments, in programs and libraries of several
# compilers; the program's results are unchanged, and unrecordable probes are named.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need systemtap-sdt-dev clang python3
source=$PENNA_SOURCE/tests/programs/foreign_probes.c
cat >library.c <<'C'
#include <sys/sdt.h>
long probed(long i) {
  DTRACE_PROBE1(late, probed, i);
  return i * 5 + 1;
}
C
gcc -O2 -fPIC -shared library.c -o library.so

# hits NAME: of that point in recording.penna, as shown by report points; 0 if there is none
hits() { penna report recording.penna points --format csv | awk -F, -v name="$1" '$0 ~ name {sum += $1} END {print sum + 0}'; }
# wanted NAME COUNT: that many hits, or its reason in $err and none
recorded=0
wanted() {
  local got
  got=$(hits "$1")
  if [ "$got" = 0 ]; then
    penna report recording.penna health | grep -Eq "$1 at 0x[0-9a-f]+ .* is not recorded: it " || fail "$how: $1: no hits, and no reason"
  else
    expect_eq "$2" "$got" "$how: hits of $1"
    recorded=$((recorded + 1))
  fi
}

for how in 'gcc -O2' 'gcc -O1' 'gcc -O0' 'gcc -Os' 'gcc -O3 -fno-pie -no-pie' 'gcc -O2 -fcf-protection' 'gcc -O2 -fno-omit-frame-pointer' \
  'clang -O2' 'clang -O0'; do
  $how -g -o probes "$source" -ldl
  run ./probes 500 ./library.so
  alone="$status $out"
  run penna record -f -o recording.penna -k points -e 'foreign:*' -e 'late:*' -- ./probes 500 ./library.so
  expect_eq "$alone" "$status $out" "$how"
  for name in sizes leaf flags mixed loop; do wanted "foreign:$name" 500; done
  wanted foreign:guarded 501
  wanted late:probed 500
  if [ "$(hits foreign:sizes)" != 0 ]; then
    run penna replay recording.penna
    expect_contains "$out" 'point foreign:sizes arg0=-8 arg1=200 arg2=-1600 arg3=60000 arg4=-320000 arg5=4000000000 arg6=-64000000000 arg7=18446744073709551610'
  fi
done
# Of 7 probes in 9 builds. Whether there is room beside one is the compiler's choice; most have it.
[ $recorded -ge 40 ] || fail "only $recorded of 63 probes were recorded"

gcc -O2 -g -o probes "$source" -ldl
# Arguments, one by one.
run penna record -f -o recording.penna -k points -e 'foreign:mixed' -e 'foreign:loop' -- ./probes 3
run penna replay recording.penna
for i in 0 1 2; do
  expect_match "$out" "point foreign:mixed arg0=$i arg1=7 arg2=-3 arg3=120 arg4=[0-9]+"
  expect_match "$out" "point foreign:loop arg0=$i arg1=[0-9]+"
done
expect_missing "$out" 'foreign:leaf'

# Unless requested, none of them are recorded, nor those that a pattern excludes.
run penna record -f -o recording.penna -k points -- ./probes 3
expect_eq 0 "$(hits foreign)"
run penna record -f -o recording.penna -k points -e 'foreign:*' -e '!foreign:l*' -- ./probes 3
expect_eq 0 "$(hits 'foreign:l')"
expect_eq 3 "$(hits 'foreign:mixed')"

# All kinds together: the same calls and allocations as without probes.
run penna record -f -o recording.penna -e '*' -- ./probes 200 ./library.so
expect_eq 0 $status
expect_eq 200 "$(hits late:probed)"

# Debian's python3 has published ones: their strings are copied. (3.11 fires function__entry only while line is
# enabled.)
cat >work.py <<'PY'
def outer(n):
    return inner(n) + 1
def inner(n):
    return n * 2
print(sum(outer(i) for i in range(100)))
PY
run penna record -f -o recording.penna -k points -e 'python:function__*' -e python:line -e 'python:import*' -- /usr/bin/python3 work.py
expect_eq '10000' "$out"
run penna replay recording.penna
expect_match "$out" 'point python:import__find__load__start module="_*[a-z]+"'
calls=$(penna list /usr/bin/python3 | grep python:function__entry >/dev/null && echo 100 || echo 0)  # 3.13 has no such probes any more
expect_eq "$calls" "$(grep -c 'point python:function__entry file=".*work.py" function="inner" line=3' <<<"$out")"
expect_eq "$calls" "$(grep -c 'point python:function__return file=".*work.py" function="outer" line=2' <<<"$out")"
