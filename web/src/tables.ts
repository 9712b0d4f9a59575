// SPDX-License-Identifier: MIT
// What can be done to a table that is here: sort, filter, write as text and as CSV.
//
// Why: the rows at hand are reordered without asking the server, by the report's rules (select_rows in src/report/table.cc).
// Invariant: pure functions; CSV has raw numbers and is quoted by RFC 4180.
import type { Detail, Row, Table } from './protocol.ts';
import { cellText, type CellKind, type CellValue } from './units.ts';

export interface Sort { column: string; descending: boolean }

export function parseSort(text: string): Sort | undefined {
  const [, column, direction] = /^(.+):(asc|desc)$/s.exec(text) ?? [];
  return column === undefined ? undefined : { column, descending: direction === 'desc' };
}

export const printSort = (sort: Sort): string => `${sort.column}:${sort.descending ? 'desc' : 'asc'}`;

// What a click on a column's head sorts by: numbers fall first, text rises first, a second click turns it round.
export function nextSort(current: Sort | undefined, column: string, kind: CellKind): Sort {
  if (current?.column === column) return { column, descending: !current.descending };
  return { column, descending: kind !== 'text' };
}

// In a column of numbers, text is one that JSON does not hold: a large integer, inf, -inf, nan.
function numberOf(text: string): number | bigint {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  return text === 'inf' ? Infinity : text === '-inf' ? -Infinity : NaN;
}

// NaN is behind all numbers.
function compare(a: CellValue, b: CellValue, kind: CellKind): number {
  const [x, y] = [a, b].map((one) => (kind !== 'number' ? one : typeof one === 'string' ? numberOf(one) : one)) as [CellValue | bigint, CellValue | bigint];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x! < y! ? -1 : x! > y! ? 1 : 0;
}

const isEmpty = (value: CellValue | undefined): boolean => value === null || value === undefined;

// Empty cells come last in either direction; equal rows keep their order.
export function sortRows(table: Table, sort: Sort | undefined): Row[] {
  const at = table.columns.findIndex((column) => column.key === sort?.column);
  if (at < 0 || sort === undefined) return table.rows;
  return [...table.rows].sort((one, other) => {
    const a = one.cells[at], b = other.cells[at];
    if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
    return compare(a as CellValue, b as CellValue, table.columns[at]!.kind) * (sort.descending ? -1 : 1);
  });
}

// What a row stays the same by when others come before it, or its numbers grow: its texts and stack, and where several have the same,
// its numbers, too.
export function keysOf({ columns }: Pick<Table, 'columns'>, rows: readonly Row[]): string[] {
  const short = rows.map((row) => JSON.stringify([row.thread, row.stack, row.details, row.other_details, ...row.cells.filter((_, at) => columns[at]!.kind === 'text')]));
  const times = new Map<string, number>();
  const count = (key: string): number => {
    times.set(key, (times.get(key) ?? 0) + 1);
    return times.get(key)!;
  };
  short.forEach(count);
  return short.map((key, at) => {
    if (times.get(key) === 1) return key;
    const whole = `${key} ${JSON.stringify(rows[at]!.cells)}`;
    return `${whole} ${count(whole)}`;
  });
}

const detailText = (detail: Detail): string => (detail.where ? `${detail.text} ${detail.where}` : detail.text);

export function filterRows(table: Table, rows: Row[], filter: string): Row[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return rows;
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  return rows.filter(
    (row) =>
      table.columns.some((column, at) => has(cellText(row.cells[at], column.kind))) ||
      [...(row.details ?? []), ...(row.other_details ?? [])].some((detail) => has(detailText(detail))));
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const raw = (value: CellValue | undefined): string => (isEmpty(value) ? '' : String(value));

export function toCsv(table: Table, rows: Row[]): string {
  const lines = rows.map((row) => table.columns.map((_, at) => quoted(raw(row.cells[at]))).join(','));
  return [table.columns.map((column) => quoted(column.key)).join(','), ...lines].join('\r\n') + '\r\n';
}

// Aligned, numbers to the right, frames indented below their row.
export function toText(table: Table, rows: Row[]): string {
  const cells = rows.map((row) => table.columns.map((column, at) => cellText(row.cells[at], column.kind)));
  const widths = table.columns.map((column, at) => Math.max(column.title.length, ...cells.map((row) => row[at]!.length)));
  const last = table.columns.length - 1;
  const line = (texts: string[]): string =>
    texts.map((text, at) => {
      if (table.columns[at]!.kind !== 'text') return text.padStart(widths[at]!);
      return at === last ? text : text.padEnd(widths[at]!);
    }).join('  ');
  const out = [line(table.columns.map((column) => column.title))];
  rows.forEach((row, at) => {
    out.push(line(cells[at]!));
    for (const detail of row.details ?? []) out.push(`    ${detailText(detail)}`);
    if (row.other_details?.length) out.push(`    ${row.other_title ?? ''}`);
    for (const detail of row.other_details ?? []) out.push(`    ${detailText(detail)}`);
  });
  if (table.rows_left_out > 0) out.push(`(${table.rows_left_out} more rows are not here)`);
  return out.join('\n') + '\n';
}
