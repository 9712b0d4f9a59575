// SPDX-License-Identifier: MIT
// Conditions on arguments of points, as --where takes them, and numbers in them.
//
// Why: a click on a bar of a histogram is a condition; who sees it learns how to write one.
// Invariant: pure functions; what is written here is what src/filter/where.h reads.
import type { Histogram } from './protocol.ts';

// As people read it: six digits are enough to tell two bars apart.
export function short(value: number): string {
  const text = Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
  return text;
}

// All digits of a large integer: the shortest text that a browser reads as the same number is another integer.
const exact = (value: number): string => (Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? String(BigInt(value)) : String(value));

// A condition takes p->x, but not v[0] or i + 1.
const isWord = (name: string): boolean => /^(?:[A-Za-z_]|->)(?:[\w.]|->)*$/.test(name);

// The condition that holds for what a bar counts; the last one has its upper end in it.
// `place`: of the argument, from 1 on, for one that is named by an expression.
export function barCondition({ column, edges, counts }: Histogram, bar: number, place: number): string {
  const low = exact(edges[bar]!), high = exact(edges[bar + 1]!);
  const name = isWord(column) ? column : `arg${place}`;
  return `${name} >= ${low} && ${name} ${bar === counts.length - 1 ? '<=' : '<'} ${high}`;
}

// That, and what is asked for already.
export const both = (one: string, other: string): string => (one.trim() === '' ? other : `(${one}) && ${other}`);

// What the last word of a condition may become, and of which point: the names of arguments that begin with it.
export function wordOptions(text: string, points: readonly { name: string; arguments: readonly string[] }[]): [string, string][] {
  const word = /(?:[\w.]|->)+$/.exec(text)?.[0] ?? '', head = text.slice(0, text.length - word.length);
  if (head !== '' && !/[\s(!&|]$/.test(head)) return [];
  return points.flatMap((point) => point.arguments.filter((one) => isWord(one) && one.startsWith(word) && one !== word).map((one): [string, string] => [head + one, point.name]));
}
