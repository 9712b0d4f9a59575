// SPDX-License-Identifier: MIT
// Lock orders: the graph has each order once, and opposite arrows lie apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrowBetween, labelOf, lockText, orderGraph, placesOf } from '../src/orders.ts';
import type { Column, Row } from '../src/protocol.ts';

const columns: Column[] = [['cycle', 'number'], ['count', 'count'], ['held', 'text'], ['taken', 'text']].map(([key, kind]) => ({ key: key!, title: key!, kind: kind as Column['kind'] }));
const rowsOf = (orders: [string, string, number][]): Row[] => orders.map(([held, taken, count]) => ({ cells: [1, count, held, taken] }));

test('an order of several cycles is one arrow', () => {
  const { locks, orders, leftOut } = orderGraph({ columns, rows: rowsOf([['a', 'b', 3], ['b', 'a', 1], ['a', 'b', 3]]) });
  assert.deepEqual(locks.map(lockText), ['a', 'b']);
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

test('locks of one name are apart by their places', () => {
  const more: Column[] = [...columns, { key: 'held_address', title: '', kind: 'address' }, { key: 'taken_address', title: '', kind: 'address' }];
  const { locks, orders } = orderGraph({ columns: more, rows: [{ cells: [1, 3, 'm', 'm', '0x10', '0x20'] }, { cells: [1, 2, 'm', 'm', '0x20', '0x10'] }] });
  assert.deepEqual(locks.map(lockText), ['m 0x10', 'm 0x20']);
  assert.deepEqual(orders, [{ from: 0, to: 1, count: 3 }, { from: 1, to: 0, count: 2 }]);
});

test('a long name is cut so that it lies inside, and its place is whole', () => {
  for (const x of [110, 320, 530]) {
    const label = labelOf({ name: 'n'.repeat(200), place: '0x7fffdeadbeef' }, x, 640), half = (label.text.length * 7.3) / 2;
    assert.match(label.text, /^n+… 0x7fffdeadbeef$/);
    assert.ok(label.x - half >= 0 && label.x + half <= 640, `${x}`);
  }
  assert.deepEqual(labelOf({ name: 'm', place: '' }, 320, 640), { text: 'm', x: 320 });
});
