// SPDX-License-Identifier: MIT
// The URL: every state survives a round trip, and no URL can produce an invalid state.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyState, parse, print, selection, type PageState } from '../src/state.ts';

test('the whole state is in the address', () => {
  const state: PageState = {
    crumbs: [{ kind: 'range', t0: 5, t1: 900 }, { kind: 'thread', ids: [3, 7] }, { kind: 'range', t0: 10, t1: 20 }], tab: 'functions',
    sort: 'ns::f(a, v[0]):desc', top: 500, view: { t0: 1, t1: 2 ** 52 }, marks: [7, 8], order: [2, 1], pinned: [1], hidden: [0, 4],
    weight: 'self_time', shape: 'rn', zoom: [4, 4, 9], changes: [{ how: 'o', name: 4 }, { how: 'd', name: 0 }, { how: 'x', name: 7 }], around: [3], instant: 77, by: 'stack', path: true, diff: 'alloc', point: 'shop:order', where: 'rows > 1 && !(name ~ "a&b=*")', spread: 'rows',
    to: 'shop:done', keys: 'id\norder', blocks: 'function=a+b&leaked=1', file: '/src/a b/shop.cc', line: 12,
    curves: [{ point: 'shop:order', argument: 'p->rows' }, { point: 'a', argument: 'b' }],
  };
  assert.deepEqual(parse(`#${print(state)}`), state);
  assert.deepEqual(parse(print(emptyState())), emptyState());
  assert.equal(print(emptyState()), '');
});

test('the last crumb of a kind counts', () => {
  const crumbs: PageState['crumbs'] = [{ kind: 'range', t0: 5, t1: 900 }, { kind: 'thread', ids: [3, 1] }, { kind: 'range', t0: 10, t1: 20 }];
  assert.deepEqual(selection({ ...emptyState(), crumbs }), { t0: 10, t1: 20, thread: '3,1', threads: [3, 1] });
  assert.deepEqual(selection(emptyState()), {});
});

test('what is no state is left out', () => {
  for (const hash of ['', '#', '#at=9-3', '#at=x_t_-', '#at=t1._t.1', '#view=1', '#view=1-99999999999999999999', '#tab=<b>', '#top=0.x', '#zoom=a.-1.',
    '#sort=a b', '#changes=o.q1.x-1.d1x', '#%', '#tab=%00', '#curve=a', '#by=love', '#instant=x', '#curve=%0Ab', '#curve=a%0Ab%0Ac']) {
    assert.deepEqual({ ...parse(hash), top: 100 }, emptyState(), hash);
  }
  assert.equal(parse('#top=0').top, 1);
  assert.equal(parse('#top=999999999').top, 100_000);
  for (const where of ['x'.repeat(2000), 'x'.repeat(20_000)]) assert.equal(parse(print({ ...emptyState(), where })).where, where.length > 12_000 ? '' : where, 'whole, or not at all');
  assert.equal(parse(`#marks=${'1.'.repeat(5000)}`).marks.length, 1000);
});
