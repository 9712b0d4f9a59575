#!/bin/bash
# SPDX-License-Identifier: MIT
# penna export uftrace: Debian's uftrace reads the directory and shows the same calls: how often each function was
# called, the tree of each thread, an exception, a forked child, a program after exec, a crash, too deep nesting.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need uftrace
cat >'my app.cc' <<'PROGRAM'
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
namespace shop {
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noipa)) int fib(long n) { return fib(static_cast<int>(n)); }
__attribute__((noipa)) void thrower() { fib(1); throw std::runtime_error("x"); }
__attribute__((noipa)) void work() { try { thrower(); } catch (std::exception&) {} }
__attribute__((noipa)) int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
}
__attribute__((noipa)) void in_child() { shop::fib(2L); }
__attribute__((noipa)) void after_exec() { shop::fib(3); abort(); }
int main(int count, char** arguments) {
  if (count > 1) after_exec();
  shop::fib(10);
  std::thread(shop::work).join();
  std::thread(shop::deep, 2000).join();
  if (fork() == 0) {
    in_child();
    execl("/proc/self/exe", arguments[0], "again", nullptr);
  }
  wait(nullptr);
}
PROGRAM
build_c 'my app' -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -k calls -o app.penna -- './my app'
run penna export uftrace app.penna data
expect_eq 0 "$status" "status of the export"
expect_contains "$err" "977 calls deeper than uftrace supports are left out"
penna report calls app.penna --format csv >calls.csv
penna export csv app.penna -o events.csv
uftrace report -d data --no-pager >report.txt 2>err.txt
uftrace replay -d data --no-pager -f tid >tree.txt 2>>err.txt
[ ! -s err.txt ] || { cat err.txt; fail "uftrace complains"; }
/usr/bin/python3 - <<'PYTHON' || { head -40 report.txt tree.txt; fail "uftrace does not show the calls that were recorded"; }
import collections, csv, re
calls = {row['function']: row for row in csv.DictReader(open('calls.csv'))}
expected = {name: int(row['calls']) for name, row in calls.items()}
assert expected['shop::deep(int)'] == 2001
expected['shop::deep(int)'] -= 977
expected['main'] += 1  # the forked child goes on in it: uftrace knows no calls but whole ones
shown = {}
for line in open('report.txt').read().splitlines():
    found = re.match(r' *[\d.]+ +[mu]?s +(?:[\d.]+ +[mu]?s +)?(\d+)  (\S.*)$', line)
    if found: shown[found[2]] = int(found[1])
assert shown == expected, (shown, expected)

# The order of calls of each thread, and how deep each is.
names, trees = collections.defaultdict(list), collections.defaultdict(list)
for row in csv.DictReader(open('events.csv')):
    if row['kind'] == 'enter': names[row['tid']].append(row['name'])
for line in open('tree.txt'):
    found = re.match(r' *\[ *(\d+)\] \| ( *)(\S.*?)(\(\))?( \{|;)$', line.rstrip())
    if found: trees[found[1]].append((len(found[2]) // 2, found[3]))
assert set(names) == set(trees), (set(names), set(trees))
for tid, tree in trees.items():
    own = names[tid] if 'shop::deep(int)' not in names[tid] else names[tid][:1024]
    assert [re.sub(r'\(\)$', '', name) for _, name in tree] == [re.sub(r'\(\)$', '', name) for name in own], (tid, tree[:5], own[:5])
child = next(tree for tree in trees.values() if len(tree) > 1 and tree[1][1] == 'in_child')  # in the main() that it was forked in
assert [depth for depth, _ in child[:6]] == [0, 1, 2, 3, 4, 4], child
assert [name for _, name in child if 'fib' not in name] == ['main', 'in_child', 'main', 'after_exec'], child
PYTHON

# A call that does not return is shown with a length, not as long as the machine has run.
penna record -q -k calls --libcalls -o exec.penna -- /usr/bin/env /bin/true
penna export uftrace exec.penna exec
expect_match "$(uftrace report -d exec --no-pager)" '^ +[0-9.]+ us +[0-9.]+ us +1  execvp\(\)$'

run penna export uftrace app.penna data
expect_contains "$err" "data exists and is not empty"
run penna export uftrace app.penna
expect_contains "$err" "uftrace is a directory: name one"
