// SPDX-License-Identifier: MIT
// Sources: which columns, lines and neighbours are shown, and the file that a frame means.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LineCost, Source, SourceFile } from '../src/protocol.ts';
import { fileNamed, nearCosts, placeOf, shownCosts, shownLines } from '../src/sources.ts';

const NOTHING: LineCost = { calls: 0, total_ns: 0, self_ns: 0, bytes: 0, allocations: 0, live_bytes: 0, waits: 0, wait_ns: 0, hits: 0 };
const source = (lines: number, costs: (Partial<LineCost> & { line: number })[]): Source =>
  ({ file: '/src/a.cc', lines: Array.from({ length: lines }, (_, at) => `text ${at + 1}`), costs: costs.map((cost) => ({ ...NOTHING, ...cost })) });

test('only costs that a file has get a column', () => {
  assert.deepEqual(shownCosts(source(1, [{ line: 1, bytes: 5 }, { line: 2, calls: 1 }]).costs).map(({ key }) => key), ['calls', 'bytes']);
  assert.deepEqual(shownCosts([]), []);
});

test('steps lead from cost to cost, and begin at the highest', () => {
  const one = source(50, [{ line: 30, self_ns: 2 }, { line: 10, self_ns: 9 }, { line: 20, bytes: 1e9 }]);
  assert.deepEqual(nearCosts(one, 0), { line: 20, before: 10, after: 30, most: 20 });
  assert.deepEqual(nearCosts(one, 25), { line: 25, before: 20, after: 30, most: 20 });
  assert.deepEqual(nearCosts(source(3, []), 0), { line: 1 });
});

test('of a long file a part is shown, with the chosen line in it', () => {
  for (const around of [1, 2500, 5000, 9999]) {
    const shown = shownLines(source(5000, []), around);
    assert.equal(shown.length, 2000);
    assert.ok(around > 5000 || shown.some(({ number }) => number === around), String(around));
    assert.ok(shown.every(({ number, text }) => text === `text ${number}`));
  }
  assert.deepEqual(shownLines(source(0, [{ line: 7, calls: 1 }]), 7), [{ number: 7, text: '' }]);
});

test('a frame names its file by the last part of the path', () => {
  assert.deepEqual(placeOf('(leak.cc:16) [leak]'), { file: 'leak.cc', line: 16 });
  assert.deepEqual(placeOf('(a (1).cc:3) [inlined]'), { file: 'a (1).cc', line: 3 });
  for (const other of ['[leak]', '(+0x12) [libc.so.6]', '', '(leak.cc) [leak]']) assert.equal(placeOf(other), undefined, other);
  const files = ['/src/other_leak.cc', '/src/x/leak.cc', '/src/leak.cc'].map((file): SourceFile => ({ ...NOTHING, file }));
  assert.equal(fileNamed(files, 'leak.cc'), '/src/x/leak.cc');
  assert.equal(fileNamed(files, 'none.cc'), undefined);
});
