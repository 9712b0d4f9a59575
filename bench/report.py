#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures Penna against the physical limit and against its peers, in one run, and writes one page.

    bench/report.py --build build/release [--output FILE] [--quick] [--only TEXT] [--clock cpu]
--output: where the page is written; - for nowhere. Without it bench/RESULTS.md; with --quick nowhere.
--quick: the main tables only, with a tenth of the work and 3 rounds, in a few minutes, to see what a change did;
its numbers are not worth keeping.
--clock cpu: processor time of the program's threads instead of wall time, for a busy machine.
Every number is a median of interleaved runs (runner.py); "above untraced" is the difference from the untraced
program in the same round. Nothing is asserted: a benchmark informs, tests judge.
"""
import argparse
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import alloc_once  # noqa: E402
import alloc_programs  # noqa: E402
import always_on  # noqa: E402
import attaching  # noqa: E402
import call_programs  # noqa: E402
import calls  # noqa: E402
import events  # noqa: E402
import lock_programs  # noqa: E402
import machine  # noqa: E402
import peers  # noqa: E402
import whole  # noqa: E402
from runner import Bench  # noqa: E402

INTRODUCTION = '''\
Written by `./run bench`; run it to get this page for your machine.
'''

# The tables, in the order of the page; and those of --quick.
ALL = (events.limits, events.ring, events.table, calls.table, call_programs.table, alloc_programs.table,
       alloc_once.table, always_on.table, lock_programs.table, attaching.table, whole.table, whole.hooks, whole.switching,
       whole.tool_side)
QUICK = (events.limits, events.table, whole.table, whole.tool_side)


def main():
    parser = argparse.ArgumentParser(description='Measures Penna and its peers.')
    parser.add_argument('--build', default='build/release', help='build directory')
    parser.add_argument('--output', help='where to write the page; - for nowhere')
    parser.add_argument('--quick', action='store_true', help='the main tables only, with less work: worse numbers')
    parser.add_argument('--only', default='', help='only what has this text in its name')
    parser.add_argument('--clock', choices=('wall', 'cpu'), default='wall')
    arguments = parser.parse_args()

    output = arguments.output or ('-' if arguments.quick else 'bench/RESULTS.md')
    started, load = time.time(), os.getloadavg()[0]
    bench = Bench(arguments.build, 3 if arguments.quick else 5, 0.1 if arguments.quick else 1.0,
                  'ns' if arguments.clock == 'wall' else 'cpu_ns')
    parts = []
    try:
        for make in QUICK if arguments.quick else ALL:
            part = make(bench, arguments.only)
            if part:
                print(part, flush=True)
                parts.append(part)
    finally:
        peers.Lttng.stop_daemon()
    header = machine.header(bench, arguments, started, load)
    print(header)
    if output != '-':
        page = '\n'.join(['# Results', '', INTRODUCTION, header, *parts])
        pathlib.Path(output).write_text(page)
        print(f'bench: written to {output}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
