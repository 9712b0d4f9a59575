#!/bin/bash
# SPDX-License-Identifier: MIT
# Questions about allocations: a leak with its line and nothing else, the same numbers in all tables, limits,
# suppressions.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# A leaking program of 10 lines. It prints, so libc and libstdc++ keep some blocks, too.
cat >leaking.cc <<'PROGRAM'
#include <cstdio>
#include <string>
#include <thread>
static void* volatile lost;
__attribute__((noipa)) void lose(int n) { lost = malloc(n); }
int main() {
  lose(123);
  lost = nullptr;
  std::thread([] { printf("%s\n", std::string(100, 'x').c_str()); }).join();
}
PROGRAM
build_c leaking
run penna record -q -k alloc -o leaking.penna -- ./leaking
expect_eq 0 "$status" "status of ./leaking"
run penna report leaks leaking.penna
expect_match "$out" '^123 B in 1 block not freed at the end'
expect_match "$out" '^ +123 B +1 +123 B +lose\(int\) \(leaking.cc:5\) \[leaking\]$'
expect_match "$out" '^ +main \(leaking.cc:7\) \[leaking\]$'
expect_match "$out" 'blocks? of .* suppressed: --no-suppressions shows them'
expect_eq 1 "$(penna report leaks leaking.penna --json | /usr/bin/python3 -c 'import json,sys; print(len(json.load(sys.stdin)["leaks"]))')" "leaks"
# Without calls, a flame graph shows allocations.
expect_match "$(penna report flame leaking.penna --ascii)" '^\[all [0-9.]+ kB allocated '
run penna export folded leaking.penna
expect_match "$out" ';main;lose\(int\) 123$'
expect_contains "$err" "the weights are bytes allocated"
run penna report leaks leaking.penna --no-suppressions --std
expect_contains "$out" "_IO_file_doallocate"
expect_missing "$out" "suppressed"
# Times are rounded if only allocations are recorded, and the recording states this.
run penna info leaking.penna
expect_match "$out" '^times +to 32 ticks, [0-9]+ ns'
run penna record -q -k alloc,calls -o with_calls.penna -- ./leaking
run penna info with_calls.penna
expect_missing "$out" "ticks"
# Blocks that libc keeps for message catalogues, character sets and printf's conversions are not reported either.
cat >kept.cc <<'PROGRAM'
#include <libintl.h>
#include <locale.h>
#include <printf.h>
#include <stdlib.h>
#include <wchar.h>
static int show(FILE*, const printf_info*, const void* const*) { return 0; }
static int count(const printf_info*, size_t, int*, int*) { return 0; }
int main() {
  setlocale(LC_ALL, "C.UTF-8");
  bindtextdomain("kept", "/tmp");
  bind_textdomain_codeset("kept", "UTF-8");
  textdomain("kept");
  register_printf_specifier('Y', show, count);
  wchar_t wide;
  return mbtowc(&wide, "x", 1) != 1;
}
PROGRAM
build_c kept
run penna record -q -k alloc -o kept.penna -- ./kept
expect_eq 0 "$status" "status of ./kept"
expect_match "$(penna report leaks kept.penna)" '^Nothing leaked but [0-9]+ blocks'
# The reason for missing allocations, if the program could not be recorded.
echo 'int main() { return 3; }' >closed.c
gcc -static -s closed.c -o closed
run penna record --via inject -q -k alloc -o closed.penna -- ./closed
expect_eq 3 "$status" "status of ./closed"
for command in 'graph main closed.penna' 'report calls closed.penna' 'report tree closed.penna' 'diff closed.penna closed.penna' 'report closed.penna' 'report alloc closed.penna' 'report flame closed.penna' 'report leaks closed.penna' 'export heaptrack closed.penna'; do
  # shellcheck disable=SC2086
  run penna $command
  expect_contains "$out$err" "it is statically linked, so no agent can be preloaded" "$command"
  expect_missing "$out$err" "--all-functions"
  expect_eq 1 "$(grep -c "it is statically linked" <<<"$out$err")" "sentences of $command"
done
expect_missing "$err" "record it with -k alloc"
echo 'leak:^lose' >known.txt
run penna report leaks leaking.penna --suppressions known.txt
expect_match "$out" '^Nothing leaked but [0-9]+ blocks of .* suppressed'
echo 'lose' >wrong.txt
run penna report leaks leaking.penna --suppressions wrong.txt
expect_eq 125 "$status" "status with a wrong list"
expect_contains "$err" "wrong.txt: line 1 is no suppression"

# Without line information, the report says what is missing.
gcc -O1 -x c - -o bare <<<'#include <stdlib.h>
void* volatile lost; int main(void) { lost = malloc(77); return 0; }'
penna record -q -k alloc -o bare.penna -- ./bare
expect_match "$(penna report leaks bare.penna)" '^bare has no line information: build it with -g'
strip bare
penna record -q -f -k alloc -o bare.penna -- ./bare
expect_match "$(penna report alloc bare.penna)" '^bare (is stripped|has no symbols).*pass --debug-dir\.$'
expect_missing "$(penna report leaks leaking.penna)" "-dbgsym"

# A program that prints what it does.
cat >busy.cc <<'PROGRAM'
#include <cstdlib>
#include <thread>
#include <vector>
static void* blocks[1000];
static void* volatile sink;
__attribute__((noipa)) void fill(int n) { for (int i = 0; i < n; i++) blocks[i] = malloc(100); }
__attribute__((noipa)) void empty(int n) { for (int i = 0; i < n; i++) free(blocks[i]); }
__attribute__((noipa)) void churn(int n) { for (int i = 0; i < n; i++) { sink = malloc(5000); free(sink); } }
__attribute__((noipa)) void quiet() {}
int main(int argc, char**) {
  fill(1000);
  std::thread(empty, 600).join();
  churn(argc == 1 ? 50 : 70);
  quiet();
}
PROGRAM
build_c busy -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -k calls,alloc -o busy.penna -- ./busy
for table in alloc peak temp lifetimes sizes heap leaks; do penna report $table busy.penna --json >$table.json; done
for by in thread call function file module; do penna report alloc busy.penna --by $by --json >by_$by.json; done
penna report lifetimes busy.penna --by freer --json >freer.json
penna report alloc busy.penna --stack fill --json >fill.json
penna report alloc busy.penna --size 5000 --json >large.json
expect_match "$(penna report alloc busy.penna --size 99)" '^The filters leave out all'
penna report alloc busy.penna --lifetime 1000h.. --json >forever.json
for weight in alloc-bytes allocs live peak temp; do penna export folded busy.penna --weight $weight -o $weight.folded; done
/usr/bin/python3 - <<'CHECK' || fail "the tables of allocations contradict each other or the program"
import json
def rows(name, table=None):
    whole = json.load(open(name + '.json'))
    return whole[table or name]
def of(name, key, function, table=None):
    return sum(row[key] for row in rows(name, table) if row['function'].startswith(function))
alloc = rows('alloc')
count, data = sum(r['count'] for r in alloc), sum(r['bytes'] for r in alloc)
assert of('alloc', 'count', 'fill') == 1000 and of('alloc', 'live_blocks', 'fill') == 400
assert of('temp', 'temp', 'churn') == 50 and of('temp', 'temp_bytes', 'churn') == 250000
assert of('peak', 'peak_blocks', 'fill') == 1000 and of('peak', 'own_peak_bytes', 'churn') == 5000
assert of('lifetimes', 'freed', 'fill') == 600 == of('lifetimes', 'elsewhere', 'fill')
assert sum(r['freed'] for r in rows('freer', 'lifetimes') if r['function'].startswith('fill')) == 600
assert sum(r['count'] for r in rows('sizes')) == count == sum(r['count'] for r in rows('sizes', 'frequent'))
assert next(r for r in rows('sizes', 'frequent') if r['size_bytes'] == 100)['live_blocks'] >= 400
heap = rows('heap')
assert max(r['max_bytes'] for r in heap) == sum(r['peak_bytes'] for r in rows('peak'))
assert heap[-1]['live_blocks'] == sum(r['live_blocks'] for r in alloc)
for by in 'thread', 'call', 'function', 'file', 'module':
    key = 'bytes' if by == 'thread' else 'self_bytes'
    assert sum(r[key] for r in rows('by_' + by, 'alloc')) == data, by
call = {tuple(f.split('(')[0].strip() for f in r['stack']): r for r in rows('by_call', 'alloc')}
assert call[('fill', 'main')]['count'] == 1000 and call[('main',)]['total_count'] >= 1050
assert sum(r['count'] for r in rows('fill', 'alloc')) == 1000
assert sum(r['count'] for r in rows('large', 'alloc')) == 50
assert sum(r['count'] for r in rows('forever', 'alloc')) == heap[-1]['live_blocks']
def folded(name): return sum(int(line.rsplit(' ', 1)[1]) for line in open(name + '.folded'))
assert folded('alloc-bytes') == data and folded('allocs') == count
assert folded('live') == sum(r['live_bytes'] for r in alloc) and folded('peak') == sum(r['peak_bytes'] for r in alloc)
assert folded('temp') == sum(r['temp'] for r in alloc)
CHECK
run penna report alloc leaking.penna --by call
expect_contains "$out" "penna record -k calls,alloc records both"
run penna report alloc busy.penna --stack fil
expect_contains "$out" "--stack 'fil' matched no function"

# Limits.
run penna check busy.penna --max-leak 40000 --max-leak-blocks 400 --max-allocs quiet=0 --max-allocs 'churn*=50'
expect_eq 0 "$status" "limits that are kept"
expect_contains "$out" "5 limits kept."
run penna check busy.penna --max-leak 39999
expect_eq 1 "$status" "a limit that is broken"
expect_match "$out" '^ *40.0 kB +40.0 kB +broken +--max-leak 39999$'
expect_contains "$out" "fill(int) (busy.cc:6)"
run penna check busy.penna --max-alloc-rate 1B/s
expect_eq 1 "$status" "a rate that is too high"
expect_match "$out" ' 1 B +broken +--max-alloc-rate 1B/s$'
expect_contains "$out" "fill(int) (busy.cc:6)"
run penna check busy.penna --max-alloc-rate 1 --json
rate=$(grep -o '"found":[0-9]*,"allowed":1,' <<<"$out" | grep -o '[0-9]*' | head -n 1)
run penna check busy.penna --max-alloc-rate "$rate"
expect_eq 0 "$status" "the rate that it has"
run penna check busy.penna --max-alloc-rate fast
expect_eq 2 "$status" "no rate"
run penna check busy.penna --max-allocs main=1000
expect_eq 1 "$status" "too many allocations"
run penna check busy.penna --max-allocs nobody=0
expect_eq 0 "$status" "a name that met nothing"
expect_contains "$out" "no function of this name was called"
for wrong in "" "--max-leak x" "--max-allocs nobody" "--no-such"; do
  # shellcheck disable=SC2086
  run penna check busy.penna $wrong
  expect_eq 2 "$status" "status of check $wrong"
done
penna record -q -k calls -o calls.penna -- ./busy
run penna check calls.penna --max-leak 0
expect_eq 2 "$status" "without allocations"
expect_contains "$err" "record with -k alloc"

# A missing part of a recording may or may not have exceeded a limit: a truncated recording, a program that could not be
# recorded at all.
head -c $(($(stat -c %s busy.penna) / 2)) busy.penna >cut.penna
run penna check cut.penna --max-leak 1G
expect_eq 2 "$status" "a recording that was cut"
expect_match "$out" 'unknown +gaps in the recording$'
expect_match "$out" 'unknown +--max-leak 1G$'
echo 'int main(void) { return 0; }' >static.c
build_c static -static -s
run penna record --via inject -q -f -k alloc -o static.penna -- ./static
run penna check static.penna --max-leak 0
expect_eq 2 "$status" "a program that could not be recorded"
expect_contains "$err" "it is statically linked"
echo '#include <stdlib.h>
int main(void) { return system("./busy more >busy.txt"); }' >starts.c
build_c starts -static -s
run penna record --via inject -q -f -k alloc -o starts.penna -- ./starts
run penna check starts.penna --max-leak 1G
expect_eq 2 "$status" "a program that could not be recorded, and started one that was"
expect_match "$out" '^not known: --max-leak 1G: nothing was recorded of ./starts: it is statically linked'
penna record -q -f -k alloc -o static.penna -- sh -c './static; true'
run penna check static.penna --max-leak 1M
expect_eq 2 "$status" "a program that could not be recorded beside one that was"
expect_match "$out" '^not known: --max-leak 1M: .*was not recorded: it is statically linked'
shell=$(penna info static.penna | awk '/sh -c/ && $1 ~ /^[0-9]+$/ {print $1; exit}')
run penna check static.penna --max-leak 1M --pid "$shell"
expect_eq 0 "$status" "the other one alone"

# Two runs, the second allocating more.
penna record -q -k alloc -o a.penna -- ./busy
penna record -q -k alloc -o b.penna -- ./busy more
expect_match "$(penna diff a.penna b.penna --frames 1)" '^ +\.\.\. [0-9]+ more$'
run penna diff a.penna b.penna
expect_match "$out" '^ +50 +70 +250 kB +350 kB +\+100 kB +\+40.0 % +\+20 +churn\(int\) \[busy\]$'
penna diff --leaks a.penna b.penna --json >diff.json
/usr/bin/python3 -c 'import json; assert all(r["quiet"] for r in json.load(open("diff.json"))["leaks"])' || fail "the leaks are the same"
