# SPDX-License-Identifier: MIT
"""Real multi-threaded programs with their locks recorded: how much slower they are.

Invariant: each recorded run is checked for losses, like every run of the benchmarks.
"""
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import time

from runner import Candidate, Failed, children_seconds, facts, interleave, run
from tables import markdown, number, ratio


def stop(server, socket):
    subprocess.run(['redis-cli', '-s', socket, 'shutdown', 'nosave'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        raise Failed('redis-server did not end') from None


def of_a_request(bench, wrap, *options):
    """SET and GET by redis-benchmark against a redis-server: nanoseconds of one, in wall time and in the server
    side's processor time; and its peak memory in MB."""
    socket, held = str(bench.data / 'redis.sock'), bench.data / 'held'
    command = ['/usr/bin/time', '-q', '-f', '%M', '-o', str(held), *wrap, 'redis-server', '--port', '0', '--unixsocket', socket,
               '--save', '', *options, '--dir', str(bench.data)]
    requests = bench.iterations(400_000)
    with open(os.devnull, 'wb') as nowhere:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere, start_new_session=True)
    try:
        for _ in range(200):
            if pathlib.Path(socket).exists():
                break
            time.sleep(0.05)
        text = run(['redis-benchmark', '-s', socket, '-t', 'set,get', '-c', '20', '-P', '16', '-n',
                    str(requests), '-q'])
    finally:
        before = children_seconds()
        stop(server, socket)
    rates = [float(rate) for rate in re.findall(r'([\d.]+) requests per second', text)]
    if len(rates) != 2:
        raise Failed('redis-benchmark printed no rates')
    return (1e9 / statistics.harmonic_mean(rates), (children_seconds() - before) * 1e9 / (2 * requests),
            float(held.read_text()) * 1024 / 1e6)


def milliseconds(command):
    begun = time.perf_counter()
    run(command)
    return (time.perf_counter() - begun) * 1e3


def table(bench, only):
    if only not in 'locks of programs':
        return ''
    text = bench.data / 'text'
    with open(text, 'wb') as whole:  # in pieces: what this process once held, its children seem to hold, too
        for _ in range(6):
            with open('/usr/bin/python3', 'rb') as half:
                shutil.copyfileobj(half, whole)
    rows, notes = [], []
    for name, once in (
            ('redis-server, 2 I/O threads', lambda wrap: of_a_request(bench, wrap, '--io-threads', '2', '--io-threads-do-reads', 'yes')[0]),
            ('xz -T2 -1', lambda wrap: milliseconds([*wrap, 'xz', '-T2', '-1', '--block-size=65536', '-kc', str(text)])),
            ('zstd -T2 -9', lambda wrap: milliseconds([*wrap, 'zstd', '-T2', '-9', '-qc', str(text), '-o', os.devnull, '-f']))):
        seen = []

        def recorded():
            path = bench.recording_path()
            took = once([str(bench.penna), 'record', '-q', '-o', str(path), '-k', 'locks', '--'])
            found = facts(run([str(bench.build / 'bench' / 'recording_facts'), str(path)]))
            if found['lost'] or found['torn']:
                raise Failed(f"{found['lost']:.0f} events lost, {found['torn']:.0f} torn")
            seen.append(found['locks'])
            return took
        plain, ours = Candidate('alone', lambda: once([])), Candidate('penna', recorded)
        interleave([plain, ours], bench.rounds)
        notes += [f'{name}, {way.name}: {way.reason}' for way in (plain, ours) if way.reason]
        rows.append([name, number(plain.median, 0), number(ours.median, 0), ratio(ours.median, plain.median),
                     f'{seen[0]:,.0f}' if seen else '-'])
        print('  '.join(rows[-1]), flush=True)
    return markdown('Real programs, their locks recorded', ['<program', 'alone', 'penna', '/ alone', 'lock events'], rows, [
        'redis-server: nanoseconds of a request, SET and GET, of 20 connections that send 16 at once; the goal is 1.05. The '
        'others: milliseconds', 'from start to end, start and end of the recorder included.', *notes])
