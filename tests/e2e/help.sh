#!/bin/bash
# SPDX-License-Identifier: MIT
# Help: no line is wider than COLUMNS, and each of its examples works as written.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
PATH=$(dirname "$PENNA"):$PATH
verbs=$(penna help | sed -n 's/^  penna \([a-z]*\) .*/\1/p' | sort -u)

for columns in 60 80 100; do
  for verb in '' $verbs; do
    run env COLUMNS=$columns "$PENNA" help $verb --all
    expect_eq 0 "$status" "penna help $verb --all"
    expect_eq '' "$(grep -Ev '^  (penna|PENNA_OPTIONS=|source) ?' <<<"$out" | awk -v most=$columns 'length > most')" "lines of $verb wider than $columns"
  done
done
run penna help record
[ "$(wc -l <<<"$out")" -lt 50 ] || fail "help shows more than the common options"
expect_match "$out" '^[0-9]+ more options: penna record --help --all$'
expect_missing "$out" --stack-depth
run penna record --help --all
expect_contains "$out" --stack-depth
expect_eq "$out" "$(penna help record --all)" "both ways to the same text"

# The files used in the examples.
cat >app.cc <<'PROGRAM'
#include <penna/point.h>
#include <unistd.h>
namespace shop {
__attribute__((noipa)) int* pay(int id) { PENNA_EVENT(shop, order, id); return new int(id); }
}
int main(int argc, char**) {
  for (int i = 0; i < (argc > 1 ? 100'000 : 10); ++i) {
    delete shop::pay(i);
    if (argc > 1) usleep(1000);
  }
}
PROGRAM
build_c app -finstrument-functions
echo 'int shop(void) { return 0; }' >libshop.c
gcc -shared -fPIC -g libshop.c -o libshop.so
for name in before after app; do penna record -q -o $name.penna -- ./app; done
penna export rtrace app.penna old.rtrace
sql_engine
# A server for those that ask one.
. "$PENNA_SOURCE/tests/clients/clickhouse.sh"
clickhouse_database=d1 # of the example with a cluster, below
clickhouse 2
export XDG_STATE_HOME=$work/state HOME=$work
echo secret >~/.penna-password
chmod 600 ~/.penna-password
penna fleet init "${url[1]}" 2>/dev/null
echo 'FROM thread' >question.sql
cat >stream.c <<'PROGRAM'
#include <penna/stream.h>
#include <stdio.h>
int main(void) {
  struct penna_stream_header header;
  penna_stream_begin(&header, "app", 1, 1);
  return fwrite(&header, sizeof header, 1, stdout) != 1;
}
PROGRAM
build_c stream
./stream >boot.stream

# A running process, and a recorded one for ctl.
begin() {
  "$@" >/dev/null 2>&1 </dev/null &
  pid=$!
  trap 'status=$?; kill $pid 2>/dev/null || true; cd /; rm -rf "$work"; exit $status' EXIT
  sleep 0.5
}
for verb in $verbs; do
  count=0
  case $verb in
    ctl) begin "$PENNA" record -q -f -o ctl.penna -- ./app long ;;
    *) begin ./app long ;;
  esac
  while read -r example; do
    ends=()
    case $verb in view) ends=(timeout --preserve-status --signal TERM 2) ;; esac  # else it goes on
    example=${example//http:\/\/ch1:8123/${url[1]}} example=${example//http:\/\/ch2:8123/${url[2]}}
    case $example in # what was made for one example is there for the next
      *--keep* | *--cluster*) example+=" --database d$count" ;;
      *expire*) penna fleet init "${url[1]}" --database expiring --keep 9 2>/dev/null; example+=' --database expiring' ;;
    esac
    run "${ends[@]}" bash -c "${example//PID/$pid}"
    [ "$status" = 0 ] || [ "$verb$status" = doctor2 ] || fail "$example: ends with $status"
    count=$((count + 1))
  done < <(penna help "$verb" | awk '/^Examples:/ {inside = 1; next} /^$/ {inside = 0} inside && /^  [^ ]/' | sed 's/^  //; s/  .*//')
  [ "$count" -ge 3 ] || fail "$verb has $count examples"
  kill $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
done
