#!/bin/bash
# SPDX-License-Identifier: MIT
# penna ctl PID on --where, -F, -N: what does not meet a filter that is set while the program runs is left out from then on, whole;
# what had begun before stays; a wrong one is refused and changes nothing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >shop.c <<'PROGRAM'
// A round for each line that it reads, and says so: calls, a point with the round's number, a span with it.
#include <stdio.h>
#include <stdlib.h>
#include "penna/point.h"
__attribute__((noipa)) static void look(void) { __asm__ volatile(""); }
__attribute__((noipa)) static void pay(void) { look(); }
__attribute__((noipa)) static void serve(long round) {
  PENNA_EVENT(shop, order, round);
  pay();
}
__attribute__((noipa)) static int rounds(void) {
  char line[64];
  for (long round = 1; fgets(line, sizeof line, stdin); ++round) {
    serve(round);
    printf("done\n");
  }
  return 7;
}
int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  return rounds();
}
PROGRAM
cc -O1 -g -finstrument-functions -I"$PENNA_SOURCE/include" shop.c -o shop
begin() {
  rm -f to from
  mkfifo to from
  "$PENNA" record -q "$@" ./shop <to >from &
  recorder=$!
  started+=("$recorder")
  exec 8>to 9<from
}
round() { echo go >&8; read -r answer <&9; }
end() {
  exec 8>&-
  ended=0
  wait "$recorder" || ended=$?
  exec 9<&-
  expect_eq 7 "$ended" "exit status of the program"
}
ctl() {
  run penna ctl "$recorder" "$@"
  expect_eq 0 "$status" "exit status of ctl $*: $err"
}
calls_of() { "$PENNA" report calls "$1" --json -n 0 | python3 -c '
import json, re, sys
rows = next(value for value in json.load(sys.stdin).values() if isinstance(value, list) and (not value or isinstance(value[0], dict)))
print(sum(row["calls"] for row in rows if re.search(rf"\b{sys.argv[1]}\b", json.dumps(row))))' "$2"; }
orders_of() { "$PENNA" export csv "$1" - | grep -o 'round=[0-9]*' | sed 's/round=//' | tr '\n' ' '; }

begin -o shop.penna -k calls,points
round                                  # 1
ctl on -N pay
expect_contains "$err" "-N 'pay' set: what does not meet it from now on is not recorded"
round                                  # 2
ctl on --where 'round > 3' --where 'no_such > 1'
expect_contains "$err" "--where 'round > 3' set: what does not meet it from now on is not recorded"
expect_contains "$err" "--where 'no_such > 1' set; no point that has been passed so far has these arguments"
round                                  # 3: neither pay() nor the point
round                                  # 4: the point again
ctl off -N pay
expect_contains "$err" "-N 'pay' removed"
ctl on -F 'pa*'
round                                  # 5: only pay()
ctl off -F 'pa*'
ctl off --where 'round > 3'
ctl on --where 'round == "text"'       # does not apply
round                                  # 6
end
expect_eq 5 "$(calls_of shop.penna serve)" "calls of serve: not in round 5"
expect_eq 3 "$(calls_of shop.penna pay)" "calls of pay: in rounds 1, 5, 6"
expect_eq 1 "$(calls_of shop.penna rounds)" "calls of rounds, which goes on all the time"
expect_eq "1 2 4 5 6 " "$(orders_of shop.penna)" "points"
run penna report calls shop.penna
expect_missing "$out" "still open"
run penna report health shop.penna
expect_match "$out" "-N 'pay' was set after [0-9.]+ s: what does not meet it from then on is not recorded"
expect_match "$out" "-N 'pay' was removed after"
run penna info shop.penna
expect_match "$out" '^state +complete$'
expect_match "$out" '^lost +nothing$'

# Refused, in a sentence: nothing is set by it.
begin -o refused.penna -k calls,points -F 'serve'
round
refuse() {
  local sentence=$1
  shift
  run penna ctl "$recorder" "$@"
  expect_eq 125 "$status" "exit status of ctl $*"
  expect_contains "$err" "$sentence"
}
refuse "is not set" off -N pay
refuse "number" on --where 'round >'
refuse "(" on -F '/pay(/'
refuse "1 to 1000 characters" on -N "$(printf 'x%.0s' {1..1001})"
refuse "one line" on -N $'a\tb'
ctl on -N 'p ay'                       # a blank is part of a name
refuse "is set already" on -N 'p ay'
for i in {1..15}; do ctl on -N "name$i"; done
refuse "16 filters are set" on -N one_more
for wrong in 'on -N a shop:*' 'stop -N a' 'on -k calls -N a'; do
  # shellcheck disable=SC2086
  refuse "filters are for on and off" $wrong
done
round
end
expect_eq 2 "$(calls_of refused.penna serve)" "calls that the filter given from the start keeps"
expect_eq 0 "$(calls_of refused.penna pay)" "calls that it leaves out"
begin -o points.penna -k points
round
refuse "this recording does not take calls: start it with calls among its kinds (-k calls)" on -F pay
end
echo PASS
