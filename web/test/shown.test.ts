// SPDX-License-Identifier: MIT
// What is chosen and what is pointed at: the same, or not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSame } from '../src/shown.ts';

test('two calls of one function are two things, one call is one whatever is known of it', () => {
  const call = { title: 'serve', lines: [] as [string, string][], stack: [], thread: 1, start: 10 };
  assert.equal(isSame(call, { ...call, start: 20 }), false);
  assert.equal(isSame(call, { ...call, thread: 2 }), false);
  assert.equal(isSame(call, { ...call, stack: ['main'] }), true);
});

test('a node of a flame graph is what is said of it', () => {
  const node = { title: 'serve', lines: [['own', '5 ms']] as [string, string][], stack: ['main'] };
  assert.equal(isSame(node, { ...node }), true);
  assert.equal(isSame(node, { ...node, stack: ['audit'] }), false);
});
