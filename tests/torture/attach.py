#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""penna record -p, again and again, on programs that check themselves: some of the recorders are killed at a random moment.

    attach.py --list                 the targets of the table below
    attach.py CYCLES [TARGET...]     PENNA and TORTURE_PROGRAMS name the binary and the folder of programs
A target must live on and be right, and after each recording that was not killed its code, descriptors and threads are what they
were before the first. Memory may grow until the agent has come; from then on it must not.
"""
import dataclasses
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
    build: list = None     # makes it
    unloads: str = ''      # a library that it closes and opens all the time
    rehearsed: str = r'^Recording process \d+ '  # what a dry run says


PYTHON = '''
import json
while True:
    data = {str(i): [i] * 10 for i in range(200)}
    assert json.loads(json.dumps(data)) == data
    print('round', flush=True)
'''
NODE = 'setInterval(() => { const a = []; for (let i = 0; i < 1000; ++i) a.push({i}); console.log("round") }, 5)'
WAYS = ((), ('-F', '*'), ('-F', '*', '-k', 'calls'), ('--libcalls',), ('-k', 'alloc,locks'), ('-k', 'points'))
BY_BREAKPOINTS = ('-k', 'calls,alloc,locks', '-F', 'leaf', '-F', 'branch', '-F', 'leave')
LIBRARIES = {'plain': [], 'instrumented': ['-finstrument-functions'], 'pg': ['-pg'], 'fentry': ['-pg', '-mfentry'],
             'patchable': ['-fpatchable-function-entry=5']}
BUILD_LIBRARIES = ' && '.join(
    [f'gcc -O1 {SOURCES}/programs/libraries.c -o libraries -pthread'] +
    [f'gcc -O1 -fPIC -shared -I{SOURCES.parents[1]}/include {" ".join(options)} {SOURCES}/programs/library.c -o {name}.so'
     for name, options in LIBRARIES.items()])
TARGETS = {
    'one': Target([PROGRAMS / 'attached', '1'], unloads='/libm.so.6'),
    'six': Target([PROGRAMS / 'attached', '6'], ready='.', unloads='/libm.so.6'),
    'many': Target([PROGRAMS / 'attached', '32', 'signals'], ready='.', unloads='/libm.so.6'),
    'filtered': Target([PROGRAMS / 'filters', 'list'], ready='^20$', rehearsed='refuses close_range, which a dry run needs'),
    'starter': Target([PROGRAMS / 'starter', '.'], ready='^3$'),
    'static': Target([PROGRAMS / 'breakpointed', '32', 'signals'], ready='.', options=BY_BREAKPOINTS),
    'musl': Target(['./breakpointed', '4', 'signals'], ready='.', options=BY_BREAKPOINTS, package='musl-tools',
                   build=['musl-gcc', '-O2', '-static', SOURCES / 'programs/breakpointed.c', '-o', 'breakpointed']),
    'libraries': Target(['./libraries', *(f'./{name}.so' for name in LIBRARIES)], ready='^round 3$', unloads='.so',
                        build=['sh', '-c', BUILD_LIBRARIES]),
    'python': Target(['/usr/bin/python3', '-c', PYTHON], ready='round'),
    'redis': Target(['redis-server', '--port', '7395', '--save', '', '--appendonly', 'no'], ready='Ready to accept',
                    load=['redis-benchmark', '-p', '7395', '-l', '-q', '-c', '20', '-t', 'set,get'],
                    check=['redis-cli', '-p', '7395', 'ping'], package='redis'),
    'node': Target(['node', '-e', NODE], ready='round', package='nodejs'),
}


def mappings(pid):
    with open(f'/proc/{pid}/maps') as lines:
        return [line.split(maxsplit=5) for line in lines]


def code(pid):
    """Of every module, as it is in memory."""
    found = {}
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        for place, rights, _, _, _, *path in mappings(pid):
            path = path[0].strip() if path else ''
            if 'x' in rights and path.startswith('/') and 'penna' not in path:
                start, end = (int(number, 16) for number in place.split('-'))
                memory.seek(start)
                found[start, path] = memory.read(end - start)
    return found


def descriptors(pid):
    paths = []
    for fd in os.listdir(f'/proc/{pid}/fd'):
        try:
            paths.append(os.readlink(f'/proc/{pid}/fd/{fd}'))
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
    return names.count('penna')


def await_free(pid):
    """Whoever was to put things back for a killed recorder has done so."""
    end = time.monotonic() + 30
    while 'TracerPid:\t0\n' not in pathlib.Path(f'/proc/{pid}/status').read_text():
        assert time.monotonic() < end, 'it is still traced'
        time.sleep(0.01)


def record(pid, where, kill, options):
    """None when it was killed, else what it said."""
    duration = f'{random.randint(20, 120)}ms'
    recorder = subprocess.Popen([PENNA, 'record', '-p', str(pid), '-f', '-o', where / 'it.penna', '--duration', duration, *options],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if kill:
        time.sleep(random.uniform(0, 0.25))
        recorder.send_signal(signal.SIGKILL)
    text = recorder.communicate(timeout=120)[0]
    if recorder.returncode == -signal.SIGKILL:
        return None
    assert recorder.returncode == 0, f'status {recorder.returncode}: {text}'
    assert re.search(r'restored [1-9][\d,]* places in \d+ modules?, verified[\n;]', text), text
    assert '0 lost' in text, text
    return text


def rehearse(pid, kill, target, options):
    """A dry run: what it is a copy of goes on, and keeps no child."""
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


def torment(name, cycles, where):
    target = TARGETS[name]
    process = start(target, where)
    load = subprocess.Popen(target.load, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if target.load else None
    killed = 0
    try:
        time.sleep(0.2)
        assert process.poll() is None, f'it ended by itself with {process.returncode}'
        before, open_before = code(process.pid), descriptors(process.pid)
        for cycle in range(cycles):
            options = target.options or random.choice(WAYS)
            if random.random() < REHEARSED_SHARE:
                rehearse(process.pid, random.random() < KILLED_SHARE, target, options)
            text = record(process.pid, where, random.random() < KILLED_SHARE, options)
            killed += text is None
            assert process.poll() is None, f'cycle {cycle} {options}: it ended with {process.returncode}'
            if text is None and cycle != cycles - 1:
                continue
            if text is None:
                record(process.pid, where, False, options)
            await_free(process.pid)
            now = code(process.pid)
            changed = [place[1] for place, bytes_of in before.items() if now.get(place) != bytes_of and
                       not (target.unloads and place[1].endswith(target.unloads) and place not in now)]
            assert not changed, f'cycle {cycle}: code of {changed} is not what it was'
            assert ours(process.pid) == 0, f'cycle {cycle}: a thread of ours is left'
            if name in ('one', 'six', 'many'):
                assert len(mappings(process.pid)) < len(before) + 150 + MOST_MAPPINGS, f'cycle {cycle}: {len(mappings(process.pid))} mappings'
            if not target.load:
                more = [path for path in descriptors(process.pid) if 'memfd:penna' in path]
                assert not more, f'cycle {cycle}: descriptors {more}, before {open_before}'
        if target.check:
            subprocess.run(target.check, check=True, stdout=subprocess.DEVNULL)
        output = (where / 'output').read_text()
        assert 'WRONG' not in output, output[-300:]
        length = len(output)
        time.sleep(0.5)
        assert process.poll() is None, 'it did not live on'
        assert name in ('one', 'redis') or len((where / 'output').read_text()) > length, 'it stands still'
    finally:
        for one in (load, process):
            if one is not None:
                one.kill()
                one.wait()
    print(f'{name}: {cycles} recordings, {killed} of them killed')


def main():
    if sys.argv[1] == '--list':
        print(*TARGETS, sep='\n')
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
