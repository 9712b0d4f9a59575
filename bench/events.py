# SPDX-License-Identifier: MIT
"""The table of events: the cost of one event of each kind, with 1, 2 and more threads, beside the lower bound and the
peers; and how much of their speed programs keep as threads are added.

Each row is a program of bench/programs run in all ways, interleaved. Iterations are those of all threads; they are
chosen so that a run takes some tenths of a second, and a burst of it (programs/harness.h) fits into Penna's pool:
the page's part on the collector says what happens beyond that.
"""
import dataclasses
import statistics

from peers import Compiled, Heaptrack, Lttng, Preloaded, Uftrace
from runner import PAUSES, Candidate, Failed, facts, interleave, run
from tables import markdown, number, ratio


@dataclasses.dataclass
class Kind:
    name: str
    base: str                     # the untraced program
    ours: str                     # the program that Penna records
    recorded: str                 # the kind for penna record -k; '' = run it without recording
    per_operation: int            # events of that kind that an operation makes
    iterations: int               # of base and ours, all threads; four times as many of these where threads share processors
    limit: tuple                  # program and its last argument
    goal: str = ''                # of what comes on top of untraced
    arguments: tuple = ()
    threads: tuple = (1, 2)
    peers: tuple = ()             # (peer class, options, program, iterations)
    fresh: bool = False           # no pauses: most of what is recorded meets memory that was never used
    scaled: bool = False          # a row in the table of scaling, too


LTTNG_CALLS = ('lttng_ust_cyg_profile_fast:*', 'liblttng-ust-cyg-profile-fast.so.1')
LTTNG_HEAP = ('lttng_ust_libc:*', 'liblttng-ust-libc-wrapper.so.1')
LTTNG_LOCKS = ('lttng_ust_pthread:*', 'liblttng-ust-pthread-wrapper.so.1')
LTTNG_POINTS = ((Lttng, ('penna_bench:*', ''), 'points_lttng', 1_000_000),)
HEAP_PEERS = ((Lttng, LTTNG_HEAP, 'alloc', 500_000), (Heaptrack, (), 'alloc', 300_000))
LOCK_PEERS = ((Lttng, LTTNG_LOCKS, 'locks', 500_000), (Uftrace, ('--force',), 'locks', 500_000),
              (Preloaded, ('clock_gettime proxy', 'lock_proxy.so'), 'locks', 1_500_000))

KINDS = [
    Kind('point, disabled', 'points_none', 'points', '', 0, 30_000_000, ('points_nop', ''), 'two nops',
         peers=((Compiled, 'sdt.h', 'points_sdt', 30_000_000), (Compiled, 'LTTng-UST', 'points_lttng', 30_000_000))),
    Kind('point, 2 integers', 'points_none', 'points', 'points', 1, 3_000_000, ('limits', 'point'), '1.15 x',
         threads=(1, 2, 200), peers=LTTNG_POINTS),
    Kind('point, 32 characters', 'points_none', 'points', 'points', 1, 2_000_000, ('limits', 'point'), '2 x', ('text',),
         threads=(1, 2, 200), peers=LTTNG_POINTS),
    Kind('point, 2 integers, new memory', 'points_none', 'points', 'points', 1, 1_500_000, ('limits', 'point'),
         threads=(1,), fresh=True),
    Kind('call, entry and exit', 'calls_plain', 'calls', 'calls', 2, 3_000_000, ('limits', 'calls'), '1.2 x',
         peers=((Lttng, LTTNG_CALLS, 'calls', 500_000), (Uftrace, ('--no-libcall',), 'calls_pg', 1_000_000))),
    Kind('malloc and free, 1 frame', 'alloc', 'alloc', 'alloc', 2, 1_000_000, ('limits', 'alloc'), threads=(1, 2, 32),
         peers=HEAP_PEERS, scaled=True),
    Kind('malloc and free, 20 frames', 'alloc', 'alloc', 'alloc', 2, 1_000_000, ('limits', 'alloc20'), '60 ns', ('20',), (1, 2, 32),
         HEAP_PEERS, scaled=True),
    Kind('malloc and free, 60 frames', 'alloc', 'alloc', 'alloc', 2, 1_000_000, ('limits', 'alloc60'), '', ('60',), (1, 2, 32),
         ((Heaptrack, (), 'alloc', 100_000),), scaled=True),
    Kind('20 frames, the same stack', 'alloc', 'alloc', 'alloc', 2, 1_000_000, ('limits', 'alloc20'), '60 ns', ('20', 'same'), (1,),
         ((Heaptrack, (), 'alloc', 300_000),)),
    Kind('20 frames, paths at random', 'alloc', 'alloc', 'alloc', 2, 1_000_000, ('limits', 'alloc20'), '60 ns', ('20', 'random'), (1,),
         ((Heaptrack, (), 'alloc', 300_000),)),
    Kind('lock and unlock', 'locks', 'locks', 'locks', 2, 1_500_000, ('limits', 'locks'), '1.2 x', peers=LOCK_PEERS),
    Kind('the same, contended', 'locks', 'locks', 'locks', 2, 1_000_000, ('limits', 'locks'), '', ('shared',), (2,),
         peers=LOCK_PEERS),
]

# What limits.cc can measure, and what each number represents.
LIMITS = (('rdtsc', 'rdtsc alone'), ('point', 'rdtsc and a 32-byte store'), ('calls', 'twice rdtsc and a 16-byte store'),
          ('alloc', 'twice rdtsc and a 32-byte store'), ('alloc20', 'the same and a walk of 20 frame pointers'),
          ('alloc60', 'the same and a walk of 60'))

# What ring.cc can measure, and with how many threads.
RING = (('add', 'locked add', (1, 2)), ('store', 'locked add, 24 bytes stored', (1, 2)),
        ('write', '`ring.h`: write 16 bytes', (1, 2)), ('pair', '`ring.h`: write and read', (1,)),
        ('pairs', '`ring.h`: write 64, read 64 at once', (1,)))


class Row:
    """One kind with one number of threads."""

    def __init__(self, bench, kind, threads):
        self.bench, self.kind, self.threads = bench, kind, threads
        self.sizes = []  # (bytes in memory, bytes on disk) of an event, of each run
        self.base = Candidate('untraced', lambda: self.plain(kind.base))
        self.limit = Candidate('limit', self.run_limit)
        self.ours = Candidate('penna', self.run_ours)
        self.peers = {}  # name -> Candidate
        self.users = []  # peers to be stopped
        self.whole = {}  # name of a candidate -> of each run, nanoseconds of an operation: (own time, wall time of all threads)

    def arguments(self, iterations, many=True):
        every = self.bench.iterations(iterations) * (4 if many and self.threads > 2 else 1)
        return [str(every // self.threads), str(self.threads), *self.kind.arguments]

    def result(self, name, text):
        ns, operations = self.bench.result(text)
        self.whole.setdefault(name, []).append(tuple(facts(text)[key] for key in ('cpu_ns', 'all_ns')))
        return ns, operations

    def plain(self, program):
        return self.result('untraced', run([self.bench.program(program), *self.arguments(self.kind.iterations)]))[0]

    def run_limit(self):
        program, what = self.kind.limit
        arguments = self.arguments(self.kind.iterations)[:2] + ([what] if what else [])
        return self.bench.result(run([self.bench.program(program), *arguments]))[0]

    def run_ours(self):
        if not self.kind.recorded:
            return self.plain(self.kind.ours)
        command = [self.bench.program(self.kind.ours), *self.arguments(self.kind.iterations)]
        text, recorded = self.bench.record(command, self.kind.recorded, environment=None if self.kind.fresh else PAUSES)
        ns, operations = self.result('penna', text)
        seen, due = recorded[self.kind.recorded], operations * self.kind.per_operation
        if seen < due * 0.9999 - 200 - 64 * self.threads:  # the blocks that live at the end are not freed
            raise Failed(f'{seen:.0f} events recorded where {due} were due')
        every = sum(recorded[name] for name in ('calls', 'alloc', 'locks', 'points'))
        self.sizes.append((recorded['raw'] / every, recorded['file'] / every))
        return ns

    def start_peers(self):
        for make, options, program, iterations in self.kind.peers:
            peer = make(self.bench, options)
            candidate = Candidate(peer.name, lambda p=peer, b=program, n=iterations: self.result(
                p.name, p.run(self.bench.program(b), self.arguments(n, many=False)))[0])
            self.peers[peer.name] = candidate
            try:
                self.bench.program(program)
                peer.start()
                self.users.append((peer, candidate))
            except Failed as failure:
                candidate.reason = str(failure)

    def stop_peers(self):
        for peer, candidate in self.users:
            try:
                peer.stop()
            except Failed as failure:
                candidate.reason = candidate.reason or str(failure)

    def measure(self):
        self.start_peers()
        try:
            interleave([self.base, self.limit, self.ours, *self.peers.values()], self.bench.rounds)
        finally:
            self.stop_peers()

    def limit_ns(self):
        """The nop is measured in a loop like the untraced one; the others contain only their own work."""
        return self.limit.above(self.base) if self.kind.limit[0] != 'limits' else self.limit.median


def cells(row, notes):
    """The row as text; a number that could not be measured becomes a reference to a note."""
    def cell(candidate, text):
        if candidate.reason is None:
            return text
        note = f'{row.kind.name}, {candidate.name}: {candidate.reason}'
        if note not in notes:
            notes.append(note)
        return f'[{notes.index(note) + 1}]'

    def peer(candidate):
        above = candidate.above(row.base)
        times = f' ({ratio(above, ours)})' if row.kind.recorded else ''
        return f'{candidate.name} ' + cell(candidate, number(above) + times)

    ours, limit = row.ours.above(row.base), row.limit_ns()
    return [row.kind.name, str(row.threads), cell(row.base, number(row.base.median)), cell(row.limit, number(limit)),
            cell(row.ours, number(ours)), ratio(ours, limit) if row.kind.recorded else '-', row.kind.goal,
            ', '.join(peer(candidate) for candidate in row.peers.values())]


def size_cells(row):
    memory, disk = (statistics.median(size[i] for size in row.sizes) for i in (0, 1))
    return [row.kind.name, number(row.kind.per_operation, 0), number(memory), number(disk)]


def kept(row, name, clock):
    """Untraced time divided by traced time: the part of its speed that the program keeps. None if it was not
    measured."""
    candidate = row.ours if name == 'penna' else row.peers[name]
    if candidate.reason or row.base.reason:
        return None
    return statistics.median(its[clock] / mine[clock] for mine, its in zip(row.whole[name], row.whole['untraced']))


def scaling(rows):
    """The table of how a tool's cost grows with threads."""
    def percent(part):
        return '-' if part is None else f'{part * 100:.0f} %'
    lines = []
    for row in rows:
        alone = next(other for other in rows if other.kind is row.kind)
        if row is alone or not row.kind.scaled:
            continue
        for name in ('penna', *row.peers):
            cells = []
            for clock in (1, 0):
                one, many = kept(alone, name, clock), kept(row, name, clock)
                cells += [percent(one), percent(many), percent(many / one if one and many else None)]
            lines.append([row.kind.name, str(row.threads), name, *cells[:3], '80 %' if name == 'penna' else '', cells[5]])
    return markdown('Scaling', ['<event', 'threads', '<tool', 'speed alone', 'with threads', 'scaling', 'goal', 'own time'], lines, [
        'Of the same runs, by wall time of all threads together. *speed*: untraced time by traced time, the part of its speed that a',
        'loop keeps which does nothing but these events; *scaling*: that with threads, by that of one thread: 100 % means that what',
        'the tool costs does not grow with threads. *own time*: scaling by the threads\' own processor time, without what waiting,',
        'and the tool\'s other processes, take from them where there are fewer processors than threads.'])


def in_threads(bench, program, what, iterations, threads):
    """Median of a program that measures a lower bound, for each number of threads."""
    ways = [Candidate(what, lambda t=count: bench.result(
        run([bench.program(program), str(bench.iterations(iterations)), str(t), what]))[0]) for count in threads]
    interleave(ways, bench.rounds)
    return [way.median for way in ways]


def limits(bench, only):
    """The lower bounds by themselves."""
    if only not in 'limits':
        return ''
    rows = [[name, *map(number, in_threads(bench, 'limits', what, 2_000_000, (1, 2)))] for what, name in LIMITS]
    return markdown('Limits', ['<what', '1 thread', '2 threads'], rows, ['Nanoseconds; the stores go to warm memory.'])


def ring(bench, only):
    """The ring shared by all threads, beside one locked add on a shared word."""
    if only not in 'ring':
        return ''
    measured = [in_threads(bench, 'ring', what, 5_000_000, threads) for what, _, threads in RING]
    rows = []
    for (_, name, _), times in zip(RING, measured):
        cells = [[number(time), ratio(time, limit)] for time, limit in zip(times, measured[0])]
        rows.append([name, *sum(cells, []), *['', ''] * (2 - len(times))])
    return markdown('Shared ring', ['<what', '1 thread', '/ limit', '2 threads', '/ limit'], rows, [
        'Nanoseconds of one record in one thread, all threads on one ring; the limit is the locked add. Processor time of 2 '
        'threads that',
        'share a cache line includes their waiting for it.'])


def table(bench, only):
    rows, sizes, notes, measured = [], [], [], []
    for kind in KINDS:
        if only not in kind.name:
            continue
        for threads in kind.threads:
            row = Row(bench, kind, threads)
            row.measure()
            measured.append(row)
            rows.append(cells(row, notes))
            if row.sizes and threads == kind.threads[0]:
                sizes.append(size_cells(row))
            print('  '.join(rows[-1]), flush=True)
    if not rows:
        return ''
    text = ['Nanoseconds of one operation in one thread. *untraced* is the program alone; *limit*, *penna* and the peers are '
            'what',
            'comes on top of it, the peers also as a multiple of penna. Limits: one nop for a disabled point, which has two; '
            'rdtsc and a',
            '32-byte store for a point; twice rdtsc and 16 bytes for a call and a lock; twice rdtsc and 32 bytes, and the frame '
            'pointers',
            'walked, for malloc and free, whose stacks vary: 64 paths by turns, which the processor learns to foresee, or at '
            'random, which',
            'it cannot. Penna recorded all four ways to disk and lost nothing; it recorded in bursts, into '
            'memory that',
            'had been used before, as that of the limits; *new memory* is what a burst costs that is the first to use its part '
            'of the pool',
            '(64 MiB, once in the life of a process): the kernel must find and clear the pages. Peers: LTTng-UST takes no stacks '
            'with',
            'allocations and locks, uftrace none with locks; heaptrack writes its raw form, to be interpreted later; the '
            'clock_gettime',
            'proxy is the least that one preloads: each lock and unlock with its time, in memory, no waits, nothing to disk.', '']
    text += [f'[{i}] {note}' for i, note in enumerate(notes, 1)]
    text = text if notes else text[:-1]
    events = markdown('Events', ['<event', 'threads', 'untraced', 'limit', 'penna', '/ limit', 'goal', '<peers (/ penna)'],
                      rows, text)
    if not sizes:
        return events
    events += '\n' + scaling(measured) if any(row.kind.scaled for row in measured) else ''
    return events + '\n' + markdown('Bytes of an event', ['<event', 'events', 'in memory', 'on disk'], sizes, [
        'Of the same recordings, headers and stacks included. *events*: how many an operation makes. The loops are regular, '
        'so they',
        'compress better than real programs, which stand below.'])
