// SPDX-License-Identifier: MIT
// Finds by a part of the name among the answers that a page has with it.
//
// Why: the server's index is not there; what has a name stands in the timeline's columns.
// Invariant: a count that may be too low, because some are in sums, is marked as such.
import type { Found as ServerFound, Match, Report, Thread } from './protocol.ts';
import type { Holds, Points, Slices, Waits } from './resum.ts';

export type Found = ServerFound;
export interface OneThread { thread: Thread; slices: Slices; waits: Waits; holds: Holds; points: Points }

const MOST = 100;

class Counts extends Map<number, number> {
  add(name: number, count: number): void {
    if (name !== 0) this.set(name, (this.get(name) ?? 0) + count);
  }
}

// What the table of calls says of each function, where it has all of them.
function exactCalls(calls: Report | undefined): Map<string, { count: number; total: number }> {
  const exact = new Map<string, { count: number; total: number }>(), table = calls?.tables[0];
  if (table === undefined || table.rows_left_out > 0) return exact;
  const [name, count, total] = ['function', 'calls', 'total_ns'].map((key) => table.columns.findIndex((column) => column.key === key)) as [number, number, number];
  for (const { cells } of table.rows) {
    const before = exact.get(String(cells[name])) ?? { count: 0, total: 0 };
    exact.set(String(cells[name]), { count: before.count + Number(cells[count]), total: before.total + Number(cells[total]) });
  }
  return exact;
}

export function findIn(threads: OneThread[], names: string[], calls: Report | undefined, text: string): Found {
  const wanted = text.toLowerCase(), has = (name: string | undefined): boolean => name?.toLowerCase().includes(wanted) ?? false;
  const functions = new Counts(), locks = new Counts(), points = new Counts();
  let hasSums = false;  // the calls in a sum are of functions that need not be named
  for (const { slices, waits, holds, points: passed } of threads) {
    for (const name of slices.name) functions.add(name, 1);
    for (const name of slices.d_name) functions.add(name, 1);  // one of them at least
    hasSums ||= slices.d_name.length > 0;
    waits.lock.forEach((lock, at) => locks.add(lock, waits.count[at]!));
    holds.h_lock.forEach((lock) => locks.add(lock, 0));
    passed.name.forEach((name, at) => points.add(name, passed.count[at]!));
  }
  const exact = exactCalls(calls), matches: Match[] = [];
  for (const [id, count] of functions) {
    const name = names[id] ?? '?', known = exact.get(name);
    if (!has(name)) continue;
    if (known !== undefined) matches.push({ kind: 'function', name, id, count: known.count, total_ns: known.total });
    else matches.push({ kind: 'function', name, id, count, at_least: hasSums });
  }
  matches.sort((a, b) => (b.total_ns ?? 0) - (a.total_ns ?? 0) || b.count - a.count || a.id - b.id);
  for (const { thread } of threads)
    if (has(thread.name)) matches.push({ kind: 'thread', name: thread.name, id: thread.id, count: thread.calls });
  const mixed = points.size > 0 && threads.some(({ points: passed }) => passed.name.includes(0));
  for (const [kind, counts, atLeast] of [['lock', locks, false], ['point', points, mixed]] as const)
    for (const [id, count] of counts)
      if (has(names[id])) matches.push({ kind, name: names[id]!, id, count, at_least: atLeast });
  return { matches: matches.slice(0, MOST), left_out: Math.max(0, matches.length - MOST) };
}
