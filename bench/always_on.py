# SPDX-License-Identifier: MIT
"""The table of what it costs to record for months: the newest minute in memory, stored when a condition is met, with
sampled allocations and points, and with locks as well; of real programs, none of which meets a condition.

Invariant: each run is checked for losses by what penna says at its end.
"""
import re

from alloc_programs import programs, quickest
from runner import Candidate, Failed, children_seconds, interleave
from tables import markdown

WAYS = {  # kinds, condition
    'sampled': ('alloc,points', 'rss > +10GB || crash'),
    'locks': ('alloc,points,locks', 'wait > 10s || rss > +10GB || crash'),
}
ROUNDS = 4  # times as many as in other tables: a hundredth is to be seen


class Row:
    """One program alone and recorded: its own processor time, and that of all processes."""

    def __init__(self, bench, program):
        self.bench, self.program = bench, program
        self.own = {way: bench.data / f'always_on_{way}' for way in ('alone', *WAYS)}
        for file in self.own.values():
            file.unlink(missing_ok=True)
        self.said = bench.data / 'always_on.log'
        self.ways = {way: Candidate(way, lambda way=way: self.used(way)) for way in self.own}

    def command(self, way):
        kinds, condition = WAYS[way]
        # Penna's messages go to a file; the program's own are not looked at.
        return ['sh', '-c', f'exec "$@" 2>{self.said}', 'sh', str(self.bench.penna), 'record', '-f', '-o', str(self.bench.data / 'always_on'),
                '--ring', '60s', '--on', condition, '--sample-bytes', '512k', '-k', kinds, '--']

    def used(self, way):
        before = children_seconds()
        self.program.once([*(self.command(way) if way in WAYS else []), self.bench.program('own_time'), str(self.own[way])])
        if way in WAYS:
            said = self.said.read_text()
            if not re.search(r'; 0 lost$', said, re.MULTILINE) or 'no condition of --on was met' not in said:
                raise Failed(' '.join(said.split())[-120:])
        return (children_seconds() - before) * 1e3

    def measure(self):
        interleave(tuple(self.ways.values()), self.bench.rounds * (2 if self.program.long else ROUNDS))

    def cells(self):
        own = {way: quickest(file) for way, file in self.own.items() if file.exists()}
        row = [self.program.name, f"{own['alone']:,.0f}"]
        for way in WAYS:
            if (reason := self.ways[way].reason) is not None:
                row += [reason, '']
            else:
                row += [f"{own[way] / own['alone']:.3f} x", f"{min(self.ways[way].values) / min(self.ways['alone'].values):.3f} x"]
        return [*row[:3], '1.01 x', *row[3:]]


def table(bench, only):
    if only not in 'always on':
        return ''
    rows = []
    for program in programs(bench):
        if not program.own:
            continue
        row = Row(bench, program)
        row.measure()
        rows.append(row.cells())
        print('  '.join(rows[-1]), flush=True)
    return markdown('Always on', ['<program', 'alone', 'sampled', 'goal', 'all', 'and locks', 'all'], rows, [
        f"*sampled*: `penna record --ring 60s --on '{WAYS['sampled'][1]}' --sample-bytes 512k -k {WAYS['sampled'][0]}`; *and locks*: every lock event "
        'as well, and',
        "a condition on waits. The program's own processor time in its quickest run, in milliseconds and as a multiple of that alone; *all*: of all "
        'processes, the',
        "recorder's start and end included."])
