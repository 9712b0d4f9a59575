#!/bin/bash
# SPDX-License-Identifier: MIT
# record --all-functions: unprepared programs, as Debian ships them, behave as they do without Penna, and their hottest
# functions are in the report. Where a recording has no calls, that command is suggested.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need lua5.4 sqlite3 git

# records NAME CMD...: its output and exit status are unchanged
records() {
  local name=$1
  shift
  run "$@"
  local alone="$status $out $err"
  run penna record --all-functions -o "$name.penna" -- "$@"
  expect_eq "$alone" "$status $out $(grep -v '^penna: ' <<<"$err" || true)" "what $name does"
  expect_match "$err" '^penna: --max-overhead 100%: '
  expect_match "$err" '[0-9,]+ calls.*; 0 lost$'
  penna report calls "$name.penna" --format csv -s self >"$name.csv"
  expect_eq complete "$(penna report health "$name.penna" --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])')" "state of $name"
}
# has NAME COUNT FUNCTION...: at least COUNT functions were recorded, including these
has() {
  local name=$1 count=$2 function
  shift 2
  [ "$(wc -l <"$name.csv")" -gt "$count" ] || fail "$(wc -l <"$name.csv") functions of $name, not $count"
  for function in "$@"; do
    grep -Eq "(^|,)$function(,|$)" "$name.csv" || fail "no calls of $function in $name"
  done
}

cat >work.lua <<'LUA'
local t = {}
local function work(n) return n < 2 and n or work(n - 1) + work(n - 2) end
for i = 1, 300 do t[i] = tostring(work(12) + i) end
print(#table.concat(t, ","), string.format("%5.2f", #t / 7))
LUA
records lua lua5.4 work.lua
has lua 100 lua_pcallk lua_pushfstring  # it is stripped: these are exported
records python /usr/bin/python3 -c 'import json; print(len(json.dumps([{str(i): [i] * 9} for i in range(3000)])))'
has python 500 PyObject_Call
query='with recursive n(i) as (select 1 union all select i+1 from n where i < 100000) select count(*), sum(i*i % 97) from n;'
records sqlite sqlite3 :memory: "$query"
has sqlite 100 sqlite3_step
git init -q work && (cd work && for i in 1 2 3; do echo $i >$i.txt && git add . && git -c user.name=a -c user.email=a@b commit -q -m $i; done)
records git git -C work log --stat --oneline
has git 100

# ---- exclusions, and functions that cannot be hooked ----------------------------------------------------------------
run penna record -q --all-functions --module 'lua5.4' -N 'lua_set*' -o own.penna -- lua5.4 work.lua
expect_eq 0 "$(penna report calls own.penna --format csv | grep -c lua_set || true)" "calls of functions that -N leaves out"
penna report calls own.penna --format csv | grep -q lua_pcallk || fail "no lua_pcallk"
expect_contains "$(penna info own.penna)" all-functions
expect_match "$(penna report health lua.penna)" '^calls of [0-9,]+ functions are not recorded, as .*: each '
run penna record --all-functions -F x -- true
expect_contains "$err" "--all-functions and -F contradict each other: give one of them"
run penna record --all-functions -k alloc -- true
expect_contains "$err" "--all-functions is about calls: add calls to -k"
run penna record --all-functions --via breakpoint -- true
expect_contains "$err" "--all-functions cannot be had with breakpoints: leave it out"
run penna record --all-functions --max-overhead 5% -o five.penna -- sqlite3 :memory: "$query"
expect_match "$err" '^penna: --max-overhead 5%: calls of .* are not recorded from some time on'

# ---- a running process is restored afterwards -----------------------------------------------------------------------
touch go.on
lua5.4 -e 'local n = 0 while io.open("go.on") do for i = 1, 10000 do n = n + #tostring(i) end end print(n > 0)' >attached.txt &
pid=$!
sleep 0.2
run penna record --all-functions -p $pid --duration 1s -o attached.penna
expect_eq 0 "$status" "status of the attached recording"
rm go.on
wait $pid || fail "the process ended with $?"
expect_eq true "$(<attached.txt)" "what the process prints"
penna report calls attached.penna --format csv | grep -q ',luaL_tolstring' || fail "no calls of the process"

start said.txt sleep 60
run penna record -p $pid --duration 200ms -o idle.penna
offer="'penna record --all-functions -p PID' records those of any program"
expect_contains "$err" "penna: no calls: $offer"
expect_contains "$(penna report calls idle.penna)" "No calls were recorded: $offer."
kill "$pid"

# ---- from nothing to the hottest function: two commands, of which the first suggests the second ---------------------
for program in "lua5.4 work.lua"; do
  # shellcheck disable=SC2086
  run penna $program
  offer="'penna record --all-functions $program' records those of any program"
  expect_eq 1 "$(grep -cF "No calls were recorded: $offer." <<<"$err")" "offers of the short report"
  # shellcheck disable=SC2086
  run penna record -o bare.penna -- $program
  expect_contains "$err" "penna: no calls: $offer"
  for verb in report "report calls" "report tree" replay "replay --tree" "report --json"; do
    # shellcheck disable=SC2086
    expect_eq 1 "$(penna $verb bare.penna | grep -cF "$offer")" "offers of penna $verb"
  done
  run penna graph main bare.penna
  expect_contains "$err" "$offer"
done
run penna record -q -k alloc -o alloc.penna -- lua5.4 work.lua
expect_missing "$(penna report alloc.penna) $(penna replay -n 5 alloc.penna)" --all-functions
