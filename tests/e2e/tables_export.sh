#!/bin/bash
# SPDX-License-Identifier: MIT
# penna export sqlite, duckdb and parquet: the tables of penna sql, read by sqlite3, by DuckDB and by a Parquet reader
# that is not DuckDB's.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need sqlite3 nodejs
npm_packages hyparquet@1.33.0 hyparquet-compressors@1.1.2
sql_engine
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
penna record -q -o shop.penna -- ./orders >/dev/null

for format in sqlite duckdb parquet; do penna export $format shop.penna -o shop.$format; done
tables='recording process thread module symbol stack frame event call allocation wait hold point span counter health'
rows() { penna sql shop.penna --format csv "SELECT count(*) FROM $1" | tail -n 1; }
for table in $tables; do
  of_recording=$(rows $table)
  expect_eq "$of_recording" "$(sqlite3 shop.sqlite "SELECT count(*) FROM \"$table\"")" "rows of $table in SQLite"
  expect_eq "$of_recording" "$(rows "'shop.parquet/$table.parquet'")" "rows of $table in Parquet"
  expect_eq "$of_recording" "$(penna sql shop.penna --format csv "ATTACH 'shop.duckdb' AS d (READ_ONLY); SELECT count(*) FROM d.$table" | tail -n 1)" "rows of $table in DuckDB"
  columns=$(penna sql shop.penna --format csv "FROM $table LIMIT 0" | head -n 1)
  expect_eq "$columns" "$(sqlite3 shop.sqlite "SELECT group_concat(name) FROM pragma_table_info('$table')")" "columns of $table in SQLite"
done
expect_eq "$(ls shop.parquet)" "$(printf '%s.parquet\n' $tables | sort)" "files"
expect_eq ok "$(sqlite3 shop.sqlite 'PRAGMA integrity_check')" "SQLite's own check"

# Values, by other readers.
values=$(penna sql shop.penna --format csv "SELECT function || '|' || count(*) || '|' || sum(duration) || '|' || count(parent) FROM call GROUP BY function ORDER BY function" | tail -n +2 | tr -d '"')
expect_eq "$values" "$(sqlite3 shop.sqlite 'SELECT function, count(*), sum(duration), count(parent) FROM call GROUP BY 1 ORDER BY 1')" "calls by SQLite"
cat >read.mjs <<'SCRIPT'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
const rows = await parquetReadObjects({ file: await asyncBufferFromFile('shop.parquet/call.parquet'), compressors });
const sums = new Map();
for (const { function: name, duration, parent } of rows) {
  const sum = sums.get(name) ?? { count: 0, duration: 0n, parents: 0 };
  sums.set(name, { count: sum.count + 1, duration: sum.duration + BigInt(duration), parents: sum.parents + (parent === null || parent === undefined ? 0 : 1) });
}
for (const name of [...sums.keys()].sort()) console.log(`${name}|${sums.get(name).count}|${sums.get(name).duration}|${sums.get(name).parents}`);
SCRIPT
ln -s "$modules" node_modules
expect_eq "$values" "$(node read.mjs)" "calls by hyparquet"
expect_eq "$(penna sql shop.penna --format csv "SELECT count(*) FROM call WHERE utc > TIMESTAMP '2020-01-01'" | tail -n 1)" \
  "$(sqlite3 shop.sqlite 'SELECT count(*) FROM call WHERE utc > 1577836800000000000')" "moments"
expect_contains "$(penna sql shop.penna --format csv "ATTACH 'shop.duckdb' AS d (READ_ONLY); USE d; FROM flame('wait', duration)")" 'shop::pay'

# An existing file is replaced when the new one is complete, and no temporary file remains.
before=$(stat -c %i shop.sqlite)
penna export sqlite shop.penna -o shop.sqlite
[ "$(stat -c %i shop.sqlite)" != "$before" ] || fail "the database was written in place"
expect_eq '' "$(ls -A | grep '^\.penna-' || true)" "left beside"
# Filters, and errors in a sentence.
penna export sqlite shop.penna -F shop::serve -o served.db
expect_eq 'shop::serve(int)' "$(sqlite3 served.db 'SELECT DISTINCT function FROM call')" "-F"
run penna export sqlite shop.penna
expect_eq "penna export: sqlite is a file: name it, as in 'penna export sqlite REC -o FILE'" "$err"
run penna export duckdb shop.penna -o shop.penna
expect_contains "$err" 'is the recording itself'
run penna export sqlite shop.penna -o no/such/place.db
expect_eq 125 "$status" "no such directory"
run penna export parquet shop.penna -o shop.parquet
expect_eq 125 "$status" "a directory that is not empty"
XDG_DATA_HOME=$work/none run penna export duckdb shop.penna -o other.duckdb
expect_contains "$err" "'penna sql --install'"
[ ! -e other.duckdb ] || fail "an export that failed has left a file"
echo PASS
