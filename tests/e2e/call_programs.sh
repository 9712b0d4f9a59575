#!/bin/bash
# SPDX-License-Identifier: MIT
# Third-party programs, as Debian has them: a CMake project built with patchable entries, Lua with hooks, unmodified
# python3 and ls. They behave as without Penna, and the number of calls matches their work: lines of text, calls in a
# script.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need dpkg-dev libreadline-dev 'python3.11-dbg|python3.13-dbg'
copy_of_pages
cd copy
build=examples/build-program

# count FUNCTION RECORDING: how often it was called
count() { penna report calls "$2" --format csv | /usr/bin/python3 -c '
import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(sys.stdin) if row["function"] == sys.argv[1]))' "$1"; }
# nothing_missing RECORDING
nothing_missing() {
  local counter
  for counter in 'lost calls' 'stray exits' 'unwound calls' 'calls too deep' torn holes; do
    expect_eq 0 "$(penna report health "$1" --format csv | awk -F, -v name="$counter" '$1 == name { print $2 }')" "$counter of $1"
  done
}

# ---- cmark: following docs/calls.md ---------------------------------------------------------------------------------
run bash -ec "$(doc_block calls.md examples/build-program)"
expect_eq 0 "$status" "status of the example in docs/calls.md"
expect_match "$out" ' S_process_line \(blocks.c:[0-9]+\) \[cmark\]$'
nothing_missing cmark.penna
expect_eq "$(wc -l <README.md)" "$(count S_process_line cmark.penna)" "lines that cmark read"
cmark=$($build cmark patchable gcc -fpatchable-function-entry=5 2>/dev/null)
expect_eq "$("$cmark" README.md)" "$(penna record -q -f -k calls -o cmark.penna -- "$cmark" README.md)" "what cmark writes"

# ---- Lua ------------------------------------------------------------------------------------------------------------------------
lua=$($build lua hooks gcc -finstrument-functions 2>/dev/null)
cat >fib.lua <<'SCRIPT'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
for i = 1, 20 do print(fib(i)) end
SCRIPT
expect_eq "$("$lua" fib.lua)" "$(penna record -q -k calls -o fib.penna -- "$lua" fib.lua)" "what the script prints"
nothing_missing fib.penna
expect_eq 20 "$(count luaB_print fib.penna)" "calls of print"
# Each call that a script makes is prepared by one of luaD_precall.
prepared() { penna record -q -f -k calls -F luaD_precall -o precall.penna -- "$lua" -e "$1" && count luaD_precall precall.penna; }
read -r calls_made seen <<<"$(prepared 'n = 0; function f(i) n = n + 1; if i >= 2 then f(i - 1) f(i - 2) end end f(20) print(n)' | tr '\n' ' ')"
read -r zero before <<<"$(prepared 'n = 0; print(n)' | tr '\n' ' ')"
expect_eq "21891 0 21891" "$calls_made $zero $((seen - before))" "calls of f, as the script and as the recording counts them"

# ---- python3 and ls, not rebuilt ------------------------------------------------------------------------------------
cat >script.py <<'SCRIPT'
print({"one": 1}["one"])
SCRIPT
run penna record -q -k calls -F 'PyDict_*' -A 'PyDict_SetItemString@arg1/x,arg2/s' -o dict.penna -- /usr/bin/python3 script.py
expect_eq "0 1" "$status $out" "what python3 prints"
nothing_missing dict.penna
run penna replay dict.penna -F PyDict_SetItemString
expect_match "$out" ' PyDict_SetItemString\(arg1=0x[0-9a-f]+, arg2="__match_args__"\)'
run penna record -q -k calls --libcalls -o ls.penna -- ls -l "$PENNA_SOURCE/docs"
expect_eq "$(ls -l "$PENNA_SOURCE/docs")" "$out" "what ls prints"
nothing_missing ls.penna
expect_eq 1 "$(count getpwuid ls.penna)" "calls of getpwuid by ls: the files have one owner"
