// SPDX-License-Identifier: MIT
// Find without a server: names that occur only in sums or tables are found, and counts that may be too low are marked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findIn, type OneThread } from '../src/packed_find.ts';
import type { Report, Thread } from '../src/protocol.ts';

const NAMES = ['?', 'serve', 'parse', 'ledger', 'shop:order', 'tid 7'];
const f64 = (...values: number[]): Float64Array => Float64Array.from(values);
const u32 = (...values: number[]): Uint32Array => Uint32Array.from(values);

const thread = (): OneThread => ({
  thread: { id: 0, name: 'server', calls: 9 } as Thread,
  slices: {
    start: f64(0, 50), duration: f64(10, 10), depth: u32(0, 0), name: u32(1, 1), flags: new Uint8Array(2),
    d_depth: u32(1), d_px: u32(0), d_time: f64(3), d_count: u32(7), d_name: u32(2),
  },
  waits: { start: f64(1, 2), duration: f64(1, 1), lock: u32(3, 5), kind: Uint8Array.of(0, 2), holder: Int32Array.of(-1, -1), count: u32(4, 1) },
  holds: { h_start: f64(), h_duration: f64(), h_lock: u32(), h_count: u32() },
  points: { time: f64(1, 2), name: u32(4, 4), count: u32(2, 1), text: u32(0, 0) },
});

function report(left: number, ...rows: [number, number, string][]): Report {
  const columns = ['calls', 'total_ns', 'function'].map((key) => ({ key, title: key, kind: 'count' as const }));
  return { head: [], tail: [], warnings: [], tables: [{ key: 'calls', title: '', columns, rows: rows.map((cells) => ({ cells })), rows_left_out: left }] };
}

test('functions of slices, of sums, and of the table alone', () => {
  const names = [...NAMES], { matches } = findIn([thread()], names, report(0, [2, 20, 'serve'], [6, 2, 'parse'], [1, 1, 'seldom']), 'se');
  assert.deepEqual(matches.map(({ kind, name, count, at_least: low }) => [kind, name, count, low ?? false]),
    [['function', 'serve', 2, false], ['function', 'parse', 6, false], ['function', 'seldom', 1, false], ['thread', 'server', 9, false]]);
  assert.equal(names[matches[2]!.id], 'seldom');
  assert.equal(findIn([thread()], names, report(0, [1, 1, 'seldom']), 'seldom').matches[0]!.id, matches[2]!.id, 'its id stays');
});

test('without the whole table, counts are the least that there were', () => {
  const { matches } = findIn([thread()], [...NAMES], report(5, [2, 20, 'serve']), 's');
  const of = (name: string) => matches.find((one) => one.name === name)!;
  assert.deepEqual([of('serve').count, of('serve').at_least], [2, true]);
  assert.deepEqual([of('parse').count, of('parse').at_least], [1, true]);
});

test('locks and points; the end of a thread is no lock', () => {
  const counts = (text: string) => findIn([thread()], [...NAMES], undefined, text).matches.map(({ kind, count }) => [kind, count]);
  assert.deepEqual(counts('LEDGER'), [['lock', 4]]);
  assert.deepEqual(counts('shop:'), [['point', 3]]);
  assert.deepEqual(counts('tid'), []);
});
