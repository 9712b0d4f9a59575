// SPDX-License-Identifier: MIT
// Numbers as people read them: 1.20 MB, 3.40 ms, 12,345. The rules are those of the report (src/report/units.cc).
//
// Why: who compares the page with a report must not have to convert.
// Invariant: pure functions; decimal prefixes; three significant digits, never more precision than was given.

export type CellKind =
  | 'count' | 'number' | 'bytes' | 'duration' | 'percent' | 'change' | 'bytes_change' | 'count_change' | 'percent_change'
  | 'address' | 'text' | 'instant';
export type CellValue = number | string | null;

type Unit = readonly [size: number, name: string];
const BYTES: readonly Unit[] = [[1e18, 'EB'], [1e15, 'PB'], [1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']];
const TIMES: readonly Unit[] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];

// Of a value below 1000: the limits are where rounding adds a digit.
function threeDigits(value: number): string {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

function scaled(value: number, units: readonly Unit[], base: string): string {
  for (const [size, name] of units)
    if (value >= size * 0.9995) return `${threeDigits(value / size)} ${name}`;
  return `${Math.round(value)} ${base}`;
}

const sign = (value: number): string => (value < 0 ? '-' : '');
const plus = (value: number): string => (value > 0 ? '+' : '');

export function bytesText(bytes: number): string {
  return sign(bytes) + scaled(Math.abs(bytes), BYTES, 'B');
}

export function durationText(ns: number): string {
  const value = Math.abs(ns), seconds = Math.floor(value / 1e9);
  const two = (n: number): string => String(Math.floor(n) % 60).padStart(2, '0');
  if (seconds >= 3600) return `${sign(ns)}${Math.floor(seconds / 3600)} h ${two(seconds / 60)} min`;
  if (seconds >= 60) return `${sign(ns)}${Math.floor(seconds / 60)} min ${two(seconds)} s`;
  return sign(ns) + scaled(value, TIMES, 'ns');
}

export function percentText(percent: number): string {
  if (!(percent > 0)) return '0 %';
  if (percent < 0.01) return '< 0.01 %';
  return `${percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

// With a noun, in the singular: "1 row", "1,200 rows".
export function countText(count: number, noun?: string): string {
  const digits = String(Math.abs(Math.round(count)));
  return sign(count) + digits.replace(/\B(?=(\d{3})+$)/g, ',') + (noun ? ` ${noun}${count === 1 ? '' : 's'}` : '');
}

function percentChangeText(percent: number): string {
  const text = percentText(Math.abs(percent));
  return percent === 0 || text.startsWith('<') ? text : (percent < 0 ? '-' : '+') + text;
}

function numberCell(value: number, kind: CellKind): string {
  switch (kind) {
    case 'count': return countText(value);
    case 'bytes': return bytesText(value);
    case 'duration': return durationText(value);
    case 'instant': return instantText(value, 1);
    case 'percent': return percentText(value);
    case 'change': return plus(value) + durationText(value);
    case 'bytes_change': return plus(value) + bytesText(value);
    case 'count_change': return plus(value) + countText(value);
    case 'percent_change': return percentChangeText(value);
    case 'address': return `0x${value.toString(16)}`;
    default: return String(value);
  }
}

// What a cell of a table shows.
export function cellText(value: CellValue | undefined, kind: CellKind): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : numberCell(value, kind);
}

// A value of a counter or a flame graph.
export function amountText(value: number, unit: string): string {
  if (unit === 'number') return String(Number(value.toPrecision(6)));
  return numberCell(value, unit === 'ns' ? 'duration' : unit === 'bytes' ? 'bytes' : 'count');
}

// An instant since the recording's start, as exact as `step` (ns) needs it: "1.204 s", "3.20 ms".
export function instantText(ns: number, step: number): string {
  const [size, name] = TIMES.find(([size]) => Math.abs(ns) >= size) ?? [1, 'ns'];
  const decimals = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(step, 1)))));
  return `${(ns / size).toFixed(decimals)} ${name}`;
}

// "1.20 – 1.45 s": two instants, as exact as telling them apart needs.
export function rangeText(t0: number, t1: number): string {
  const step = (t1 - t0) / 50;
  return `${instantText(t0, step)} – ${instantText(t1, step)}`;
}
