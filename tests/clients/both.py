#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""both.py PENNA: bpftrace and penna record at one site at the same time. Whoever comes or goes first: each sees every hit
while it is there and none else, and in the end the code is as it was in the file."""
import csv
import io
import pathlib
import random
import sys

from clients import (PROVIDER, Bpftrace, Live, Workspace, build, expect, finish, is_probed, need_uprobes, places, run,
                     until)

PENNA = sys.argv[1]
HITS = 10000


class Scene:
    """live.c under penna record, with a bpftrace that comes and goes; counts what each of them must see."""

    def __init__(self, space, binary, armed, label):
        self.label = label
        self.recording = space.path / 'recording.penna'
        self.script = f'usdt:{binary}:{PROVIDER}:hit {{ @hits = count(); @last = max(arg0); }}'
        self.armed = armed
        pattern = f'{PROVIDER}:hit' if armed else 'none:none'
        self.live = None
        self.command = [PENNA, 'record', '-q', '-f', '-e', pattern, '-o', self.recording, binary]
        self.bpftrace = None
        self.wanted = [0, 0]  # recorded; seen by bpftrace, each time that it ended
        self.seen = 0

    def start(self):
        self.live = Live(*self.command)
        self.pid = int(run('pgrep', '-P', self.live.process.pid, '-x', pathlib.Path(self.command[-1]).name[:15]))

    def state(self):
        site, = places(PENNA, self.pid)['hit']['sites']
        return site['recording'], site['probed']

    def attach(self):
        self.bpftrace = Bpftrace(self.script)
        if self.live:
            until(lambda: is_probed(places(PENNA, self.pid)['hit']), 'for bpftrace to attach')

    def detach(self):
        values, _ = self.bpftrace.stop()
        self.bpftrace = None
        got = values.get('@hits', 0)
        expect(got == self.seen, f'{self.label}: bpftrace saw {got} hits of {self.seen}')
        expect(not got or values['@last'] == HITS - 1, f'{self.label}: the last argument was {values}')
        self.seen = 0
        expect(self.state() == (self.armed, False), f'{self.label}: detached, the site is {self.state()}')

    def arm(self, on):
        run(PENNA, 'ctl', self.pid, 'on' if on else 'off', f'{PROVIDER}:hit')
        self.armed = on
        expect(self.state() == (on, bool(self.bpftrace)), f'{self.label}: switched {on}, the site is {self.state()}')

    def hit(self):
        self.live.pass_points(HITS)
        self.wanted[0] += HITS if self.armed else 0
        self.seen += HITS if self.bpftrace else 0

    def end(self):
        if self.bpftrace:
            self.detach()
        self.live.end()
        rows = csv.DictReader(io.StringIO(run(PENNA, 'export', 'csv', self.recording)))
        numbers = [int(row['arguments'].removeprefix('i=')) for row in rows if row['kind'] == 'point']
        expect(len(numbers) == self.wanted[0], f'{self.label}: {len(numbers)} of {self.wanted[0]} hits are recorded')
        expect(numbers == list(range(HITS)) * (len(numbers) // HITS), f'{self.label}: recorded arguments are wrong')


def armed_before_attach(scene):
    scene.start()
    scene.hit()
    scene.attach()
    scene.hit()
    scene.detach()
    scene.hit()


def attached_before_arm(scene):
    scene.attach()
    scene.start()
    until(lambda: is_probed(places(PENNA, scene.pid)['hit']), 'for bpftrace to attach')
    scene.hit()
    scene.detach()
    scene.hit()


def disarmed_while_attached(scene):
    scene.start()
    scene.attach()
    scene.hit()
    scene.arm(False)
    scene.hit()
    scene.arm(True)
    scene.hit()
    scene.arm(False)
    scene.detach()
    scene.hit()


def in_any_order(scene):
    scene.start()
    dice = random.Random(7)
    for _ in range(12):
        if dice.random() < 0.6:
            scene.arm(not scene.armed)
        elif scene.bpftrace:
            scene.detach()
        else:
            scene.attach()
        scene.hit()


def main():
    need_uprobes()
    with Workspace() as space:
        for family, link in (('gcc', 'pie'), ('gcc', 'no-pie'), ('clang', 'pie')):
            binary = build(space, 'live.c', family, link, f'live-{family}-{link}')
            for story in (armed_before_attach, attached_before_arm, disarmed_while_attached, in_any_order):
                armed = story is not in_any_order
                scene = Scene(space, binary, armed, f'{family} {link} {story.__name__}')
                story(scene)
                scene.end()
    finish()


main()
