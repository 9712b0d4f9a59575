// SPDX-License-Identifier: MIT
// band.ts: neighbours are joined, nothing else is, and everything added is painted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Band } from '../src/timeline/band.ts';

type Painted = [string, number, number, number, number];
function paint(added: Painted[]): Painted[] {
  const painted: Painted[] = [];
  const context = { fillStyle: '', fillRect(x: number, y: number, width: number, height: number) { painted.push([this.fillStyle, x, x + width, y, height]); } };
  const c = context as unknown as CanvasRenderingContext2D, band = new Band();
  for (const one of added) band.add(c, ...one);
  band.end(c);
  band.end(c);
  return painted;
}

test('what touches or overlaps is joined, and a shorter one does not cut a longer one', () => {
  assert.deepEqual(paint([['a', 0, 5, 1, 9], ['a', 1, 2, 1, 9], ['a', 5, 6, 1, 9], ['a', 6.000001, 8, 1, 9]]), [['a', 0, 8, 1, 9]]);
});

test('gaps, other colours, rows and heights stay apart, as does what begins before', () => {
  const apart: Painted[] = [['a', 4, 5, 1, 9], ['a', 5.5, 7, 1, 9], ['b', 7, 8, 1, 9], ['b', 8, 9, 2, 9], ['b', 9, 10, 2, 8], ['b', 1, 10, 2, 8]];
  assert.deepEqual(paint(apart), apart);
});

test('nothing is painted of nothing', () => {
  assert.deepEqual(paint([]), []);
});
