// SPDX-License-Identifier: MIT
// Which blocks are chosen, and what is said about the end of one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenBlocks, endText, parseChoice, printChoice } from '../src/blocks.ts';
import type { BlockPlace, Blocks, Life } from '../src/protocol.ts';

const place = (what: BlockPlace['what'], time_ns: number, thread: number, name: string): BlockPlace =>
  ({ what, time_ns, thread, bytes: 8, address: '0x10', function: name, stack_id: `id of ${name}` });
const life = (end: Life['end'], ...places: BlockPlace[]): Life => ({ places, end, moves_left_out: 0 });

const LIVES = [
  life('freed', place('allocated', 100, 0, 'parse'), place('moved', 150, 0, 'grow'), place('freed', 300, 1, 'drop')),
  life('live', place('allocated', 200, 1, 'grow')),
  life('unknown', place('allocated', 50, 0, 'parse')),
];
const ALL: Blocks = {
  head: [], tail: [], warnings: [], lives: LIVES,
  tables: [{ key: 'blocks', title: '', columns: [], rows: LIVES.map((_, at) => ({ cells: [at], life: at })), rows_left_out: 0 }],
};
const chosen = (text: string): unknown[] => chosenBlocks(ALL, parseChoice(text)).tables[0]!.rows.map((row) => row.cells[0]);

test('blocks are chosen by where they were allocated or moved, and when they were live', () => {
  assert.deepEqual(chosen(''), [0, 1, 2]);
  assert.deepEqual(chosen(printChoice({ function: 'grow' })), [0, 1]);
  assert.deepEqual(chosen('function=drop'), [], 'that is where it was freed');
  assert.deepEqual(chosen(printChoice({ stack: 'id of parse' })), [0, 2]);
  assert.deepEqual(chosen('leaked=1'), [1]);
  assert.deepEqual(['100', '101', '300', '301'].map((instant) => chosen(`instant=${instant}`)), [[], [0], [0, 1], [1]]);
  assert.deepEqual(parseChoice('function=a&what=b'), { function: 'a' });
});

test('the end is told', () => {
  const told = LIVES.map((one) => endText(one, (id) => `thread-${id}`));
  assert.equal(told[0], 'It lived 200 ns, and was freed by another thread than the one that allocated it (thread-0).');
  assert.equal(told[1], 'It was never freed.');
  assert.match(told[2]!, /not recorded/);
  assert.equal(endText(life('freed', place('allocated', 1, 0, 'a'), place('freed', 2, 0, 'a')), String), 'It lived 1 ns.');
});
