// SPDX-License-Identifier: MIT
// Columns: unpacking returns what was packed; malformed bytes are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
// @ts-expect-error: plain JavaScript, shared with the browser tests
import { pack } from '../../tests/view/columns.mjs';
import { BadAnswer, decode, group } from '../src/columns.ts';

const packed = (): Uint8Array => pack({ names: 3, text: 'ä' }, {
  start: ['f64', [1.5, 2 ** 52, -1]], depth: ['u32', [0, 1, 4294967295]], holder: ['i32', [-1, 0, 1]], flags: ['u8', [0, 1, 2]],
});
const buffer = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;

test('columns are those that were packed', () => {
  const answer = decode(buffer(packed()));
  assert.equal(answer.header.names, 3);
  assert.equal(answer.header.text, 'ä');
  const { start, depth, holder, flags } = group(answer, { start: 'f64', depth: 'u32', holder: 'i32', flags: 'u8' });
  assert.deepEqual([...start], [1.5, 2 ** 52, -1]);
  assert.deepEqual([...depth], [0, 1, 4294967295]);
  assert.deepEqual([...holder], [-1, 0, 1]);
  assert.deepEqual([...flags], [0, 1, 2]);
});

test('an answer that is cut anywhere is refused or whole', () => {
  const whole = packed();
  for (let size = 0; size < whole.length; ++size) {
    try {
      group(decode(buffer(whole.subarray(0, size))), { start: 'f64', depth: 'u32', holder: 'i32', flags: 'u8' });
      assert.ok(size >= whole.length - 8, `cut to ${size} bytes`);  // only the padding behind the last column may go
    } catch (error) {
      assert.ok(error instanceof BadAnswer, `cut to ${size} bytes: ${error}`);
    }
  }
});

test('wrong columns are refused', () => {
  const bad = (described: unknown): void => {
    const text = new TextEncoder().encode(JSON.stringify({ columns: described }));
    const bytes = new Uint8Array(8 + text.length);
    bytes.set([0x50, 0x4e, 0x56, 0x31]);
    new DataView(bytes.buffer).setUint32(4, text.length, true);
    bytes.set(text, 8);
    assert.throws(() => decode(bytes.buffer), BadAnswer, JSON.stringify(described));
  };
  const good = { name: 'a', type: 'u8', count: 1, offset: 8 };
  for (const one of [{ ...good, type: 'constructor' }, { ...good, count: -1 }, { ...good, count: 1e15 }, { ...good, offset: 3 },
    { ...good, offset: -8 }, { ...good, name: 1 }, null, 5]) bad([one]);
  bad('none');
  bad(Array(100).fill(good));
});

test('a group has all its columns, of one length', () => {
  const answer = decode(buffer(pack({}, { a: ['f64', [1]], b: ['f64', [1, 2]] })));
  assert.throws(() => group(answer, { a: 'f64', b: 'f64' }), BadAnswer);
  assert.throws(() => group(answer, { a: 'u32' }), BadAnswer);
  assert.throws(() => group(answer, { c: 'f64' }), BadAnswer);
});
