#!/bin/bash
# SPDX-License-Identifier: MIT
# Names containing terminal control sequences (functions, files, threads, values of points, arguments): no output
# contains them raw.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# An escape sequence with its terminator, a raw C1 byte, C1 in UTF-8, a direction override and mark, DEL, and a line of
# its own.
evil=$(printf 'x\033]0;PWNED\a\233m\302\233m\342\200\256\330\234\177\nINJECTED')
short=$(printf 't\033[2J\a\302\233\n\342\200\256')  # of a thread: 15 bytes

cat >work.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "penna/point.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* volatile kept;
__attribute__((noipa)) void hostile(const char* value) {
  PENNA_EVENT(app, note, value);
  kept = malloc(100);
  pthread_mutex_lock(&lock);
  usleep(2000);
  pthread_mutex_unlock(&lock);
}
static void* thread(void* argument) {
  char** words = (char**)argument;
  prctl(PR_SET_NAME, words[2]);
  for (int i = 0; i < 3; i++) hostile(words[1]);
  return NULL;
}
int main(int argc, char** argv) {
  pthread_t other;
  pthread_create(&other, NULL, thread, argv);
  hostile(argv[argc - 2]);
  pthread_join(other, NULL);
  return 0;
}
PROGRAM
mkdir "dir$evil"
cp work.c "dir$evil/work$evil.c"
gcc -O1 -g -D_GNU_SOURCE -finstrument-functions -I"$PENNA_SOURCE/include" -c "dir$evil/work$evil.c" -o work.o 2>gcc.txt ||
  fail "the program does not compile"
objcopy --redefine-sym "hostile=$evil" work.o
gcc work.o -o "dir$evil/program$evil" -pthread
program="dir$evil/program$evil"
nm "$program" | grep -q PWNED || fail "the test program lacks the function with a hostile name"

# harmless FILE WHAT [COLOUR]: it contains lines of text only, and with COLOUR, colours.
harmless() {
  /usr/bin/python3 - "$@" <<'PYTHON' || fail "$2 contains terminal control sequences"
import re, sys
data = open(sys.argv[1], 'rb').read()
if len(sys.argv) > 3:
    data = re.sub(rb'\x1b\[(?:[0-9]{1,3};?)*m', b'', data)
try:
    text = data.decode()
except UnicodeDecodeError as error:
    sys.exit(f'{error}: {data[max(error.start - 40, 0):error.end + 20]!r}')
for bad in re.finditer('[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|^INJECTED', text, re.M):
    sys.exit(f'{bad.group()!r} in {text[max(bad.start() - 60, 0):bad.end() + 30]!r}')
PYTHON
}
# safe ARGS...: penna prints no terminal control sequences, regardless of its exit status.
safe() {
  status=0
  penna "$@" >safe.out 2>safe.err </dev/null || status=$?
  [ "$status" -lt 128 ] || fail "penna ${*@Q} ended with status $status"
  harmless safe.out "stdout of penna ${*@Q}"
  harmless safe.err "stderr of penna ${*@Q}"
}
# shows PART: the last command printed it.
shows() { grep -qF -- "$1" safe.out safe.err || fail "expected '$1' in: $(cat safe.out safe.err)"; }
seen='x\x1b]0;PWNED\x07'

# ---- Recording
kinds=calls,alloc,locks,points
safe record -k $kinds -f -o rec.penna -- "./$program" "value$evil" "$short"
expect_eq 0 "$status" "the status of the recorded program"
safe record -k $kinds -f -o "rec$evil.penna" -- "./$program" "value$evil" "$short"
shows "rec$seen"
safe record --live -k $kinds -f -o live.penna -- "./$program" "value$evil" "$short"
shows "$seen"
# No name is too long for a file of its own.
long=$(printf '%0255d' 0)
ln -s "$(type -P true)" "$long"
safe record -q -k calls -- "./$long"
expect_eq 0 "$status" "status of a program with a long name"
safe record -f -o no.penna -- "./no$evil"
shows "no$seen"
safe record "--no$evil"
shows "no$seen"
safe record --kinds "$evil" -- true
safe record --where "$evil" -- true
safe record -F "$evil" -- true
safe record -o "/no$evil/x" -- true
safe record --pool "$evil" -- true
safe "no$evil"
safe "./$program" "value$evil" "$short"

# ---- Views
for table in calls tree flame alloc leaks temp peak sizes lifetimes heap locks waits holds chains order points threads health; do
  safe report rec.penna $table
  [ $table != calls ] || shows "$seen"
  safe report rec.penna $table --frames 20
  [ $table = flame ] || { safe report rec.penna $table --format csv; safe report rec.penna $table --json; }
done
safe report "rec$evil.penna"
for by in function module thread file call process holder lock; do
  safe report rec.penna calls --by $by
  safe report rec.penna alloc --by $by
  safe report rec.penna waits --by $by
done
safe replay rec.penna
shows "$seen"
safe replay rec.penna --stacks
safe graph "*" rec.penna
safe graph "$evil" rec.penna
safe graph "none$evil" rec.penna
for format in table csv json; do
  safe graph "*PWNED*" rec.penna --format $format
  safe diff rec.penna live.penna --format $format
  safe list rec.penna --format $format
  safe list "$program" --format $format
  safe info rec.penna --format $format
  safe check rec.penna --format $format
done
safe diff --alloc rec.penna "rec$evil.penna"
safe info "rec$evil.penna"
shows "rec$seen"
safe lint "$program"
safe lint "dir$evil"
penna report rec.penna calls --color=always >coloured.txt
grep -q $'\033\\[' coloured.txt || fail "no colours of ours with --color=always"
harmless coloured.txt "report --color=always" colour
penna replay rec.penna --color=always >coloured.txt
harmless coloured.txt "replay --color=always" colour

# ---- Exports. ctf, perfetto, pprof and uftrace's records are binary: names are stored with their length -------------
for format in csv chrome folded speedscope callgrind graphviz massif rtrace; do
  safe export $format rec.penna -o exported.$format
  harmless exported.$format "export $format"
  # massif omits names below its threshold
  [ $format = massif ] || grep -qF 'PWNED' exported.$format || fail "export $format lacks the function"
done
for weight in calls time alloc-bytes wait wait-by-holder; do
  safe export folded --weight $weight rec.penna -o exported.folded
  harmless exported.folded "export folded --weight $weight"
done
safe export libleaks rec.penna -o exported.libleaks
for file in exported.libleaks*; do [ -d "$file" ] || harmless "$file" "export libleaks: $file"; done
safe export uftrace rec.penna -o exported.uftrace
for file in exported.uftrace/*.sym exported.uftrace/*.map exported.uftrace/task.txt; do harmless "$file" "export uftrace: $file"; done
/usr/bin/python3 - <<'PYTHON' || fail "the name does not survive JSON"
import csv, json
events = json.load(open('exported.chrome'))
events = events['traceEvents'] if isinstance(events, dict) else events
assert any(e.get('name', '').startswith('x\x1b]0;PWNED\x07') and '\u009b' in e['name'] and '\u202e' in e['name'] for e in events)
rows = list(csv.reader(open('exported.csv', newline='')))
assert all(len(row) == len(rows[0]) for row in rows)
PYTHON

# ---- Invalid arguments ----------------------------------------------------------------------------------------------
for verb in report replay graph diff list info check lint export ctl help import record; do
  safe $verb "no$evil"
  safe $verb "--no$evil"
  safe $verb "no$evil" "no$evil" "no$evil" "no$evil"
done
safe help "no$evil"
shows "no$seen"
safe ctl 1 on "no$evil"
safe ctl "$evil" on a:b
for option in --sort --format --by --where --size; do safe report rec.penna calls $option "$evil"; done
printf 'no recording\033]0;PWNED\a' >"bad$evil.penna"
safe report "bad$evil.penna"
safe import "bad$evil.penna"
