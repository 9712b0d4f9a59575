#!/bin/bash
# SPDX-License-Identifier: MIT
# penna record --push: the recording is on the server when penna record ends; a server that is away, full, or refuses the password harms neither
# the recording nor the program's status, is told of in one line, and 'penna push' goes on later.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$PENNA_SOURCE/tests/clients/clickhouse.sh"
export XDG_STATE_HOME=$work/state
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
clickhouse 1
at=${url[1]}
penna fleet init "$at" 2>/dev/null
sql_engine
there() { penna sql --at "$at" --format csv "$1" | tail -n +2; }
notes() { ls "$XDG_STATE_HOME/penna/push" 2>/dev/null; }
# is_there RECORDING HOST: all calls of it, once.
is_there() {
  expect_eq "$(penna sql "$1" --format csv 'SELECT count(*), sum(duration) FROM call' | tail -n 1)" \
    "$(there "SELECT count(), sum(duration) FROM call WHERE host = '$2'")" "calls of $1"
}

# The server is there.
run penna record --push "$at" --label host=a --label zone=north -o a.penna -- sh -c './orders 300 >/dev/null; exit 7'
expect_eq 7 "$status" "the program's status"
expect_match "$err" "^penna: pushed a.penna to $at: [0-9,]+ rows in [0-9]+ blocks"
is_there a.penna a
expect_eq '' "$(notes)" "notes of what has arrived"
run penna record -q --push "$at" --label host=quiet -o quiet.penna ./orders 300
expect_eq '0 ' "$status $err" "status and words with -q"
is_there quiet.penna quiet

# Snapshots of a flight recorder.
run penna record -o flight --on 'point(shop:order)' --on-again 1ms --keep-snapshots 2 --push "$at" --label host=flight -- ./orders 300
expect_eq 0 "$status" "$err"
for file in flight.*.penna; do expect_match "$err" "^penna: pushed .*$file to $at"; done
expect_eq 2 "$(ls flight.*.penna | wc -l)" "snapshots that are kept"
[ "$(there "SELECT count() FROM recording WHERE host = 'flight'")" -ge 2 ] || fail "snapshots are missing on the server"

# The password is wrong: said in one line.
echo wrong >secret
chmod 600 secret
run penna record -q --push "$at" --user ada --password-file secret -o refused.penna -- sh -c 'exit 3'
expect_eq "3 1" "$status $(wc -l <<<"$err")" "status, and lines of words"
expect_contains "$err" "refuses the user ada"
expect_contains "$(penna info refused.penna)" complete

# The server is full: the note stays, and the next 'penna push' goes on.
start full.port "$PENNA_SOURCE/tests/clients/full_server.py" "${at#http://}" "$work/room"
await full.port '^[0-9]+$'
full=http://127.0.0.1:$(<full.port)
run penna record -q --push "$full" --give-up 1ms --label host=b -o b.penna -- sh -c './orders 300 >/dev/null; exit 5'
expect_eq "5 1" "$status $(wc -l <<<"$err")" "status, and lines of words"
expect_match "$err" "^penna push: $full is too busy: Too many parts \(300\).*; 0 blocks of b.penna arrived, and 'penna push' goes on from there"
: >room.disk
run penna push --give-up 1ms
expect_eq 125 "$status" "a server whose disk is full"
expect_match "$err" "$full is full: Cannot reserve 1.00 MiB, not enough space.*; 0 blocks of .*b.penna arrived"
expect_eq 1 "$(notes | grep -c toml)" "notes"
: >room
run penna push
expect_eq 0 "$status" "$err"
is_there b.penna b
expect_eq '' "$(notes)" "notes of what has arrived"

# The server is away; Ctrl-C ends waiting for it.
clickhouse_kill 1
run penna record --push "$at" --give-up 100ms --label host=c -o c.penna -- sh -c './orders 300 >/dev/null; kill -9 $$'
expect_eq 137 "$status" "the program's status"
expect_match "$err" "^penna push: $at does not answer: it cannot be reached; 0 blocks of c.penna arrived, and 'penna push' goes on from there"
run penna record -q -o away --on 'end' --push "$at" --give-up 100ms --label host=away -- sh -c './orders 300 >/dev/null; exit 4'
expect_eq "4 1" "$status $(wc -l <<<"$err")" "status, and lines of words"
expect_match "$err" "0 blocks of .*away.1.penna arrived, and 'penna push' goes on from there"
start waiting.txt "$PENNA" record --push "$at" --give-up 10min --label host=d -o d.penna ./orders 300
await waiting.txt 'does not answer.*trying again'
kill -INT "$pid"
wait "$pid" || fail "status $? of a recording whose push was interrupted"
expect_contains "$(penna info d.penna)" complete
clickhouse_start 1
run penna push
expect_eq 0 "$status" "$err"
is_there c.penna c
is_there d.penna d
is_there away.1.penna away

# A recording that a newer version has made is refused in one sentence, and nothing of it is sent.
cp a.penna newer.penna
cat >newer.c <<'PROGRAM'
#include <stdint.h>
#include <stdio.h>
#include <xxhash.h>
int main(int count, char **words) { /* the file's header: version at 8, checksum of what is before it at 120 */
  FILE *file = fopen(words[count - 1], "r+b");
  uint8_t header[120];
  if (!file || fread(header, sizeof header, 1, file) != 1) return 1;
  header[8] = 99;
  uint64_t sum = XXH3_64bits(header, sizeof header);
  rewind(file);
  return fwrite(header, sizeof header, 1, file) != 1 || fwrite(&sum, sizeof sum, 1, file) != 1 || fclose(file) != 0;
}
PROGRAM
build_c newer -lxxhash
./newer newer.penna
run penna push --to "$at" newer.penna
expect_eq "125 1" "$status $(wc -l <<<"$err")" "status of a newer recording, and lines of words"
expect_match "$err" 'newer.penna has format 99 and this penna reads formats'
expect_eq '' "$(notes)" "notes of what cannot be sent"

# Options without --push, and wrong ones: before the program starts.
for wrong in "--label host=a" "--give-up 1s" "--push localhost" "--push $at --label host=a --label host=b"; do
  # shellcheck disable=SC2086
  run penna record -o wrong.penna $wrong ./orders
  expect_eq 125 "$status" "status of $wrong"
  [ ! -e wrong.penna ] || fail "a recording in spite of $wrong"
done
echo PASS
