// SPDX-License-Identifier: MIT
// The timeline's arithmetic: views stay within the run, lanes are contiguous, threads keep their order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutText, Labels } from '../src/labels.ts';
import type { Thread } from '../src/protocol.ts';
import { withUniqueNames } from '../src/threads.ts';
import { laneAt, layOut, moveThread, orderThreads } from '../src/timeline/layout.ts';
import { clampView, panBy, SHORTEST, stillDoes, tickStep, zoomAt } from '../src/timeline/scale.ts';
import { withMargin } from '../src/timeline/tracks.ts';

const WHOLE = 5_000_000_000;

test('zooming keeps the instant under the cursor where it is', () => {
  const view = { t0: 1_000_000_000, t1: 2_000_000_000 }, at = 1_250_000_000;
  const near = zoomAt(view, at, 0.5, WHOLE);
  assert.deepEqual(near, { t0: 1_125_000_000, t1: 1_625_000_000 });
  assert.equal((at - near.t0) / (near.t1 - near.t0), 0.25);
  assert.deepEqual(zoomAt(near, at, 2, WHOLE), view);
});

test('no view leaves the run or gets shorter than the shortest', () => {
  let view = { t0: 0, t1: WHOLE };
  for (let step = 0; step < 200; ++step) view = zoomAt(view, 17, 0.7, WHOLE);
  assert.equal(view.t1 - view.t0, SHORTEST);
  for (let step = 0; step < 200; ++step) view = zoomAt(view, view.t1, 1.7, WHOLE);
  assert.deepEqual(view, { t0: 0, t1: WHOLE });
  assert.deepEqual(panBy({ t0: 10, t1: 1010 }, -500, WHOLE), { t0: 0, t1: 1000 });
  assert.deepEqual(panBy({ t0: 10, t1: 1010 }, WHOLE, WHOLE), { t0: WHOLE - 1000, t1: WHOLE });
  assert.deepEqual(clampView(0, 50, 20), { t0: 0, t1: 20 });
});

test('the ruler has marks of 1, 2 or 5', () => {
  assert.equal(tickStep({ t0: 0, t1: 1_000_000 }, 1000, 100), 100_000);
  assert.equal(tickStep({ t0: 0, t1: 1_100_000 }, 1000, 100), 200_000);
  assert.equal(tickStep({ t0: 0, t1: 4_000_000 }, 1000, 100), 500_000);
});

test('what is loaded does for a while of panning and zooming, not for more', () => {
  const view = { t0: 1000, t1: 2000 }, { range, px } = withMargin(view, 100, WHOLE), pixel = (range.t1 - range.t0) / px;
  assert.deepEqual([range, px], [{ t0: 500, t1: 2500 }, 200]);
  assert.ok(stillDoes(range, pixel, view, 100));
  assert.ok(stillDoes(range, pixel, { t0: 1400, t1: 2400 }, 100));
  assert.ok(!stillDoes(range, pixel, { t0: 1600, t1: 2600 }, 100), 'beyond the margin');
  assert.ok(!stillDoes(range, pixel, { t0: 1400, t1: 1600 }, 100), 'too coarse');
});

const thread = (id: number, depth = 3): Thread =>
  ({ id, tid: id, pid: 1, name: `t${id}`, begin_ns: 0, end_ns: 1, calls: depth, allocations: 0, waits: 0, points: 0, depth });
const ids = (threads: Thread[]): number[] => threads.map((one) => one.id);

test('threads are pinned, moved and hidden', () => {
  const all = [0, 1, 2, 3].map((id) => thread(id));
  assert.deepEqual(ids(orderThreads(all, [], [], [])), [0, 1, 2, 3]);
  assert.deepEqual(ids(orderThreads(all, [3, 0, 77], [2], [1])), [2, 3, 0]);
  assert.deepEqual(moveThread(all, 1, -1), [1, 0, 2, 3]);
  assert.deepEqual(moveThread(all, 3, 1), [0, 1, 2, 3]);
});

test('threads of one name are told apart', () => {
  const names = withUniqueNames([{ ...thread(1), name: 'shop' }, { ...thread(2), name: 'shop' }, { ...thread(3), name: 'io' }, { ...thread(4), name: '' }]);
  assert.deepEqual(names.map((one) => one.name), ['shop 1', 'shop 2', 'io', 'thread 4']);
});

test('lanes follow one another, and what is too deep is counted', () => {
  const lanes = layOut([thread(0), thread(1, 500), thread(2, 0)], true, new Set());
  for (let at = 1; at < lanes.length; ++at) assert.equal(lanes[at]!.top, lanes[at - 1]!.top + lanes[at - 1]!.height);
  assert.deepEqual(lanes.map((lane) => lane.deeper), [0, 494, 0]);
  assert.equal(lanes[2]!.calls, -1);
  assert.equal(layOut([thread(1, 500)], true, new Set([1]))[0]!.deeper, 244);
  for (const lane of lanes) {
    assert.equal(laneAt(lanes, lane.top), lane);
    assert.equal(laneAt(lanes, lane.top + lane.height - 1), lane);
  }
  assert.equal(laneAt(lanes, -1), undefined);
  assert.equal(laneAt(lanes, 1e9), undefined);
});

test('names are cut to their room, once', () => {
  assert.deepEqual([cutText('abcdef', 6), cutText('abcdef', 3), cutText('abcdef', 1)], ['abcdef', 'ab…', '']);
  let asked = 0;
  const labels = new Labels(() => (++asked, 'a long name'));
  assert.equal(labels.cut(1, 4), labels.cut(1, 4));
  assert.equal(asked, 1);
});
