# SPDX-License-Identifier: MIT
"""Everything beyond single events: start-up, memory, the collector under full load, individual hooks, and the tool
side."""
import json
import statistics
import time

from runner import Candidate, Failed, facts, interleave, run
from tables import markdown, number


def milliseconds(command, environment=None):
    started = time.perf_counter()
    run(command, environment)
    return (time.perf_counter() - started) * 1e3


def start_up(bench):
    """Wall time of the shortest program, alone and recorded, alternating."""
    penna = [str(bench.penna), 'record', '-q', '-o']
    plain = Candidate('true', lambda: milliseconds(['/bin/true']))
    ours = Candidate('penna', lambda: milliseconds([*penna, str(bench.recording_path()), '--', '/bin/true']))
    interleave([plain, ours], 21)
    yield ['`penna record true`', 'ms', number(plain.median), number(ours.median), number(ours.above(plain)), ours.reason or '']


def memory(bench):
    """Resident memory of a process with 1,000 threads that have all allocated and locked."""
    command = [bench.program('threads'), '1000']

    def resident(recorded):
        text = bench.record(command, 'calls,alloc,locks,points')[0] if recorded else run(command)
        return facts(text)['rss_kib'] / 1024
    plain, ours = Candidate('plain', lambda: resident(False)), Candidate('penna', lambda: resident(True))
    interleave([plain, ours], bench.rounds)
    above = ours.above(plain)
    yield ['resident memory, 1,000 threads', 'MiB', number(plain.median), number(ours.median), number(above),
           ours.reason or f'{above * 1024 / 1000:.1f} KiB a thread']


def sustained(bench):
    """More than the collector can process: the pool is small, so the program runs at the collector's pace."""
    for name, program, kinds, iterations, arguments in (
            ('calls', 'calls', 'calls', 5_000_000, []), ('allocations, 20 frames', 'alloc', 'alloc', 2_000_000, ['20']),
            ('locks', 'locks', 'locks', 4_000_000, []), ('points', 'points', 'points', 4_000_000, [])):
        rates, cpu, reason = [], [], None
        for _ in range(bench.rounds):
            try:
                command = [bench.program(program), str(bench.iterations(iterations)), '1', *arguments]
                text, recorded = bench.record(command, kinds, ['--pool', '4'])
                ns, operations = bench.result(text, 'ns')  # with all its waiting, whatever the clock
                rates.append(recorded[kinds] / operations / ns * 1e3)
                cpu.append(recorded[kinds] / recorded['recorder_ns'] * 1e3)
            except Failed as failure:
                reason = str(failure)
        if reason:
            yield [f'sustained: {name}', 'M events/s', '', '-', '', reason]
        else:
            yield [f'sustained: {name}', 'M events/s', '', number(statistics.median(rates)), '',
                   f'the recorder uses 1 s of CPU for {statistics.median(cpu):.0f} M events']


def table(bench, only):
    rows = []
    for part in (start_up, memory, sustained):
        if only not in part.__name__:
            continue
        try:
            for row in part(bench):
                rows.append(row)
                print('  '.join(row), flush=True)
        except Failed as failure:
            rows.append([part.__name__, '', '', '', '', str(failure)])
    return markdown('Whole programs', ['<what', '<unit', 'alone', 'recorded', 'above', '<'], rows) if rows else ''


def benchmark(bench, name, wrap=(), only='.'):
    """Results of a google-benchmark program by name: the JSON objects. `wrap`: a command to prefix."""
    output = bench.data / f'{name}.json'
    command = [*wrap, str(bench.build / 'bench' / name), f'--benchmark_filter={only}', f'--benchmark_out={output}', '--benchmark_out_format=json',
               f'--benchmark_min_time={0.2 * bench.scale}']
    run(command, cwd=bench.data)
    found = {}
    for result in json.loads(output.read_text())['benchmarks']:
        if result.get('error_occurred'):
            raise Failed(f"{result['name']}: {result['error_message']}")
        found[result['name']] = result
    return found


def hooks(bench, only):
    """Each hook by itself: without the agent, with the agent inactive, and recording."""
    if only not in 'hooks':
        return ''
    record = [str(bench.penna), 'record', '-q', '-f', '-o', str(bench.recording_path())]
    ways = ([], [*record, '-k', 'calls', '--'], [*record, '--'])
    try:
        alone, asleep, recording = (benchmark(bench, 'agent_bench', way) for way in ways)
    except Failed as failure:
        return f'## Hooks\n\nNot measured: {failure}\n'
    rows = []
    for name in alone:
        times = [found[name]['real_time'] * found[name].get('threads', 1) for found in (alone, asleep, recording)]
        asleep_time = '-' if name.startswith('call') else number(times[1] - times[0])
        rows.append([name.replace('_', ' ').replace('/real time', ''), number(times[0]), asleep_time,
                     number(times[2] - times[0])])
    return markdown('Hooks', ['<what', 'alone', 'asleep: above', 'recording: above'], rows, [
        'Nanoseconds, one process, google-benchmark. *asleep*: the agent is there and records calls only. Where a hook is '
        'faster than',
        'the collector (see above), *recording* is the pace of the collector.'])


def switching(bench, only):
    """Switches on 10,000 sites of a program."""
    if only not in 'switching':
        return ''
    try:
        found = benchmark(bench, 'switch_bench')
    except Failed as failure:
        return f'## Switching\n\nNot measured: {failure}\n'
    clock = 'real_time' if bench.clock == 'ns' else 'cpu_time'
    rows = []
    for what in ('close_together', 'in_a_page_each_first_time', 'in_a_page_each'):
        times = [result[clock] for name, result in found.items() if name.startswith(f'arm_10000_sites_{what}/')]
        rows.append([what.replace('_', ' '), *map(number, times), *[''] * (2 - len(times))])
    return markdown('Switching', ['<10,000 sites, armed', 'alone', 'beside a running thread'], rows,
                    ['Milliseconds, by the program itself (`penna/control.h`). The goal is 50 ms. The first time, the kernel copies '
                     'each page.'])


# From recording_bench and model_bench: what the page lists, and under which name.
TOOL_SIDE = (('recording_bench', 'BM_scan', 'look at each record of a chunk'),
             ('recording_bench', 'BM_write', 'the collector: look, compress, write'),
             ('recording_bench', 'BM_read', 'read, decompress, look at each record'),
             ('model_bench', 'walk_by_thread', 'walk, thread by thread'),
             ('model_bench', 'walk_merged', 'walk, four threads merged by time'),
             ('model_bench', 'analyse_calls', 'walk and analyse'),
             ('model_bench', 'analyse_allocations', 'walk and analyse'))


def tool_side(bench, only):
    """Speed of collector, reader and analyses, each by itself."""
    if only not in 'tool side':
        return ''
    rows, notes = [], []
    for program, prefix, name in TOOL_SIDE:
        try:
            found = benchmark(bench, program, only=f'^{prefix}/')
            rows += [[name, result.get('label', ''), number(result['items_per_second'] / 1e6)]
                     for result in found.values()]
        except Failed as failure:
            notes.append(f'{name}: {failure}')
    rows += penna_report(bench, notes)
    return markdown('Tool side', ['<what', '<events', 'M events/s'], rows, [
        'Per second of processor time; of whole commands, per second. The chunks hold what real code did, stamped by the real clock '
        '(`bench/recording_workloads.h`).', *notes])


def resident(command):
    """A command's peak memory, in MB. Measured from a small parent: this process's own memory would count as the
    command's."""
    return float(run(['/usr/bin/time', '-q', '-f', '%M', 'sh', '-c', '"$@" >/dev/null 2>&1', 'sh', *command])) / 1e3


def whole_commands(bench, commands, events, what, notes):
    """Rows of the commands' names and arguments, on the last recording, which has `events` events, called `what` in
    the notes."""
    rows, penna = [], str(bench.penna)
    for name, arguments in commands:
        took = statistics.median(milliseconds([penna, *arguments]) for _ in range(3))
        rows.append([f'penna {name}, the whole command', what.split()[-1], number(events / took / 1e3)])
        notes.append(f'`penna {name}` of {what}: {took / 1e3:.2f} s, {resident([penna, *arguments]):.0f} MB.')
    return rows


def penna_report(bench, notes):
    """Reports of real recordings, as whole commands, including names: of 10^7 allocations, each freed, of 10^7 lock
    events, and of 10^8 calls (200 M events), and the time until the first lines of a replay of these appear."""
    try:
        path, penna = str(bench.data / 'run.penna'), str(bench.penna)
        _, recorded = bench.record([bench.program('sizes'), str(bench.iterations(10_000_000))], 'alloc')
        rows = whole_commands(bench, (('report alloc', ['report', path, 'alloc']), ('report leaks', ['report', path, 'leaks'])),
                              recorded['alloc'], f"{recorded['alloc'] / 2e6:.0f} M allocations", notes)
        _, recorded = bench.record([bench.program('locks'), str(bench.iterations(1_250_000)), '4', 'shared'], 'locks')
        rows += whole_commands(bench, (('report locks', ['report', path, 'locks']),), recorded['locks'],
                               f"{recorded['locks'] / 1e6:.0f} M lock events of 4 threads", notes)
        _, recorded = bench.record([bench.program('calls'), str(bench.iterations(100_000_000)), '1'], 'calls')
        rows += whole_commands(bench, (('report calls', ['report', path, 'calls']), ('report tree', ['report', path, 'tree']),
                                       ('export folded', ['export', 'folded', path])),
                               recorded['calls'], f"{recorded['calls'] / 2e6:.0f} M calls", notes)
        head = ['sh', '-c', '"$1" replay "$2" | head -n 20', 'sh', penna, path]
        took = statistics.median(milliseconds(head) for _ in range(3))
        notes.append(f'`penna replay | head -n 20` of the same: {took:.0f} ms.')
        return rows
    except Failed as failure:
        return [['penna report calls', str(failure), '-']]
