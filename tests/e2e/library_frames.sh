#!/bin/bash
# SPDX-License-Identifier: MIT
# C++ stacks: each run of frames in the language's libraries is one line, named after the function called by user code;
# process and thread startup frames are hidden; --by function and --by file give user code; --std shows everything, and
# CSV and JSON always contain it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >till.cc <<'CXX'
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#define NOINLINE __attribute__((noinline))
struct Order {
  int number;
  std::string customer;
  bool operator==(const Order& other) const { return number == other.number; }
};
template <>
struct std::hash<Order> {
  NOINLINE size_t operator()(const Order& order) const {
    return std::hash<std::string>()(order.customer + " in this shop, as a key") + static_cast<size_t>(order.number);
  }
};
static auto* kept = new std::vector<std::shared_ptr<Order>>;
NOINLINE void load(std::vector<Order>& orders) {
  for (int i = 0; i < 100; ++i) orders.push_back({i, "a customer with number " + std::to_string(i % 10)});
}
NOINLINE void sort_by_customer(std::vector<Order>& orders) {
  std::sort(orders.begin(), orders.end(), [](const Order& a, const Order& b) {
    std::string left = a.customer + " in this shop", right = b.customer + " in this shop";
    return left < right;
  });
}
NOINLINE void fill_index(std::map<std::string, std::vector<int>>& index, const std::vector<Order>& orders) {
  for (const Order& order : orders) index[order.customer].push_back(order.number);
}
static std::mutex kept_mutex;
NOINLINE void keep(const Order& order) {
  const std::lock_guard<std::mutex> guard(kept_mutex);
  kept->push_back(std::make_shared<Order>(order));
}
NOINLINE void each(const std::vector<Order>& orders, const std::function<void(const Order&)>& visit) {
  for (const Order& order : orders) visit(order);
}
NOINLINE void serve() {
  std::vector<Order> orders;
  load(orders);
  sort_by_customer(orders);
  std::map<std::string, std::vector<int>> index;
  fill_index(index, orders);
  std::unordered_set<Order> once(orders.begin(), orders.end());
  std::unordered_map<int, std::string> names;
  each(orders, [&](const Order& order) {
    names[order.number] = order.customer + " again";
    keep(order);
  });
}
int main() {
  std::thread first(serve), second([] { serve(); });
  first.join();
  second.join();
  serve();
}
CXX
# Lines of the stacks in a report's text: "ROW" for each row, else its frames, innermost first.
cat >stacks.py <<'PYTHON'
import re, sys
LIBRARY = re.compile(r'^(std::(?!hash<Order>::operator)|__gnu_cxx::|operator (new|delete)|__cxa|__libc|_start\b|start_thread|clone3?\b|execute_native|call_init|_dl_|libstdc|libc\.so)|'
                     r'\[(libc\.|libstdc\+\+|ld-linux)[^]]*\]$')
text, begin, rows = sys.stdin.read().split('\n'), None, []
for line in text:
    if re.search(r' (STACK|ALLOCATED IN)$', line): begin = max(line.rfind('STACK'), line.rfind('ALLOCATED IN'))
    elif begin is not None and re.match(r' {6}\S', line): rows[-1].append(line.strip())
    elif begin is not None and re.match(r' *[0-9]', line) and 'more (-n' not in line: rows.append([line[begin:].strip()])
    elif not line: begin = None
problems = []
for row in rows:
    libraries = [LIBRARY.search(frame) is not None for frame in row]
    if all(libraries): continue  # of the libraries alone: all of it is shown
    if libraries[-1] and not row[-1].startswith('... '): problems.append(('outside of the first function', row))
    if any(a and b for a, b in zip(libraries, libraries[1:])): problems.append(('two lines of libraries', row))
    if not all(libraries) and libraries.index(False) > 2: problems.append(('no own frame within three lines', row))
if len(rows) < int(sys.argv[1]) or problems: sys.exit(f'{len(rows)} rows; {problems}')
PYTHON
stacks_are_folded() { python3 stacks.py "$1" <<<"$out" || fail "stacks of $2"; }

for build in 'g++ -O0' 'g++ -O2' 'clang++ -O1'; do
  $build -g -std=c++20 -pthread till.cc -o till
  run penna record -q -f -k alloc --free-stacks -o till.penna -- ./till
  expect_eq 0 "$status" "$build"
  for table in alloc leaks peak temp lifetimes; do
    run penna report till.penna $table -n 0 --frames 0 --wide
    stacks_are_folded 1 "$build: $table"
    expect_missing "$out" 'std::allocator<'
    expect_missing "$out" 'basic_string<'
  done
  run penna report till.penna -n 0 --wide
  stacks_are_folded 1 "$build: the summary"
  run penna report till.penna alloc -n 0 --wide
  expect_match "$out" '  std::vector<Order>::(push|emplace)_back'
  for function in load 'sort_by_customer' fill_index keep; do
    expect_match "$out" "^      $function\(" # in the line below
  done
  run penna report till.penna alloc --by function --format csv -n 0
  functions=$(python3 -c 'import csv, sys; print("\n".join(row["function"] for row in csv.DictReader(sys.stdin)))' <<<"$out")
  expect_match "$functions" '^load\('
  expect_match "$functions" '^keep\('
  expect_match "$functions" '^fill_index\('
  expect_match "$functions" '^std::hash<Order>::operator\(\)' # the user's own, though in namespace std
  expect_match "$functions" '^sort_by_customer.*(lambda|\$_0)'
  expect_missing "$functions" '_M_'
  expect_missing "$functions" 'operator new'
  expect_missing "$functions" '_start'
  run penna report till.penna alloc --by file --wide
  expect_match "$out" ' till\.cc|/till\.cc'
  expect_missing "$out" '/c++/'

  # All frames, on request.
  run penna report till.penna alloc -n 0 --frames 0 --wide --std
  expect_match "$out" '(operator new|_M_allocate|allocator)'
  expect_match "$out" '^      _start'
  expect_match "$out" '_M_realloc_insert|_M_realloc_append'
  run penna report till.penna alloc --by function --std -n 0 --wide
  expect_match "$out" '_start|__libc_start_main'
  run penna report till.penna alloc -n 0 --wide --demangle full
  expect_contains "$out" 'std::allocator<Order> >::'
  stacks_are_folded 3 'with full names'
  # Programs get complete names and stacks, and the user's function as the location.
  penna report till.penna alloc --json >till.json
  python3 - <<'PYTHON' || fail "json"
import json
rows = json.load(open('till.json'))['alloc']
stacks = [row['stack'] for row in rows]
assert any('_start' in frame for stack in stacks for frame in stack), stacks
assert any('std::allocator<Order>' in frame for stack in stacks for frame in stack), stacks
assert {'load', 'keep', 'fill_index'} <= {row['function'].split('(')[0] for row in rows}, rows
PYTHON
  run penna export folded till.penna
  expect_match "$out" '^_start;.*;main;serve\(\);load'
  expect_contains "$out" 'std::allocator<Order>'
done

# In a replay, as a flame graph, in a diff.
run penna replay till.penna --stacks -n 200
expect_missing "$out" '_M_'
expect_missing "$out" '__libc_start'
run penna replay till.penna --stacks -n 200 --std
expect_contains "$out" '__libc_start'
run penna report till.penna flame --weight alloc-bytes --ascii
expect_missing "$out" '__libc_start'
expect_contains "$out" 'main'
run penna report till.penna flame --weight alloc-bytes --ascii --std
expect_contains "$out" '__libc_start'
cp till.penna again.penna
run penna diff till.penna again.penna --alloc -n 0 --wide
expect_missing "$out" '_M_realloc'
expect_match "$out" 'std::vector<Order>::'

# More libraries: by function, by source, from a settings file.
run penna report till.penna alloc --by function --library 'load' -n 0
expect_missing "$out" 'load('
expect_contains "$out" 'serve('
run penna report till.penna alloc --by function --library till.cc -n 0
expect_missing "$out" 'serve('
printf '[report]\nlibrary = ["load", "keep"]\n' >.penna.toml
run penna report till.penna alloc --by function -n 0
expect_missing "$out" 'load('
expect_missing "$out" 'keep('
expect_contains "$out" 'serve('
rm .penna.toml
run penna report till.penna --library ''
expect_eq 125 "$status"
expect_contains "$err" 'pattern is empty'

# A name printed in a table selects that function if passed back.
function=$(penna report till.penna alloc --wide -n 0 | grep -o 'std::vector<Order>::[a-z_]*' | head -1)
[ -n "$function" ] || fail "no function of std::vector<Order>"
run penna report till.penna alloc --stack "$function" --wide
expect_contains "$out" "$function"

# Waits are attributed to the waiter's code.
cat >lock.cc <<'CXX'
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex mutex;
__attribute__((noinline)) void take() { std::lock_guard<std::mutex> guard(mutex); }
int main() {
  std::unique_lock<std::mutex> held(mutex);
  std::thread other(take);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  held.unlock();
  other.join();
}
CXX
g++ -O0 -g -std=c++20 -pthread lock.cc -o lock
run penna record -q -f -k locks -o lock.penna -- ./lock
run penna report lock.penna waits --wide
expect_match "$out" ' take\(\) \(lock\.cc:6\)'
expect_missing "$out" 'std::__invoke'
expect_missing "$out" 'start_thread'
run penna report lock.penna waits --wide --std
expect_contains "$out" 'std::__invoke'

# A program that was not built for this.
printf 'int   main( ){return 0 ;}\n' >ugly.cc
run penna record -q -f -k alloc -o format.penna -- clang-format-14 ugly.cc
expect_eq 0 "$status"
for table in '' alloc peak; do
  run penna report format.penna $table --wide
  stacks_are_folded 3 "clang-format $table"
done
