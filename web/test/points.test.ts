// SPDX-License-Identifier: MIT
// Conditions that the page writes: as src/filter/where.h reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barCondition, both, plain, short } from '../src/point_words.ts';

test('numbers have no exponent, and six digits at least', () => {
  assert.deepEqual([0, 12, -7, 1e20, 0.1, -1.5].map(plain), ['0', '12', '-7', '100000000000000000000', '0.1000000', '-1.50000']);
  for (const value of [1e-9, 1e-30, 123.456, -0.000123]) assert.doesNotMatch(plain(value), /e/i);
  assert.equal(Number(plain(0.000123456)), 0.000123456);
  assert.deepEqual([0, 12345678, 1.25, 1e18, 1e-7].map(short), ['0', '12345700', '1.25', '1.000e+18', '1.000e-7']);
});

test('a bar counts from its lower edge up to the next, the last one with its upper edge', () => {
  const histogram = { column: 'p->rows', edges: [0, 10, 20], counts: [3, 4], others: 0 };
  assert.equal(barCondition(histogram, 0), 'p->rows >= 0 && p->rows < 10');
  assert.equal(barCondition(histogram, 1), 'p->rows >= 10 && p->rows <= 20');
});

test('a condition is added to the one that there is', () => {
  assert.equal(both(' ', 'a > 1'), 'a > 1');
  assert.equal(both('a > 1 || b', 'c'), '(a > 1 || b) && c');
});
