#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs programs without and with `penna record` and compares everything that can be observed.

    run.py                            every case in every kind
    run.py --case X [--kind Y]        one of them; -v shows what was observed
    run.py --mode M                   those about calls, of programs built for that kind of call tracing (modes.cmake)
    run.py --option O                 with this additional option of penna record
    run.py --way W                    a mode, with its kinds and options, as cases.py lists them
    run.py --times N                  each of them N times
    run.py --list, --list-ways        names of the cases; of the ways
    run.py --self-test                proves that each way to break a program is noticed
CI runs every case once in each kind, and once in each way; ./run torture (all.py) does all of it 200 times.
Environment: PENNA (the binary), TORTURE_PROGRAMS (the folder of the built corpus).
Compared: stdout, stderr, exit status or signal, files. Allowed to differ: lines on stderr that begin with "penna: ", and the page's address.
Besides: the recording opens, reports emitted = stored + lost, and has an exit for every call that was left.
"""
import argparse
import os
import pathlib
import pwd
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import zlib

import onlooker
import recording
import terminal
from cases import BY_CALLS, CASES, EACH, IN_MODES, UNTOLD_IN, WAYS, Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
PENNA = pathlib.Path(os.environ.get('PENNA', ROOT / 'build/release/bin/penna')).absolute()
PROGRAMS = pathlib.Path(os.environ.get('TORTURE_PROGRAMS', PENNA.parents[1] / 'torture')).absolute()
USUAL = {'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', 'HOME': '/tmp', 'LC_ALL': 'C', 'TERM': 'xterm',
         'NO_COLOR': '1', 'LESSHISTFILE': '-'}
ADDRESS = re.compile(rb'0x[0-9a-f]{6,}')
OWN_LINE = re.compile(rb'^(?:penna: .*?|' + onlooker.ADDRESS.pattern + rb')(\r?\n|\Z)', re.MULTILINE)
OWN_LINE_ON_TERMINAL = re.compile(rb'penna: [^\r\n]*\r\n')  # it may stand behind an echoed ^C, or a cursor movement


class Place:
    """Directories of one comparison, and the programs in a place where the case's user can run them."""

    def __init__(self, case):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix='torture-'))
        self.programs, self.penna = PROGRAMS, PENNA
        self.root.chmod(0o755)
        self.big = self.root / 'big'
        if any('{big}' in word for word in case.command):
            self.big.write_text(''.join(f'line {i} of a file to read\n' for i in range(40000)))
        self.owner = pwd.getpwnam(case.user) if case.user else None
        if case.user:
            self.copy_for_user(case)

    def copy_for_user(self, case):
        """Penna, its agent and the one program, readable by everyone; the program setuid root if the case requests
        it."""
        for name, source in (('bin/penna', PENNA), ('lib/libpenna-agent.so', PENNA.parents[1] / 'lib/libpenna-agent.so')):
            if source.exists():
                (self.root / name).parent.mkdir(exist_ok=True)
                shutil.copy(source, self.root / name)
        self.penna, self.programs = self.root / 'bin/penna', self.root / 'programs'
        self.programs.mkdir()
        name = next(re.finditer(r'\{bin\}/(\w+)', ' '.join(case.command))).group(1)
        shutil.copy(PROGRAMS / name, self.programs / name)
        if case.setuid:
            as_root('chown', 'root:root', str(self.programs / name))
            as_root('chmod', '4755', str(self.programs / name))

    def directory(self, name):
        path = self.root / name
        path.mkdir(exist_ok=True)
        if self.owner:
            path.chmod(0o777)
        return path

    def remove(self):
        if self.owner:
            as_root('rm', '-rf', str(self.root))
        shutil.rmtree(self.root, ignore_errors=True)


def as_root(*command):
    subprocess.run(([] if os.geteuid() == 0 else ['sudo', '-n']) + list(command), check=True)


class Seen:
    """What one run showed."""

    def __init__(self, status, out, err, files, own_line):
        self.status, self.out, self.err, self.files = status, out, own_line.sub(b'', err), files
        self.own = b''.join(m.group(0) for m in own_line.finditer(err)).decode(errors='replace')

    def differences(self, other):
        for what in ('status', 'out', 'err', 'files'):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                yield f'{what} without: {shorten(mine)}\n    {what} with:    {shorten(theirs)}'


def shorten(value):
    text = value if isinstance(value, (int, str)) else repr(value)
    return text if not isinstance(text, str) or len(text) < 1500 else f'{text[:700]} ... {text[-700:]}'


def command_of(case, place, name, recorder):
    """The words to run, and the directory that replaces {tmp}."""
    directory = place.directory(name)
    names = {'{bin}': str(place.programs), '{tmp}': str(directory), '{big}': str(place.big)}

    def fill(text):
        return re.sub(r'\{(bin|tmp|big)\}', lambda m: names[m.group(0)], text)
    words = [fill(word) for word in case.command]
    if case.limits:
        sets = ' && '.join(f'ulimit -{letter} {value}' for letter, value in case.limits.items())
        words = ['/bin/sh', '-c', f'{sets} && exec "$@"', 'sh', *words]
    words = recorder + words
    if case.user:
        user = place.owner
        words = ['setpriv', f'--reuid={user.pw_uid}', f'--regid={user.pw_gid}', '--clear-groups', *words]
        words = words if os.geteuid() == 0 else ['sudo', '-n', *words]
    if case.outer:
        words = ['/bin/sh', '-c', case.outer, 'sh', *words]
    if case.in_shell:
        (directory / 'go').write_text(f'#!/bin/sh\nexec {shlex.join(words)}\n')
        (directory / 'go').chmod(0o755)
        words = ['/bin/sh', '-c', f'cd {directory} && PS1="$ " exec bash --norc --noprofile -i']
    env = dict(USUAL if case.env is None else case.env)
    env.update({key: fill(value) for key, value in (case.more_env or {}).items()})
    script = [(fill(wait), fill(typed)) for wait, typed in case.pty or ()]
    return words, env, directory, script


def look(case, place, name, recorder=()):
    words, env, directory, script = command_of(case, place, name, list(recorder))
    if case.pty:
        status, out = terminal.run(words, env, script, case.timeout)
        own_line = OWN_LINE_ON_TERMINAL
        err, out = out, b''
    else:
        own_line = OWN_LINE
        status, out, err = run_piped(words, env, case, place.root / name, VIEWED and bool(recorder))
    files = wait_for_file(directory / pathlib.Path(case.file).name) if case.file else b''
    # The names of the directories, and addresses that a program prints, differ in any two runs.
    out, err, files = (ADDRESS.sub(b'ADDRESS', text.replace(str(directory).encode(), b'{tmp}')
                                   .replace(str(place.root).encode(), b'{root}')) for text in (out, err, files))
    return Seen(status, out, err, files, own_line)


def run_piped(words, env, case, base, viewed=False):
    """Output goes to files: a daemon that keeps them open does not block us."""
    with open(f'{base}.out', 'wb') as out, open(f'{base}.err', 'wb') as err:
        child = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=out, stderr=err, process_group=0,
                                 cwd='/')
        looks_on = onlooker.Onlooker(child, f'{base}.err') if viewed else None
        if looks_on:
            looks_on.start()
        try:
            child.communicate(case.stdin, timeout=case.timeout)
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            status = f'did not end within {case.timeout} s'
    if looks_on:
        looks_on.join()
        if looks_on.trouble:
            status = f'{status}; {looks_on.trouble}'
    return status, pathlib.Path(f'{base}.out').read_bytes(), pathlib.Path(f'{base}.err').read_bytes()


def wait_for_file(path):
    for _ in range(1000):
        if path.exists() and path.read_bytes().endswith(b'\n'):
            return path.read_bytes()
        time.sleep(0.01)
    return b'(the file did not come)'


OPTIONS = []  # of penna record, besides
VIEWED = False  # somebody looks on in the page


def compare(name, case, kind, verbose, plain=None):
    """List of what is wrong with one case in one kind. `plain`: a list that caches the program's output without us."""
    place = Place(case)
    plain = [] if plain is None else plain
    try:
        target = place.directory('recordings') / f'{kind}.penna'
        recorder = [str(place.penna), 'record', '-o', str(target), '-k', ','.join(EACH[:4]) if kind == 'all' else kind,
                    *OPTIONS, *case.options, '--']
        if case.status is None and not plain:
            plain.append(look(case, place, 'plain'))
        traced = look(case, place, 'traced', recorder)
        if verbose:
            print(f'{name} {kind}: status {traced.status}\nout {traced.out}\nerr {traced.err}\n{traced.own}')
        if case.status is None:
            wrong = list(plain[0].differences(traced))
            if isinstance(plain[0].status, str):
                wrong.append(f'the program itself {plain[0].status}')
        else:
            wrong = [] if traced.status == case.status else [f'status {traced.status}, expected {case.status}']
        if case.says and not re.search(case.says, traced.own):
            wrong.append(f'no line of penna\'s says "{case.says}": {traced.own!r}')
        if case.status is None:
            kinds = [kind] if kind != 'all' else EACH[:4]
            from_corpus = case.command[0].startswith('{bin}/')
            wrong += recording.problems(place.penna, target, [k for k in kinds if from_corpus and k not in case.silent],
                                        balanced=case.balanced)
        return wrong
    finally:
        place.remove()


def few(name, kinds):
    """All at once, and one by itself: another one from case to case."""
    single = [kind for kind in kinds if kind != 'all']
    chosen = single[zlib.crc32(name.encode()) % len(single)] if single else None
    return [kind for kind in kinds if kind in ('all', chosen)]


def run_cases(names, kinds, times, verbose, brief):
    failed = ran = 0
    for name in names:
        plain = []
        wanted = [kind for kind in CASES[name].kinds if kind in (kinds or EACH)]
        for kind in (few(name, wanted) if brief else wanted) * times:
            started = time.monotonic()
            wrong = compare(name, CASES[name], kind, verbose, plain)
            ran += 1
            failed += bool(wrong)
            if wrong or times == 1:
                print(f'{"FAIL" if wrong else "ok  "} {name} {kind} ({time.monotonic() - started:.1f} s)', flush=True)
            for line in wrong:
                print('   ', line, flush=True)
    print(f'torture: {ran} comparisons, {failed} failed')
    return 1 if failed else 0


# Recorders that only start the program, except for one deviation: (what, in which case, whether it must be noticed).
SABOTAGE = {
    'nothing': ('', 'see_self', False),
    'own line': ('print("penna: more", file=sys.stderr, flush=True)', 'see_self', False),
    'status': ('subprocess.run(words); sys.exit(0)', 'exit_7', True),
    'signal': ('sys.exit(128 - subprocess.run(words).returncode)', 'die_SEGV', True),
    'output': ('print("more", flush=True)', 'see_self', True),
    'error output': ('print("penna", file=sys.stderr, flush=True)', 'see_self', True),
    'descriptor': ('os.dup2(1, 9)', 'see_self', True),
    'environment': ('os.environ["LD_PRELOAD"] = ""', 'see_env', True),
    'signal ignored': ('signal.signal(signal.SIGUSR1, signal.SIG_IGN)', 'see_self', True),
    'signal mask': ('signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])', 'see_self', True),
    'limit': ('resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))', 'see_self', True),
    'input': ('os.read(0, 1)', 'stdin_cat', True),
    'terminal': ('os.system("stty -echo")', 'tty_password', True),
    'argument': ('words.append("more")', 'see_self', True),
    'daemon': ('subprocess.run(words); words = ["false"]; open(sys.argv[-1], "w").write("x\\n")', 'daemon', True),
    'silence': ('', 'limit_size_none', True),
}


def self_test():
    global PENNA
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        recording.problems = lambda *arguments, **named: []
        PENNA = pathlib.Path(directory) / 'bin' / 'penna'
        PENNA.parent.mkdir()
        for name, (line, case, noticed) in SABOTAGE.items():
            PENNA.write_text('#!/usr/bin/python3 -I\nimport os, resource, signal, subprocess, sys\n'
                             'signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n'
                             f'words = sys.argv[sys.argv.index("--") + 1:]\n{line}\nos.execvp(words[0], words)\n')
            PENNA.chmod(stat.S_IRWXU)
            found = compare(case, CASES[case], 'all', False)
            if bool(found) != noticed:
                wrong.append(f'{name}: {found if found else "not noticed"}')
    print(f'torture --self-test: {len(SABOTAGE)} recorders, {len(wrong)} misjudged', *wrong, sep='\n  ')
    return 1 if wrong else 0


def install_signal_handlers():
    """A process started in the background ignores these, and then each program here would too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def main():
    global PROGRAMS, VIEWED
    options = argparse.ArgumentParser()
    options.add_argument('--case', action='append')
    options.add_argument('--kind', action='append', choices=EACH)
    options.add_argument('--mode', help='a folder torture-MODE of the build')
    options.add_argument('--way', choices=list(WAYS))
    options.add_argument('--option', action='append', default=[])
    options.add_argument('--brief', action='store_true', help='of each case, all kinds at once and one by itself; in a way, every second case')
    options.add_argument('--times', type=int, default=1)
    options.add_argument('--without', action='append', default=[], help='a case that is left out')
    options.add_argument('--list', action='store_true')
    options.add_argument('--list-ways', action='store_true')
    options.add_argument('--self-test', action='store_true')
    options.add_argument('-v', '--verbose', action='store_true')
    chosen = options.parse_args()
    if chosen.list or chosen.list_ways:
        print(*(CASES if chosen.list else WAYS), sep='\n')
        return 0
    install_signal_handlers()
    if chosen.self_test:
        return self_test()
    if not PENNA.exists():
        sys.exit(f'torture: no penna at {PENNA}; run ./run build')
    if chosen.way:
        way = WAYS[chosen.way]
        chosen.mode, chosen.kind = way.mode, chosen.kind or list(way.kinds)
        chosen.option += way.options
        chosen.without += way.without
        VIEWED = way.viewed
        chosen.case = chosen.case or list(way.only)
    cases, kinds = chosen.case or CASES, chosen.kind
    OPTIONS.extend(chosen.option)
    if chosen.mode:
        PROGRAMS = PENNA.parents[1] / f'torture-{chosen.mode}'
        cases, kinds = chosen.case or IN_MODES, kinds or BY_CALLS
        for name in CASES if chosen.mode == 'plain' else UNTOLD_IN.get(chosen.mode, ()):
            CASES[name].balanced = False
    if chosen.brief and chosen.way and not WAYS[chosen.way].only:
        cases = [name for name in cases if zlib.crc32(f'{chosen.way} {name}'.encode()) % 2 == 0]
    return run_cases([name for name in cases if name not in chosen.without], kinds, chosen.times, chosen.verbose, chosen.brief)


if __name__ == '__main__':
    sys.exit(main())
