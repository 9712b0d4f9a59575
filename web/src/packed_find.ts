// SPDX-License-Identifier: MIT
// Finds by a part of the name among the answers that a page has with it.
//
// Why: the server's index is not there; what has a name stands in the timeline's columns.
// Invariant: a count that may be too low, because some are in sums, is marked as such.
import type { Found, Match, Report, Thread } from './protocol.ts';
import type { Holds, Points, Slices, Waits } from './resum.ts';

export interface OneThread { thread: Thread; slices: Slices; waits: Waits; holds: Holds; points: Points }

const MOST = 100;
const JOIN = 2;  // a wait for a thread's end: no lock

class Counts extends Map<number, number> {
  add(name: number, count: number): void {
    if (name !== 0) this.set(name, (this.get(name) ?? 0) + count);
  }
}

// What the table of calls says of each function; several rows may be of one name.
function calledIn(calls: Report | undefined): Map<string, { count: number; total: number }> {
  const called = new Map<string, { count: number; total: number }>(), table = calls?.tables[0];
  if (table === undefined) return called;
  const at = (key: string): number => table.columns.findIndex((column) => column.key === key);
  const name = at('function'), count = at('calls'), total = at('total_ns');
  if (Math.min(name, count, total) < 0) return called;
  for (const { cells } of table.rows) {
    const before = called.get(String(cells[name])) ?? { count: 0, total: 0 };
    called.set(String(cells[name]), { count: before.count + Number(cells[count]), total: before.total + Number(cells[total]) });
  }
  return called;
}

// names: a function that is in the table alone gets an id behind the others.
export function findIn(threads: OneThread[], names: string[], calls: Report | undefined, text: string): Found {
  const wanted = text.toLowerCase(), has = (name: string | undefined): boolean => name?.toLowerCase().includes(wanted) ?? false;
  const functions = new Counts(), locks = new Counts(), points = new Counts();
  let hasSums = false;  // the calls in a sum are of functions that need not be named
  for (const { slices, waits, holds, points: passed } of threads) {
    for (const name of slices.name) functions.add(name, 1);
    for (const name of slices.d_name) functions.add(name, 1);  // one of them at least
    hasSums ||= slices.d_name.length > 0;
    waits.lock.forEach((lock, at) => waits.kind[at] !== JOIN && locks.add(lock, waits.count[at]!));
    holds.h_lock.forEach((lock) => locks.add(lock, 0));
    passed.name.forEach((name, at) => points.add(name, passed.count[at]!));
  }
  const called = calledIn(calls), isCut = (calls?.tables[0]?.rows_left_out ?? 0) > 0, matches: Match[] = [];
  for (const [name, { count, total }] of called) {
    if (!has(name)) continue;
    const known = names.indexOf(name), id = known < 0 ? names.push(name) - 1 : known;
    functions.delete(id);
    matches.push({ kind: 'function', name, id, count, total_ns: total, at_least: isCut });
  }
  for (const [id, count] of functions)
    if (has(names[id])) matches.push({ kind: 'function', name: names[id]!, id, count, at_least: hasSums });
  matches.sort((a, b) => (b.total_ns ?? 0) - (a.total_ns ?? 0) || b.count - a.count || a.id - b.id);
  for (const { thread } of threads)
    if (has(thread.name)) matches.push({ kind: 'thread', name: thread.name, id: thread.id, count: thread.calls });
  const mixed = points.size > 0 && threads.some(({ points: passed }) => passed.name.includes(0));
  for (const [kind, counts, atLeast] of [['lock', locks, false], ['point', points, mixed]] as const)
    for (const [id, count] of counts)
      if (has(names[id])) matches.push({ kind, name: names[id]!, id, count, at_least: atLeast });
  return { matches: matches.slice(0, MOST), left_out: Math.max(0, matches.length - MOST) };
}
