#!/bin/bash
# SPDX-License-Identifier: MIT
# penna fleet, push and sql --at with a real ClickHouse server: the same rows there as penna sql has here, each exactly once, whatever
# happens on the way.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$PENNA_SOURCE/tests/clients/clickhouse.sh"
export XDG_STATE_HOME=$work/state
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
for host in a b c; do penna record -q -o $host.penna -- ./orders >/dev/null; done
clickhouse 1
at=${url[1]}
# there QUERY: rows of the server, as CSV without a header; here RECORDING QUERY: of a recording.
there() { penna sql --at "$at" --format csv "$1" | tail -n +2; }
here() { penna sql "$1" --format csv "$2" | tail -n +2; }

# Without tables.
run penna push --to "$at" a.penna
expect_eq 125 "$status" "without tables"
expect_contains "$err" "has no tables of Penna in penna: 'penna fleet init $at' makes them"
run penna fleet init "$at" --keep 30
expect_eq 0 "$status" "$err"
expect_contains "$err" "forgets nothing by itself: run 'penna fleet expire $at' once a day"
run penna fleet init "$at" --keep 30
expect_eq 0 "$status" "made twice"
run penna fleet init "$at"
expect_contains "$err" "has tables already, which keep rows for 30 days"

# The same rows there as here.
run penna push --to "$at" --label host=a --label service=shop a.penna
expect_eq 0 "$status" "$err"
expect_match "$err" '^penna: pushed a.penna to http://[0-9.:]+: [0-9,]+ rows in [0-9]+ blocks'
expect_eq '' "$(ls "$XDG_STATE_HOME/penna/push")" "notes of what has arrived"
sql_engine
for table in process thread module event call allocation wait hold point span counter health recording; do
  expect_eq "$(here a.penna "SELECT count(*) FROM $table")" "$(there "SELECT count() FROM $table")" "rows of $table"
done
for query in 'SELECT function, count(*) AS n, sum(duration), max(self) FROM call GROUP BY function ORDER BY function' \
    'SELECT function, sum(bytes), count(*) FROM allocation GROUP BY function ORDER BY function' \
    'SELECT lock, side, sum(duration), max(chain) FROM wait GROUP BY lock, side ORDER BY lock, side' \
    'SELECT time, kind, name, size, depth, args FROM event ORDER BY time, kind, name, size, depth' \
    'SELECT path, program, duration, calls, state FROM recording' \
    'SELECT tid, name, time, duration, lost FROM thread ORDER BY tid' \
    'SELECT function, module, file, line, called, in_stacks FROM symbol ORDER BY function, module, file, line' \
    'SELECT name, value, severity, meaning FROM health ORDER BY meaning, name' \
    'SELECT shared, open, count(*) FROM hold GROUP BY shared, open ORDER BY shared, open'; do
  expect_eq "$(here a.penna "$query" | sed 's/true/1/g; s/false/0/g' | sort)" "$(there "$query" | sort)" "$query"
done
expect_eq "$(here a.penna 'SELECT epoch_ns(min(utc)), epoch_ns(max(utc)) FROM event')" "$(there 'SELECT min(utc), max(utc) FROM event')" "times of day"
# Keys lead somewhere: stacks, callers, threads.
join='FROM allocation AS a JOIN stack AS s ON s.id = a.stack'
expect_eq "$(here a.penna "SELECT s.text, count(*) $join GROUP BY s.text ORDER BY 1")" \
  "$(there "SELECT s.text, count(*) $join GROUP BY s.text ORDER BY s.text")" "stacks of allocations"
join='FROM call AS c JOIN call AS p ON p.id = c.parent'
expect_eq "$(here a.penna "SELECT p.function, c.function, count(*) $join GROUP BY 1, 2 ORDER BY 1, 2")" \
  "$(there "SELECT p.function, c.function, count(*) $join GROUP BY p.function, c.function ORDER BY p.function, c.function")" callers
join='FROM frame AS f JOIN stack AS s ON s.id = f.stack'
expect_eq "$(here a.penna "SELECT count(DISTINCT s.text || f.level || f.function) $join")" \
  "$(there "SELECT uniqExact(concat(s.text, toString(f.level), f.function)) $join")" "frames of stacks"

# Pushed again, it is there; other labels are refused.
run penna push --to "$at" --label host=a --label service=shop a.penna
expect_eq 0 "$status"
expect_eq "penna: $at has all of a.penna already" "$err"
run penna push --to "$at" --label host=other a.penna
expect_eq 125 "$status" "other labels"
expect_contains "$err" "has a.penna with other labels (host=a, service=shop): push it with these"
expect_eq "$(here a.penna 'SELECT count(*) FROM call')" "$(there 'SELECT count() FROM call')" "calls, still"

# Three hosts; what they share is sent once.
stacks=$(ask 1 'SELECT count() FROM stack')
for host in b c; do penna push --to "$at" --label host=$host --label service=shop --label zone=north $host.penna 2>>pushed.txt; done
expect_eq 3 "$(there 'SELECT count() FROM recording')"
expect_eq $'a\nb\nc' "$(there 'SELECT host FROM recording ORDER BY host')" hosts
expect_eq 2 "$(there "SELECT count() FROM recording AS r JOIN label AS l ON l.recording = r.id WHERE l.name = 'zone' AND l.value = 'north'")"
[ "$(ask 1 'SELECT count() FROM stack')" -lt $((stacks * 3)) ] || fail "stacks are sent for each recording"
expect_eq "$(ask 1 'SELECT count() FROM stack_rows')" "$(ask 1 'SELECT uniqExact(id) FROM stack_rows')" "stacks that are there twice"

# Formats, and the server's own words.
run penna sql --at "$at" --json "SELECT host, count() AS n, NULL AS nothing, 'a\"b' AS text FROM recording GROUP BY host ORDER BY host LIMIT 1"
expect_eq '[{"host":"a","n":1,"nothing":null,"text":"a\"b"}]' "$(tr -d '\n' <<<"$out" | sed 's/\[ */[/; s/ *\]/]/')"
run penna sql --at "$at" 'SELECT host, count() AS n FROM recording GROUP BY host ORDER BY host'
expect_match "$out" '^a +1$'
run penna sql --at "$at" 'SELECT nothing FROM call'
expect_eq 1 "$status" "of a wrong query"
expect_match "$err" "$at says: Unknown identifier: nothing"
run penna sql --at "$at" a.penna 'SELECT 1'
expect_contains "$err" "a.penna is a recording, and --at asks a server: leave out one"
run penna sql --at "$at" 'DROP TABLE call'
expect_eq 1 "$status" "of a query that changes something"

# Who asks: a file that nobody else may read, never a word of the command line.
echo wrong >password
chmod 644 password
run penna sql --at "$at" --user ada --password-file password 'SELECT 1'
expect_contains "$err" "others can read password (mode 644), so it is not used: chmod 600 password"
chmod 600 password
run penna push --to "$at" --user ada --password-file password a.penna
expect_eq 125 "$status" "a wrong password"
expect_match "$err" "$at refuses the user ada: Wrong password for user ada \\(--user, --password-file"
echo secret >password
expect_eq 3 "$(penna sql --at "$at" --user ada --password-file password --format csv 'SELECT count() FROM recording' | tail -n 1)"
run penna sql --at "http://ada:secret@127.0.0.1" 'SELECT 1'
expect_contains "$err" "an address must hold no password"
for bad in nolabel 'Big=1' 'a=' "$(printf 'a=\a')"; do
  run penna push --to "$at" --label "$bad" a.penna
  expect_eq 125 "$status" "the label $bad"
  expect_match "$err" 'is no label: write NAME=VALUE|is not allowed: 1 to 200 printable bytes'
done

# Reports: what the columns of the same name give of each recording, added up.
sum_here() { for host in a b c; do penna report $host.penna "${@:2}" --format csv; done | /usr/bin/python3 -c '
import collections, csv, sys
sums = collections.Counter()
key, *names = sys.argv[1].split(",")
header = None
for row in csv.reader(sys.stdin):
    if header is None or row[0] == header[0]: header = row; continue
    for name in names: sums[row[header.index(key)], name] += int(row[header.index(name)])
for (what, name), value in sorted(sums.items()):
    if value: print(what, name, value)  # not those that only called others' "$1"; }
sum_there() { penna report --at "$at" "${@:2}" --label service=shop --format csv -n 0 | /usr/bin/python3 -c '
import csv, sys
key, *names = sys.argv[1].split(",")
rows = list(csv.DictReader(sys.stdin))
for what, name, value in sorted((row[key], name, int(row[name])) for row in rows for name in names): print(what, name, value)' "$1"; }
expect_eq "$(sum_here function,calls calls)" "$(sum_there function,calls calls)" "calls of all hosts"
expect_eq "$(sum_here function,self_bytes,count alloc --by function)" \
  "$(sum_there function,self_bytes,count alloc)" "allocations of all hosts"
expect_eq "$(sum_here point,hits points)" "$(sum_there point,hits points)" "points of all hosts"
today=$(date -u +%F)
run penna report --at "$at" --label service=shop --label zone=north -r "$today" waits
expect_eq 0 "$status" "$err"
expect_contains "$out" "2 recordings of 2 hosts at $at, service=shop, zone=north, $today."
expect_match "$out" 'shop::ledger.mutex .*shop::audit\(\)'
run penna report --at "$at" -r 2001-01-01..02 calls
expect_contains "$out" '0 recordings of 0 hosts'
run penna report --at "$at" heap
expect_contains "$err" "of a server there are the tables calls, alloc, leaks, waits, holds or points: 'penna sql --at $at' answers all else"
run penna report --at "$at" -r 1s-2s calls
expect_contains "$err" "the range of a report of a server is of days, as -r 2026-11-20..21"
run penna report a.penna -r 2026-11-20 calls
expect_contains "$err" "a range of days is for 'penna report --at URL'"
run penna report a.penna --label host=a calls
expect_contains "$err" "--at is missing"

# A server that is too old, and one that is something else.
cat >other.py <<'PYTHON'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.send_header('Content-Length', str(len(sys.argv[1])))
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
    def log_message(self, *_): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
start old.txt /usr/bin/python3 other.py 1.1.54390
await old.txt '^[0-9]+$'
run penna fleet init "http://127.0.0.1:$(<old.txt)"
expect_eq 125 "$status" "too old"
expect_contains "$err" "is ClickHouse 1.1.54390, which is too old: 18.16 is the oldest that has what is needed"
start other.txt /usr/bin/python3 other.py '<html>'
await other.txt '^[0-9]+$'
run penna fleet init "http://127.0.0.1:$(<other.txt)"
expect_contains "$err" "does not answer as ClickHouse does"

# Recordings that are damaged go as far as they can be read; of a newer version, or none at all, they are refused.
penna record -q -o other.penna -- ./orders >/dev/null
head -c $(($(stat -c %s other.penna) * 2 / 3)) other.penna >cut.penna
run penna push --to "$at" --label host=cut cut.penna
expect_eq 0 "$status" "$err"
expect_match "$err" 'cut.penna|ends'
expect_eq cut "$(there "SELECT state FROM recording WHERE host = 'cut'")"
printf '\xab\x50\x65\x6e\x6e\x61\r\n' >no.penna
run penna push --to "$at" no.penna
expect_eq 125 "$status" "no recording"
