#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""foreign.py PENNA: probes of <sys/sdt.h> under penna record while bpftrace comes and goes, in both orders, and gdb stops at one: each
sees every hit while it is there, the program computes the same, and a semaphore counts who listens."""
import csv
import io
import pathlib
import subprocess
import sys

from clients import (PROVIDER, Bpftrace, Live, Workspace, build, expect, finish, is_probed, need_uprobes, places, run,
                     until)

PENNA = sys.argv[1]
HITS = 5000


def sum_of(times):
    value = 7
    for i in range(times):
        value = (value * 31 + i) & (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def pid_of(live, binary):
    return int(run('pgrep', '-P', live.process.pid, '-x', pathlib.Path(binary).name[:15]))


def attach(binary, pid=None):
    script = ' '.join(f'usdt:{binary}:{PROVIDER}:{name} {{ @{name} = count(); @last_{name} = max(arg0); }}'
                      for name in ('hit', 'guarded'))
    tool = Bpftrace(script)
    if pid is not None:
        until(lambda: all(is_probed(places(PENNA, pid)[name]) for name in ('hit', 'guarded')), 'for bpftrace to attach')
    return tool


def check_hits(label, tool, times):
    seen, _ = tool.stop()
    wanted = {'@hit': times, '@guarded': times, '@last_hit': HITS - 1, '@last_guarded': HITS - 1}
    expect(seen == wanted, f'{label}: bpftrace saw {seen}')


def check_recording(label, recording, rounds):
    rows = list(csv.DictReader(io.StringIO(run(PENNA, 'export', 'csv', recording))))
    for name in ('hit', 'guarded'):
        numbers = [int(row['arguments'].split(';')[0].removeprefix('arg0=')) for row in rows
                   if row['kind'] == 'point' and row['name'] == f'{PROVIDER}:{name}']
        expect(numbers == list(range(HITS)) * rounds, f'{label}: {len(numbers)} hits of {name} are recorded')


def record(space, binary):
    recording = space.path / 'recording.penna'
    return recording, Live(PENNA, 'record', '-q', '-f', '-k', 'points', '-e', f'{PROVIDER}:*', '-o', recording, binary)


def pass_points(label, live, semaphore):
    said = live.say(HITS)
    expect(said == [str(semaphore), str(sum_of(HITS))], f'{label}: the program said {said}')


def recorded_first(space, binary, label):
    recording, live = record(space, binary)
    pass_points(f'{label}, alone', live, 1)
    tool = attach(binary, pid_of(live, binary))
    pass_points(f'{label}, with bpftrace', live, 2)
    check_hits(label, tool, HITS)
    pass_points(f'{label}, alone again', live, 1)
    live.end()
    check_recording(label, recording, 3)


def attached_first(space, binary, label):
    tool = attach(binary)
    recording, live = record(space, binary)
    pid = pid_of(live, binary)
    until(lambda: is_probed(places(PENNA, pid)['hit']), 'for bpftrace to attach')
    pass_points(f'{label}, with bpftrace', live, 2)
    check_hits(label, tool, HITS)
    pass_points(f'{label}, alone', live, 1)
    live.end()
    check_recording(label, recording, 2)


def stopped_by_gdb(space, binary, label):
    recording = space.path / 'recording.penna'
    commands = [f'break -probe-stap {PROVIDER}:hit', 'ignore 1 100000', 'run < input', 'info breakpoints']
    (space.path / 'input').write_text(f'{HITS}\n')
    words = [word for command in commands for word in ('-ex', command)]
    done = subprocess.run([PENNA, 'record', '-q', '-f', '-k', 'points', '-e', f'{PROVIDER}:*', '-o', recording, 'gdb', '-nx',
                           '-batch', *words, binary],
                          cwd=space.path, capture_output=True, text=True)
    expect(f'already hit {HITS} times' in done.stdout, f'{label}: gdb said {done.stdout}{done.stderr}')
    expect(f'1 {sum_of(HITS)}' in done.stdout, f'{label}: the program said {done.stdout}')
    check_recording(label, recording, 1)


def main():
    need_uprobes()
    with Workspace() as space:
        for family, link in (('gcc', 'pie'), ('gcc', 'no-pie'), ('clang', 'pie')):
            binary = build(space, 'foreign.c', family, link, f'foreign-{family}-{link}')
            for story in (recorded_first, attached_first, stopped_by_gdb):
                story(space, binary, f'{family} {link} {story.__name__}')
    finish()


main()
