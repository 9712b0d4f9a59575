# SPDX-License-Identifier: MIT
"""The table of what it costs to record for months: the newest minute in memory, stored when a condition is met, with
sampled allocations, locks and points; of real programs, none of which meets a condition.

Invariant: each run is checked for losses by what penna says at its end.
"""
import re

from alloc_programs import programs
from runner import Candidate, Failed, children_seconds, interleave
from tables import markdown

CONDITIONS = 'wait > 10s || rss > +10GB || crash'
SHORTEST = 4  # times as many rounds as other tables: a hundredth is to be seen


class Row:
    """One program alone and recorded: its own processor time, and that of all processes."""

    def __init__(self, bench, program):
        self.bench, self.program = bench, program
        self.own = {way: bench.data / f'always_on_{way}' for way in ('alone', 'recorded')}
        for file in self.own.values():
            file.unlink(missing_ok=True)
        self.said = bench.data / 'always_on.log'
        record = [str(bench.penna), 'record', '-f', '-o', str(bench.data / 'always_on'), '--ring', '60s', '--on', CONDITIONS,
                  '--sample-bytes', '512k', '-k', 'alloc,locks,points', '--']
        # Its messages go to a file; the program's own are not looked at.
        quietly = ['sh', '-c', f'exec "$@" 2>{self.said}', 'sh']
        self.alone = Candidate('alone', lambda: self.used('alone', []))
        self.recorded = Candidate('always on', lambda: self.checked(self.used('recorded', [*quietly, *record])))

    def used(self, way, wrap):
        before = children_seconds()
        self.program.once([*wrap, self.bench.program('own_time'), str(self.own[way])])
        return (children_seconds() - before) * 1e3

    def checked(self, used):
        said = self.said.read_text()
        if not re.search(r'; 0 lost$', said, re.MULTILINE) or 'no condition of --on was met' not in said:
            raise Failed(' '.join(said.split())[-120:])
        return used

    def measure(self):
        interleave((self.alone, self.recorded), self.bench.rounds * (2 if self.program.long else SHORTEST))

    def cells(self):
        if self.recorded.reason:
            return [self.program.name, '', '', '', '1.01 x', self.recorded.reason]
        alone, recorded = (min(float(line) for line in self.own[way].read_text().split()) for way in ('alone', 'recorded'))
        everything = min(self.recorded.values) / min(self.alone.values)
        return [self.program.name, f'{alone:,.0f}', f'{recorded:,.0f}', f'{recorded / alone:.3f} x', '1.01 x', f'{everything:.3f} x']


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
    return markdown('Always on', ['<program', 'alone', 'recorded', '/ alone', 'goal', 'with the recorder'], rows, [
        f"`penna record --ring 60s --on '{CONDITIONS}' --sample-bytes 512k -k alloc,locks,points`. Milliseconds of the program's own "
        'processor time in',
        "its quickest run; *with the recorder*: the processor time of all processes, the recorder's start and end included, as a multiple "
        'of the',
        "program's alone."])
