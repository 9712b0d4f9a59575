// SPDX-License-Identifier: MIT
// Answers computed from stored ones: at every zoom, counts and times match what was stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  counterOf, gridOf, holdsOf, pointsOf, slicesOf, waitsOf, type Holds, type Points, type Slices, type Stored, type Waits, type Wanted,
} from '../src/resum.ts';

const stored: Stored = { whole: 1_000_001, px: 512 }, UNIT = stored.whole / stored.px;
const WHOLE = [1, 7, 100, 511, 512, 513, 700, 5000].map((px) => ({ t0: 0, t1: stored.whole, px }));
const PARTS = [{ t0: 0, t1: 10, px: 100 }, { t0: 123_456, t1: 654_321, px: 333 }, { t0: 999_990, t1: 1_000_000, px: 10 }, { t0: 5000, t1: 7100, px: 1 }];
const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, one) => total + one, 0);

// Reproducible pseudo-random numbers.
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function slices(): Slices {
  const random = numbers(5), calls: number[][] = [], cells: number[][] = [];
  for (let at = 0; at < 2000; ++at) {
    const duration = Math.ceil(UNIT * (1 + 60 * random() ** 6));
    calls.push([Math.floor(random() * (stored.whole - duration)), duration, at % 5, 1 + (at % 7), at % 3]);
  }
  for (let px = 0; px < stored.px; px += 2) cells.push([px % 3, px, Math.floor(UNIT * random()), 1 + (px % 9), 1 + (px % 4)]);
  const of = (rows: number[][], at: number): number[] => rows.map((row) => row[at]!);
  return {
    start: Float64Array.from(of(calls, 0)), duration: Float64Array.from(of(calls, 1)), depth: Uint32Array.from(of(calls, 2)),
    name: Uint32Array.from(of(calls, 3)), flags: Uint8Array.from(of(calls, 4)), d_depth: Uint32Array.from(of(cells, 0)),
    d_px: Uint32Array.from(of(cells, 1)), d_time: Float64Array.from(of(cells, 2)), d_count: Uint32Array.from(of(cells, 3)),
    d_name: Uint32Array.from(of(cells, 4)),
  };
}

// Reference: total time and count of the stored slices and sums that overlap the range.
function within(all: Slices, { t0, t1 }: Wanted): { time: number; count: number } {
  let time = 0, count = 0;
  all.start.forEach((start, at) => {
    if (start < t1 && start + all.duration[at]! > t0) [time, count] = [time + all.duration[at]!, count + 1];
  });
  all.d_px.forEach((px, at) => {
    if (px * UNIT < t1 && (px + 1) * UNIT > t0) [time, count] = [time + all.d_time[at]!, count + all.d_count[at]!];
  });
  return { time, count };
}

for (const wanted of [...WHOLE, ...PARTS]) {
  test(`calls add up: ${wanted.t0}-${wanted.t1} in ${wanted.px}`, () => {
    const all = slices(), found = slicesOf(all, stored, wanted), pixel = (wanted.t1 - wanted.t0) / wanted.px, expected = within(all, wanted);
    assert.equal(found.start.length + sum(found.d_count), expected.count);
    assert.equal(sum(found.duration) + sum(found.d_time), expected.time);
    assert.ok(found.duration.every((one) => one >= pixel));
    const { steps, from, step } = gridOf(stored, wanted);
    assert.ok(found.d_px.every((px) => px < steps));
    assert.ok(from <= wanted.t0 && from + steps * step >= wanted.t1 - 1e-6 && step >= UNIT * 0.999);
    assert.equal(new Set(Array.from(found.d_px, (px, at) => `${px} ${found.d_depth[at]}`)).size, found.d_px.length, 'one sum a step and depth');
  });
}

test('at the stored resolution calls are those that were stored', () => {
  const all = slices(), found = slicesOf(all, stored, { t0: 0, t1: stored.whole, px: stored.px });
  assert.deepEqual(found, { ...all });
});

test('a sum is named by the function with most time', () => {
  const one = slicesOf({
    start: Float64Array.of(0, 10, 20), duration: Float64Array.of(5, 4, 4), depth: Uint32Array.of(0, 0, 0), name: Uint32Array.of(1, 2, 2),
    flags: new Uint8Array(3), d_depth: new Uint32Array(), d_px: new Uint32Array(), d_time: new Float64Array(), d_count: new Uint32Array(),
    d_name: new Uint32Array(),
  }, { whole: 100, px: 100 }, { t0: 0, t1: 100, px: 1 });
  assert.deepEqual([...one.d_name], [2]);
  assert.deepEqual([...one.d_time], [13]);
});

function waits(): Waits & Holds {
  const random = numbers(9), start = Float64Array.from({ length: 800 }, (_, at) => Math.floor((at / 800) * (stored.whole - 9000)));
  const duration = Float64Array.from(start, () => Math.ceil(9000 * random() ** 4)), lock = Uint32Array.from(start, (_, at) => 1 + (at % 3));
  const count = Uint32Array.from(start, (_, at) => 1 + (at % 4));
  return {
    start, duration, lock, count, kind: Uint8Array.from(start, (_, at) => at % 2), holder: Int32Array.from(start, (_, at) => (at % 3) - 1),
    h_start: start, h_duration: duration, h_lock: lock, h_count: count,
  };
}

for (const wanted of [...WHOLE, ...PARTS]) {
  test(`waits, holds and points add up: ${wanted.t0}-${wanted.t1} in ${wanted.px}`, () => {
    const all = waits(), touching = Array.from(all.count).filter((_, at) =>
      all.start[at]! < wanted.t1 && (all.start[at]! + all.duration[at]! > wanted.t0 || all.start[at]! >= wanted.t0));
    const found = waitsOf(all, stored, wanted), held = holdsOf(all, stored, wanted), pixel = (wanted.t1 - wanted.t0) / wanted.px;
    assert.equal(sum(found.count), sum(touching));
    assert.equal(sum(held.h_count), sum(touching));
    assert.ok(held.h_start.length <= found.start.length);
    const long = all.duration.filter((one, at) => one >= pixel && all.start[at]! < wanted.t1 && all.start[at]! + one > wanted.t0).length;
    assert.ok(found.start.length >= long, 'what lasts a pixel stays');
    const points: Points = { time: all.start, name: all.lock, count: all.count, text: all.lock };
    const passed = pointsOf(points, stored, wanted);
    assert.equal(sum(passed.count), sum(Array.from(all.count).filter((_, at) => all.start[at]! >= wanted.t0 && all.start[at]! < wanted.t1)));
    passed.time.forEach((time, at) => {
      const first = all.start.indexOf(time);
      assert.ok(first >= 0);
      if (passed.text[at] !== 0) assert.deepEqual([passed.text[at], passed.count[at]], [all.lock[first], all.count[first]], 'alone, with its values');
    });
  });
}

test('counters add up, levels keep their greatest', () => {
  const random = numbers(3), values = Float64Array.from({ length: stored.px }, () => Math.floor(1000 * random()));
  for (const wanted of WHOLE) {
    assert.equal(sum(counterOf(values, false, stored, wanted)), sum(values));
    assert.equal(Math.max(...counterOf(values, true, stored, wanted)), Math.max(...values));
    assert.equal(counterOf(values, false, stored, wanted).length, gridOf(stored, wanted).steps);
  }
  const few = counterOf(values, false, stored, { t0: 10 * UNIT + 1, t1: 12 * UNIT - 1, px: 1000 });
  assert.deepEqual([...few], [values[10], values[11]], 'no finer than stored');
});
