# SPDX-License-Identifier: MIT
"""Attaching to a running program: how long until the first event, how long it is stopped, the cost of an event from
then on, and a server's throughput meanwhile; beside other tools that attach.

Why the program's own clock: only it knows when it did not run (bench/programs/attached.cc).
Invariant: no tool attaches to a program that another one has attached to before.
"""
import os
import pathlib
import re
import select
import shutil
import signal
import statistics
import subprocess
import time

from runner import Failed, facts, run
from tables import markdown, number, ratio

THREADS = 32
SETTLED = 0.3  # seconds before somebody comes


def last_words(output):
    """The last lines of a tool's output, as one line."""
    return ' '.join(output.decode(errors='replace').split())[-80:]


class Program:
    """Runs from start() to stop(); `lines`: its output: facts by time."""

    def __init__(self, bench):
        self.command = [bench.program('attached'), str(THREADS)]
        self.output = bench.data / 'attached.txt'

    def __enter__(self):
        with open(self.output, 'w') as output:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output)
        time.sleep(SETTLED)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    @property
    def pid(self):
        return str(self.process.pid)

    def lines(self, begin=0.0, end=1e18):
        if self.process.poll() is not None:
            raise Failed(f'the program died (status {self.process.returncode})')
        found = [facts(line) for line in self.output.read_text().splitlines()[:-1]]
        return [line for line in found if begin <= line['at'] <= end]


class Visit:
    """One attachment: when it began and ended, and when the first event was seen."""

    def __init__(self, command, first, end=None, cwd=None):
        self.begin = time.monotonic()
        tool = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd, start_new_session=True)
        self.first, text = None, b''
        deadline = self.begin + 60
        while True:
            ready, _, _ = select.select([tool.stdout], [], [], 0.01)
            more = os.read(tool.stdout.fileno(), 1 << 16) if ready else None
            if more == b'' or time.monotonic() > deadline:
                break
            text += more or b''
            if self.first is None and first(text):
                self.first = time.monotonic()
                if end:
                    time.sleep(SETTLED)
                    os.killpg(tool.pid, end)  # as Ctrl-C does
        try:
            tool.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(tool.pid, signal.SIGKILL)
            tool.wait()
            raise Failed(f'{pathlib.Path(command[0]).name} hangs') from None
        self.end = time.monotonic()
        self.text = text.decode(errors='replace')
        if tool.returncode not in (0, -signal.SIGINT) or self.first is None:
            raise Failed(f'{pathlib.Path(command[0]).name} ended with {tool.returncode}: {last_words(text)}')


def ours(bench, pid):
    """With --live: the first line is the first event."""
    return Visit([str(bench.penna), 'record', '-p', pid, '--live', '-k', 'alloc', '-o', str(bench.recording_path())],
                 lambda text: b' malloc(' in text, signal.SIGINT)


def gdb(bench, pid):
    del bench
    return Visit(['gdb', '-nx', '-p', pid, '-batch', '-ex', 'break malloc', '-ex', 'continue', '-ex', 'detach'], lambda text: b'hit Breakpoint' in text)


def bpftrace(bench, pid):
    del bench
    libc = next(line.split()[-1] for line in open(f'/proc/{pid}/maps') if 'libc.so.6' in line)
    return Visit(['bpftrace', '-p', pid, '-e', f'uprobe:{libc}:malloc {{ @sizes[tid] = count(); if (@said == 0) {{ @said = 1; printf("first\\n"); }} }}'],
                 lambda text: b'first' in text, signal.SIGINT)


def heaptrack(bench, pid):
    """Its file begins with a header; the first event follows it."""
    for old in bench.data.glob('heaptrack.*'):
        old.unlink()
    return Visit(['heaptrack', '-p', pid], lambda text: b'injection finished' in text or b'heaptrack output will be' in text and
                 any(file.stat().st_size > 1000 for file in bench.data.glob('heaptrack.*')), signal.SIGINT, bench.data)


def stopped_ms(text):
    said = re.search(r'stopped for at most ([\d.]+) (us|ms|s)\b', text)
    return float(said.group(1)) * {'us': 1e-3, 'ms': 1, 's': 1e3}[said.group(2)] if said else None


VISITORS = (('penna record -p', ours, 1.0), ('gdb -p, one breakpoint', gdb, 0.4), ('bpftrace -p, a uprobe', bpftrace, 0.4), ('heaptrack -p', heaptrack, 0.2))


def visits(bench, visitor, rounds):
    """For each: milliseconds until the first event; the longest gaps before, on attaching and on detaching; the
    longest time all threads were stopped (as reported by the tool; None: not reported); ns per operation before,
    during, afterwards."""
    found = []
    for _ in range(rounds):
        with Program(bench) as program:
            visit = visitor(bench, program.pid)
            time.sleep(SETTLED)
            before, after = program.lines(end=visit.begin), program.lines(begin=visit.end + 0.05)
            coming = program.lines(visit.begin, visit.first + 0.03)
            staying = program.lines(visit.first + 0.05, visit.first + SETTLED - 0.02)
            leaving = program.lines(min(visit.first + SETTLED, visit.end), visit.end + 0.03)
            if not (before and after and coming and leaving):
                raise Failed('the program stood still')

            def cost(lines):
                return statistics.median(line['ns'] for line in lines) if lines else float('nan')
            found.append([(visit.first - visit.begin) * 1e3, *(max(line['gap_us'] for line in lines) / 1e3 for lines in (before, coming, leaving)),
                          stopped_ms(visit.text), cost(before), cost(staying), cost(after)])
    return [None if None in column else statistics.median(column) for column in zip(*found)]


def started_ns(bench):
    """Nanoseconds of the same operation if the program is started by us."""
    text = run([str(bench.penna), 'record', '-q', '-k', 'alloc', '-o', str(bench.recording_path()), '--', bench.program('attached'), str(THREADS), '0.6'])
    return statistics.median(facts(line)['ns'] for line in text.splitlines()[20:] if 'ns=' in line)


def attached_ns(bench):
    """The same where we have attached: recorded in the same way, that is, without --live. And milliseconds for which all threads were stopped."""
    with Program(bench) as program:
        begin = time.monotonic()
        text = run([str(bench.penna), 'record', '-p', program.pid, '-k', 'alloc', '-o', str(bench.recording_path()), '--duration', '600ms'])
        return statistics.median(line['ns'] for line in program.lines(begin + 0.25, begin + 0.6)), stopped_ms(text)


def costs(bench):
    """By turns, so that whatever else the machine does disturbs both."""
    all_three = [(*attached_ns(bench), started_ns(bench)) for _ in range(max(3, bench.rounds))]
    attached, stopped, started = map(statistics.median, zip(*all_three))
    return (f'Recorded without `--live`, which is what shows the first event: all threads stopped for {number(stopped)} ms; the same costs {number(attached)} ns '
            f'attached and {number(started)} ns started by us: {ratio(attached, started)}.')


def coming_and_going(bench):
    rows = []
    for name, visitor, share in VISITORS:
        tool = name.split()[0]
        if tool != 'penna' and shutil.which(tool) is None:
            rows.append([name, *[''] * 8, 'is not installed'])
            continue
        try:
            rows.append([name, *map(number, visits(bench, visitor, max(1, int(bench.rounds * 5 * share)))), ''])
        except Failed as failure:
            rows.append([name, *[''] * 8, str(failure)])
    try:
        notes = [costs(bench)]
    except Failed as failure:
        notes = [f'Its cost: {failure}']
    titles = ['<who', 'first event, ms', 'gap before, ms', 'coming, ms', 'leaving, ms', 'all stopped, ms', 'before, ns', 'meanwhile, ns', 'after, ns', '<']
    return markdown(f'Attaching, {THREADS} threads', titles, rows, [
        'Medians. *First event*: from the start of the tool until it shows one. *Gap*: the longest time for which a thread that never',
        'waits did not run: before, while the tool came, and while it left; also because somebody else had its processor. *All stopped*: the',
        'longest time for which the tool had all threads stopped. *ns*: of a malloc and its free.', *notes])


def requests(port):
    text = run(['redis-benchmark', '-p', port, '-q', '-t', 'set', '-n', '100000', '-c', '20', '--csv'])
    rate = re.search(r'"SET","([0-9.]+)"', text)
    if not rate:
        raise Failed('redis-benchmark gave no number')
    return float(rate.group(1))


def end_now(tool):
    tool.send_signal(signal.SIGINT)
    try:
        tool.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        tool.kill()
        raise Failed(f'{pathlib.Path(tool.args[0]).name} does not end on Ctrl-C') from None


def beside(bench, command, port, ready):
    tool = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=bench.data)
    try:
        time.sleep(ready)
        if tool.poll() is not None:
            raise Failed(f'{command[0]} ended: {last_words(tool.stdout.read())}')
        return requests(port)
    finally:
        end_now(tool)


def server(bench):
    port = '7396'
    rates = {'alone': [], 'penna': [], 'afterwards': [], 'bpftrace': [], 'heaptrack': []}
    troubles = {}

    def measure(name, once):
        try:
            if name not in troubles:
                rates[name].append(once())
        except Failed as failure:
            troubles[name] = str(failure)
    for _ in range(bench.rounds):
        redis = subprocess.Popen(['redis-server', '--port', port, '--save', '', '--appendonly', 'no'], stdout=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            pid = str(redis.pid)
            libc = next(line.split()[-1] for line in open(f'/proc/{pid}/maps') if 'libc.so.6' in line)
            measure('alone', lambda: requests(port))
            measure('penna', lambda pid=pid: beside(bench, [str(bench.penna), 'record', '-p', pid, '-q', '-k', 'alloc,locks', '-o', str(bench.recording_path())], port, 0.5))
            measure('afterwards', lambda: requests(port))
            measure('bpftrace', lambda pid=pid, libc=libc: beside(
                bench, ['bpftrace', '-p', pid, '-e', f'uprobe:{libc}:malloc {{ @sizes[ustack] = count(); }}'], port, 2))
            measure('heaptrack', lambda pid=pid: beside(bench, ['heaptrack', '-p', pid], port, 3))
        finally:
            redis.kill()
            redis.wait()
    alone = statistics.median(rates['alone'])
    titles = {'alone': 'alone', 'penna': '`penna record -p -k alloc,locks`', 'afterwards': 'after it has left', 'bpftrace': 'bpftrace: malloc with its stack',
              'heaptrack': '`heaptrack -p`'}
    rows = [[titles[name], number(statistics.median(found) if found else None), ratio(statistics.median(found) if found else None, alone),
             troubles.get(name, '')] for name, found in rates.items()]
    return markdown('redis-server while somebody is attached', ['<who', 'requests/s', 'of alone', '<'], rows, ['redis-benchmark, SET, 20 clients.'])


def table(bench, only):
    parts = []
    for part in (coming_and_going, server):
        if only not in f'attaching {part.__name__}':
            continue
        try:
            parts.append(part(bench))
        except Failed as failure:
            parts.append(f'## Attaching\n\nNot measured: {failure}\n')
    return '\n'.join(parts)
