#!/bin/bash
# SPDX-License-Identifier: MIT
# examples/redis: Debian's Redis with points of ours, recorded under load. Every count and sum of its events equals
# Redis's own counts; its spans nest; its answers and files are the same with and without recording.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need dpkg-dev make redis-tools python3
copy_of_pages
server=$PENNA_SOURCE/build/packages/redis/source/src/redis-server

# Following docs/points.md, which shows the output.
export OPTIMIZATION=-O1  # of its build: half the time
run bash -ec "cd copy; $(doc_block points.md examples/redis/run)"
expect_eq 0 "$status" "status of the example in docs/points.md"
for word in 'redis:forked' 'PENNA RECORDED' 'in_child=true'; do
  /usr/bin/python3 "$PENNA_SOURCE/tests/e2e/docs.py" --shown "$PENNA_SOURCE/docs/points.md" "$word" out.txt ||
    fail "docs/points.md shows what is not printed"
done
mv copy/{redis.penna,events.csv,info.txt} .
mv out.txt printed.txt
out=$(sed '/all the same$/q' printed.txt)
expect_match "$out" ' commands: all the same$'
expect_match "$out" '^keyspace_misses +[1-9]'
expect_match "$out" '^expired_keys +[1-9]'
expect_match "$out" '^evicted_keys +[1-9]'
expect_match "$out" '^24 points passed '
run penna list "$server"
expect_match "$out" '^24 points$'
expect_missing "$out" ' probe '
run penna info redis.penna
expect_match "$out" '^lost +nothing$'
expect_match "$out" '^state +complete$'
# The child that saves: forked after Redis had overwritten its arguments with its title.
expect_match "$out" "^ *[0-9]+ .* 2  (ended, status unknown|exited with 0) +'[^ ]*/redis-server unixsocket:[^ ]*/socket'\$"
expect_match "$(penna replay redis.penna | grep '^#')" '^# redis-server, pid [0-9]+, redis-server '
expect_missing "$(penna replay redis.penna | grep '^#')" '# socket'

# The comparison detects a difference.
sed 's/^keyspace_hits:/&1/' info.txt >other.txt
run /usr/bin/python3 "$PENNA_SOURCE/examples/redis/compare.py" other.txt events.csv
expect_eq 1 "$status" "status when one counter differs"
expect_match "$out" '^keyspace_hits .* DIFFERENT$'

# Every span that ends, ends in order; commands of a script or transaction are within its span; the child has its own
# thread.
penna replay redis.penna >replay.txt
/usr/bin/python3 - <<'CHECK' || fail "the spans of the replay do not nest"
import collections, re
line_of = re.compile(r' +[\d.]+ .*? (\d+)  ( *)(span (\S+)(?: name="(\S+)")?.* \{|\} /\* (\S+?)(, not ended)? \*/)$')
opened, inside, open_at_end, saves = collections.defaultdict(list), collections.Counter(), [], set()
for line in open('replay.txt'):
    found = line_of.match(line.rstrip('\n'))
    if not found:
        continue
    tid, indent, _, begun, name, ended, not_ended = found.groups()
    if begun:
        assert len(indent) == 2 * len(opened[tid]), line
        if opened[tid]:
            inside[opened[tid][-1][1], name] += 1
        opened[tid].append((begun, name))
        if begun == 'redis:save':
            saves.add(tid)
    else:
        assert opened[tid].pop()[0] == ended and len(indent) == 2 * len(opened[tid]), line
        if not_ended:
            open_at_end.append(ended)
assert not any(opened.values())
# shutdown never comes back; the background threads may be within an fsync when the process ends
assert open_at_end.count('redis:command') == 1 and set(open_at_end) <= {'redis:command', 'redis:fsync'}, open_at_end
assert inside['eval', 'incr'] == inside['eval', 'get'] == 5000 and inside['exec', 'incr'] == inside['exec', 'get'] == 1, inside
assert len(saves) == 2, saves
CHECK

# The same session with and without a recorder: the same answers, file and exit status.
session() {
  mkdir "$1"
  "${@:2}" "$server" --port 0 --unixsocket "$work/$1/socket" --dir "$work/$1" --save '' --appendonly yes \
    --enable-debug-command yes >"$1/log" 2>&1 &
  local pid=$! tries code=0
  for ((tries = 0; tries < 600; tries++)); do
    redis-cli -s "$1/socket" ping >"$1/pong" 2>/dev/null && break
    sleep 0.05
  done
  for i in {1..300}; do
    printf '%s\n' "set key:$i $i" "get key:$i" "get no:$i" "rpush list $i" "incr list" "zadd set $i member:$((i % 7))" \
      "hset hash field:$i $i" "nonsense $i" "append key:$i xyz" 'lrange list -3 -1' multi "incr n" exec "del no:$i key:$((i - 9))"
  done | redis-cli -s "$1/socket" >"$1/answers" 2>&1
  redis-cli -s "$1/socket" debug digest >"$1/digest"
  redis-cli -s "$1/socket" shutdown nosave 2>/dev/null || true
  wait "$pid" || code=$?
  echo "$code" >"$1/status"
}
session alone
session recorded "$PENNA" record -q -k points -o session.penna --
for file in answers digest status; do cmp alone/$file recorded/$file || fail "$file differs when it is recorded"; done
cmp alone/appendonlydir/*.incr.aof recorded/appendonlydir/*.incr.aof || fail "the append-only file differs when it is recorded"
expect_eq 0 "$(<alone/status)" "status of the server"
[ "$(wc -l <alone/answers)" -gt 4000 ] || fail "too few answers: $(head -n 20 alone/answers)"
expect_match "$(<alone/digest)" '^[0-9a-f]{40}$'
