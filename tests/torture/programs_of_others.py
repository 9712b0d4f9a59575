#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs third-party programs (others.py) without and under `penna record`, in each way to record them, and compares:
./run torture programs.

    programs_of_others.py [NAME...]      these; none: all. Installs the packages that they need
    programs_of_others.py --way W        alloc, locks, points, functions (-F of a few), every (-F of all), libcalls, all
    programs_of_others.py --list         the names
Compared: stdout, stderr except our lines, the exit status, files; leftover processes; whether it ends. Besides: the
recording is readable, losses are reported, and if nothing was recorded a sentence says why.
Invariant: a program whose output varies without us is reported as such, and is never called equal.
"""
import argparse
import ctypes
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from others import PROGRAMS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PENNA = pathlib.Path(os.environ.get('PENNA', ROOT / 'build/release/bin/penna')).absolute()
WAYS = {'alloc': ['-k', 'alloc'], 'locks': ['-k', 'locks'], 'points': ['-k', 'points'], 'functions': ['-k', 'calls'], 'every': ['-k', 'calls', '-F', '*'], 'zero': ['--all-functions'],
        'libcalls': ['-k', 'calls', '--libcalls'], 'all': ['-k', 'calls,alloc,locks,points', '--libcalls']}
OWN_LINE = re.compile(r'^penna: .*\n?', re.MULTILINE)
USUAL = {'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'NO_COLOR': '1'}
PR_SET_CHILD_SUBREAPER = 36


def install(program):
    missing = [name for name in program.packages.split()
               if b'install ok installed' not in subprocess.run(['dpkg-query', '-W', '-f', '${Status}', name], capture_output=True).stdout]
    if missing:
        as_root = [] if os.geteuid() == 0 else ['sudo', '-n']
        done = subprocess.run([*as_root, 'apt-get', 'install', '-y', '--no-install-recommends', *missing], env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(f'programs: cannot install {" ".join(missing)}: {done.stderr.decode(errors="replace").strip()[-300:]}')


def children():
    """Processes that were reparented to us, except dead ones: (pid, name)."""
    for status in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            pid, rest = status.read_text().split(' (', 1)
        except OSError:
            continue
        name, rest = rest.rsplit(') ', 1)
        state, parent = rest.split()[:2]
        if int(parent) == os.getpid() and state not in 'ZX':
            yield int(pid), name


def end_leftovers():
    """Names of leftover processes, after a moment to end by themselves; they are killed afterwards."""
    until = time.monotonic() + 5
    while list(children()) and time.monotonic() < until:
        time.sleep(0.05)
    names = sorted(name for _, name in children())
    while left := list(children()):
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return names
        except ChildProcessError:
            return names


class Run:
    """The output of one run, with the parts that may differ removed."""

    def __init__(self, name, program, options, penna):
        root = pathlib.Path(tempfile.mkdtemp(prefix='others-'))
        directory = root / 'd'
        directory.mkdir()
        environment = {**USUAL, 'HOME': str(directory)}
        as_user = []
        if program.user:
            nobody = pwd.getpwnam('nobody')
            root.chmod(0o777)
            os.chown(directory, nobody.pw_uid, nobody.pw_gid)
            as_user = ['setpriv', f'--reuid={nobody.pw_uid}', f'--regid={nobody.pw_gid}', '--clear-groups']
        if program.prepare:
            subprocess.run([*as_user, 'bash', '-c', program.prepare], cwd=directory, env=environment, check=True, stdin=subprocess.DEVNULL)
        command = ['bash', '-c', program.script]
        if options is not None:
            command = [str(penna), 'record', '-o', str(root / 'r.penna'), *options, '--', *command]
        started = time.monotonic()
        out, err = (root / 'out').open('w+b'), (root / 'err').open('w+b')
        process = subprocess.Popen([*as_user, *command], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, start_new_session=True)
        try:
            self.status = process.wait(program.timeout * (1 if options is None else 3))
        except subprocess.TimeoutExpired:
            self.status = 'does not end'
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.left = end_leftovers()
        self.seconds = time.monotonic() - started
        said = (root / 'err').read_text(errors='replace')
        self.own = ''.join(OWN_LINE.findall(said))
        self.out = self.normal((root / 'out').read_text(errors='replace'), directory, program)
        self.err = self.normal(OWN_LINE.sub('', said), directory, program)
        self.files = {file: self.normal_bytes(directory / file, directory) for file in program.files}
        self.trouble = self.check(penna, root / 'r.penna') if options is not None else []
        shutil.rmtree(root, ignore_errors=True)

    @staticmethod
    def normal(text, directory, program):
        text = text.replace(str(directory), '{dir}')
        for pattern, word in (*program.normal, (r'0x[0-9a-f]{6,}', 'ADDRESS')):
            text = re.sub(pattern, word, text)
        return text

    @staticmethod
    def normal_bytes(path, directory):
        return path.read_bytes().replace(str(directory).encode(), b'{dir}') if path.exists() else None

    def check(self, penna, recording):
        """What is wrong with the recording, or with the messages about it."""
        done = subprocess.run([penna, 'report', 'health', recording], capture_output=True, text=True, errors='replace', check=False)
        if done.returncode != 0:
            wrong = [f'the recording cannot be read: {done.stderr.strip()[-200:]}']
        else:
            wrong = []
        if ' LOST ' in self.own and 'penna: lost: ' not in self.own:
            wrong.append('lost, without a cause')
        if 'penna: no events' in self.own and ' 0 processes' in self.own and 'not recorded' not in self.own and 'nothing was' not in self.own:
            wrong.append('nothing is recorded, and nothing said')
        return wrong

    def differences(self, other):
        for what in ('status', 'out', 'err', 'left', 'files'):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine == theirs:
                continue
            if what == 'files':
                yield from (f'file {name} differs' for name in mine if mine[name] != theirs[name])
            elif what in ('out', 'err'):
                mine, theirs = mine.splitlines(), theirs.splitlines()
                without, added = [l for l in mine if l not in theirs], [l for l in theirs if l not in mine]
                yield f'{what}: without us {without[:4] or len(mine)}, with {added[:4] or len(theirs)}'[:900]
            else:
                yield f'{what}: without us {mine}, with {theirs}'


def options_of(way, program):
    if way != 'functions':
        return WAYS[way]
    return WAYS[way] + [word for pattern in program.functions or ('main',) for word in ('-F', pattern)]


def copy_of_penna():
    """In a place where the user nobody may run it."""
    root = pathlib.Path(tempfile.mkdtemp(prefix='others-penna-'))
    root.chmod(0o755)
    for name in ('bin/penna', 'lib/libpenna-agent.so'):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(PENNA.parents[1] / name, root / name)
    return root


def main():
    options = argparse.ArgumentParser()
    options.add_argument('names', nargs='*', metavar='NAME')
    options.add_argument('--way', action='append', choices=list(WAYS))
    options.add_argument('--list', action='store_true')
    chosen = options.parse_args()
    if chosen.list:
        print('\n'.join(PROGRAMS))
        return 0
    if strange := set(chosen.names) - set(PROGRAMS):
        sys.exit(f'programs: none is called {", ".join(sorted(strange))}; there are {", ".join(PROGRAMS)}')
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    root, failed, runs = copy_of_penna(), 0, 0
    for name in chosen.names or PROGRAMS:
        program = PROGRAMS[name]
        install(program)
        alone, again = (Run(name, program, None, None) for _ in range(2))
        itself = list(alone.differences(again))
        if itself or 'does not end' in (alone.status, again.status):
            failed += 1
            print(f'FAIL {name} alone ({alone.seconds:.0f} s): it differs from itself: {"; ".join(itself)}', flush=True)
            continue
        print(f'     {name} alone ({alone.seconds:.0f} s): {alone.status}, {len(alone.out)} bytes, {len(alone.err)} of errors', flush=True)
        for way in chosen.way or WAYS:
            with_us = Run(name, program, options_of(way, program), root / 'bin/penna')
            wrong = [*alone.differences(with_us), *with_us.trouble]
            runs += 1
            failed += bool(wrong)
            lines = [line for line in with_us.own.splitlines() if not re.match('penna: (next:|start-up|/.*, .* s, )', line)]
            print(f'{"FAIL" if wrong else "ok  "} {name} {way} ({with_us.seconds:.0f} s): {"; ".join(wrong or lines)[:1500]}', flush=True)
    shutil.rmtree(root)
    print(f'programs: {runs} comparisons, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
