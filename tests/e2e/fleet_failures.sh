#!/bin/bash
# SPDX-License-Identifier: MIT
# penna push when things go wrong: answers that are lost, requests that arrive late, a push that is killed, a shard that is killed under load,
# a server that is away. In the end each row is there, and once.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$PENNA_SOURCE/tests/clients/clickhouse.sh"
export XDG_STATE_HOME=$work/state
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
count=8
for ((i = 0; i < count; ++i)); do penna record -q -o $i.penna -- ./orders $((500 + i)) >/dev/null; done
sql_engine
clickhouse 2
tables='call allocation wait hold event point counter thread'
# check_all SERVER RECORDING...: of each table as many rows as there are in these, each another one.
check_all() {
  local table here there
  for table in $tables; do
    here=$(penna sql "${@:2}" --format csv "SELECT count(*) FROM $table" | tail -n 1)
    there=$(penna sql --at "$1" --format csv "SELECT count() FROM $table" | tail -n 1)
    expect_eq "$here" "$there" "rows of $table"
  done
  expect_eq "$(penna sql "${@:2}" --format csv 'SELECT count(*), sum(duration) FROM call' | tail -n 1)" \
    "$(penna sql --at "$1" --format csv 'SELECT uniqExact(id), sum(duration) FROM call' | tail -n 1)" "calls, each its own"
}

# Away: kept for later, and done then.
penna fleet init "${url[2]}" --database away 2>/dev/null
clickhouse_kill 2
run penna push --to "${url[2]}" --database away --give-up 1s 0.penna
expect_eq 125 "$status" "of a server that is away"
expect_match "$err" "^penna push: ${url[2]} does not answer: it cannot be reached; 0 blocks of 0.penna arrived, and 'penna push' goes on from there"
expect_eq 600 "$(stat -c %a "$XDG_STATE_HOME"/penna/push/*.toml)" "rights of a note"
clickhouse_start 2
run penna push
expect_eq 0 "$status" "$err"
expect_match "$err" "^penna: pushed $work/0.penna to ${url[2]}"
expect_eq '' "$(ls "$XDG_STATE_HOME/penna/push")" "notes of what has arrived"
run penna push
expect_eq 'penna: there is nothing left to push' "$err"

# Answers that are lost on the way.
penna fleet init "${url[1]}" --database lossy 2>/dev/null
"$PENNA_SOURCE/tests/clients/cutting_proxy.py" "${url[1]#http://}" proxy.log >proxy.port &
started+=("$!")
await proxy.port '^[0-9]+$'
lossy=http://127.0.0.1:$(<proxy.port)
run penna push --to "$lossy" --database lossy 0.penna
expect_eq 0 "$status" "$err"
expect_match "$err" '; [0-9]+ blocks? sent again$'
for way in pass answer-cut never late 'came late'; do grep -qx "$way" proxy.log || await proxy.log "^$way\$"; done
sleep 1.5 # until the last of those that are late is there
late=$(grep -cx late proxy.log)
expect_eq "$late" "$(grep -cx 'came late' proxy.log)" "blocks that came late"
for table in $tables; do
  expect_eq "$(penna sql 0.penna --format csv "SELECT count(*) FROM $table" | tail -n 1)" \
    "$(penna sql --at "${url[1]}" --database lossy --format csv "SELECT count() FROM $table" | tail -n 1)" "rows of $table"
done
# Two shards, one of them killed under load; pushes are killed, too.
penna fleet init "${url[1]}" "${url[2]}" --cluster penna 2>init.txt || fail "$(cat init.txt)"
push_one() { penna push --to "${url[1]}" --give-up 300s --label host=h$1 $1.penna; }
push_all() { for ((i = 0; i < count; ++i)); do push_one $i; done; }
push_all >pushed.txt 2>&1 &
pushing=$!
started+=("$pushing")
await pushed.txt '^penna: pushed 0.penna'
clickhouse_kill 2
sleep 2
clickhouse_start 2
wait "$pushing" || fail "$(cat pushed.txt)"
expect_eq $count "$(grep -c '^penna: pushed' pushed.txt)" "recordings pushed"
# Which of them a recording goes to is chance.
has_rows() { [ "$(ask "$1" 'SELECT count() FROM penna_shard.call_rows')" -gt 0 ]; }
for shard in 1 2; do
  while ! has_rows $shard; do
    [ $count -lt 40 ] || fail "shard $shard has nothing"
    penna record -q -o $count.penna -- ./orders 500 >/dev/null
    run push_one $count
    expect_eq 0 "$status" "$err"
    count=$((count + 1))
  done
done
names=()
for ((i = 0; i < count; ++i)); do names+=("$i.penna"); done
check_all "${url[1]}" "${names[@]}"
check_all "${url[2]}" "${names[@]}"

# A push that is killed goes on from where it was.
penna record -q -o killed.penna -- ./orders 3000 >/dev/null
for pause in 0.3 0.5 0.7 0.9 1.2; do (timeout -s KILL $pause "$PENNA" push --to "${url[1]}" killed.penna || true) 2>/dev/null; done
run penna push
[ "$status" = 0 ] || fail "penna push ends with $status"
run penna push --to "${url[1]}" killed.penna
expect_contains "$err" "has all of killed.penna already"
check_all "${url[1]}" "${names[@]}" killed.penna
