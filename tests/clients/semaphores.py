#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""semaphores.py PENNA: a semaphore goes up when the first tool comes and down when the last one leaves; while it is up, a lazy
point evaluates its arguments, and else it does not. penna list shows its value. (In libraries: bpftrace.py.)"""
import sys

from clients import PROVIDER, Bpftrace, Live, Workspace, build, expect, finish, is_probed, need_uprobes, places, until

PENNA = sys.argv[1]
HITS = 1000


def counts(pid):
    said = places(PENNA, pid)
    return [said[name]['semaphore_count'] for name in ('counted', 'lazy', 'hit')]


class Watch(Bpftrace):
    """Attached when its first and its last probe are, which nobody else uses."""

    def __init__(self, binary, pid, *own):
        clauses = [f'usdt:{binary}:{PROVIDER}:counted {{ @counted = count(); @last = max(arg0); }}',
                   f'usdt:{binary}:{PROVIDER}:lazy {{ @lazy = count(); }}']
        mine = [f'usdt:{binary}:{PROVIDER}:{name} {{}}' for name in own]
        super().__init__(' '.join([*mine[:1], *clauses, *mine[1:]]))
        until(lambda: all(is_probed(places(PENNA, pid)[name]) for name in own), 'for bpftrace to attach')


def check(label, binary):
    live = Live(binary)
    pid = live.process.pid
    expect(live.pass_points(HITS) == (False, 0), f'{label}: nobody listens, and yet it is enabled')
    expect(counts(pid) == [0, 0, None], f'{label}: nobody listens, and penna list says {counts(pid)}')
    first = Watch(binary, pid, 'first', 'second')
    expect(counts(pid) == [1, 1, None], f'{label}: one listens, and penna list says {counts(pid)}')
    expect(live.pass_points(HITS) == (True, HITS), f'{label}: one listens')
    # The kernel counts once for a place, however many of its users watch it.
    second = Watch(binary, pid, 'hit', 'third')
    expect(live.pass_points(HITS) == (True, 2 * HITS), f'{label}: two listen')
    seen, _ = first.stop()
    expect(seen == {'@counted': 2 * HITS, '@lazy': 2 * HITS, '@last': HITS - 1}, f'{label}: the first saw {seen}')
    expect(counts(pid) == [1, 1, None], f'{label}: one is left, and penna list says {counts(pid)}')
    expect(live.pass_points(HITS) == (True, 3 * HITS), f'{label}: one is left')
    seen, _ = second.stop()
    expect(seen == {'@counted': 2 * HITS, '@lazy': 2 * HITS, '@last': HITS - 1}, f'{label}: the second saw {seen}')
    expect(counts(pid) == [0, 0, None], f'{label}: none is left, and penna list says {counts(pid)}')
    expect(live.pass_points(HITS) == (False, 3 * HITS), f'{label}: none is left')
    live.end()


def main():
    need_uprobes()
    with Workspace() as space:
        for family in ('gcc', 'clang'):
            for link in ('pie', 'no-pie', 'static'):
                check(f'{family} {link}', build(space, 'live.c', family, link, f'live-{family}-{link}'))
    finish()


main()
