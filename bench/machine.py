# SPDX-License-Identifier: MIT
"""The machine that the numbers were measured on: the header of the page."""
import os
import pathlib
import platform
import subprocess
import time

import peers


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0]
    except (OSError, IndexError):
        return 'unknown'


def value_of(path, key):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(':', 1)[1].strip()
    return 'unknown'


def distribution():
    for line in pathlib.Path('/etc/os-release').read_text().splitlines():
        if line.startswith('PRETTY_NAME='):
            return line.split('=', 1)[1].strip('"')
    return platform.system()


def revision(bench):
    """The commit that was measured, and any reasons for doubt: later changes, an older binary."""
    git = ['git', '-C', str(pathlib.Path(__file__).resolve().parent.parent)]
    text = 'commit ' + first_line([*git, 'rev-parse', '--short=12', 'HEAD'])
    measured = ['--', 'src', 'include']
    if first_line([*git, 'status', '--porcelain', *measured]) != 'unknown':
        text += ', with changes that are not committed'
    changed = first_line([*git, 'log', '-1', '--format=%ct', *measured])
    built = max(path.stat().st_mtime for path in (bench.penna, bench.build / 'lib' / 'libpenna-agent.so'))
    if changed.isdigit() and built < int(changed):
        text += time.strftime('; built before it, at %H:%M UTC', time.gmtime(built))
    return text


def header(bench, arguments, started, load):
    memory = int(value_of('/proc/meminfo', 'MemTotal').split()[0]) / (1 << 20)
    lines = [
        ('date', time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(started)) + f', {time.time() - started:.0f} s'),
        ('penna', revision(bench)),
        ('machine', f"{value_of('/proc/cpuinfo', 'model name')}, {os.cpu_count()} CPUs, {memory:.0f} GiB"),
        ('kernel', platform.release()),
        ('system', f"{distribution()}, {first_line(['ldd', '--version'])}"),
        ('compiler', first_line(['gcc', '--version'])),
        ('peers', ', '.join(peers.versions())),
        ('method', f'medians of {bench.rounds} interleaved runs; events in ' + (
            'wall time' if arguments.clock == 'wall' else
            "the threads' own processor time: waiting, for room or for a lock, is not in it")),
        ('load', f'{load:.1f} when it began' + (
            ': others used the machine, and what is wall time is worse than it should be' if load > 0.7 else '')),
    ]
    return '\n'.join(f'    {name:9} {text}' for name, text in lines) + '\n'
