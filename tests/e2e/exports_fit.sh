#!/bin/bash
# SPDX-License-Identifier: MIT
# Exports that stay small: sums by stack or by function, growing with the program's call paths instead of its run time,
# opened by the tools that read them. Large exports are announced; binary data are kept off a terminal.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need valgrind graphviz
cat >app.c <<'C'
#include <stdlib.h>
#define APART __attribute__((noinline, noclone))
APART int leaf(int x) { return x * 3 + 1; }
APART int rec(int n) { return n <= 0 ? leaf(n) : rec(n - 1) + leaf(n); }
APART int pong(int n);
APART int ping(int n) { return n <= 0 ? 0 : pong(n - 1) + 1; }
APART int pong(int n) { return n <= 0 ? 0 : ping(n - 1) + 2; }
APART void* make(int n) { return malloc((size_t)n); }
int main(int count, char** words) {
  int rounds = atoi(words[count - 1]);
  long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += rec(i % 10) + ping(i % 7);
    free(make(100));
  }
  return sum == 42;
}
C
build_c app -finstrument-functions
penna record -q -f -o app.penna ./app 2000
penna export folded app.penna -o app.folded
penna export folded --weight calls app.penna -o calls.folded
penna report app.penna calls -n 0 --format csv >calls.csv

# callgrind: its own tool reads the same numbers as the report; edges count recursion once.
penna export callgrind app.penna -o app.callgrind
callgrind_annotate --inclusive=no --auto=no --threshold=100 app.callgrind >self.txt
callgrind_annotate --inclusive=yes --auto=no --threshold=100 app.callgrind >total.txt
expect_eq 0 "$(callgrind_annotate app.callgrind 2>&1 >/dev/null | wc -l)" "complaints of callgrind_annotate"
penna export callgrind --weight calls app.penna -o calls.callgrind
/usr/bin/python3 - <<'P' || fail "the callgrind profile differs from the report"
import collections, csv, re
rows = {row['function']: row for row in csv.DictReader(open('calls.csv'))}
folded = [(line.rsplit(' ', 1)[0].split(';'), int(line.rsplit(' ', 1)[1])) for line in open('app.folded')]
def annotated(name):
    return {match[2]: int(match[1].replace(',', '')) for match in
            re.finditer(r'^ *([\d,]+) \([ \d.]+%\)  \S*?([^:\s]+)(?: \[.*)?$', open(name).read(), re.M) if match[2] != 'TOTALS'}
own, total, edges = collections.Counter(), collections.Counter(), collections.Counter()
for stack, weight in folded:
    own[stack[-1]] += weight
    for function in set(stack): total[function] += weight
    for edge in set(zip(stack, stack[1:])): edges[edge] += weight
def near(a, b): return abs(a - b) <= 20 * len(folded)  # each is rounded to nanoseconds
selfs, totals = annotated('self.txt'), annotated('total.txt')
assert set(selfs) == set(own) == {'main', 'rec', 'leaf', 'ping', 'pong', 'make'}, (selfs, own)
assert all(near(selfs[name], own[name]) for name in own), (selfs, own)
assert near(totals['main'], total['main']) and near(totals['make'], total['make']), (totals, total)
names, made, caller = {}, {}, None
for line in open('app.callgrind'):
    found = re.match(r'(c?fn)=\((\d+)\)(?: (.*))?$', line)
    if found:
        names.setdefault(found[2], found[3])
        if found[1] == 'fn': caller = names[found[2]]
        else: callee = names[found[2]]
    elif line.startswith('calls='):
        calls = int(line[6:].split()[0])
    elif caller and re.match(r'\d+ \d+$', line):
        cost = int(line.split()[1])
        if calls: made[caller, callee] = (calls, cost)
    calls = calls if line.startswith('calls=') else 0
assert set(made) == set(edges), (set(made) ^ set(edges))
assert all(near(made[edge][1], edges[edge]) for edge in edges), (made, edges)
for name in own:
    entered = sum(count for (_, callee), (count, _) in made.items() if callee == name) + (name == 'main')
    assert entered == int(rows[name]['calls']), (name, entered, rows[name])
assert sum(int(row['calls']) for row in rows.values()) == int(re.search(r'^totals: (\d+)', open('calls.callgrind').read(), re.M)[1])
P

# graphviz: a graph that dot can lay out, also for allocations.
penna export graphviz app.penna -o app.dot
dot -Tplain app.dot >app.plain
expect_eq 6 "$(grep -c '^node' app.plain)" "functions in the graph"
expect_eq 7 "$(grep -c '^edge' app.plain)" "arrows in the graph"
expect_match "$(<app.dot)" 'label="main\\n100\.0 % \(itself [0-9.]+ %\)\\n1 call"'
run penna export graphviz --weight allocs app.penna
expect_eq 0 "$status" "status"
dot -Tplain >allocs.plain <out.txt
expect_match "$(<allocs.plain)" '"make'
cat >odd.cc <<'C'
#define APART __attribute__((noinline, noclone))
APART long operator"" _km(unsigned long long n) { return (long)n * 1000; }
template <char... Name> APART long operator"" _name() { return sizeof...(Name); }
struct Odd { APART bool operator<(long x) const { return x > 3; } };
int main() { return Odd{} < 1_km + 12_name ? 0 : 1; }
C
build_c odd -finstrument-functions
penna record -q -f -o odd.penna ./odd
penna export graphviz odd.penna -o odd.dot 2>/dev/null
dot -Tplain odd.dot >odd.plain || fail "dot cannot read a graph of odd names: $(<odd.dot)"
expect_match "$(<odd.plain)" 'operator.*_km'

# speedscope --aggregate: the folded stacks, for each weight.
for weight in time calls alloc-bytes; do
  penna export folded --weight $weight app.penna -o weighed.folded
  penna export speedscope --aggregate --weight $weight app.penna -o weighed.json
  /usr/bin/python3 - $weight <<'P' || fail "speedscope --aggregate differs from folded: $weight"
import json, sys
file = json.load(open('weighed.json'))
frames = [frame['name'] for frame in file['shared']['frames']]
profile, = file['profiles']
assert set(profile) == {'type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'}, set(profile)
assert profile['type'] == 'sampled' and profile['startValue'] == 0 and profile['endValue'] == sum(profile['weights'])
assert profile['unit'] == {'time': 'nanoseconds', 'calls': 'none', 'alloc-bytes': 'bytes'}[sys.argv[1]]
lines = [f"{';'.join(frames[i] for i in sample)} {weight}" for sample, weight in zip(profile['samples'], profile['weights'])]
assert lines and lines == open('weighed.folded').read().splitlines(), lines
P
done
penna export speedscope app.penna -o all.json
penna record -q -f -k calls -o long.penna ./app 90000
penna export speedscope --aggregate app.penna -o short.json
penna export speedscope --aggregate long.penna -o long.json
(($(stat -c %s long.json) < 2 * $(stat -c %s short.json))) || fail "45 times the calls: $(wc -c short.json long.json)"
(($(stat -c %s short.json) * 20 < $(stat -c %s all.json))) || fail "not smaller: $(wc -c short.json all.json)"

# More than 100 MB is announced beforehand; less is not.
run penna export chrome app.penna
expect_eq "" "$err" "what is said of a small export"
penna export chrome long.penna 2>said.txt | wc -c >bytes.txt
bytes=$(<bytes.txt)
((bytes > 100000000)) || fail "this test needs a larger export than $bytes bytes"
expect_match "$(<said.txt)" '^penna: standard output will take about [0-9.]+ MB; -r, -F, --depth and --min-time make it smaller$'
foretold=$(sed -E 's/.* ([0-9.]+) MB;.*/\1/' said.txt)
/usr/bin/python3 -c "assert abs($foretold * 1e6 / $bytes - 1) < 0.2, ($foretold, $bytes)" || fail "foretold $foretold MB of $bytes bytes"
run penna export speedscope -o long.speedscope.json long.penna
expect_contains "$err" 'long.speedscope.json will take about'
expect_contains "$err" '--aggregate'
run penna export speedscope --depth 2 -o small.json long.penna
expect_eq "" "$err" "what is said of an export of two levels"
run penna export chrome -N none_of_this_name long.penna -o filtered.json
expect_eq "penna: filtered.json takes more than 100 MB; -r, -F, --depth and --min-time make it smaller" "$(grep takes <<<"$err")"

# The size is told from the events that the format has: calls, which rtrace has not, and its pass that writes nothing
# make it no larger.
penna record -q -f -k calls,alloc -o both.penna ./app 90000
run penna export rtrace both.penna -o both.rtrace
expect_eq "" "$err" "what is said of $(stat -c %s both.rtrace) bytes"
(($(stat -c %s both.rtrace) > 5000000)) || fail "this test needs a larger export: $(wc -c both.rtrace)"

# Binary data are not for a terminal.
for format in perfetto pprof; do
  said=$(script -qec "'$PENNA' export $format app.penna" /dev/null) && fail "$format went to a terminal"
  expect_contains "$said" "$format is binary, and standard output is a terminal"
  penna export $format app.penna | head -c 1 >/dev/null || true
done
script -qec "'$PENNA' export folded app.penna" /dev/null | grep -q 'main;rec' || fail "text does not go to a terminal"

# Options of one format are refused for the others.
for wrong in "chrome --aggregate" "folded --aggregate" "graphviz --threads" "speedscope --weight calls" "callgrind --size 64"; do
  # shellcheck disable=SC2086
  run penna export $wrong app.penna
  expect_eq 125 "$status" "status of $wrong"
  expect_eq 1 "$(wc -l <<<"$err")" "sentences on $wrong"
done
echo "PASS"
