// SPDX-License-Identifier: MIT
// Conditions that the page generates: in the syntax that src/filter/where.h parses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barCondition, both, short, wordOptions } from '../src/point_words.ts';

test('six digits tell two bars apart', () => {
  assert.deepEqual([0, 12345678, 1.25, 1e18, 1e-7].map(short), ['0', '12345700', '1.25', '1.000e+18', '1.000e-7']);
});

test('a bar counts from its lower edge up to the next, the last one with its upper edge', () => {
  const histogram = { column: 'p->rows', edges: [0, 10, 20], counts: [3, 4], others: 0 };
  assert.equal(barCondition(histogram, 0, 3), 'p->rows >= 0 && p->rows < 10');
  assert.equal(barCondition(histogram, 1, 3), 'p->rows >= 10 && p->rows <= 20');
  assert.equal(barCondition({ ...histogram, edges: [0.1 + 0.2, 1e21, 2e21] }, 0, 3), 'p->rows >= 0.30000000000000004 && p->rows < 1e+21', 'to the last digit');
  assert.equal(barCondition({ ...histogram, column: 'hash', edges: [0, 2 ** 63, 2 ** 64] }, 0, 3), 'hash >= 0 && hash < 9223372036854775808', 'an integer in all its digits');
});

test('an argument that is named by an expression is meant by its place', () => {
  for (const column of ['v[0]', 'i + 1', '-x', 'f(a, b)'])
    assert.equal(barCondition({ column, edges: [0, 10], counts: [3], others: 0 }, 0, 2), 'arg2 >= 0 && arg2 <= 10');
  assert.deepEqual(wordOptions('', [{ name: 'shop:order', arguments: ['v[0]', 'c->id'] }]).map(([value]) => value), ['c->id']);
});

test('a condition is added to the one that there is', () => {
  assert.equal(both(' ', 'a > 1'), 'a > 1');
  assert.equal(both('a > 1 || b', 'c'), '(a > 1 || b) && c');
});

test('the last word of a condition is completed by names of arguments', () => {
  const points = [{ name: 'shop:order', arguments: ['rows', 'p->rate'] }, { name: 'db:query', arguments: ['rows'] }];
  assert.deepEqual(wordOptions('', points).map(([value]) => value), ['rows', 'p->rate', 'rows']);
  assert.deepEqual(wordOptions('ro', points), [['rows', 'shop:order'], ['rows', 'db:query']]);
  assert.deepEqual(wordOptions('rows > 1 && (p->', points), [['rows > 1 && (p->rate', 'shop:order']]);
  assert.deepEqual(wordOptions('rows', points), [], 'it is whole');
  assert.deepEqual(wordOptions('rows > 10', points), [], 'a number is no name');
  assert.deepEqual(wordOptions('table ~ "ro', points), [], 'nor is a text');
});
