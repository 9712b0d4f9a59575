#!/bin/bash
# SPDX-License-Identifier: MIT
# The interfaces of jemalloc, mimalloc and tcmalloc besides malloc are recorded: linked, part of the program, dlopened,
# with a prefix. Each block is recorded once, with its size and the program's requesting location, and its free; and the
# table includes all of their functions that allocate or free blocks.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev
library=/usr/lib/x86_64-linux-gnu
mimalloc=$(basename "$(readlink "$library/libmimalloc.so")") # libmimalloc.so.2 in Debian 12, .3 in Debian 13

# A function is in the table, or is another name of one that is, or a jump to one (after an endbr64 in libraries that
# have them); or it does not deal with single blocks.
cat >listed.py <<'PYTHON'
import re, subprocess, sys
table, library = sys.argv[1:]
listed = set(re.findall(r'^PENNA_(?:ENTERED|NATIVE)\((\w+),', open(table).read(), re.M))
others = re.compile(r'''_Z(N|T|GV|St|L|Z|K)|_Z\d|_init$|_fini$|__st(art|op)_|
  (tc_)?(malloc|mallopt|mallinfo2?|nallocx|sallocx)(_usable_size|_good_size|_size|_stats|_stats_print)?$|mallctlbymib$|
  tc_(version|set_new_mode|query_new_mode)$|MallocHook_|MallocExtension_|TCMalloc|HeapProfiler|IsHeapProfilerRunning$|GetHeapProfile$|
  ProfilingIsEnabled|RunningOnValgrind$|(mmap|mmap64|munmap|mremap|sbrk)$|
  mi_(stats_|thread_|process_|option_|register_(output|error)$|manage_|reserve_|debug_|arena_area$|is_|good_size$|usable_size$|malloc_(usable_|good_)?size$|
      collect$|version$|check_owned$|wdupenv_s$|subproc_(main|new|delete|add_current_thread)$|abandoned_visit_blocks$|
      arena_(contains|reload|unload)$|heap_(new|new_ex|new_in_arena|try_new|delete|collect|get_\w+|set_default|contains_block|
      check_owned|visit_blocks|reload|unload|guarded_\w+)$)''', re.X)
run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True).stdout
symbols = {}
for line in run('nm', '-D', '--defined-only', library).splitlines():
    address, kind, name = line.split()
    if kind in 'TWi':
        symbols.setdefault(int(address, 16), set()).add(name.split('@')[0])
assert len(symbols) > 20
code, marked = {}, None  # marked: the address of the endbr64 in the line before
for line in run('objdump', '-d', '--no-show-raw-insn', library).splitlines():
    match = re.match(r' +([0-9a-f]+):\s+jmp +([0-9a-f]+) <([\w.]+)(@\w+)?>', line)
    if match:
        code[marked or int(match[1], 16)] = (int(match[2], 16), match[3])
    match = re.match(r' +([0-9a-f]+):\s+endbr64', line)
    marked = match and int(match[1], 16)
def known(address):
    names = symbols.get(address, set())
    if names & listed or all(others.match(name) for name in names):
        return True
    target, name = code.get(address, (0, ''))
    return name in listed or (target in symbols and known(target))
missing = [sorted(names) for address, names in symbols.items() if not known(address)]
assert not missing, f'{library}: {missing}'
PYTHON
for name in libjemalloc.so.2 $mimalloc libtcmalloc.so.4 libtcmalloc_minimal.so.4 libtcmalloc_minimal_debug.so.4; do
  python3 listed.py "$PENNA_SOURCE/src/agent/hooks/alloc/entered.inc" $library/$name || fail "the table of functions is incomplete"
done

# expect_all NAME: the blocks that the program reports are in the recording, and were freed.
cat >matched.py <<'PYTHON'
import csv, io, subprocess, sys
penna, recording, count, size = sys.argv[1:]
text = subprocess.run([penna, 'export', 'csv', recording], check=True, capture_output=True, text=True).stdout
live, mine = {}, []
last = None
for row in csv.DictReader(io.StringIO(text)):
    if row['kind'] == 'alloc':
        assert row['address'] not in live, f'given out twice: {row}'
        live[row['address']] = row
        if row['stack'].split(';')[-1].startswith('use_') or row['stack'].startswith('use_'):
            mine.append(row)
    elif row['kind'] == 'free':
        last = live.pop(row['address'], None)
        assert last is not None, f'freed what was not allocated: {row}'
    elif row['kind'] == 'realloc_failed':
        live[row['address']] = last
got = (len(mine), sum(int(row['size']) for row in mine))
assert got == (int(count), int(size)), f'{got}: {[(row["name"], row["size"]) for row in mine]}'
left = [row for row in live.values() if row in mine]
assert not left, f'never freed: {left}'
PYTHON
expect_all() {
  local name=$1 plain
  shift
  plain=$("$@") || fail "$name unrecorded: $plain"
  run penna record -f -k alloc -o "$name.penna" -- "$@"
  expect_eq "0 $plain" "$status $out" "$name"
  expect_missing "$err" "not recorded"
  # shellcheck disable=SC2086
  python3 matched.py "$PENNA" "$name.penna" $plain || fail "$name: wrong blocks"
  expect_match "$(penna report health "$name.penna" -n 0)" '^allocators refused +0 '
}
build() {
  local name=$1
  shift
  gcc -O1 -g -D_GNU_SOURCE "$PENNA_SOURCE/tests/programs/native_interfaces.c" -o "$name" -rdynamic -Wl,--no-as-needed "$@" ||
    fail "$name does not compile"
}
inside() { build "$1" -Wl,--whole-archive "$2" -Wl,--no-whole-archive -lstdc++ -lpthread -lm; }
build opens
build jemalloc -ljemalloc
build mimalloc -lmimalloc
build tcmalloc -ltcmalloc
build tcmalloc_minimal -ltcmalloc_minimal
build tcmalloc_debug -ltcmalloc_minimal_debug
inside jemalloc_inside $library/libjemalloc.a
inside tcmalloc_inside $library/libtcmalloc_minimal.a
for name in jemalloc jemalloc_inside; do expect_all $name ./$name jemalloc; done
for name in tcmalloc tcmalloc_minimal tcmalloc_debug tcmalloc_inside; do expect_all $name ./$name tcmalloc; done
expect_all mimalloc ./mimalloc mimalloc
expect_all mimalloc_opened ./opens mimalloc "$mimalloc"
expect_all tcmalloc_opened ./opens tcmalloc libtcmalloc_minimal.so.4
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=20000
expect_all jemalloc_opened ./opens jemalloc libjemalloc.so.2
unset GLIBC_TUNABLES

# Heaps destroyed with all of their blocks: the single frees are not reported, and a note says so.
run penna record -f -k alloc -o heap.penna -- ./mimalloc destroy
expect_contains "$err" "1 call freed all blocks of a heap at once"
expect_eq "0 1 1000" "$status $out" "a heap that is destroyed"
run penna check heap.penna --max-leak 0
expect_eq 2 "$status" "leaks that may be none"
expect_contains "$out" "1 call freed all blocks of a heap at once (mi_heap_destroy, arenas of jemalloc); which blocks is unknown"
expect_contains "$(penna report leaks heap.penna 2>&1)" "1 call freed all blocks of a heap at once"

# A prefixed interface beside libc's malloc, visible only in the program's own symbols; and functions with such a name
# that do not belong to an allocator.
cat >prefixed.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static char heap[1 << 20];
static size_t used;
#define APART __attribute__((noipa))
#define HIDDEN APART __attribute__((visibility("hidden")))
HIDDEN void* _rjem_malloc(size_t size) { size = (size + 31) & ~(size_t)15; used += size; return heap + used - size; }
HIDDEN void* _rjem_mallocx(size_t size, int flags) { return flags >= 0 ? _rjem_malloc(size) : 0; }
HIDDEN void _rjem_sdallocx(void* block, size_t size, int flags) { if (block && size && flags >= 0) *(volatile char*)block = 0; }
APART double mallocx(int a, int b, int c, int d, int e, int f, int g, double h) { return a + b + c + d + e + f + g + h; }
static void* volatile kept;
int main(void) {
  for (int i = 0; i < 10; i++) _rjem_sdallocx(_rjem_mallocx(1000, 0), 1000, 0);
  kept = _rjem_malloc(2000);
  free(malloc(3000));
  return printf("%g\n", mallocx(1, 2, 3, 4, 5, 6, 7, 8.5)) < 0;
}
C
build_c prefixed -fno-builtin
run penna record -f -k alloc -o prefixed.penna -- ./prefixed
expect_eq "0 36.5" "$status $out" "functions with a prefix"
penna export csv prefixed.penna >prefixed.csv
for size in 10:1000 1:2000 1:3000; do
  expect_eq "${size%:*}" "$(grep -c ",alloc,.*,${size#*:}," prefixed.csv || true)" "blocks of ${size#*:} bytes"
done
run penna check prefixed.penna --max-leak 2000
expect_eq 0 "$status" "what is left of them"
