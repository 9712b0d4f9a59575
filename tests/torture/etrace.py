#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs programs of the corpus without and with libpenna-etrace.so, and compares like run.py.

    etrace.py [--case X] [-v]
Each case with a waiting etrace, or with TRACE as a file, by turns; a few without TRACE, too. Besides: without TRACE
there is no file; a waiting etrace ends by itself; a file contains calls at the end.
"""
import argparse
import pathlib
import subprocess
import sys
import time

import run
from cases import CASES

LIBRARY = run.PENNA.parents[1] / 'lib/libpenna-etrace.so'
ETRACE = run.PENNA.parent / 'etrace'
# Programs that print their environment or their directory see the preload, or where it is: those are left out.
NAMES = [name for name in CASES if name.startswith(('exit_', 'end_', 'die_', 'tree_'))] + [
    'shell_child_dies', 'stdin_read', 'output_full', 'asked_to_die', 'broken_pipe', 'daemon', 'fork_threads',
    'processes_some', 'close_range', 'close_from', 'close_loop', 'threads', 'dlopen_loop', 'exceptions', 'terminate', 'jumps',
    'coroutines', 'signals', 'signals_busy', 'signals_alternate', 'cancel', 'handlers', 'points', 'locks', 'constructors',
    'own_malloc', 'small_stack', 'limit_files', 'limit_memory', 'limit_size', 'limit_stack', 'real_python', 'real_sqlite']
MODES = ('off', 'live', 'file')
# None of these runs instrumented code from its start, or may write files, or starts at all.
NOTHING_IN_FILE = ('limit_', 'real_', 'tree_clean-env', 'tree_exec', 'own_malloc')


def in_directory(directory, words):
    return ['/bin/sh', '-c', f'cd {directory} && exec "$@"', 'sh', *words]


def wait_for_trace(directory, reader):
    for _ in range(2000):
        if (directory / 'TRACE').is_symlink():
            return []
        if reader.poll() is not None:
            break
        time.sleep(0.01)
    return ['etrace did not begin to wait']


def compare(name, mode, plain, verbose):
    """`plain`: a list that caches the program's output without us."""
    case, place = CASES[name], run.Place(CASES[name])
    try:
        home = place.directory('home')
        reader, wrong = None, []
        if mode == 'file':
            (home / 'TRACE').touch()
        if mode == 'live':
            reader = subprocess.Popen([ETRACE, '-q'], cwd=home, stdout=subprocess.PIPE, text=True)
            wrong += wait_for_trace(home, reader)
        if not plain:
            plain.append(run.look(case, place, 'plain', in_directory(place.directory('plain-home'), [])))
        traced = run.look(case, place, 'traced', in_directory(home, ['env', f'LD_PRELOAD={LIBRARY}']))
        if verbose:
            print(f'{name} {mode}: status {traced.status}\nout {traced.out}\nerr {traced.err}\n{traced.own}')
        wrong += list(plain[0].differences(traced))
        if reader:
            try:
                reader.communicate(timeout=60)
                wrong += [] if reader.returncode == 0 else [f'etrace ended with {reader.returncode}']
            except subprocess.TimeoutExpired:
                reader.kill()
                wrong.append('etrace did not end')
        left = [path.name for path in home.iterdir() if path.name != 'TRACE' or mode != 'file']
        wrong += [f'left behind: {left}'] if left else []
        if mode == 'file' and not name.startswith(NOTHING_IN_FILE):
            shown = subprocess.run([ETRACE], cwd=home, capture_output=True, text=True, timeout=60)
            if shown.returncode != 0 or not shown.stdout:
                wrong.append(f'etrace shows nothing of the file: {shown}')
        return wrong
    finally:
        place.remove()


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--case', action='append', choices=NAMES)
    options.add_argument('-v', '--verbose', action='store_true')
    chosen = options.parse_args()
    run.install_signal_handlers()
    failed = ran = 0
    for number, name in enumerate(chosen.case or NAMES):
        plain = []
        for mode in MODES if chosen.case else MODES[1 + number % 2:2 + number % 2] + MODES[:number % 8 == 0]:
            wrong = compare(name, mode, plain, chosen.verbose)
            ran += 1
            failed += bool(wrong)
            if wrong:
                print(f'FAIL {name} {mode}', *wrong, sep='\n    ', flush=True)
    print(f'torture with etrace: {ran} comparisons, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
