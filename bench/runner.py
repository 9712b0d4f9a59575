# SPDX-License-Identifier: MIT
"""Runs the programs of bench/programs and takes medians. Knows nothing of tables or peers.

Why interleaved: machines drift by some percent within seconds. Each round runs every candidate once, and a cost is
the median of the differences within rounds. Invariant: a run that lost events, or failed, gives a reason and no
number.
"""
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

# For programs of bench/programs: long enough for the recorder to drain the last burst (programs/harness.h).
PAUSES = {**os.environ, 'BENCH_PAUSE_MS': '200'}

KEY_VALUE = re.compile(r'\b([a-z_]+)=([-0-9.]+)')


class Failed(Exception):
    """The reason why there is no number; one short sentence for the table."""


def run(command, environment=None, cwd=None, timeout=120):
    """A command's output, including standard error; raises Failed if the command fails."""
    try:
        done = subprocess.run(command, env=environment, cwd=cwd, timeout=timeout, text=True, errors='replace',
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        raise Failed(f'{command[0]} took longer than {timeout} s') from None
    except OSError as error:
        raise Failed(f'{command[0]} does not run: {error.strerror}') from None
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ['no output'])[-1]
        raise Failed(f'{pathlib.Path(command[0]).name} ended with {done.returncode}: {last[:120]}')
    return done.stdout


def facts(text):
    """The key=value numbers in a text."""
    return {key: float(value) for key, value in KEY_VALUE.findall(text)}


def children_seconds():
    """Processor time of all descendants of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def whole_program(bench, command, environment=None):
    """Milliseconds of a command from start to end, by the benchmark's clock, including descendants; and the highest
    MB that one of them held. Measured from a small parent: this process's own memory would count as the command's."""
    with tempfile.NamedTemporaryFile('r', dir=bench.data) as held:
        started, before = time.perf_counter(), children_seconds()
        run(['/usr/bin/time', '-q', '-f', '%M', '-o', held.name, *command], environment)
        wall, used = time.perf_counter() - started, children_seconds() - before
        return (wall if bench.clock == 'ns' else used) * 1e3, float(held.read()) * 1024 / 1e6


class Bench:
    """Paths, and how a recording is made."""

    def __init__(self, build, rounds, scale, clock):
        self.build = pathlib.Path(build).resolve()
        self.rounds, self.scale, self.clock = rounds, scale, clock
        self.penna = self.build / 'bin' / 'penna'
        self.data = self.build / 'bench' / 'data'
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(parents=True)

    def program(self, name):
        path = self.build / 'bench' / 'programs' / name
        if not path.exists():
            raise Failed(f'{name} was not built')
        return str(path)

    def iterations(self, count):
        return max(1000, int(count * self.scale))

    def result(self, text, clock=None):
        """Nanoseconds per operation and operations, parsed from a program's output."""
        found = facts(text)
        if 'ns' not in found:
            raise Failed('the program printed no result')
        return found[clock or self.clock], int(found['ops'])

    def recording_path(self):
        path = self.data / 'run.penna'
        path.unlink(missing_ok=True)
        return path

    def record(self, command, kinds, options=(), environment=None):
        """Records a command; returns its output and the facts about the recording, which must be complete."""
        path = self.recording_path()
        text = run([str(self.penna), 'record', '-q', '-o', str(path), '-k', kinds, *options, '--', *command], environment)
        recorded = facts(run([str(self.build / 'bench' / 'recording_facts'), str(path)]))
        if recorded['lost'] or recorded['torn'] or not recorded['finished']:
            raise Failed(f"{recorded['lost']:.0f} events lost, {recorded['torn']:.0f} torn")
        return text, recorded


class Candidate:
    """One way to run a program: `once()` returns ns per operation. After a failure it is not tried again."""

    def __init__(self, name, once):
        self.name, self.once = name, once
        self.values, self.reason = [], None

    def run(self):
        if self.reason is None:
            try:
                self.values.append(self.once())
            except Failed as failure:
                self.reason = str(failure)

    @property
    def median(self):
        return statistics.median(self.values) if self.values and self.reason is None else None

    def above(self, base):
        """Median of each round's cost above the same round of `base`."""
        if self.median is None or base.median is None:
            return None
        return statistics.median(mine - its for mine, its in zip(self.values, base.values))

    def above_times(self, limit, base):
        """Median of each round's cost above the same round of `base`, as a multiple of the same round of `limit`."""
        if None in (self.median, limit.median, base.median):
            return None
        return statistics.median((mine - its) / least for mine, its, least in zip(self.values, base.values, limit.values))

    def times(self, base):
        """Median of each round's time as a multiple of the same round of `base`."""
        if self.median is None or base.median is None:
            return None
        return statistics.median(mine / its for mine, its in zip(self.values, base.values))


def interleave(candidates, rounds):
    for _ in range(rounds):
        for candidate in candidates:
            candidate.run()
