#!/bin/bash
# SPDX-License-Identifier: MIT
# penna sql: its answers about the shop match the reports; formats, errors, several recordings, and running without
# DuckDB. The queries of docs/sql.md are run by docs.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
penna record -q -o shop.penna -- ./orders >/dev/null

# Without it: one sentence about how to install it, and every other verb works.
export XDG_DATA_HOME=$work/none
run penna sql shop.penna 'SELECT 1'
expect_eq 125 "$status" "without DuckDB"
expect_eq "penna sql: SQL needs DuckDB, which is not here: 'penna sql --install' gets it (24 MB, by npm), once" "$err"
run env PATH="$(dirname "$PENNA")" "$PENNA" sql --install
expect_eq 125 "$status" "without npm"
expect_contains "$err" "install the package npm"
# An npm that fails, in the words of two of its versions: one sentence with its reason.
mkdir bin
for prefix in 'npm ERR!' 'npm error'; do
  printf '#!/bin/sh\nprintf "%%s\\n" "%s code SELF_SIGNED" "%s errno SELF_SIGNED" "%s request failed, reason: bad certificate" "" \
    "%s A complete log of this run can be found in: x.log" >&2\nexit 1\n' "$prefix" "$prefix" "$prefix" "$prefix" >bin/npm
  chmod +x bin/npm
  run env PATH="$PWD/bin:$PATH" "$PENNA" sql --install
  expect_eq 125 "$status"
  expect_match "$err" '^penna sql: npm could not install DuckDB [0-9.]+: code SELF_SIGNED; request failed, reason: bad certificate$'
done
# A library writable by others is not loaded, and another library is not taken for DuckDB.
mkdir -p "$XDG_DATA_HOME/penna/duckdb-1.5.6"
cp "$(dirname "$PENNA")/../lib/libpenna-agent.so" "$XDG_DATA_HOME/penna/duckdb-1.5.6/libduckdb.so"
chmod 666 "$XDG_DATA_HOME/penna/duckdb-1.5.6/libduckdb.so"
run penna sql shop.penna 'SELECT 1'
expect_contains "$err" "can be changed by other users, and is not loaded"
expect_eq 125 "$status" "of a library that others can change"
echo no library >"$XDG_DATA_HOME/penna/duckdb-1.5.6/libduckdb.so"
chmod 600 "$XDG_DATA_HOME/penna/duckdb-1.5.6/libduckdb.so"
run penna sql shop.penna 'SELECT 1'
expect_contains "$err" "cannot load DuckDB"

sql_engine
[ "$(stat -c %a "$XDG_DATA_HOME"/penna/duckdb-1.5.6{,/libduckdb.so} | tr '\n' ' ')" = '700 600 ' ] || fail "rights of what was installed"

# sql QUERY: its rows, as CSV without a header.
sql() { penna sql shop.penna --format csv "$1" | tail -n +2; }
# same QUERY COLUMNS TABLE...: it has the rows of a report, these columns (by name), in some order. Times are converted
# from ticks: a sum of single times in nanoseconds differs from the converted sum, by less than one nanosecond each.
compared=0
same() {
  penna sql shop.penna --format csv "$1" >asked.csv
  penna report shop.penna "${@:3}" --format csv >reported.csv
  /usr/bin/python3 - "$2" <<'PYTHON' || fail "$1: not what penna report ${*:3} says"
import csv, sys
columns = sys.argv[1].split(',')
times = [i for i, name in enumerate(columns) if name.endswith('_ns')]
key = lambda row: [value for i, value in enumerate(row) if i not in times]
reported = sorted(([row[name] for name in columns] for row in csv.DictReader(open('reported.csv'))), key=key)
# Functions that only called others that did have a row in a report.
reported = [row for row in reported if any(value not in ('0', '') for value in row[:-1])]
asked = sorted(list(csv.reader(open('asked.csv')))[1:], key=key)
assert reported and list(map(key, reported)) == list(map(key, asked)), (reported, asked)
for one, other in zip(reported, asked):
    for i in times:
        assert abs(int(one[i]) - int(other[i])) <= 100, (one, other)
PYTHON
  compared=$((compared + 1))
}
same 'SELECT count(*), function FROM call GROUP BY 2' calls,function calls
same 'SELECT min(duration), max(duration), function FROM call GROUP BY 3' min_ns,max_ns,function calls
same "SELECT count(*), sum(bytes), function FROM allocation WHERE family = 'heap' GROUP BY 3" count,self_bytes,function alloc --by function
same "SELECT sum(bytes), count(*), function FROM allocation WHERE state = 'live' AND function LIKE 'shop::%' GROUP BY 3" self_bytes,blocks,function leaks --by function
same "SELECT sum(duration), count(*), max(duration), lock FROM wait WHERE kind = 'mutex' GROUP BY 4" wait_ns,waits,max_wait_ns,lock waits --by lock
same "SELECT count(*), max(duration), function FROM hold GROUP BY 3" holds,max_hold_ns,function holds
same "SELECT sum(duration), count(*), function FROM wait WHERE kind = 'mutex' GROUP BY 3" wait_ns,waits,function waits --by function
same "SELECT count(*), sum(w.duration), t.name || ' (tid ' || tid || ')' FROM wait AS w JOIN thread AS t ON t.id = w.thread WHERE kind = 'mutex' GROUP BY 3" waits,wait_ns,thread waits --by thread
same "SELECT count(*), provider || ':' || name FROM point GROUP BY 2" hits,point points
same 'SELECT tid, calls // 2, allocations, locks, points, lost FROM thread' tid,calls,alloc,locks,points,lost threads
same 'SELECT value, name FROM health WHERE value > 0' value,counter health
[ "$compared" -ge 10 ] || fail "only $compared queries were compared"
peak=$(penna report shop.penna alloc --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin).get("peak_bytes", ""))')
[ -z "$peak" ] || expect_eq "$peak" "$(sql "SELECT max(value) FROM counter WHERE name = 'heap.bytes'")" "the peak"
expect_eq "$(penna export csv shop.penna | tail -n +2 | cut -d, -f4 | sort | uniq -c)" "$(sql 'SELECT kind FROM event' | sort | uniq -c)" "kinds of events"

# Every column can be selected by its bare name.
while IFS='|' read -r table columns; do
  run penna sql shop.penna --format csv "SELECT $columns FROM $table"
  expect_eq 0 "$status" "SELECT $columns FROM $table: $err"
done < <(awk '/^### / {if (columns) print table "|" columns; table = $2; columns = ""} /^\| `[a-z_]+` \| [A-Z]/ {split($0, parts, "`"); columns = columns (columns ? "," : "") parts[2]}
  END {print table "|" columns}' "$PENNA_SOURCE/docs/sql.md")

# Keys refer to existing rows.
for join in 'call.thread thread' 'call.parent call' 'allocation.call call' 'allocation.stack stack' 'wait.holder thread' 'wait.holder_stack stack' 'point.call call' 'stack.parent stack' 'thread.process process'; do
  read -r column table <<<"$join"
  expect_eq 0 "$(sql "SELECT count(*) FROM ${column%.*} AS a WHERE a.${column#*.} NOT IN (SELECT id FROM $table)")" "$join"
done

# Formats.
run penna sql shop.penna --json "SELECT 1 AS one, NULL AS nothing, [1, 2] AS list, {'a': 'x'} AS part, 1.50 AS d, DATE '2026-11-20' AS day"
/usr/bin/python3 -c 'import json, sys; rows = json.loads(sys.argv[1]); assert rows == [{"one": 1, "nothing": None, "list": [1, 2], "part": {"a": "x"}, "d": "1.50", "day": "2026-11-20"}], rows' "$out"
run env COLUMNS=60 "$PENNA" sql shop.penna 'FROM call ORDER BY id LIMIT 3'
expect_eq '' "$(awk 'length > 60' <<<"$out")" "lines wider than 60"
expect_contains "$(tr '\n' ' ' <<<"$out")" 'the query chooses'
run penna sql shop.penna -n 2 'FROM call'
expect_contains "$out" 'more (-n 0 shows all)'
penna sql shop.penna --format parquet -o calls.parquet 'FROM call;'
expect_eq "$(sql 'SELECT count(*), sum(duration) FROM call')" "$(sql "SELECT count(*), sum(duration) FROM 'calls.parquet'")" "parquet"
expect_eq "$(sql 'SELECT 42')" "$( (sleep 0.3; echo 'SELECT 42') | penna sql shop.penna --format csv | tail -n 1)" "a query from standard input"
echo 'SELECT 1; SELECT 2' >two.sql
penna sql shop.penna -f two.sql --format csv -o two.csv
expect_eq '1 1 2 2' "$(echo $(<two.csv))" "two statements"
# Of types that penna formats itself; compared with DuckDB's own text.
for value in "TIMESTAMP '2026-11-20 08:15:00.25'" "TIMESTAMP '1969-12-31 23:59:59'" "INTERVAL '1 year 2 months 3 days'" "TIME '10:00:00.5'" "-1.05::DECIMAL(9,2)" \
    "170141183460469231731687303715884105727::HUGEINT" "uuid '12345678-1234-1234-1234-123456789012'" "MAP {'a': 2}" "[NULL, 3]" "'abc'::BLOB" "'b'::ENUM('a', 'b')" "{'x': [1]}"; do
  expect_eq "$(sql "SELECT ($value)::VARCHAR")" "$(sql "SELECT $value")" "$value"
done

# Errors: DuckDB's message, pointing into the text; nothing is written.
run penna sql shop.penna 'SELECT cout FROM call'
expect_eq 1 "$status" "a wrong column"
expect_contains "$err" 'cout'
expect_match "$err" '^ +\^$'
run penna sql shop.penna --format parquet -o not.parquet 'SELECT cout FROM call'
expect_eq 1 "$status" "a wrong column into a file"
[ ! -e not.parquet ] || fail "a query with an error has left a file"
run penna sql nowhere.penna 'SELECT 1'
expect_eq 125 "$status" "no such recording"
run penna sql shop.penna "FROM call(of_function := '/(/')"
expect_eq 1 "$status" "a pattern that is none"
run penna sql shop.penna 'SELECT 1' 'SELECT 2'
expect_contains "$err" 'there are two queries'
# Incomplete recordings are reported, as below a report.
head -c "$(($(stat -c %s shop.penna) / 2))" shop.penna >cut.penna
run penna sql cut.penna 'SELECT state FROM recording'
expect_eq 0 "$status" "a cut recording"
expect_contains "$out" cut
run penna report cut.penna calls
warning=$(grep -m1 '^The recording is damaged' <<<"$out" | cut -c1-60)
run penna sql cut.penna 'SELECT 1'
expect_contains "$err" "$warning"
# So is a chunk that cannot be unpacked, by whatever reads it, and once.
for percent in 50 40 60 30 70 end; do
  [ "$percent" != end ] || fail "no byte of shop.penna is one of a chunk"
  /usr/bin/python3 -c 'import sys; b = bytearray(open("shop.penna", "rb").read()); b[len(b) * int(sys.argv[1]) // 100] ^= 4; open("bad.penna", "wb").write(b)' "$percent"
  penna report calls bad.penna | grep -q '^1 chunk could not be read back' && break
done
warning='1 chunk could not be read back: the events in them are missing from every table.'
run penna sql bad.penna --format csv "SELECT count(*) FROM call"
expect_contains "$err" "$warning"
expect_eq 0 "$status" "a recording with a bad chunk"
run penna sql bad.penna --format csv "SELECT value FROM health WHERE name = 'unreadable chunks'"
expect_eq 1 "$(tail -n 1 <<<"$out")" "unreadable chunks in health"
for format in sqlite duckdb perfetto html csv; do
  run penna export "$format" bad.penna -o "bad.$format"
  expect_contains "$err" "$warning"
done
mkdir parquet
run penna export parquet bad.penna -o parquet/files
expect_contains "$err" "$warning"
expect_contains "$(penna replay bad.penna)" "$warning"
echo nonsense >other.penna
run penna sql other.penna 'SELECT 1'
sentence=${err#*: }
run penna report other.penna
expect_eq "${err#*: }" "${sentence#sql: }" "of a file that is no recording"

# Several recordings: ids differ, and each refers to its own rows.
penna record -q -o second.penna -- ./orders 10 >/dev/null
expect_eq '0 1' "$(echo $(penna sql shop.penna second.penna --format csv 'SELECT DISTINCT recording FROM call ORDER BY 1' | tail -n +2))" "recordings"
expect_eq 0 "$(penna sql shop.penna second.penna --format csv 'SELECT count(*) FROM (SELECT id FROM call GROUP BY id HAVING count(*) > 1)' | tail -n 1)" "calls with one id"
expect_eq 10 "$(penna sql shop.penna second.penna --format csv "SELECT count(*) FROM call JOIN recording AS r ON r.id = call.recording WHERE path = 'second.penna' AND function LIKE 'shop::serve%'" | tail -n 1)" "calls of the second"
# Filters when reading apply here, too.
expect_eq 40 "$(penna sql shop.penna -F shop::serve --format csv 'SELECT count(*) FROM call' | tail -n 1)" "-F"
# Waits for the mutex of a condition, after the signal, are in reports and here.
cat >turns.c <<'PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static int turns;
static void* take(void* arg) {
  pthread_mutex_lock(&turn);
  for (int i = 0; i < 20; ++i) {
    while (turns <= i) pthread_cond_wait(&next, &turn);
  }
  pthread_mutex_unlock(&turn);
  return arg;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, NULL, take, NULL);
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&turn);
    ++turns;
    pthread_cond_signal(&next);
    usleep(2000);
    pthread_mutex_unlock(&turn);
    usleep(1000);
  }
  return pthread_join(one, NULL);
}
PROGRAM
build_c turns -pthread
penna record -q -k locks -o turns.penna -- ./turns
cp turns.penna shop.penna
same "SELECT sum(duration), count(*), max(duration), lock FROM wait WHERE kind = 'mutex' GROUP BY 4" wait_ns,waits,max_wait_ns,lock waits --by lock
(($(sql "SELECT count(*) FROM wait WHERE kind = 'mutex'") >= 10)) || fail "few waits for the mutex of a condition"

# Parts of the run add up to all of it: what began before a part begins with it.
for table in wait hold; do
  query="SELECT sum(duration) FROM $table"
  parts=$(($(penna sql turns.penna -r -20ms --format csv "$query" | tail -n 1) + $(penna sql turns.penna -r 20ms- --format csv "$query" | tail -n 1)))
  difference=$(($(sql "$query") - parts))
  ((${difference#-} <= 2)) || fail "the parts of $table and the whole differ by $difference ns"
done

# A lock has the name of the report on locks, also one that lies in an allocated block.
cat >jobs.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
struct job { char text[40]; pthread_mutex_t lock; };
__attribute__((noinline)) struct job* make_job(size_t more) {
  struct job* job = calloc(1, sizeof *job + more);
  pthread_mutex_init(&job->lock, NULL);
  return job;
}
int main(void) {
  for (size_t i = 0; i < 6; ++i) {
    struct job* job = make_job(i % 2 * 100);
    pthread_mutex_lock(&job->lock);
    pthread_mutex_unlock(&job->lock);
  }
}
PROGRAM
build_c jobs -pthread
penna record -q -k alloc,locks -o jobs.penna -- ./jobs
names=$(penna report locks jobs.penna --format csv --fields lock | grep make_job | sort)
expect_contains "$names" 'at +40 in the block of 80 B that make_job'
expect_eq "$names" "$(penna sql jobs.penna --format csv "SELECT lock FROM hold" | grep make_job | sort)" "names of locks"
expect_contains "$(penna diff --locks jobs.penna jobs.penna)" "A: $(penna report locks jobs.penna | grep -oE '^[0-9]+ locks taken [0-9]+ times')"

# A point's values may have any name.
cat >names.c <<'PROGRAM'
#include <penna/point.h>
int main(void) {
  int select = 1;
  PENNA_EVENT(from, where, select);
  return 0;
}
PROGRAM
build_c names
penna record -q -k points -o names.penna -- ./names
expect_eq 1 "$(penna sql names.penna --format csv 'SELECT "select" FROM "from"."where"' | tail -n 1)" "a point with words of SQL for names"
echo PASS
