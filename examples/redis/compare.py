#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares Redis's own counters with what its points recorded: compare.py INFO EVENTS; fails where they differ.

INFO is what Redis answered to INFO EVERYTHING, and slowlog_len:N, requested just before. The recording contains these
commands, too: the events before them are what Redis had counted when it answered. EVENTS is the recording as CSV (penna
export csv).
"""
import collections
import csv
import sys


def read_info(path):
    """{counter: text}, and {command: (calls, usec)} of "cmdstat_get:calls=12,usec=34,..."."""
    counters, commands = {}, {}
    for line in open(path):
        name, colon, value = line.strip().partition(':')
        if colon and name.startswith('cmdstat_'):
            fields = dict(field.split('=') for field in value.split(','))
            commands[name[len('cmdstat_'):]] = int(fields['calls']), int(fields['usec'])
        elif colon:
            counters[name] = value
    return counters, commands


def arguments_of(event):
    return dict(pair.split('=', 1) for pair in event['arguments'].split(';') if '=' in pair)


def read_events(path):
    """The events of points before the last INFO began, as (name, kind, pid, arguments)."""
    events, end = [], 0
    for event in csv.DictReader(open(path)):
        if event['kind'] not in ('point', 'span_begin', 'span_end'):
            continue
        arguments = arguments_of(event)
        if event['name'] == 'redis:command' and arguments.get('name') == 'info':
            end = len(events)
        events.append((event['name'], event['kind'], int(event['pid']), arguments))
    return events[:end]


class Recorded:
    """What the events add up to."""

    def __init__(self, events, server):
        self.count, self.total = collections.Counter(), collections.Counter()
        self.calls, self.usec = collections.Counter(), collections.Counter()
        self.last, self.in_children = {}, collections.Counter()
        self.slow = 0  # when its length was requested
        for name, kind, pid, arguments in events:
            if kind == 'span_end':
                self.count[name + ' ended'] += 1
                continue
            self.count[name] += 1
            self.in_children[name] += pid != server
            self.last[name] = arguments
            if name == 'redis:command' and arguments['name'] == 'slowlog|len':
                self.slow = self.count['redis:slow']
            for argument in ('bytes', 'us'):
                self.total[name, argument] += int(arguments.get(argument, 0))
            if name in ('redis:called', 'redis:served'):
                self.calls[arguments['name']] += name == 'redis:called'
                self.usec[arguments['name']] += int(arguments['us'])


def rows(info, commands, recorded):
    """(what, what Redis says, what Penna recorded)."""
    count, total = recorded.count, recorded.total
    for counter, seen in (
            ('total_connections_received', count['redis:accepted']),
            ('connected_clients', count['redis:accepted'] - count['redis:closed']),
            ('blocked_clients', count['redis:blocked'] - count['redis:unblocked']),
            ('total_commands_processed', count['redis:command ended']),
            ('total_net_input_bytes', total['redis:read', 'bytes']),
            ('total_net_output_bytes', total['redis:written', 'bytes']),
            ('total_error_replies', count['redis:error']),
            ('keyspace_hits', count['redis:hit']),
            ('keyspace_misses', count['redis:miss']),
            ('expired_keys', count['redis:expired']),
            ('evicted_keys', count['redis:evicted']),
            ('rdb_saves', count['redis:save']),
            ('total_forks', count['redis:forked']),
            ('latest_fork_usec', int(recorded.last.get('redis:forked', {}).get('us', 0)))):
        yield counter, int(info[counter]), seen
    yield 'aof_current_size', int(info['aof_current_size']), int(info['aof_base_size']) + total['redis:aof_write', 'bytes']
    yield 'slowlog_len', int(info['slowlog_len']), recorded.slow
    yield 'calls of PUBLISH', commands['publish'][0], count['redis:published']
    yield 'saves by a child', int(info['total_forks']), recorded.in_children['redis:save']


def show(heads, table):
    """Prints rows of a name and pairs of numbers that must be equal; returns how many rows differ."""
    width = max(len(row[0]) for row in [heads, *table])
    print(f'{heads[0]:{width}}' + ''.join(f' {head:>15}' for head in heads[1:]))
    different = 0
    for name, *numbers in table:
        same = numbers[::2] == numbers[1::2]
        different += not same
        print(f'{name:{width}}' + ''.join(f' {number:15,}' for number in numbers) + ('' if same else '  DIFFERENT'))
    print()
    return different


def main(info_path, events_path):
    info, commands = read_info(info_path)
    recorded = Recorded(read_events(events_path), int(info['process_id']))
    counters = list(rows(info, commands, recorded))
    different = show(['COUNTER', 'REDIS SAYS', 'PENNA RECORDED'], counters)
    names = sorted(commands.keys() | recorded.calls.keys())
    different += show(['COMMAND', 'CALLS, REDIS', 'PENNA', 'TIME/us, REDIS', 'PENNA'],
                      [(name, commands.get(name, (0, 0))[0], recorded.calls[name], commands.get(name, (0, 0))[1],
                        recorded.usec[name]) for name in names])
    print(f'{len(counters)} counters and {len(names)} commands: ' + (f'{different} differ' if different else 'all the same'))
    return different != 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
