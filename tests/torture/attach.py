#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""penna record -p, again and again, on programs that check themselves: some of the recorders are killed at a random
moment.

    attach.py --list                 the targets of the table below that ./run test takes
    attach.py CYCLES [TARGET...]     PENNA and TORTURE_PROGRAMS name the binary and the folder of programs
A target must survive and be correct, and after each recording that was not killed its code, descriptors and threads
must equal those before the first. Memory may grow until the agent is loaded; after that it must not.
"""
import dataclasses
import glob
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PENNA = os.environ.get('PENNA', 'penna')
PROGRAMS = pathlib.Path(os.environ.get('TORTURE_PROGRAMS', '.'))
SOURCES = pathlib.Path(__file__).resolve().parent
KILLED_SHARE = float(os.environ.get('KILLED_SHARE', '0.3'))
REHEARSED_SHARE = 0.3
MOST_MAPPINGS = 96   # more than there are when the agent has come; threads of the target come and go


@dataclasses.dataclass
class Target:
    command: list
    load: list = None      # keeps it busy
    ready: str = None      # a line of its output
    check: list = None     # afterwards, must succeed
    package: str = None
    options: tuple = ()    # of each recording
    ways: tuple = ()       # one of which each recording takes, in place of all
    build: list = None     # makes it
    unloads: str = ''      # a library that it closes and opens all the time
    rehearsed: str = r'^Recording process \d+ '  # what a dry run says
    with_children: bool = False  # these are recorded, too
    by_kernel: bool = False  # which restores things a moment later, and may lose events
    by_hand: bool = False  # not part of ./run test: its packages are large


PYTHON = '''
import json
while True:
    data = {str(i): [i] * 10 for i in range(200)}
    assert json.loads(json.dumps(data)) == data
    print('round', flush=True)
'''
NODE = 'setInterval(() => { const a = []; for (let i = 0; i < 1000; ++i) a.push({i}); console.log("round") }, 5)'
JAVA = '''
import java.util.*;
class Work {
    public static void main(String[] words) throws Exception {
        Runnable work = () -> {
            for (;;) {
                Map<String, int[]> map = new HashMap<>();
                long sum = 0;
                for (int i = 0; i < 2000; ++i) map.put("key" + i, new int[]{i});
                for (int[] one : map.values()) sum += one[0];
                if (sum != 1999000) { System.out.println("WRONG " + sum); System.exit(3); }
                synchronized (Work.class) { System.out.println("round"); }
                try { if (sum > 0) throw new IllegalStateException(); } catch (IllegalStateException expected) { Thread.yield(); }
            }
        };
        for (int i = 0; i < 4; ++i) new Thread(work).start();
    }
}
'''
# PostgreSQL refuses to run as root.
NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if os.geteuid() == 0 else []
PG = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin'))[-1:]
PG = PG[0] if PG else pathlib.Path('/usr/lib/postgresql/bin')
PG_AT = ['-h', '127.0.0.1', '-p', '7396', '-U', 'me']
WAYS = ((), ('-F', '*'), ('-F', '*', '-k', 'calls'), ('--libcalls',), ('-k', 'alloc,locks'), ('-k', 'points'))
BY_BREAKPOINTS = ('--via', 'breakpoint', '-k', 'calls,alloc,locks', '-F', 'leaf', '-F', 'branch', '-F', 'leave')
BY_UPROBES = ('--via', 'uprobe', *BY_BREAKPOINTS[2:])
MUSL_STATIC = ['musl-gcc', '-O2', '-static', SOURCES / 'programs/breakpointed.c', '-o', 'breakpointed']
ALONE = tuple(('--via', 'inject', *way) for way in WAYS)
LIBRARIES = {'plain': [], 'instrumented': ['-finstrument-functions'], 'pg': ['-pg'], 'fentry': ['-pg', '-mfentry'],
             'patchable': ['-fpatchable-function-entry=5']}
BUILD_LIBRARIES = ' && '.join(
    [f'gcc -O1 {SOURCES}/programs/libraries.c -o libraries -pthread'] +
    [f'gcc -O1 -fPIC -shared -I{SOURCES.parents[1]}/include {" ".join(options)} {SOURCES}/programs/library.c -o {name}.so'
     for name, options in LIBRARIES.items()])
TARGETS = {
    'one': Target([PROGRAMS / 'attached', '1'], unloads='/libm.so.6'),
    'headless': Target([PROGRAMS / 'attached', '6', 'headless'], ready='.', unloads='/libm.so.6'),
    'many': Target([PROGRAMS / 'attached', '32', 'signals'], ready='.', unloads='/libm.so.6'),
    'filtered': Target([PROGRAMS / 'filters', 'list'], ready='^20$', rehearsed='refuses close_range, which a dry run needs'),
    'starter': Target([PROGRAMS / 'starter', '.'], ready='^3$'),
    'breakpoints': Target([PROGRAMS / 'breakpointed', '32', 'signals'], ready='.', options=BY_BREAKPOINTS),
    'breakpoints_musl': Target(['./breakpointed', '4', 'signals'], ready='.', options=BY_BREAKPOINTS, package='musl-tools', build=MUSL_STATIC),
    'uprobes': Target([PROGRAMS / 'breakpointed', '32', 'signals'], ready='.', options=BY_UPROBES, by_kernel=True),
    'uprobes_musl': Target(['./breakpointed', '4', 'signals'], ready='.', options=BY_UPROBES, by_kernel=True, package='musl-tools', build=MUSL_STATIC),
    'static': Target([PROGRAMS / 'breakpointed', '32', 'signals'], ready='.', ways=ALONE),
    'unwound': Target([PROGRAMS / 'unwound'], ready='right', ways=ALONE),
    'unwound_pie': Target([PROGRAMS / 'unwound_pie'], ready='right', ways=ALONE),
    # Without points nothing is changed for them.
    'musl': Target(['./breakpointed', '4', 'signals'], ready='.', package='musl-tools', build=MUSL_STATIC, ways=ALONE[:-1]),
    'libraries': Target(['./libraries', *(f'./{name}.so' for name in LIBRARIES)], ready='^round 3$', unloads='.so',
                        build=['sh', '-c', BUILD_LIBRARIES]),
    'python': Target(['/usr/bin/python3', '-c', PYTHON], ready='round'),
    'redis': Target(['redis-server', '--port', '7395', '--save', '', '--appendonly', 'no'], ready='Ready to accept',
                    load=['redis-benchmark', '-p', '7395', '-l', '-q', '-c', '20', '-t', 'set,get'],
                    check=['redis-cli', '-p', '7395', 'ping'], package='redis'),
    'node': Target(['node', '-e', NODE], ready='round', package='nodejs'),
    'java': Target(['java', '-Xmx200m', 'Work.java'], ready='round', package='openjdk-17-jdk-headless', by_hand=True,
                   build=['sh', '-c', f"cat >Work.java <<'J'\n{JAVA}\nJ\n"]),
    'postgres': Target([*NOBODY, PG / 'postgres', '-D', 'd', '-k', '.', '-c', 'listen_addresses=127.0.0.1', '-p', '7396'],
                       ready='ready to accept', with_children=True, package='postgresql', by_hand=True,
                       build=['sh', '-ec', f'chmod 755 .; mkdir -m 777 w; {" ".join(NOBODY)} {PG}/initdb -U me -D w/d -A trust >log; mv w/d d'],
                       load=['sh', '-c', f'{PG}/pgbench {" ".join(PG_AT)} -i -q postgres; exec {PG}/pgbench {" ".join(PG_AT)} -c 8 -T 9999 postgres'],
                       check=[PG / 'psql', *PG_AT, 'postgres', '-c', 'select 1']),
}


def proc(pid):
    """Its directory; if its first thread has ended, that of another one."""
    for directory in (f'/proc/{pid}', *glob.glob(f'/proc/{pid}/task/*')):
        try:
            os.readlink(f'{directory}/exe')
            return directory
        except FileNotFoundError:
            pass
    return f'/proc/{pid}'


def mappings(pid):
    with open(f'{proc(pid)}/maps') as lines:
        return [line.split(maxsplit=5) for line in lines]


def code_places(pid):
    """Of every module: where its code begins, its path, and where it ends."""
    found = {}
    for place, rights, _, _, _, *path in mappings(pid):
        path = path[0].strip() if path else ''
        if 'x' in rights and path.startswith('/') and 'penna' not in path:
            start, end = (int(number, 16) for number in place.split('-'))
            found[start, path] = end
    return found


def code(pid):
    """Of every module, as in memory; without those that were unloaded meanwhile."""
    found = {}
    with open(f'{proc(pid)}/mem', 'rb', 0) as memory:
        for (start, path), end in code_places(pid).items():
            memory.seek(start)
            try:
                found[start, path] = memory.read(end - start)
            except OSError:
                pass
    after = code_places(pid)
    return {place: bytes_of for place, bytes_of in found.items() if after.get(place) == place[0] + len(bytes_of)}


def descriptors(pid):
    paths = []
    directory = f'{proc(pid)}/fd'
    for fd in os.listdir(directory):
        try:
            paths.append(os.readlink(f'{directory}/{fd}'))
        except FileNotFoundError:
            pass  # closed meanwhile
    return sorted(paths)


def ours(pid):
    """Threads of ours."""
    names = []
    for task in os.listdir(f'/proc/{pid}/task'):
        try:
            names.append(pathlib.Path(f'/proc/{pid}/task/{task}/comm').read_text().strip())
        except OSError:
            pass  # it has ended
    return names.count('penna-guest')


def await_free(pid):
    """Waits until the process that restores things for a killed recorder is done."""
    end = time.monotonic() + 30
    while 'TracerPid:\t0\n' not in pathlib.Path(f'{proc(pid)}/status').read_text():
        assert time.monotonic() < end, 'it is still traced'
        time.sleep(0.01)


def family(pid):
    children = [int(child) for task in pathlib.Path(f'/proc/{pid}/task').iterdir() for child in (task / 'children').read_text().split()]
    return [pid, *children]


def record(pids, where, kill, options, may_lose=False):
    """None if it was killed, else its output."""
    duration = f'{random.randint(20, 120)}ms'
    recorder = subprocess.Popen([PENNA, 'record', '-p', ','.join(map(str, pids)), '-f', '-o', where / 'it.penna', '--duration', duration, *options],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if kill:
        time.sleep(random.uniform(0, 0.25))
        recorder.send_signal(signal.SIGKILL)
    text = recorder.communicate(timeout=120)[0]
    if recorder.returncode == -signal.SIGKILL:
        return None
    assert recorder.returncode == 0, f'status {recorder.returncode}: {text}'
    assert re.search(r'restored [1-9][\d,]* places? in \d+ modules?, verified[\n;]', text), text
    assert may_lose or '0 lost' in text, text
    return text


def rehearse(pid, kill, target, options):
    """A dry run: the process that is copied continues, and keeps no child."""
    recorder = subprocess.Popen([PENNA, 'record', '-p', str(pid), '--dry-run', *options], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if kill:
        time.sleep(random.uniform(0, 0.25))
        recorder.send_signal(signal.SIGKILL)
    text = recorder.communicate(timeout=120)[0]
    if recorder.returncode != -signal.SIGKILL:
        assert re.search(target.rehearsed, text, re.MULTILINE), f'dry run, status {recorder.returncode}: {text}'


def start(target, where):
    if target.package and not shutil.which(str((target.build or target.command)[0])):
        subprocess.run([SOURCES.parents[1] / 'tools/install-packages', '--package', target.package], check=True)
    if target.build:
        subprocess.run(target.build, check=True, cwd=where)
    output = open(where / 'output', 'w')
    process = subprocess.Popen(target.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=where)
    end = time.monotonic() + 30
    while target.ready and not re.search(target.ready, (where / 'output').read_text(), re.MULTILINE):
        assert time.monotonic() < end and process.poll() is None, f'it does not start: {(where / "output").read_text()}'
        time.sleep(0.05)
    return process


def difference(before, now):
    if now is None or len(now) != len(before):
        return f'{len(before)} bytes are {len(now or b"")} now'
    at = [i for i in range(len(now)) if now[i] != before[i]]
    return f'{len(at)} bytes from {at[0]:#x}: {before[at[0]:at[0] + 16].hex()} is {now[at[0]:at[0] + 16].hex()} now'


class Code:
    """The code of processes before they were first recorded."""

    def __init__(self, unloads):
        self.before, self.unloads = {}, unloads

    def learn(self, pids):
        for pid in pids:
            if pid in self.before:
                continue
            try:
                self.before[pid] = code(pid)
            except OSError:
                if pid == pids[0]:
                    raise
                self.before[pid] = {}  # a child that has just ended

    def changed(self, pid):
        now = code(pid)
        return [f'{place[1]}: {difference(bytes_of, now.get(place))}' for place, bytes_of in self.before[pid].items()
                if now.get(place) != bytes_of and not (self.unloads and place[1].endswith(self.unloads) and place not in now)]


def verify(pid, is_child, learned, what, patience=0):
    """Unchanged: code, threads. After that many seconds at the latest."""
    end = time.monotonic() + patience
    try:
        await_free(pid)
        while (changed := learned.changed(pid)) and time.monotonic() < end:
            time.sleep(0.05)
        left = ours(pid)
    except OSError:
        if is_child:
            return  # it has ended
        raise
    assert not changed, f'{what}: code is not what it was: {changed}'
    assert left == 0, f'{what}: a thread of ours is left'


def cycle(name, target, process, where, learned, last):
    """One recording, perhaps after a dry run. Returns whether it was killed."""
    pids = family(process.pid) if target.with_children else [process.pid]
    learned.learn(pids)
    options = target.options or random.choice(target.ways or WAYS)
    if random.random() < REHEARSED_SHARE:
        rehearse(process.pid, random.random() < KILLED_SHARE, target, options)
    text = record(pids, where, random.random() < KILLED_SHARE, options, target.by_kernel)
    assert process.poll() is None, f'{options}: it ended with {process.returncode}'
    if text is None and not last:
        return True
    was_killed = text is None
    if was_killed:
        text = record(pids, where, False, options, target.by_kernel)
    for pid in pids:
        verify(pid, pid != process.pid, learned, f'process {pid} {options}: {text}', 30 if target.by_kernel else 0)
    if name in ('one', 'headless', 'many'):
        count = len(mappings(process.pid))
        assert count < len(learned.before[process.pid]) + 150 + MOST_MAPPINGS, f'{count} mappings'
    if not target.load:
        more = [path for path in descriptors(process.pid) if 'memfd:penna' in path]
        assert not more, f'descriptors {more}'
    return was_killed


def torment(name, cycles, where):
    target = TARGETS[name]
    process = start(target, where)
    load = subprocess.Popen(target.load, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if target.load else None
    try:
        time.sleep(0.2)
        assert process.poll() is None, f'it ended by itself with {process.returncode}'
        learned = Code(target.unloads)
        killed = sum(cycle(name, target, process, where, learned, i == cycles - 1) for i in range(cycles))
        if target.check:
            subprocess.run(target.check, check=True, stdout=subprocess.DEVNULL)
        assert load is None or load.poll() is None, f'its clients have ended with {load.returncode}'
        output = (where / 'output').read_text()
        assert 'WRONG' not in output, output[-300:]
        length = len(output)
        time.sleep(0.5)
        assert process.poll() is None, 'it did not live on'
        assert name == 'one' or target.load or len((where / 'output').read_text()) > length, 'it stands still'
    finally:
        for one in (load, process):
            if one is not None:
                one.send_signal(signal.SIGQUIT if one is process and target.with_children else signal.SIGKILL)
                one.wait()
    print(f'{name}: {cycles} recordings, {killed} of them killed')


def main():
    if sys.argv[1] == '--list':
        print(*(name for name, target in TARGETS.items() if not target.by_hand), sep='\n')
        return
    cycles = int(sys.argv[1])
    random.seed(os.environ.get('SEED'))
    for name in sys.argv[2:] or TARGETS:
        with tempfile.TemporaryDirectory(prefix='penna-attach-') as where:
            try:
                torment(name, cycles, pathlib.Path(where))
            except (AssertionError, OSError) as error:
                sys.exit(f'FAIL: {name}: {error}\n{(pathlib.Path(where) / "output").read_text()[-500:]}')


if __name__ == '__main__':
    main()
