# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: bpftrace and perf on programs that are built for it, as root (with sudo where the
test is not), on a kernel with uprobes."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'asm'))

from matrix import COMPILERS, INCLUDE, LINKS, Workspace, environment, expect, finish, run  # noqa: E402,F401

# Points of one run only: events of perf are the whole machine's.
PROVIDER = f'penna{os.getpid()}'
TRACEFS = pathlib.Path('/sys/kernel/tracing')
PATIENCE = 100  # seconds that a tool may take


def as_root(*command):
    return [str(word) for word in (command if os.geteuid() == 0 else ('sudo', '-n', *command))]


def root_succeeds(*command):
    return subprocess.run(as_root(*command), capture_output=True).returncode == 0


def need_uprobes():
    """Ends the script where the kernel has none: then nothing of this can be tried."""
    events = TRACEFS / 'uprobe_events'
    if not root_succeeds('test', '-e', events):
        root_succeeds('mount', '-t', 'tracefs', 'nodev', TRACEFS)
    if not root_succeeds('test', '-w', events):
        sys.exit(f'FAIL: {events} is missing or may not be written, so bpftrace and perf cannot be tried: run as root (or '
                 'with sudo) on a kernel with CONFIG_UPROBE_EVENTS, or leave these tests out with: ctest -LE uprobes')


def build(space, source, family='gcc', link='pie', output='program'):
    """A program of this folder with the provider of this run."""
    language = source.rsplit('.', 1)[1]
    return space.build(family, language, ['-O2', '-g', *LINKS[link], f'-DPROVIDER={PROVIDER}'], output, [HERE / source])


def until(condition, what):
    """Waits for what must come; how long it takes is no matter, but for ever is a failure."""
    end = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            sys.exit(f'FAIL: waited in vain: {what}')
        time.sleep(0.05)


def places(penna, pid):
    """What penna list says of a process: {name of a point of this run: the point}."""
    said = json.loads(run(*as_root(penna, 'list', '--json', pid)))
    return {point['name']: point for point in said['points'] if point['provider'] == PROVIDER}


def is_probed(point):
    return all(site['probed'] for site in point['sites'])


class Live:
    """live.c, or foreign.c, running: passes its points as often as it is told."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pass_points(0)  # it has started

    def say(self, times):
        """The words that it prints behind them."""
        self.process.stdin.write(f'{times}\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def pass_points(self, times):
        """(semaphore is up, how often lazy evaluated its argument) behind them."""
        up, evaluated = self.say(times)
        return up != '0', int(evaluated)

    def end(self):
        self.process.stdin.close()
        if self.process.wait(PATIENCE) != 0:
            sys.exit(f'FAIL: {self.process.args} ended with {self.process.returncode}')


class Bpftrace:
    """bpftrace with a script, for whatever runs; stop() ends it."""

    def __init__(self, script):
        self.said = tempfile.NamedTemporaryFile('w')
        self.process = subprocess.Popen(as_root('bpftrace', '-f', 'json', '-B', 'line', '-e', script), stdout=self.said,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True)

    def found(self):
        """({map: value}, [line that was printed]) so far; maps are told at the end."""
        values, lines = {}, []
        for line in pathlib.Path(self.said.name).read_text().splitlines(keepends=True):
            if line.endswith('}\n'):
                found = json.loads(line)
                if found['type'] == 'map':
                    values.update(found['data'])
                elif found['type'] == 'printf':
                    lines += found['data'].splitlines()
        return values, lines

    def stop(self):
        # To the whole group: sudo does not hand on what comes from its own. Again and again: bpftrace 0.17 overlooks a
        # signal that finds it at work; but not soon, for a second one that finds it at its end kills it.
        def interrupted():
            subprocess.run(as_root('kill', '-INT', '--', f'-{self.process.pid}'), capture_output=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(6) is not None

        until(interrupted, 'for bpftrace to end')
        if self.process.returncode != 0:
            sys.exit(f'FAIL: bpftrace ended with {self.process.returncode}\n{self.process.stderr.read()}')
        return self.found()


def lines_of_program(script, program):
    """What a script prints while `program` runs. Only for points of the program itself: its libraries are not there yet
    when bpftrace looks for them."""
    said = run(*as_root('bpftrace', '-q', '-e', script, '-c', program), timeout=PATIENCE)
    return [line for line in said.splitlines() if line]


def lines_of_library(penna, script, library, program, count):
    """`count` lines of points of a library, which another process holds in its memory until they are attached."""
    hold = [sys.executable, '-c', f'import ctypes; ctypes.CDLL("{library}"); print("here", flush=True); open(0).read()']
    with subprocess.Popen(hold, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdout.readline()
        bpftrace = Bpftrace(script)
        until(lambda: all(is_probed(point) for point in places(penna, holder.pid).values()), 'for bpftrace to attach')
        run(program)
        until(lambda: len(bpftrace.found()[1]) >= count, f'for {count} lines of bpftrace')  # a signal would lose the last
        lines = bpftrace.stop()[1]
        holder.communicate('\n')
    return lines


class Perf:
    """perf with a cache of build-ids of its own, in `space`."""

    def __init__(self, space):
        self.space = space
        self.command = as_root('env', f'HOME={space.path}', 'LC_ALL=C', 'perf')

    def run(self, *arguments):
        return run(*self.command, *arguments, timeout=PATIENCE)

    @contextlib.contextmanager
    def probes(self, binary, names):
        """Makes events of points of this run; yields {name: its definition in the kernel}, without those that it refused.
        perf 6.1 takes an event of any provider for one of ours if it has the name, such as one that a killed run left; with
        --force it makes another, with a number behind its name."""
        self.run('buildid-cache', '--add', binary)
        try:
            for name in names:
                subprocess.run([*self.command, 'probe', '-q', '--force', '-x', str(binary), f'sdt_{PROVIDER}:{name}'], capture_output=True)
            lines = run(*as_root('cat', TRACEFS / 'uprobe_events')).splitlines()
            found = [re.match(rf'p:sdt_{PROVIDER}/(\w+?)(?:_\d+)? (.*)', line) for line in lines]
            yield {match.group(1): match.group(2) for match in found if match}
        finally:
            subprocess.run([*self.command, 'probe', '-q', '-d', f'sdt_{PROVIDER}:*'], capture_output=True)
            self.run('buildid-cache', '--remove', binary)

    def hits(self, program):
        """[(name, {argument: value})] of one run, in order."""
        data = self.space.path / 'perf.data'
        self.run('record', '-q', '-o', data, '-e', f'sdt_{PROVIDER}:*', program)
        said = self.run('script', '-i', data, '-F', 'event,trace')
        pattern = re.compile(rf'sdt_{PROVIDER}:(\w+?)(?:_\d+)?: \(\w+\)(.*)')
        return [(name, dict(word.split('=') for word in rest.split())) for name, rest in pattern.findall(said)]
