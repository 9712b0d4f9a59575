# SPDX-License-Identifier: MIT
"""What the numbers were measured on: the header of the page."""
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


def header(bench, arguments, started, load):
    memory = int(value_of('/proc/meminfo', 'MemTotal').split()[0]) / (1 << 20)
    commit = first_line(['git', '-C', str(pathlib.Path(__file__).parent), 'rev-parse', '--short=12', 'HEAD'])
    lines = [
        ('date', time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(started)) + f', {time.time() - started:.0f} s'),
        ('penna', f'commit {commit}'),
        ('machine', f"{value_of('/proc/cpuinfo', 'model name')}, {os.cpu_count()} CPUs, {memory:.0f} GiB"),
        ('kernel', platform.release()),
        ('system', f"{distribution()}, {first_line(['ldd', '--version'])}"),
        ('compiler', first_line(['gcc', '--version'])),
        ('peers', ', '.join(peers.versions())),
        ('method', f"{'wall time' if arguments.clock == 'wall' else 'processor time'}, medians of {bench.rounds} "
                   'interleaved runs'),
        ('load', f'{load:.1f} when it began' + (': numbers are worse than they should be' if load > 0.7 else '')),
    ]
    return '\n'.join(f'    {name:9} {text}' for name, text in lines) + '\n'
