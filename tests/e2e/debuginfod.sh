#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that debuginfod servers do not provide are reported in one line, with the reason.
. "$(dirname "$0")/common.sh"

export DEBUGINFOD_CACHE_PATH=$work/cache
unset DEBUGINFOD_URLS
cat >app.c <<'C'
#include <stdlib.h>
int main(void) { void *volatile p = malloc(10); free(p); return 0; }
C
gcc -O1 -g -Wl,--build-id=sha1 app.c -o app
objcopy --only-keep-debug app app.debug
strip app
penna record -q -k alloc -o a.penna ./app

expect_eq_lines() { expect_eq "$1" "$(grep -c -- '--debuginfod' err.txt || true)" "lines on debuginfod"; }

# No server listens on port 1.
run penna report a.penna alloc --debuginfod=http://127.0.0.1:1
expect_eq 0 "$status"
expect_match "$err" '^penna: --debuginfod got no debug file of .*app.*: the connection was refused \(http://127\.0\.0\.1:1\)'
expect_eq_lines 1
for verb in "list ./app" "report a.penna flame" "replay a.penna" "export folded a.penna -o f" "diff a.penna a.penna"; do
  rm -f f
  run penna $verb --debuginfod=http://127.0.0.1:1
  expect_match "$err" 'got no debug file of .*app.*: the connection was refused'
done

# An HTTP server that has nothing: 404.
mkdir www
python3 -u -m http.server -b 127.0.0.1 -d www 0 >server.txt 2>/dev/null &
server=$!
until port=$(grep -Eo 'port [0-9]+' server.txt | grep -Eo '[0-9]+'); do sleep 0.05; done
run penna report a.penna alloc --debuginfod=http://127.0.0.1:$port
expect_eq 0 "$status"
expect_match "$err" "^penna: --debuginfod got no debug file of .*app.*: no server has it \(http://127\.0\.0\.1:$port\)"
expect_eq_lines 1

# Available files are used without a message.
rm -rf cache
id=$(readelf -n app | sed -n 's/.*Build ID: //p')
mkdir -p "www/buildid/$id"
cp app.debug "www/buildid/$id/debuginfo"
run penna report a.penna alloc --debuginfod=http://127.0.0.1:$port
kill $server
expect_contains "$out" 'main (app.c:2)'
expect_missing "$err" ' app'

# Requested, but from which server?
for verb in "report a.penna" "list ./app" "lint ./app"; do
  run penna $verb --debuginfod
  expect_eq 125 "$status"
  expect_contains "$err" '--debuginfod has no server to ask, as $DEBUGINFOD_URLS is not set: write --debuginfod=URL'
done
