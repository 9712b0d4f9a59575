#!/bin/bash
# SPDX-License-Identifier: MIT
# Each verb of penna once, on programs that any system with ./run build has: the shop of examples/demo, and Debian's cmake, not rebuilt.
# Its exit status, and a word of what it says. `./run fresh trixie verbs` runs it on a Debian that is not this one.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common.sh"
verbs=()
# verb WORD VERB ARGS...: penna VERB ARGS says WORD, and ends with 0.
verb() {
  verbs+=("$2")
  run penna "${@:2}"
  expect_eq 0 "$status" "exit status of penna ${*:2}; it says: $err"
  expect_contains "$out$err" "$1"
}

cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
untraced=$(./orders)

verb "$untraced" record -o orders.penna -- ./orders
expect_contains "$err" ' 0 lost'
verb '--libcalls' help record --all
verb 'lost       nothing' info orders.penna
verb 'shop::audit' report orders.penna calls
verb 'copy_receipt' report orders.penna leaks
verb 'shop::ledger.mutex' report orders.penna locks
verb '40' report orders.penna points
verb 'lost' report orders.penna health
verb 'shop:paid' replay orders.penna --merge
verb 'shop::pay' graph 'shop::serve' orders.penna
verb 'shop:copied' list ./orders
verb 'shop:copied' list orders.penna
verb '' lint ./orders
verb 'allocations' doctor ./orders
verb '' check orders.penna --max-leak 1M
sql_engine
for format in html csv chrome perfetto folded speedscope ctf heaptrack massif rtrace libleaks pprof uftrace sqlite duckdb parquet; do
  verb '' export $format orders.penna orders.$format
  [ -n "$(find . -path "./orders.$format*" -size +0)" ] || fail "penna export $format wrote nothing"
done
verb 'shop::ledger.mutex' sql orders.penna 'SELECT lock FROM wait'
start address.txt "$PENNA" view orders.penna --no-open
await address.txt '^http://127.0.0.1:'
verbs+=(view)
kill -TERM "$pid"
wait "$pid" || fail "penna view ends with $?"
verb 'imported.penna' import rtrace orders.rtrace -o imported.penna
verb 'copy_receipt' report imported.penna leaks
verb 'part.penna' trim -r 1ms- -o part.penna orders.penna
verb 'part.penna' pack part.penna
verb 'both.penna' merge -o both.penna orders.penna orders.penna
verb 'complete -F' completion bash
verb '' config

# A point that is off is switched on; the program that is recorded asks for it itself, so that nobody waits for anybody.
cat >switched.sh <<'SCRIPT'
"$PENNA" ctl $PPID on 'shop:paid'
./orders
SCRIPT
verbs+=(ctl)
run penna record -o switched.penna -k points -e none:none -- sh switched.sh
expect_contains "$err" "'shop:paid' names no point of"
expect_eq "0 $untraced" "$status $out" "status and output of what penna ctl switched"
verb 'shop:paid' report switched.penna points

# No server is there: both say so, and keep what they have.
for words in 'push --to http://127.0.0.1:9 --give-up 1s orders.penna' 'fleet init http://127.0.0.1:9'; do
  read -ra words <<<"$words"
  verbs+=("${words[0]}")
  run penna "${words[@]}"
  expect_eq 125 "$status" "exit status of penna ${words[*]}; it says: $err"
  expect_contains "$err" '127.0.0.1:9'
done

# A program of the system: its allocations, its locks, its functions by name and its calls into libraries.
cmake=$(command -v cmake)
verb 'allocation events' record -o cmake.penna -k alloc,locks -- "$cmake" --help
verb 'sorted by' report cmake.penna alloc --by module
verb 'calls' record -o libcalls.penna -k calls --libcalls -- "$cmake" --version
verb 'strlen' report libcalls.penna calls -n 0
verb 'orders' diff cmake.penna orders.penna

# Those that penna has, and no other.
known=$(penna help 2>&1 | sed -n 's/^  penna \([a-z]*\) .*/\1/p' | sort -u)
expect_eq "$known" "$(printf '%s\n' "${verbs[@]}" | sort -u)" "verbs"
echo PASS
