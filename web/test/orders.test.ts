// SPDX-License-Identifier: MIT
// Lock orders: the graph has each order once, and opposite arrows lie apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrowBetween, orderGraph, placesOf } from '../src/orders.ts';
import type { Column, Row } from '../src/protocol.ts';

const columns: Column[] = [['cycle', 'number'], ['count', 'count'], ['held', 'text'], ['taken', 'text']].map(([key, kind]) => ({ key: key!, title: key!, kind: kind as Column['kind'] }));
const rowsOf = (orders: [string, string, number][]): Row[] => orders.map(([held, taken, count]) => ({ cells: [1, count, held, taken] }));

test('an order of several cycles is one arrow', () => {
  const { locks, orders, leftOut } = orderGraph({ columns, rows: rowsOf([['a', 'b', 3], ['b', 'a', 1], ['a', 'b', 3]]) });
  assert.deepEqual(locks, ['a', 'b']);
  assert.deepEqual(orders, [{ from: 0, to: 1, count: 3 }, { from: 1, to: 0, count: 1 }]);
  assert.equal(leftOut, 0);
});

test('of many orders the most frequent are shown, and the others counted', () => {
  const { orders, leftOut } = orderGraph({ columns, rows: rowsOf(Array.from({ length: 50 }, (_, at): [string, string, number] => [`a${at}`, `b${at}`, at])) });
  assert.equal(orders.length + leftOut, 50);
  assert.equal(orders[0]!.count, 49);
  assert.deepEqual(orderGraph({ columns: [], rows: rowsOf([['a', 'b', 1]]) }).orders, []);
});

test('opposite arrows bend apart', () => {
  const [a, b] = placesOf(2, 600, 200);
  const there = arrowBetween(a!, b!), back = arrowBetween(b!, a!);
  assert.ok(Math.abs(there.y - back.y) > 30, `${there.y} ${back.y}`);
  assert.doesNotMatch(there.path, /NaN/);
});
