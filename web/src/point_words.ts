// SPDX-License-Identifier: MIT
// Conditions on arguments of points, as --where takes them, and numbers in them.
//
// Why: a click on a bar of a histogram is a condition; who sees it learns how to write one.
// Invariant: pure functions; what is written here is what src/filter/where.h reads.
import type { Histogram } from './protocol.ts';

// A number without an exponent, which the grammar does not know.
export function plain(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return value.toFixed(0);
  const digits = Math.max(0, Math.min(20, 6 - Math.ceil(Math.log10(Math.abs(value) || 1))));
  return value.toFixed(digits);
}

// As people read it: six digits are enough to tell two bars apart.
export function short(value: number): string {
  const text = Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
  return text;
}

// The condition that holds for what a bar counts; the last one has its upper end in it.
export function barCondition({ column, edges, counts }: Histogram, bar: number): string {
  const low = edges[bar]!, high = edges[bar + 1]!;
  return `${column} >= ${plain(low)} && ${column} ${bar === counts.length - 1 ? '<=' : '<'} ${plain(high)}`;
}

// That, and what is asked for already.
export const both = (one: string, other: string): string => (one.trim() === '' ? other : `(${one}) && ${other}`);
