// SPDX-License-Identifier: MIT
// The live_heap answer: series by step, nothing lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Column } from '../src/columns.ts';
import { most, partsAt, readSeries, stepAt } from '../src/memory/series.ts';

const answer = (header: object, bytes: number[]) => ({
  header: header as Record<string, unknown>,
  columns: new Map<string, Column>(Object.entries({
    time: Float64Array.of(5, 15, 25), live: Float64Array.of(3, 9, 6), total: Float64Array.of(3, 9, 6), rest: Float64Array.of(1, 2, 0), bytes: Float64Array.from(bytes),
  })),
});

test('the parts of a step are those of its series and of the others', () => {
  const series = readSeries(answer({ series: ['a', 'b'], others: 4 }, [2, 3, 1, 0, 4, 5]));
  assert.deepEqual(partsAt(series, 1).map(({ name, bytes }) => [name, bytes]), [['a', 3], ['b', 4], ['4 others', 2]]);
  for (const step of [0, 1, 2]) assert.equal(partsAt(series, step).reduce((sum, { bytes }) => sum + bytes, 0), series.total[step]);
  assert.equal(partsAt(readSeries(answer({ series: ['a', 'b'], others: 0 }, [2, 3, 1, 0, 4, 5])), 2).length, 2);
  assert.equal(most(series.total), 1);
  assert.deepEqual([0, 9, 11, 99].map((instant) => stepAt(series, instant)), [0, 0, 1, 2]);
});

test('curves that do not fit their names are refused', () => {
  assert.throws(() => readSeries(answer({ series: ['a', 'b'], others: 0 }, [2, 3, 1])), /not as many curves/);
  assert.throws(() => readSeries(answer({ others: 0 }, [])), /not as many curves/);
});
