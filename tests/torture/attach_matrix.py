#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""penna record -p of one program, built in each way: libc, linking, binding, control-flow marks, compiler.

    attach_matrix.py [WORD...]       the cells whose names have all these words; PENNA names the binary
Each cell must be recorded (calls, blocks and locks are in the recording) and restored, or refused in one sentence;
the program continues, is correct, and its code is unchanged.
"""
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from attach import PENNA, SOURCES, await_free, code, ours

MUSL = pathlib.Path('/usr/lib/x86_64-linux-musl')
LINKS = {'dynamic': ['-fPIE', '-pie'], 'static': ['-static', '-fno-pie', '-no-pie'], 'static-pie': ['-static-pie', '-fPIE']}
BINDS = {'lazy': ['-Wl,-z,lazy'], 'now': ['-Wl,-z,now']}
MARKS = {'cet': ['-fcf-protection=full'], 'plain': ['-fcf-protection=none']}
WANTED = {'calls': r'\bleaf\b', 'alloc': r'malloc|check_block', 'locks': r'mutex|\bwork\b'}


def cells():
    """Static programs bind nothing."""
    for libc, link, bind, mark, compiler in itertools.product(('glibc', 'musl'), LINKS, BINDS, MARKS, ('gcc', 'clang')):
        if link == 'dynamic' or bind == 'now':
            yield libc, link, bind, mark, compiler


def musl(compiler, link):
    """The compiler with musl's headers and start files in place of glibc's."""
    if compiler == 'gcc' and link != 'static-pie':
        return ['musl-gcc'], []
    own = subprocess.run([compiler, '-print-file-name=include'], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    start = {'dynamic': 'Scrt1.o', 'static': 'crt1.o', 'static-pie': 'rcrt1.o'}[link]
    builtins = subprocess.run(['gcc', '-print-libgcc-file-name'], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    linker = [] if link != 'dynamic' else ['-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1']
    return ([compiler, '-nostdinc', '-isystem', '/usr/include/x86_64-linux-musl', '-isystem', own, '-nostdlib', MUSL / start, MUSL / 'crti.o'],
            ['-L', MUSL, '-lc', builtins, MUSL / 'crtn.o', *linker])


def build(cell, where):
    libc, link, bind, mark, compiler = cell
    front, back = musl(compiler, link) if libc == 'musl' else ([compiler], [])
    command = [*front, '-O2', '-g', *LINKS[link], *BINDS[bind], *MARKS[mark], SOURCES / 'programs/breakpointed.c', '-o', where / 'it',
               '-pthread', *back]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert built.returncode == 0, f'it cannot be built: {built.stdout[-600:]}'


def penna(*arguments):
    done = subprocess.run([PENNA, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.strip()


def goes_on(process, output):
    length = len(output.read_text())
    end = time.monotonic() + 20
    while len(output.read_text()) <= length:
        assert process.poll() is None and time.monotonic() < end, f'it stands still or has ended ({process.poll()})'
        time.sleep(0.02)
    assert 'WRONG' not in output.read_text(), output.read_text()[-200:]


def visit(process, where):
    """The result, as a word or a sentence. On a machine that is busy with other things, the program may do nothing for a while."""
    recording = where / 'it.penna'
    before = code(process.pid)
    for duration in ('200ms', '2s', '20s'):
        status, _, said = penna('record', '-p', str(process.pid), '-f', '-o', recording, '--duration', duration, '-k', 'calls,alloc,locks', '-F', 'leaf')
        await_free(process.pid)
        if status != 0 or re.search(r' calls, .*allocation events, .*lock events', said):
            break
    assert code(process.pid) == before, 'its code is not what it was'
    assert ours(process.pid) == 0, 'a thread of ours is left'
    if status != 0:
        assert status == 125 and len(said.splitlines()) == 1, f'status {status}: {said}'
        return said
    assert re.search(r'restored [1-9][\d,]* places in \d+ modules?, verified', said), said
    for table, wanted in WANTED.items():
        _, out, trouble = penna('report', table, str(recording), '--format', 'csv')
        assert re.search(wanted, out), f'{table}: {out}{trouble}\n{said}'
    return 'by breakpoints' if 'breakpoint' in said else 'by the agent'


def torment(cell):
    with tempfile.TemporaryDirectory(prefix='penna-matrix-') as where:
        where = pathlib.Path(where)
        build(cell, where)
        with open(where / 'output', 'w') as output:
            process = subprocess.Popen([where / 'it', '4', 'signals'], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            goes_on(process, where / 'output')
            result = visit(process, where)
            goes_on(process, where / 'output')
            return result
        finally:
            process.kill()
            process.wait()


def main():
    subprocess.run([SOURCES.parents[1] / 'tools/install-packages', '--package', 'musl-tools'], check=True)
    chosen = [cell for cell in cells() if set(sys.argv[1:]) <= set(cell)]
    assert chosen, f'no cell has all of {sys.argv[1:]}'
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for cell, result in [(cell, workers.submit(torment, cell)) for cell in chosen]:
            try:
                print(f'{" ".join(cell):36} {result.result()}', flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed += 1
                print(f'{" ".join(cell):36} FAIL: {error}', flush=True)
    sys.exit(f'FAIL: {failed} of {len(chosen)} ways to build it' if failed else None)


main()
