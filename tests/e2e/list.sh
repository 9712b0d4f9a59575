#!/bin/bash
# SPDX-License-Identifier: MIT
# penna list: points with the names and types of their arguments and their source lines, of programs and of recordings.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include "penna/point.h"
template <typename T> void note(T value) { PENNA_EVENT(app, note, value); }
static inline void both(int rows, const char* table) { PENNA_EVENT(db, query, rows, table); }
int main(int argc, char** argv) {
  note(1.5f);
  note(argc);
  both(argc, argv[0]);
  if (argc > 1) both(2, "x");
}
PROGRAM
build_c app -O2

run penna list ./app
expect_match "$out" '^app:note +event +value float .*app.cc:2$'
expect_match "$out" '^app:note +event +value int .*app.cc:2$'
expect_match "$out" '^db:query +event +rows int, table string .*app.cc:3$'
expect_match "$out" '^calls +no: '
expect_match "$out" '^kind +dynamic, '
# readelf shows the same points.
expect_eq "$(readelf -n app | sed -n 's/ *Provider: //p' | sort -u | tr '\n' ' ')" "app db " "providers that readelf sees"
penna list ./app --json >app.json
/usr/bin/python3 - <<'PYTHON' || fail "wrong JSON"
import json, subprocess
points = json.load(open('app.json'))['points']
assert {p['point'] for p in points} == {'app:note', 'db:query'}, points
query = next(p for p in points if p['name'] == 'query')
assert query['kind'] == 'event' and query['line'] == 3 and query['file'].endswith('app.cc'), query
assert query['arguments'] == [{'name': 'rows', 'type': 'int', 'size': 4, 'signed': True},
                              {'name': 'table', 'type': 'string', 'size': 8, 'signed': False}], query
nops = subprocess.run(['readelf', '-n', 'app'], capture_output=True, text=True).stdout
for point in points:
    for site in point['sites']:
        assert f"Location: 0x{int(site['probe'], 16):016x}" in nops and len(site['operands']) == len(point['arguments']), site
        assert 0 < int(site['probe'], 16) - int(site['slot'], 16) < 400, site
PYTHON

# A second nop of a point belongs to one of its copies (compilers put one after the cold code); on another line it is a
# probe.
cat >twice.c <<'PROGRAM'
#include "penna/point.h"
int main(int argc, char** argv) {
  PENNA_EVENT(app, twice, argc); PENNA_SDT(app, twice, argc);
  PENNA_SDT(app, twice, argc);
  PENNA_EVENT(app, once, argv);
  return 0;
}
PROGRAM
build_c twice
run penna list ./twice
expect_match "$out" '^app:twice +event +argc int +1 +twice.c:3$'
expect_eq 1 "$(grep -Ec '^app:twice +probe +s32 .* 1 +[^ ]*twice.c:4$' <<<"$out")" "lines of the probe"
expect_eq 3 "$(grep -c '^app:' <<<"$out")" "points"

# Stripped, static and shared; the contents of the file are listed, nothing else.
for options in -s '-static -s' '-static-pie -s' '-shared -fPIC -s'; do
  # shellcheck disable=SC2086
  build_c app -O2 $options -o "app2"
  run penna list ./app2
  expect_match "$out" '^app:note +event +value float .*app.cc:2$'
  expect_match "$out" '^db:query +event +rows int, table string .*app.cc:3$'
done
build_c app -O2

penna record -q -o app.penna -- ./app
run penna list app.penna
expect_match "$out" '^db:query +event +rows int, table string .*app.cc:3$'
expect_match "$out" '/app$'

build_c app -finstrument-functions
run penna list ./app
expect_match "$out" '^calls +yes'

# Third-party programs, by name; points that are only SDT notes; scripts; files without points.
run penna list sh
expect_eq 0 "$status" "status of penna list sh"
library=$(ldd app | sed -nE 's/.* => ([^ ]*libstdc\+\+\.so\.6).*/\1/p')
run penna list "$library"
expect_match "$out" '^libstdcxx:throw +probe +'
expect_contains "$out" "shared library"
printf '#!/bin/sh\n' >script && chmod +x script
run penna list ./script
expect_contains "$out" "(a script)"
run penna list /etc/passwd
expect_eq 125 "$status" "status for a text file"

# SDT notes of another header: size and sign of arguments, operands, semaphore, source line.
cat >other.S <<'ASSEMBLY'
#include "sdt_note.inc"
.text
.globl main
main:
PROBE first, counter, "-4@%edi 8@-8(%rbp)"
PROBE second, 0, ""
xorl %eax, %eax
ret
BASE
.section .probes,"aw"
counter: .2byte 7
.section .note.GNU-stack,"",@progbits
ASSEMBLY
gcc -g -no-pie -I"$PENNA_SOURCE/tests/programs" other.S -o other
run penna list ./other
expect_match "$out" '^trap:first +probe +s32 %edi, u64 -8\(%rbp\) +1 +0x[0-9a-f]+ +.*other.S:5$'
expect_match "$out" '^trap:second +probe +1 +.*other.S:6$'

# A process: everything it has mapped, and the points armed in it, by the recorder or by a debugger's breakpoint.
cat >waits.c <<'PROGRAM'
#include <stdio.h>
#include "penna/point.h"
int main(void) {
  PENNA_EVENT(waits, begin);
  puts("ready");
  fflush(stdout);
  int line = getchar();
  PENNA_EVENT(waits, end, line);
}
PROGRAM
build_c waits -O2
mkfifo in said
start() {  # start CMD...: it has said "ready"; $pid is that of ./waits, also when CMD is its parent
  "$@" <in >said &
  exec 3>in 4<said
  read -r _ <&4
  pid=$(pgrep -x -P $! waits || echo $!)
}
stop() { echo >&3; exec 3>&- 4<&-; wait $!; }
start ./waits
run as_root "$PENNA" list "$pid"
expect_match "$out" "^Process $pid \\(waits\\) has mapped [0-9]+ programs and libraries"
expect_match "$out" '^waits:begin +event +1 +no +waits.c:4 .*/waits$'
stop
start "$PENNA" record -q -e '*:end' -o waits.penna ./waits
run as_root "$PENNA" list "$pid"
expect_match "$out" '^waits:begin +event +1 +no '
expect_match "$out" '^waits:end +event +line int +1 +penna +waits.c:8'
as_root "$PENNA" list "$pid" --json | /usr/bin/python3 -c 'import json, sys
states = {p["name"]: [(s["recording"], s["probed"]) for s in p["sites"]] for p in json.load(sys.stdin)["points"]}
assert states == {"begin": [(False, False)], "end": [(True, False)]}, states'
stop

# The file was replaced: the mapped one is still listed.
start ./waits
cp waits waits2 && mv waits2 waits
run as_root "$PENNA" list "$pid"
expect_match "$out" '^waits:begin '
stop
run penna list 4194305
expect_eq 125 "$status" "status for a process that is not there"
expect_contains "$err" "there is no process 4194305"
