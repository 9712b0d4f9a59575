# SPDX-License-Identifier: MIT
"""The table of real programs with every call recorded, from start to end: Lua and cmark from Debian's source, built
in each way in which compilers prepare programs; beside the lower bound and the peers that handle the same programs.
"""
import dataclasses
import pathlib
import statistics
import subprocess
import time

from peers import Uftrace, XRay
from runner import Candidate, Failed, children_seconds, facts, interleave, run
from tables import markdown, number, ratio

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Way:
    options: str
    base: str              # the variant without them
    compiler: str = 'gcc'
    peer: type = None
    peer_options: object = ()


WAYS = {
    'hooks': Way('-finstrument-functions', 'plain', peer=Uftrace, peer_options=('--no-libcall',)),
    'pg': Way('-pg', 'plain', peer=Uftrace, peer_options=('--no-libcall',)),
    'fentry': Way('-pg -mfentry', 'plain', peer=Uftrace, peer_options=('--no-libcall',)),
    'patchable': Way('-fpatchable-function-entry=5', 'plain', peer=Uftrace, peer_options=('--no-libcall', '-P', '.')),
    'xray': Way('-fxray-instrument -fxray-instruction-threshold=1', 'plain-clang', 'clang', XRay, 'basic'),
}
PLAIN = {'plain': 'gcc', 'plain-clang': 'clang'}


def build(program, variant):
    compiler, options = (PLAIN[variant], '') if variant in PLAIN else (WAYS[variant].compiler, WAYS[variant].options)
    return run([str(ROOT / 'examples' / 'build-program'), program, variant, compiler, *options.split()],
               timeout=600).splitlines()[-1]


class Row:
    """One program, built in one way."""

    def __init__(self, bench, program, arguments, way):
        self.bench, self.arguments, self.way = bench, arguments, way
        plain, prepared = build(program, way.base), build(program, next(k for k, v in WAYS.items() if v is way))
        self.calls, self.disk = [], []
        self.own = bench.data / 'own_times'
        self.own.unlink(missing_ok=True)
        self.limit = Candidate('limit', lambda: bench.result(run([bench.program('limits'), '3000000', '1', 'calls']))[0])
        self.plain = Candidate('untraced', lambda: self.cpu([plain]))
        self.asleep = Candidate('nobody records', lambda: self.cpu([prepared]))
        self.ours = Candidate('penna', lambda: self.recorded(prepared))
        self.peer = Candidate('', lambda: self.of_peer(prepared))

    def cpu(self, command, environment=None):
        """Milliseconds of wall time, or with --clock cpu of the command's own processor time."""
        started, before = time.perf_counter(), children_seconds()
        done = subprocess.run([*command, *self.arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors='replace', timeout=300)
        if done.returncode != 0:
            raise Failed(f'{pathlib.Path(command[0]).name} ended with {done.returncode}')
        wall, used = time.perf_counter() - started, children_seconds() - before
        return (wall if self.bench.clock == 'ns' else used) * 1e3

    def recorded(self, program):
        path = self.bench.recording_path()
        took = self.cpu([str(self.bench.penna), 'record', '-q', '-k', 'calls', '-o', str(path), '--', self.bench.program('own_time'),
                         str(self.own), program])
        seen = facts(run([str(self.bench.build / 'bench' / 'recording_facts'), str(path)]))
        if seen['lost'] or seen['torn']:
            raise Failed(f"{seen['lost']:.0f} events lost, {seen['torn']:.0f} torn")
        self.calls.append(seen['calls'] / 2)
        self.disk.append(seen['file'] / seen['calls'] * 2)
        return took

    def of_peer(self, program):
        peer = self.way.peer(self.bench, self.way.peer_options)
        self.peer.name = peer.name
        peer.start()
        return self.cpu(*peer.command(program))

    def cells(self, notes):
        interleave([self.limit, self.plain, self.asleep, self.ours, self.peer], self.bench.rounds)
        for way in (self.plain, self.asleep, self.ours, self.peer):
            if way.reason:
                notes.append(f'{self.way.options}, {way.name}: {way.reason}')
        above, peer = self.ours.above(self.plain), self.peer.above(self.plain)
        calls = statistics.median(self.calls) if self.calls else None
        each = [None if cost is None or not calls else cost * 1e6 / calls for cost in (above, peer)]
        inside = Candidate('in it', None)
        inside.values = [float(line) for line in self.own.read_text().split()] if self.own.exists() else []
        own_cost = inside.above(self.plain)
        own = None if own_cost is None or not calls else own_cost * 1e6 / calls
        return [f'{self.way.compiler} {self.way.options.split(" -fxray-instruction")[0]}', f'{(calls or 0) / 1e6:.2f}',
                number(self.plain.median, 0), number(self.asleep.median, 0), number(self.ours.median, 0),
                ratio(self.ours.median, self.plain.median), number(each[0]), number(own), ratio(own, self.limit.median),
                number(statistics.median(self.disk)) if self.disk else '-',
                f'{self.peer.name} {number(self.peer.median, 0)} ({ratio(peer, above)})', number(each[1])]


def programs(bench):
    """Their work: Lua runs the demo's script, cmark this repository's docs, many times over."""
    book = bench.data / 'book.md'
    text = ''.join(path.read_text() for path in sorted(ROOT.glob('docs/*.md')))
    book.write_text(text * max(1, int(60 * bench.scale)))
    return {'lua': [str(ROOT / 'examples' / 'demo' / 'work.lua')], 'cmark': [str(book)]}


def table(bench, only):
    if only not in 'programs of calls':
        return ''
    rows, notes = [], []
    for program, arguments in programs(bench).items():
        for way in WAYS.values():
            try:
                rows.append([program, *Row(bench, program, arguments, way).cells(notes)])
            except Failed as failure:
                notes.append(f'{program}, {way.options}: {failure}')
                continue
            print('  '.join(rows[-1]), flush=True)
    what = 'Wall' if bench.clock == 'ns' else 'Processor'
    return markdown('Real programs, all their calls recorded',
                    ['<program', '<built with', 'M calls', 'untraced ms', 'nobody', 'penna', '/ untraced', 'ns a call',
                     'in it', '/ limit', 'B on disk', '<peer ms (/ penna, above untraced)', 'ns a call'], rows, [
                        f'{what} time from start to end, the recorder\'s own included. *untraced* is the program built without the option, '
                        '*nobody* with it,',
                        'but not recorded. *in it*: of the nanoseconds of a call those that the program itself spent, by its own processor '
                        'time; the limit',
                        'is twice rdtsc and a 16-byte store. uftrace records all to disk, as XRay basic does.', *notes])
