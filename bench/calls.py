# SPDX-License-Identifier: MIT
"""The table of call sources: the cost of each way in which compilers prepare programs while there is no recorder,
while Penna records something else, and while it records calls; beside the lower bound and the peers that handle the
same programs.
"""
import dataclasses
import statistics

from peers import Uftrace, XRay
from runner import PAUSES, Candidate, Failed, interleave, run
from tables import markdown, number, ratio


@dataclasses.dataclass
class Source:
    options: str          # for the table
    program: str
    base: str = 'calls_plain'
    peers: tuple = ()     # (peer class, options)
    record: tuple = ()    # options of penna record


SOURCES = (
    Source('gcc -finstrument-functions', 'calls', peers=((Uftrace, ('--no-libcall',)),)),
    Source('gcc -pg', 'calls_pg', peers=((Uftrace, ('--no-libcall',)),)),
    Source('gcc -pg -mfentry', 'calls_fentry', peers=((Uftrace, ('--no-libcall',)),)),
    Source('gcc -pg -mfentry -mnop-mcount', 'calls_nops'),
    Source('gcc -fpatchable-function-entry=5', 'calls_patchable', peers=((Uftrace, ('--no-libcall', '-P', '.')),)),
    Source('gcc, nothing: detours by -F', 'calls_plain', record=('-F', 'fib', '-F', 'leaf')),
    Source('clang -finstrument-functions', 'calls_hooks_clang', 'calls_plain_clang'),
    Source('clang -fpatchable-function-entry=5', 'calls_patchable_clang', 'calls_plain_clang'),
    Source('clang -fxray-instrument', 'calls_xray', 'calls_plain_clang', ((XRay, 'basic'), (XRay, 'fdr'))),
)
ITERATIONS, PEER_ITERATIONS = 3_000_000, 500_000


class Row:
    """One source, with fib or the leaf."""

    def __init__(self, bench, source, work):
        self.bench, self.source, self.work = bench, source, work
        self.sizes = []  # bytes of a call (in memory, on disk), of each run
        self.base = Candidate('untraced', lambda: self.alone(source.base))
        self.limit = Candidate('limit', lambda: self.ns(run([bench.program('limits'), *self.arguments()[:2], 'calls'])))
        self.asleep = Candidate('nobody records', lambda: self.alone(source.program))
        self.other = Candidate('-k alloc', lambda: self.recorded('alloc'))
        self.ours = Candidate('penna', lambda: self.recorded('calls'))
        self.peers = [Candidate(peer.name, lambda p=peer: self.of_peer(p)) for peer in
                      (make(bench, options) for make, options in source.peers)]

    def arguments(self, iterations=ITERATIONS):
        return [str(self.bench.iterations(iterations)), '1', self.work]

    def ns(self, text):
        return self.bench.result(text)[0]

    def alone(self, program):
        return self.ns(run([self.bench.program(program), *self.arguments()]))

    def of_peer(self, peer):
        peer.start()
        return self.ns(peer.run(self.bench.program(self.source.program), self.arguments(PEER_ITERATIONS)))

    def recorded(self, kind):
        command = [self.bench.program(self.source.program), *self.arguments()]
        text, facts = self.bench.record(command, kind, self.source.record if kind == 'calls' else (), PAUSES)
        if kind == 'calls':
            due = 2 * self.bench.result(text)[1]
            if facts['calls'] < due:
                raise Failed(f'{facts["calls"]:.0f} entries and exits recorded where {due} were due')
            self.sizes.append((2 * facts['raw'] / facts['calls'], 2 * facts['file'] / facts['calls']))
        return self.ns(text)

    def measure(self):
        interleave([self.base, self.limit, self.asleep, self.other, self.ours, *self.peers], self.bench.rounds)

    def cells(self, notes):
        def cell(candidate, text):
            if candidate.reason is None:
                return text
            note = f'{self.source.options}, {self.work}, {candidate.name}: {candidate.reason}'
            notes.append(note)
            return f'[{len(notes)}]'
        above = {candidate: candidate.above(self.base) for candidate in
                 (self.asleep, self.other, self.ours, *self.peers)}
        memory, disk = (number(statistics.median(size[i] for size in self.sizes)) if self.sizes else '-' for i in (0, 1))
        return [self.source.options, self.work, cell(self.base, number(self.base.median)),
                cell(self.asleep, number(above[self.asleep])), cell(self.other, number(above[self.other])),
                cell(self.limit, number(self.limit.median)), cell(self.ours, number(above[self.ours])),
                ratio(self.ours.above_times(self.limit, self.base), 1), memory, disk,
                ', '.join(f'{peer.name} ' + cell(peer, f'{number(above[peer])} ({ratio(above[peer], above[self.ours])})')
                          for peer in self.peers)]


def table(bench, only):
    if only not in 'sources of calls':
        return ''
    rows, notes = [], []
    for source in SOURCES:
        for work in ('fib', 'leaf'):
            row = Row(bench, source, work)
            row.measure()
            rows.append(row.cells(notes))
            print('  '.join(rows[-1]), flush=True)
    return markdown('Sources of calls', ['<built with', '<calls', 'untraced', 'nobody', '-k alloc', 'limit', 'penna', '/ limit',
                                         'in memory', 'on disk', '<peers (/ penna)'], rows, [
        'Nanoseconds of one call, entry and exit, one thread; *fib* is recursive, *leaf* a function that does nothing, in a loop.',
        '*untraced* is the same program built without the option; the others are what comes on top of it: *nobody*, the program',
        'alone; *-k alloc*, recorded by Penna, but not its calls; *penna*, its calls recorded, all to disk. The limit is twice '
        'rdtsc and',
        'a 16-byte store. Bytes are those of a call. uftrace writes all to disk; XRay basic, too; XRay fdr keeps the last ones.',
        '', *(f'[{i}] {note}' for i, note in enumerate(notes, 1))])
