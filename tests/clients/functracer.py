#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""functracer.py PENNA: functracer's way of working, by the cases that its users have always expected (FN1 to FN7, FN14, FN16
and FN17), and its signals."""
import os
import pathlib
import re
import signal
import subprocess
import sys

from clients import HERE, Workspace, expect, finish, until

FUNCTRACER = str(pathlib.Path(sys.argv[1]).parent / 'functracer')


class Case:
    """A run of functracer in a directory of its own; rtrace texts with -o, else the pairs of files in $HOME."""

    def __init__(self, space, program, name, options=(), rtrace=True):
        self.where = space.path / name.replace(' ', '-')
        self.where.mkdir()
        self.name, self.program, self.rtrace = name, program, rtrace
        self.command = [FUNCTRACER, *options, *(['-o', str(self.where)] if rtrace else []), str(program)]
        self.environment = {**os.environ, 'HOME': str(self.where)}

    def run(self, *arguments, status=0):
        done = subprocess.run([*self.command, *arguments], env=self.environment, capture_output=True, text=True)
        expect(done.returncode == status, f'{self.name}: status {done.returncode} {done.stderr}')
        self.err = done.stderr
        expect(not list(self.where.glob('*.penna')), f'{self.name}: the recording was left behind')
        return self

    def texts(self):
        return [path.read_text() for path in sorted(self.where.glob('*.rtrace.txt'))]

    def check(self, condition, what=''):
        expect(condition, f'{self.name}: {what}\n' + '\n'.join(self.texts()))


def events(text):
    """[(function, size or None, address, [functions of its frames])] in order."""
    found = []
    for line in text.splitlines():
        event = re.match(r'\d+\. \[[^]]*\] ([^(]+)\((?:(\d+)\) = (0x[0-9a-f]+)|(0x[0-9a-f]+)\))', line)
        if event:
            found.append((event[1], int(event[2]) if event[2] else None, event[3] or event[4], []))
        elif line.startswith('\t0x'):
            name = re.search(r' in (\S+)', line)
            found[-1][3].append(name[1] if name else '?')
    return found


def lives(text):
    """[(size, freed later)] of what the program itself allocated: not its libraries."""
    all_events = events(text)
    return [(size, any(other[2] == where and other[1] is None for other in all_events[at + 1:]))
            for at, (function, size, where, frames) in enumerate(all_events)
            if size is not None and frames and frames[0] not in ('_dl_allocate_tls', 'allocate_dtv', '_IO_file_doallocate', 'calloc')
            and not frames[0].startswith(('_IO', '_dl', 'allocate_'))]


def memory_cases(space, program):
    case = Case(space, program, 'call chain', ['-s']).run('chain')
    text, = case.texts()
    malloc, free = events(text)
    case.check(malloc[:2] == ('malloc', 123) and free[:3] == ('free', None, malloc[2]), 'malloc and free')
    case.check(malloc[3][:7] == ['wrapper5', 'wrapper4', 'wrapper3', 'wrapper2', 'wrapper1', 'chain', 'main'], malloc[3])

    case = Case(space, program, 'fork', ['-s']).run('forks')
    parent, child = sorted(case.texts(), key=lambda text: '456' in text)
    case.check(lives(parent) == [(123, True), (789, True)] and lives(child) == [(456, True)])

    case = Case(space, program, 'clone', ['-s']).run('clones')
    case.check(sorted(map(lives, case.texts())) == [[(123, False)], [(456, True)]])

    case = Case(space, program, 'threads', ['-s']).run('threads')
    text, = case.texts()
    tids = re.findall(r'\((?:123|456)\) = \S+\n\t\$tid = (\d+)', text)
    case.check(len(set(tids)) == 2 and lives(text) == [(123, False), (456, False)], tids)

    case = Case(space, program, 'recursion', ['-s']).run('recursion')
    text, = case.texts()
    case.check([size for size, freed in lives(text) if freed] == [1024 * (100 - i) for i in range(100)] and len(events(text)) == 200)

    case = Case(space, program, 'realloc', ['-s']).run('reallocs')
    text, = case.texts()
    mine = events(text)
    case.check([(e[0], e[1]) for e in mine] == [('malloc', 123), ('realloc', None), ('realloc', 456), ('free', None), ('realloc', 77),
                                                 ('free', None), ('malloc', 88), ('realloc', None), ('malloc', 99)])
    case.check(mine[1][2] == mine[0][2] and mine[3][2] == mine[2][2], 'a realloc frees the old block, the program the new one')
    case.check(lives(text)[-1] == (99, False), 'a realloc that failed leaves its block')

    case = Case(space, program, 'families', ['-s']).run('families')
    text, = case.texts()
    case.check(lives(text) == [(111, True), (222, True), (333, True), (444, True), (544, True)] and len(events(text)) == 10)

    case = Case(space, program, 'exec', ['-s']).run('replaced')
    before, after = case.texts()
    case.check(lives(before) == [(321, False)] and lives(after) == [(123, True)])
    case.check('became another program' in before, 'it is said that the program became another')

    case = Case(space, program, 'depth', ['-s', '-t', '2']).run('chain')
    case.check(events(case.texts()[0])[0][3] == ['wrapper5', 'wrapper4'])
    case = Case(space, program, 'no depth', ['-s', '-b', '0']).run('chain')
    case.check([e[3] for e in events(case.texts()[0])] == [[], []])
    case = Case(space, program, 'frees', ['-s', '-A']).run('chain')
    case.check(events(case.texts()[0])[1][3][:3] == ['give_back', 'chain', 'main'], 'the backtrace of a free')
    case = Case(space, program, 'sizes', ['-s', '-M', '789,5']).run('forks')
    parent = next(text for text in case.texts() if '789' in text)
    case.check([(size, bool(frames)) for _, size, _, frames in events(parent) if size in (123, 789)] == [(123, False), (789, True)])


def audit_cases(space, program):
    for name, options in (('one function', ['-e', 'wrapper3']), ('functions of a file', ['-a', '@list']), ('two', ['-a', 'nest;chain'])):
        case = Case(space, program, name, ['-s', *options])
        (case.where / 'list').write_text('wrapper5\nwrapper1\n')
        case.command = [word.replace('@list', f'@{case.where}/list') for word in case.command]
        case.run('recursion' if name == 'two' else 'chain')
        text, = case.texts()
        called = [(function, size, frames[:2]) for function, size, _, frames in events(text)]
        if name == 'one function':
            case.check(called == [('wrapper3', 1, ['wrapper2', 'wrapper1'])], called)
        elif name == 'functions of a file':
            case.check([c[0] for c in called] == ['wrapper1', 'wrapper5'] and called[1][2] == ['wrapper4', 'wrapper3'], called)
        else:
            case.check([c[0] for c in called] == ['nest'] * 101 and called[-1][2] == ['nest', 'nest'], called)
        case.check('(calls of functions)' in text)
    case = Case(space, program, 'an allocation function', ['-s', '-e', 'malloc']).run('chain')
    case.check([(function, frames[:3]) for function, _, _, frames in events(case.texts()[0])] ==
               [('malloc', ['wrapper5', 'wrapper4', 'wrapper3'])], 'our hook is no frame of its')
    case = Case(space, program, 'a function that is not called', ['-s', '-a', 'wrapper3;no_such']).run('chain')
    case.check('functracer: no_such was not called' in case.err and 'wrapper3' not in case.err, case.err)
    case = Case(space, program, 'which does not matter', ['-s', '-S', '-a', 'wrapper3;no_such']).run('chain')
    case.check(case.err == '' and len(case.texts()) == 1, case.err)
    case = Case(space, program, 'functions of some files', ['-s', '-S', '-L', 'nowhere;functracer', '-a', 'wrapper3;malloc']).run('chain')
    case.check([function for function, *_ in events(case.texts()[0])] == ['wrapper3'])
    case = Case(space, program, 'without times', ['-s', '-T']).run('chain')
    case.check(re.search(r'^0\. malloc\(123\) = 0x', case.texts()[0], re.M))
    case = Case(space, program, 'what cannot be recorded', ['-s', '-a', 'wrapper3;_start']).run('chain')
    case.check('_start' in case.err, case.err)
    case = Case(space, program, 'and is not told', ['-s', '-q', '-S', '-a', 'wrapper3;_start']).run('chain')
    case.check(case.err == '', case.err)


class Talk:
    """A program under functracer that does what it is told."""

    def __init__(self, case):
        self.case = case
        self.process = subprocess.Popen(case.command, env=case.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())

    def tell(self, number):
        self.process.stdin.write(f'{number}\n')
        self.process.stdin.flush()
        return tuple(int(word) for word in self.process.stdout.readline().split())

    def signal(self, number):
        os.kill(self.pid, number)
        self.tell(-1)  # it has come

    def dump(self, step):
        """The sizes of the blocks of a pair of files, as soon as they are there."""
        path = self.case.where / f'allocs-{self.pid}.{step}.trace'
        until(lambda: path.exists() and re.match(r'information about (\d+) allocations\n', path.read_text()) and
              path.with_suffix('.map').exists() and path.read_text().endswith('\n'), f'for {path.name}')
        return [int(size) for size in re.findall(r'with size (\d+)', path.read_text())]

    def end(self):
        self.process.stdin.close()
        status = self.process.wait()
        return status, self.process.stderr.read()


def signal_cases(space, program):
    case = Case(space, program, 'signals', rtrace=False)
    talk = Talk(case)
    talk.tell(100)
    talk.signal(signal.SIGUSR2)  # idle: starts
    talk.tell(201)
    talk.tell(202)
    talk.tell(0)
    talk.tell(203)
    talk.signal(signal.SIGUSR2)  # a dump, and on
    expect(talk.dump(0) == [203, 201], f'the first dump: {talk.dump(0)}')
    talk.tell(204)
    talk.signal(signal.SIGUSR1)  # a dump, and idle
    talk.tell(205)
    expect(talk.dump(1) == [204, 203, 201], f'the second dump: {talk.dump(1)}')
    talk.signal(signal.SIGUSR1)  # starts anew: what was before is forgotten
    talk.tell(206)
    talk.signal(signal.SIGHUP)
    told = talk.tell(-1)
    expect(told == (1, 0), f'the program has its own signals, and not these two: {told}')
    status, err = talk.end()
    expect(status == 7 and err == '', f'status {status}, {err}')
    expect(talk.dump(2) == [206], f'the dump at the end: {talk.dump(2)}')
    expect(sorted(path.name for path in case.where.iterdir()) ==
           sorted(f'allocs-{talk.pid}.{step}.{kind}' for step in range(3) for kind in ('map', 'trace')), 'the files')

    case = Case(space, program, 'never traced', rtrace=False).run('chain')
    expect(not list(case.where.iterdir()), 'without -s and signals nothing is written')
    case = Case(space, program, 'number', ['-s', '-n', '1'], rtrace=False).run('forks')
    sizes = sorted(re.findall(r'with size (\d+)', path.read_text()) for path in case.where.glob('*.trace'))
    expect(sizes == [[], []] and '-n 1: 1 blocks more' in case.err, f'-n 1: {sizes} {case.err}')
    case = Case(space, program, 'killed', ['-s'], rtrace=False).run('killed', status=-signal.SIGTERM)


def wrong_uses(space, program):
    for options, sentence in ((['-p', '1', 'x'], 'contradict each other'), ([], 'a program to run is missing'),
                              (['-t', '257', 'x'], 'is a whole number from'),
                              *((['-M', sizes, 'y'], '-M takes sizes') for sizes in ('x', '16,,24', '16,', ',16', '-1')),
                              (['-o', '/nowhere', 'x'], 'no directory'),
                              (['-e', 'a', '-a', 'b', 'x'], '-e and -a'), (['-L', 'libc', 'x'], '-L is for functions')):
        done = subprocess.run([FUNCTRACER, *options], capture_output=True, text=True)
        expect(done.returncode == 125 and sentence in done.stderr and done.stderr.count('\n') == 1, f'{options}: {done.stderr}')
    for option in ('--help', '--usage', '-?'):
        done = subprocess.run([FUNCTRACER, option], capture_output=True, text=True)
        expect(done.returncode == 0 and '--track-function' in done.stdout, f'{option}: {done}')
    for option in ('--version', '-V'):
        done = subprocess.run([FUNCTRACER, option], capture_output=True, text=True)
        expect(done.returncode == 0 and re.fullmatch(r'functracer of penna \S+\n', done.stdout), f'{option}: {done}')
    case = Case(space, program, 'no such program', ['-s'])
    case.command[-1] = '/nowhere/program'
    case.run(status=127)
    done = subprocess.run([FUNCTRACER, '-s', '-A', str(program), 'chain'], capture_output=True, text=True,
                          env={**os.environ, 'HOME': str(space.path)})
    expect(done.returncode == 0 and '-A: what is not freed has no backtraces of frees: -o DIR' in done.stderr, done.stderr)


def main():
    with Workspace() as space:
        program = space.build('gcc', 'c', ['-D_GNU_SOURCE', '-O0', '-g', '-fno-builtin', '-Wno-pedantic', '-Wno-use-after-free', '-Wno-deprecated-declarations', '-pthread'],
                              'functracer_target', [HERE / 'functracer.c'])
        memory_cases(space, program)
        audit_cases(space, program)
        signal_cases(space, program)
        wrong_uses(space, program)
    finish()


main()
