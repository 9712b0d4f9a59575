#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""heap.py PENNA: heap profiles that penna exports, read by heaptrack_print, ms_print and protobuf's decoder: their sums are
those of penna report alloc, in all and for each stack."""
import collections
import csv
import io
import json
import re
import subprocess
import sys

from clients import HERE, Workspace, expect, finish, run

PENNA = sys.argv[1]

# Of profile.proto what may be in the file.
PROFILE = '''
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1;
  repeated Sample sample = 2;
  repeated Mapping mapping = 3;
  repeated Location location = 4;
  repeated Function function = 5;
  repeated string string_table = 6;
  int64 time_nanos = 9;
  int64 duration_nanos = 10;
  repeated int64 comment = 13;
  int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 num = 3; }
message Mapping {
  uint64 id = 1; uint64 memory_start = 2; uint64 memory_limit = 3; int64 filename = 5; int64 build_id = 6;
  bool has_functions = 7; bool has_filenames = 8; bool has_line_numbers = 9; bool has_inline_frames = 10;
}
message Location { uint64 id = 1; uint64 mapping_id = 2; uint64 address = 3; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; }
'''


def report(recording, pid):
    """{functions, innermost first: (allocations, bytes, live blocks, live bytes, peak, temporary)} of a process."""
    rows = json.loads(run(PENNA, 'report', 'alloc', recording, '--pid', str(pid), '--json'))['alloc']
    keys = ('count', 'bytes', 'live_blocks', 'live_bytes', 'peak_bytes', 'temp')
    stacks = collections.defaultdict(lambda: [0] * len(keys))
    for row in rows:
        names = tuple(re.sub(r' (\([^)]*:\d+\) )?\[[^]]*\]$', '', frame) for frame in row['stack'])
        stacks[names] = [a + row[key] for a, key in zip(stacks[names], keys)]
    return stacks


def total(stacks, index):
    return sum(values[index] for values in stacks.values())


def of_program(stacks, index):
    """Sums over stacks of the program's own, by its functions from the innermost to main."""
    sums = collections.Counter()
    for names, values in stacks.items():
        if 'main' in names or 'work' in names:
            sums[own_part(names)] += values[index]
    return +sums


def own_part(names):
    end = names.index('main') if 'main' in names else names.index('work')
    return tuple(sorted(names[:end + 1]))  # heaptrack puts inlined functions elsewhere


def check_heaptrack(space, recording, stacks, label, ending='', one_thread=True, extra=()):
    path = space.path / f'heap.heaptrack{ending}'
    said = subprocess.run([PENNA, 'export', 'heaptrack', recording, '-o', path, *extra], capture_output=True, text=True)
    expect(said.returncode == 0, f'{label}: {said.stderr}')
    uncounted = re.search(r'heaptrack counts ([\d,]+) fewer', said.stderr)
    uncounted = int(uncounted.group(1).replace(',', '')) if uncounted else 0
    expect(one_thread <= (uncounted == 0), f'{label}: of one thread every temporary block is known: {said.stderr}')
    for cost, index in (('allocations', 0), ('leaked', 3), ('peak', 4), ('temporary', 5)):
        flames = space.path / 'flames'
        # The histogram aside, it says numbers to the byte only in the flame graph.
        told = run('heaptrack_print', '-f', path, '-a0', '-p0', '-T0', '--disable-builtin-suppressions', '-F', flames,
                   '--flamegraph-cost-type', cost)
        theirs = collections.Counter()
        in_all = 0
        for line in flames.read_text().splitlines():
            frames, number = line.rsplit(' ', 1)
            in_all += int(number)
            names = tuple(re.sub(r' \([^)]*\)$', '', frame) for frame in frames.strip(';').split(';'))[::-1]
            if 'main' in names or 'work' in names:
                theirs[own_part(names)] += int(number)
        missed = uncounted if cost == 'temporary' else 0
        expect(in_all + missed == total(stacks, index), f'{label}: heaptrack sums up {cost} to {in_all} + {missed}, we to {total(stacks, index)}')
        if not missed:
            expect(+theirs == of_program(stacks, index), f'{label}: {cost} by stack\n{+theirs}\n{of_program(stacks, index)}')
    calls = re.search(r'calls to allocation functions: (\d+)', told)
    expect(calls and int(calls.group(1)) == total(stacks, 0), f'{label}: {told}')
    return uncounted


def check_massif(space, recording, stacks, label, extra=()):
    path = space.path / 'heap.massif'
    run(PENNA, 'export', 'massif', recording, '-o', path, *extra)
    said = run('ms_print', '--threshold=0', path)
    rows = [[int(word.replace(',', '')) for word in line.split()] for line in said.splitlines()
            if re.fullmatch(r'\s*\d+(\s+[\d,]+){5}', line)]
    peak = max(row[2] for row in rows)
    expect(peak == total(stacks, 4), f'{label}: ms_print says a peak of {peak}, not {total(stacks, 4)}')
    expect(rows[-1][2] == total(stacks, 3), f'{label}: ms_print says {rows[-1][2]} at the end, not {total(stacks, 3)}')
    expect([row[0] for row in rows] == list(range(62)), f'{label}: snapshots {[row[0] for row in rows]}')
    expect([row[1] for row in rows] == sorted(row[1] for row in rows), f'{label}: time goes back')
    expect(re.search(r'Detailed snapshots: \[.*\d+ \(peak\)', said), f'{label}: no peak is marked')
    # The tree of the peak: its first line is the whole, each node holds no less than its children.
    text = path.read_text()
    tree = text[text.index('heap_tree=peak'):].split('#---')[0].splitlines()[1:]
    expect(int(tree[0].split()[1]) == peak, f'{label}: the tree of the peak holds {tree[0]}')
    least = peak / 100
    for at, line in enumerate(tree):
        depth = len(line) - len(line.lstrip())
        number, count = int(line.split()[1]), int(re.match(r'\s*n(\d+):', line).group(1))
        children = []
        for below in tree[at + 1:]:
            deeper = len(below) - len(below.lstrip())
            if deeper <= depth:
                break
            if deeper == depth + 1:
                children.append(below)
        expect(len(children) == count and sum(int(c.split()[1]) for c in children) <= number, f'{label}: {line} {children}')
        small = 'below massif' in line
        expect(at == 0 or small or number >= least, f'{label}: {line} is below the threshold')
    largest = max(((names, values[4]) for names, values in stacks.items()), key=lambda one: one[1])[0]
    expect(any(f': {largest[0]} (' in line for line in tree), f'{label}: {largest[0]} is not in the tree')


def check_pprof(space, recording, pids, label):
    path = space.path / 'heap.pb.gz'
    run(PENNA, 'export', 'pprof', recording, '-o', path)
    (space.path / 'profile.proto').write_text(PROFILE)
    run('protoc', '--python_out=.', 'profile.proto', cwd=space.path)
    if str(space.path) not in sys.path:
        sys.path.insert(0, str(space.path))
    import gzip
    import profile_pb2
    profile = profile_pb2.Profile()
    profile.ParseFromString(gzip.decompress(path.read_bytes()))
    size = profile.ByteSize()
    profile.DiscardUnknownFields()
    expect(size == profile.ByteSize(), f'{label}: fields of other numbers')
    strings = profile.string_table
    expect(strings[0] == '', f'{label}: the first string')
    expect([(strings[t.type], strings[t.unit]) for t in profile.sample_type] ==
           [('alloc_objects', 'count'), ('alloc_space', 'bytes'), ('inuse_objects', 'count'), ('inuse_space', 'bytes')],
           f'{label}: {profile.sample_type}')
    functions = {f.id: strings[f.name] for f in profile.function}
    locations = {l.id: l for l in profile.location}
    mappings = {m.id: m for m in profile.mapping}
    for location in profile.location:
        if location.mapping_id:
            mapping = mappings[location.mapping_id]
            expect(mapping.memory_start <= location.address < mapping.memory_limit, f'{label}: {location} {mapping}')
    for pid in pids:
        theirs = collections.defaultdict(lambda: [0] * 4)
        for sample in profile.sample:
            labels = {strings[l.key]: l.num for l in sample.label}
            expect(('pid' in labels) == (len(pids) > 1), f'{label}: {labels}')
            if labels.get('pid', pid) == pid:
                names = tuple(functions[line.function_id] for id in sample.location_id for line in locations[id].line)
                names = () if names == ('[no stack was recorded]',) else names
                theirs[names] = [a + b for a, b in zip(theirs[names], sample.value)]
        ours = {names: values[:4] for names, values in report(recording, pid).items()}
        expect(theirs == ours, f'{label}: pprof of {pid}\n{dict(theirs)}\n{ours}')
    expect(any(len(l.line) > 1 and functions[l.line[0].function_id] == 'inlined' for l in profile.location),
           f'{label}: no location holds an inlined function')


def check_folded(recording, stacks, label):
    for weight, index in (('allocs', 0), ('alloc-bytes', 1), ('live', 3), ('peak', 4), ('temp', 5)):
        theirs = collections.Counter()
        for line in run(PENNA, 'export', 'folded', recording, '--weight', weight).splitlines():
            frames, number = line.rsplit(' ', 1)
            theirs[tuple(frames.split(';'))[::-1] if frames != '[unknown]' else ()] += int(number)
        ours = {names: values[index] for names, values in stacks.items() if values[index]}
        expect(theirs == ours, f'{label}: folded {weight}\n{theirs}\n{ours}')


def check_csv(recording, stacks, label):
    """Each block's own story adds up: what is freed says its size and its life."""
    rows = list(csv.DictReader(io.StringIO(run(PENNA, 'export', 'csv', recording))))
    live, last_realloc, found = {}, {}, collections.Counter()
    for row in rows:
        where, tid, time = row['address'], row['tid'], int(row['time_ns'])
        if row['kind'] == 'alloc':
            live[where] = (int(row['size']), time)
            found['count'] += 1
        elif row['kind'] == 'free' and row['size']:
            size, begin = live.pop(where)
            last_realloc[tid] = (size, begin)
            expect((int(row['size']), int(row['duration_ns'])) == (size, time - begin), f'{label}: {row}')
            found['freed'] += 1
        elif row['kind'] == 'realloc_failed':
            live[where] = last_realloc[tid]
            found['failed'] += 1
    expect(found['count'] == total(stacks, 0), f'{label}: {found}')
    expect(sum(size for size, _ in live.values()) == total(stacks, 3), f'{label}: live by the CSV')
    expect(found['failed'] > 0, f'{label}: no realloc failed')


def check_rtrace(space, recording, stacks, label, threads=1):
    """The text by its grammar: each free behind the allocation of its block, what is left is live. It comes back whole."""
    path, again = space.path / 'heap.rtrace', space.path / 'again.rtrace'
    run(PENNA, 'export', 'rtrace', recording, '-o', path)
    text = path.read_text()
    header, kinds, *rest = text.splitlines()
    expect(re.fullmatch(r'version=2\.0, arch=x86_64, timestamp=\d+\.\d+\.\d{4} \d\d:\d\d:\d\d, process=\S+, pid=\d+, '
                        r'backtrace depth=256, origin=penna \S+,', header), f'{label}: {header}')
    expect(kinds == '<1> : memory (memory allocation in bytes)', f'{label}: {kinds}')
    live, tids, functions, number, in_event, times = {}, set(), collections.Counter(), 0, False, []
    frames = collections.Counter()
    for line in rest:
        event = re.fullmatch(r'(\d+)\. \[(\d\d:\d\d:\d\d\.\d{3})\] (\w+)\((?:(\d+)\) = (0x[0-9a-f]+)|(0x[0-9a-f]+)\))', line)
        if event:
            expect(int(event[1]) == number, f'{label}: {line} is number {number}')
            number, in_event = number + 1, True
            times.append(event[2])
            functions[event[3]] += 1
            if event[4]:
                expect(event[5] not in live, f'{label}: {line}')
                live[event[5]] = int(event[4])
            elif live.pop(event[6], None) is None:
                expect(False, f'{label}: {line} frees nothing')
        elif line.startswith('\t'):
            expect(in_event and re.match(r'\t(\$tid = \d+$|0x[0-9a-f]+( (in|from) |$))', line), f'{label}: {line}')
            if line.startswith('\t$tid'):
                tids.add(line)
            else:
                frames[line.split(' in ')[-1].split(' ')[0]] += 1
        elif line == '':
            in_event = False
        else:
            expect(re.match(r': .+ => 0x[0-9a-f]+-0x[0-9a-f]+$|# ', line), f'{label}: {line}')
    expect(times == sorted(times), f'{label}: time goes back')
    expect(sum(live.values()) == total(stacks, 3), f'{label}: live by rtrace: {sum(live.values())}')
    expect(functions['malloc'] + functions['calloc'] + functions['aligned_alloc'] > 0 and functions['realloc'] > 0 and
           functions['free'] > 0, f'{label}: {functions}')
    expect(frames['inlined'] > 0 and frames['main'] > 0, f'{label}: {frames}')
    expect(len(tids) == (threads if threads > 1 else 0), f'{label}: {tids}')

    back = space.path / 'back.penna'
    said = subprocess.run([PENNA, 'import', 'rtrace', path, '-f', '-o', back], capture_output=True, text=True)
    expect(said.returncode == 0 and 'damaged' not in said.stderr, f'{label}: {said.stderr}')
    run(PENNA, 'export', 'rtrace', back, '-o', again)
    strip = lambda t: [line for line in t.splitlines() if not line.startswith('#')]
    expect(strip(again.read_text()) == strip(text), f'{label}: read back, the trace is another')
    ours = report(back, pids_of(back)[0])
    expect(all(total(ours, i) == total(stacks, i) for i in range(6)), f'{label}: what was read back sums up to other numbers')
    expect(threads > 1 or ours == stacks, f'{label}: the report of what was read back')


def check_libleaks(space, recording, stacks, pid, label):
    for number in range(2):  # never overwrites
        run(PENNA, 'export', 'libleaks', recording, cwd=space.path)
        trace = (space.path / f'allocs-{pid}.{number}.trace').read_text()
        maps = (space.path / f'allocs-{pid}.{number}.map').read_text()
    lines = trace.splitlines()
    blocks = [re.fullmatch(r'(\d+)\. block at 0x([0-9a-f]+) with size (\d+)', line) for line in lines[1:]]
    frames = [line for line, block in zip(lines[1:], blocks) if not block]
    blocks = [block for block in blocks if block]
    expect(lines[0] == f'information about {len(blocks)} allocations', f'{label}: {lines[0]}')
    expect([int(block[1]) for block in blocks] == list(range(len(blocks))), f'{label}: numbers of blocks')
    expect(sum(int(block[3]) for block in blocks) == total(stacks, 3) and len(blocks) == total(stacks, 2),
           f'{label}: {len(blocks)} blocks')
    expect(all(re.fullmatch(r'   (\S.*\+0x[0-9a-f]+ )?\[0x[0-9a-f]+\]', line) for line in frames), f'{label}: {frames[:5]}')
    expect('   leak+0x' in trace and '   main+0x' in trace, f'{label}: names')
    ranges = [re.fullmatch(r'([0-9a-f]+)-([0-9a-f]+) r-xp 00000000 00:00 0 +(/\S+|\S*)', line) for line in maps.splitlines()]
    expect(all(ranges) and any(r[3].endswith('/heap') for r in ranges), f'{label}: {maps}')
    places = [int(line.split('[0x')[1].rstrip(']'), 16) for line in frames]
    expect(all(any(int(r[1], 16) <= place < int(r[2], 16) for r in ranges) for place in places), f'{label}: a frame in no file')


def pids_of(recording):
    rows = json.loads(run(PENNA, 'report', 'alloc', recording, '--by', 'process', '--json'))['alloc']
    return [row['pid'] for row in rows]


def main():
    with Workspace() as space:
        program = space.build('gcc', 'c', ['-D_GNU_SOURCE', '-O1', '-g', '-Wno-use-after-free', '-Wno-pedantic', '-pthread'], 'heap',
                              [HERE / 'heap.c'])
        one, many, forked = (space.path / f'{name}.penna' for name in ('one', 'many', 'forked'))
        run(PENNA, 'record', '-q', '-k', 'alloc', '-o', one, '--', program)
        run(PENNA, 'record', '-q', '-k', 'alloc', '-o', many, '--', program, '8')
        run(PENNA, 'record', '-q', '-k', 'alloc', '-o', forked, '--', program, '1', 'fork')

        stacks = report(one, pids_of(one)[0])
        expect(total(stacks, 5) == 20 * (10 + 10 + 4), f'temporary blocks: {total(stacks, 5)}')
        expect(total(stacks, 3) >= 20 * 333, f'leaked: {total(stacks, 3)}')
        for ending in ('', '.gz', '.zst'):
            check_heaptrack(space, one, stacks, f'one thread{ending}', ending)
        check_massif(space, one, stacks, 'one thread')
        check_pprof(space, one, pids_of(one), 'one thread')
        check_folded(one, stacks, 'one thread')
        check_csv(one, stacks, 'one thread')
        check_rtrace(space, one, stacks, 'one thread')
        check_libleaks(space, one, stacks, pids_of(one)[0], 'one thread')

        stacks = report(many, pids_of(many)[0])
        check_heaptrack(space, many, stacks, 'eight threads', one_thread=False)
        check_massif(space, many, stacks, 'eight threads')
        check_pprof(space, many, pids_of(many), 'eight threads')
        check_folded(many, stacks, 'eight threads')
        check_rtrace(space, many, stacks, 'eight threads', 8)

        pids = pids_of(forked)
        expect(len(pids) == 2, f'processes that allocate: {pids}')
        for pid in pids:
            stacks = report(forked, pid)
            check_heaptrack(space, forked, stacks, f'forked {pid}', extra=('--pid', str(pid)))
            check_massif(space, forked, stacks, f'forked {pid}', extra=('--pid', str(pid)))
        check_pprof(space, forked, pids, 'forked')
        said = subprocess.run([PENNA, 'export', 'massif', forked, '-o', '/dev/null'], capture_output=True, text=True).stderr
        expect(f'2 processes have allocated, and this is the one that allocated most, {pids[0]}' in said, said)
    finish()


main()
