#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs every program of the corpus many times, in every way in which calls can be traced: ./run torture.

    all.py [--times N] [--jobs N]     each case, in each way and kind, N times; default: 200
    all.py --way W --case C           only these; both may be repeated
    all.py --resume                   continues after what an earlier, interrupted run has reported as good
Why besides the tests: CI has minutes, and runs each once in each kind (programs about ways out of functions repeat them
200 times inside); a fault that occurs once in a hundred starts needs hours.
Invariant: one line for each case and way, whatever happens; no failure stops the rest; the exit status is 1 if
anything failed. Failures are kept in BUILD/torture-failed/WAY.CASE.txt.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

import run
from cases import CASES, IN_MODES, WAYS

RUNNER = run.ROOT / 'tests/torture/run.py'
FAILED = run.PENNA.parents[1] / 'torture-failed'
DONE = FAILED / 'done'  # what an earlier run has said was good


def pairs(ways, cases):
    """(way, case), those about ways into functions and out of them first: the others depend on them."""
    def all_pairs():
        for way in ways or ['hooks', *WAYS]:
            here = [name for name in ((WAYS[way].only or IN_MODES) if way != 'hooks' else CASES) if not cases or name in cases]
            yield from ((way, name) for name in here if way == 'hooks' or name not in WAYS[way].without)
    return sorted(all_pairs(), key=lambda pair: pair[1] not in IN_MODES)


def run_pair(way, case, times):
    """The line to print, and whether it is good."""
    started = time.monotonic()
    words = [str(RUNNER), '--case', case, '--times', str(times), *(['--way', way] if way != 'hooks' else [])]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    counts = re.search(r'^torture: (\d+) comparisons, (\d+) failed$', done.stdout, re.MULTILINE)
    good = done.returncode == 0 and counts is not None
    told = f'{counts[2]} of {counts[1]}' if counts and not good else counts[1] if counts else f'status {done.returncode}'
    line = f'{"ok  " if good else "FAIL"} {way} {case}: {told} ({time.monotonic() - started:.0f} s)'
    if not good:
        log = FAILED / f'{way}.{case}.txt'
        log.write_text(done.stdout)
        reasons = [text.strip() for text in done.stdout.splitlines() if text.startswith('    ')] or done.stdout.splitlines()[-1:]
        line += f'; {log}: {" ".join(reasons[:1])[:200]}'
    return line, good


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--times', type=int, default=200)
    options.add_argument('--jobs', type=int, default=os.cpu_count())
    options.add_argument('--way', action='append', choices=['hooks', *WAYS])
    options.add_argument('--case', action='append', choices=list(CASES))
    options.add_argument('--resume', action='store_true')
    chosen = options.parse_args()
    if not run.PENNA.exists():
        sys.exit(f'torture: no penna at {run.PENNA}; run ./run build')
    FAILED.mkdir(exist_ok=True)
    if not chosen.resume:
        DONE.write_text('')
    known = set(DONE.read_text().splitlines()) if DONE.exists() else set()
    todo = [pair for pair in pairs(chosen.way, chosen.case) if f'{" ".join(pair)} {chosen.times}' not in known]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool, DONE.open('a', buffering=1) as remember:
        running = {pool.submit(run_pair, *pair, chosen.times): pair for pair in todo}
        for one in concurrent.futures.as_completed(running):
            line, good = one.result()
            print(line, flush=True)
            failed += not good
            if good:
                print(*running[one], chosen.times, file=remember)
    print(f'torture: {len(todo)} cases and ways, {chosen.times} times in each kind; {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
