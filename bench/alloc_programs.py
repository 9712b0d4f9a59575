# SPDX-License-Identifier: MIT
"""The tables of real programs with every allocation recorded, from start to end: time, bytes on disk and memory, beside
heaptrack; and with --sample-bytes, for permanent use.

Invariant: each recorded run is checked for losses, like every run of the benchmarks.
"""
import dataclasses
import glob
import os
import pathlib
import statistics

import lock_programs
from peers import need
from runner import Candidate, Failed, facts, interleave, run, whole_program
from tables import markdown, number, ratio

DEMO = pathlib.Path(__file__).resolve().parent.parent / 'examples' / 'demo'
POOL_MB = 64 * 1.048576  # what penna record takes without --pool
MOST_ROUNDS = 3          # of programs that take seconds
MORE_ROUNDS = 3          # times as many of the others, without heaptrack: a tenth of a second is soon disturbed


@dataclasses.dataclass
class Program:
    name: str
    goal: str
    once: object        # (what to put in front) -> (time, resident MB)
    long: bool = False
    own: bool = True    # the time that it took itself says something


def large_source(bench):
    """A file that makes a compiler read much of the standard library, and instantiate its templates."""
    source = bench.data / 'large.cc'
    headers = ('algorithm', 'functional', 'iostream', 'map', 'random', 'regex', 'sstream', 'thread', 'unordered_map')
    source.write_text(''.join(f'#include <{header}>\n' for header in headers) + '''
template class std::map<std::string, std::vector<std::string>>;
template class std::unordered_map<std::string, std::string>;
void order(std::vector<std::string>& words) { std::stable_sort(words.begin(), words.end(), std::greater<>()); }
''')
    return str(source)


def programs(bench):
    """The demo's programs repeat their work: one is so short that it would measure program start-up."""
    often = f'import runpy\nfor _ in range(8): runpy.run_path({str(DEMO / "packages.py")!r})'
    stock = bench.data / 'stock.sql'
    stock.write_text('drop table stock;\n'.join([(DEMO / 'stock.sql').read_text()] * 4))

    def command(*words, **more):
        return lambda wrap: whole_program(bench, [*wrap, *words], {**os.environ, **more})

    def of_a_request(wrap):
        wall, used, resident = lock_programs.of_a_request(bench, wrap)
        return wall if bench.clock == 'ns' else used, resident
    return (
        Program('python3, json and regex', '1.7 x', command('/usr/bin/python3', '-c', often, PYTHONMALLOC='malloc')),
        Program('sqlite3, 4 times 100,000 rows', '1.3 x', command('/usr/bin/sqlite3', ':memory:', f'.read {stock}')),
        Program('clang++ -O2, one file', '1.25 x',
                command('clang++', '-std=c++20', '-O2', '-c', large_source(bench), '-o', '/dev/null'), long=True),
        Program('redis-server, ns a request', '', of_a_request, own=False),
        Program('3 M allocations, 64 stacks, 4,000 sizes', '', command(bench.program('sizes'), str(bench.iterations(3_000_000)))),
    )


def quickest(own_times):
    """Of the times that own_time has written to a file, in milliseconds: disturbances only add time."""
    return min(float(line) for line in own_times.read_text().split())


class Row:
    """One program, in all ways of recording."""

    def __init__(self, bench, program):
        self.bench, self.program = bench, program
        self.events = self.collector = None   # of the last recording: events, and the collector's part of the processor time
        self.resident, self.disk = {}, {}     # of a way: MB, of each run; bytes, of the last
        self.own = {way: bench.data / f'own_time_{way}' for way in ('alone', 'penna', 'sampled')}
        for file in self.own.values():
            file.unlink(missing_ok=True)
        self.plain = Candidate('alone', lambda: self.taken('alone', []))
        self.ours = Candidate('penna', lambda: self.recorded('penna'))
        self.sampled = Candidate('--sample-bytes=512k', lambda: self.recorded('sampled', '--sample-bytes=512k'))
        self.peer = Candidate('heaptrack', self.of_heaptrack)
        self.ways = (self.plain, self.sampled, self.ours, self.peer)  # neighbours are compared best: a machine's pace drifts

    def taken(self, way, wrap):
        if self.program.own and way in self.own:
            wrap = [*wrap, self.bench.program('own_time'), str(self.own[way])]
        time, resident = self.program.once(wrap)
        self.resident.setdefault(way, []).append(resident)
        return time

    def recorded(self, way, *options):
        path = self.bench.recording_path()
        time = self.taken(way, [str(self.bench.penna), 'record', '-q', '-o', str(path), '--alloc', *options, '--'])
        seen = facts(run([str(self.bench.build / 'bench' / 'recording_facts'), str(path)]))
        if seen['lost'] or seen['torn']:
            raise Failed(f"{seen['lost']:.0f} events lost, {seen['torn']:.0f} torn")
        self.disk[way] = seen['file']
        if way == 'penna':
            self.events, self.collector = seen['alloc'], seen['recorder_ns']
        return time

    def of_heaptrack(self):
        need('heaptrack')
        output = str(self.bench.data / 'heaptrack')
        time = self.taken('heaptrack', ['heaptrack', '-r', '-o', output])
        files = glob.glob(output + '*')
        self.disk['heaptrack'] = sum(os.path.getsize(file) for file in files)
        for file in files:
            os.unlink(file)
        return time

    def measure(self, notes):
        interleave(self.ways, min(self.bench.rounds, MOST_ROUNDS) if self.program.long else self.bench.rounds)
        if self.program.own:
            interleave((self.plain, self.sampled, self.ours), self.bench.rounds * (1 if self.program.long else MORE_ROUNDS))
        notes += [f'{self.program.name}, {way.name}: {way.reason}' for way in self.ways if way.reason]

    def own_times(self, way):
        """The program's own processor time as a multiple of its time alone, from the quickest runs."""
        if not all(file.exists() for file in self.own.values()):
            return None
        return quickest(self.own[way]) / quickest(self.own['alone'])

    def times(self):
        def times(way):
            return ratio(way.times(self.plain), 1)
        sampled = self.sampled.times(self.plain)
        return [self.program.name, number(self.plain.median, 0), number(self.ours.median, 0), times(self.ours),
                ratio(self.own_times('penna'), 1), self.program.goal,
                number(self.sampled.median, 0), '-' if sampled is None else f'{sampled:.3f} x',
                '-' if (own := self.own_times('sampled')) is None else f'{own:.3f} x', '1.02 x',
                number(self.peer.median, 0), times(self.peer)]

    def sizes(self):
        ours, peer = self.disk.get('penna'), self.disk.get('heaptrack')
        resident = {way: statistics.median(values) for way, values in self.resident.items()}
        alone = resident.get('alone', 0)

        def added(way):
            return number(resident[way] - alone) if way in resident else '-'
        return [self.program.name, f'{self.events:,.0f}' if self.events else '-', number(ours / self.events, 2) if self.events else '-',
                number(ours / 1e6) if ours else '-', number(peer / 1e6) if peer else '-', f'{ours / peer:.2f}' if ours and peer else '-',
                '0.33', number(alone), added('penna'), number(POOL_MB + alone * 0.05), added('sampled'), added('heaptrack'),
                number(self.collector / 1e6, 0) if self.collector else '-']


def table(bench, only):
    if only not in 'programs of allocations':
        return ''
    times, sizes, notes = [], [], []
    for program in programs(bench):
        row = Row(bench, program)
        row.measure(notes)
        times.append(row.times())
        sizes.append(row.sizes())
        print('  '.join(times[-1]), '|', '  '.join(sizes[-1][1:]), flush=True)
    what = 'Wall' if bench.clock == 'ns' else 'Processor'
    return '\n'.join((
        markdown('Real programs, allocations recorded with their stacks',
                 ['<program', 'alone', 'penna', '/ alone', 'in it', 'goal', 'sampled', '/ alone', 'in it', 'goal', 'heaptrack', '/ alone'], times, [
                     f'{what} time from start to end, in milliseconds, the tools\' own start, end and other processes included; of '
                     'redis-server,',
                     'nanoseconds of a request, SET and GET, of 20 connections that send 16 at once. *sampled*: with --sample-bytes=512k. '
                     '*in it*:',
                     'the processor time of the program itself in its quickest run, as a multiple of that in the quickest run alone; the rest '
                     'is the',
                     'recorder\'s, at the same time on another processor. heaptrack -r leaves its data to be interpreted later.', *notes]),
        markdown('Disk and memory of the same',
                 ['<program', 'events', 'B on disk', 'penna MB', 'heaptrack MB', 'share', 'goal', 'alone, resident', '+ penna',
                  'goal', '+ sampled', '+ heaptrack', 'collector ms'], sizes, [
                      '*B on disk*: of an event, all of the file divided by them. *share*: bytes of the recording by those of heaptrack\'s '
                      'file, its raw',
                      'form, compressed by zstd as its script does. *resident*: the most that one of the processes held, in MB, and what is '
                      'added to it;',
                      'the goal is the pool (64 MiB) and 5 %. *collector*: its processor time.'])))
