#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands of docs/fleet.md work as they stand, with real servers behind the addresses; and the question of the page has the same answer
# by ClickHouse over what three hosts pushed as by DuckDB over their recordings.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$PENNA_SOURCE/tests/clients/clickhouse.sh"
export XDG_STATE_HOME=$work/state
cp -r "$PENNA_SOURCE/examples" .
cp examples/demo/orders.cc .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
for host in a b c; do penna record -q -o $host.penna -- ./orders >/dev/null; done
clickhouse_database=shards # as on the page
clickhouse 2
count=0
while read -r command; do
  command=${command//http:\/\/127.0.0.1:8123/${url[1]}} command=${command//http:\/\/127.0.0.1:8124/${url[2]}}
  run bash -c "PATH=$(dirname "$PENNA"):\$PATH; $command"
  expect_eq 0 "$status" "$command: $err"
  count=$((count + 1))
done < <(awk '/^```console/ {inside = 1; next} /^```/ {inside = 0} inside && /^\$ / {print substr($0, 3)}' "$PENNA_SOURCE/docs/fleet.md")
[ "$count" -ge 7 ] || fail "the page has $count commands"

sql_engine
penna push --to "${url[1]}" --label service=shop --label host=c c.penna 2>/dev/null
hosts() { sed 's/^0,/"a",/; s/^1,/"b",/; s/^2,/"c",/' | tr -d '"' | grep '^[abc],' | sort; } # the page pushes others, too
here=$(penna sql a.penna b.penna c.penna --format csv -f examples/sql/slowest_of_each.sql | tail -n +2 | hosts)
expect_eq "$here" "$(penna sql --at "${url[1]}" --format csv -f examples/sql/fleet_slowest.sql | tail -n +2 | hosts)" "the question of the page"
expect_eq 3 "$(cut -d, -f1 <<<"$here" | sort -u | wc -l)" hosts
expect_contains "$here" 'shop::audit()'
