// SPDX-License-Identifier: MIT
// Tables and units: order, filter, text and CSV match the report.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row, Table } from '../src/protocol.ts';
import { filterRows, keysOf, nextSort, parseSort, printSort, sortRows, toCsv, toText } from '../src/tables.ts';
import { bytesText, cellText, countText, durationText, instantText, percentText, rangeText } from '../src/units.ts';

const table: Table = {
  key: 'functions', title: 'Functions', rows_left_out: 4,
  columns: [{ key: 'total_ns', title: 'TOTAL', kind: 'duration' }, { key: 'function', title: 'FUNCTION', kind: 'text' }],
  rows: [
    { cells: [1500, 'b "quoted", with comma'], details: [{ text: 'main', where: '(a.c:1)' }] }, { cells: [null, 'nothing'] },
    { cells: [3_400_000, 'a'] }, { cells: [1500, 'second of 1500'] },
  ],
};
const names = (sort: string): unknown[] => sortRows(table, parseSort(sort)).map((row) => row.cells[1]);

test('rows are sorted, empty ones last, equal ones as they were', () => {
  assert.deepEqual(names('total_ns:desc'), ['a', 'b "quoted", with comma', 'second of 1500', 'nothing']);
  assert.deepEqual(names('total_ns:asc'), ['b "quoted", with comma', 'second of 1500', 'a', 'nothing']);
  assert.equal(names('function:asc')[0], 'a');
  assert.deepEqual(names('other:asc'), table.rows.map((row) => row.cells[1]));
  for (const column of ['c->id', 'v[0]', 'i + 1', 'ns::f(a, b)', 'asc:desc']) {
    const sort = { column, descending: true };
    assert.deepEqual(parseSort(printSort(sort)), sort);
    assert.equal(nextSort(parseSort(printSort(sort)), column, 'number').descending, false);
  }
  assert.equal(parseSort('calls'), undefined);
  assert.deepEqual(nextSort(undefined, 'total_ns', 'duration'), { column: 'total_ns', descending: true });
  assert.deepEqual(nextSort({ column: 'function', descending: false }, 'function', 'text'), { column: 'function', descending: true });
});

test('a row keeps its key in another order, and when its numbers grow', () => {
  const keys = keysOf(table, table.rows);
  assert.equal(new Set(keys).size, 4);
  assert.deepEqual(keysOf(table, [...table.rows].reverse()).reverse(), keys);
  assert.deepEqual(keysOf(table, table.rows.map((row) => ({ ...row, cells: [77, ...row.cells.slice(1)] }))), keys);
  const hits = [[1, 'a'], [2, 'a'], [2, 'a']].map((cells): Row => ({ cells })), some = keysOf(table, hits);
  assert.equal(new Set(some).size, 3);
  assert.deepEqual(keysOf(table, hits.slice(1)), some.slice(1), 'those that are alike but for their numbers');
});

test('numbers that JSON does not hold are sorted as numbers', () => {
  const cells = ['9223372036854775808', 7, 'nan', '-inf', '18446744073709551600', '-9223372036854775808', 2.5, 'inf', null];
  const large: Table = { ...table, columns: [{ key: 'hash', title: 'hash', kind: 'number' }], rows: cells.map((cell) => ({ cells: [cell] })) };
  const rising = ['-inf', '-9223372036854775808', 2.5, 7, '9223372036854775808', '18446744073709551600', 'inf', 'nan'];
  const sorted = (sort: string): unknown[] => sortRows(large, parseSort(sort)).map((row) => row.cells[0]);
  assert.deepEqual(sorted('hash:asc'), [...rising, null]);
  assert.deepEqual(sorted('hash:desc'), [...rising.reverse(), null]);
});

test('the filter looks at what is seen, and at stacks', () => {
  assert.equal(filterRows(table, table.rows, '3.40 ms').length, 1);
  assert.equal(filterRows(table, table.rows, 'MAIN').length, 1);
  assert.equal(filterRows(table, table.rows, ' ').length, 4);
});

test('CSV is raw and quoted, text has units and says what is not here', () => {
  assert.equal(toCsv(table, table.rows.slice(0, 2)), 'total_ns,function\r\n1500,"b ""quoted"", with comma"\r\n,nothing\r\n');
  const text = toText(table, table.rows);
  assert.match(text, /^3\.40 ms {2}a$/m);
  assert.match(text, /^ {4}main \(a\.c:1\)$/m);
  assert.match(text, /4 more rows/);
});

test('units are those of the report', () => {
  assert.deepEqual([0, 999, 1000, 3_400_000, 999_950, 12_345_678_901].map(durationText), ['0 ns', '999 ns', '1.00 µs', '3.40 ms', '1.00 ms', '12.3 s']);
  assert.deepEqual([250e9, 99_960e9, -1500].map(durationText), ['4 min 10 s', '27 h 46 min', '-1.50 µs']);
  assert.deepEqual([512, 1_200_000, 999_950, 99_950].map(bytesText), ['512 B', '1.20 MB', '1.00 MB', '100 kB']);
  assert.deepEqual([12.34, 0.04, 0.001, 0, NaN].map(percentText), ['12.3 %', '0.04 %', '< 0.01 %', '0 %', '0 %']);
  assert.deepEqual([12345, 999, -1234567].map((count) => countText(count)), ['12,345', '999', '-1,234,567']);
  assert.deepEqual([0, 1, 1200].map((count) => countText(count, 'row')), ['0 rows', '1 row', '1,200 rows']);
  assert.equal(cellText(255, 'address'), '0xff');
  assert.equal(cellText(3400, 'change'), '+3.40 µs');
  assert.equal(cellText(null, 'bytes'), '-');
  assert.equal(instantText(1_204_000_000, 1e6), '1.204 s');
  assert.equal(rangeText(1_200_000_000, 1_450_000_000), '1.200 s – 1.450 s');
});
