// SPDX-License-Identifier: MIT
// The graph of lock orders: from the rows of `penna report order`, with a place for each lock and a curve for each order.
//
// Why: pure functions, so that they can be tested without a browser.
// Invariant: two opposite arrows never cover each other.
import { cutText } from './labels.ts';
import type { Row, Table } from './protocol.ts';
import { cellText } from './units.ts';

export interface Order { from: number; to: number; count: number }
// A name, and what tells locks of one name apart.
export interface Lock { name: string; place: string }
export interface OrderGraphData { locks: Lock[]; orders: Order[]; leftOut: number }

const MOST_ORDERS = 40;

// Orders of the same two locks are one. Empty for a table of something else.
export function orderGraph({ columns, rows }: Pick<Table, 'columns' | 'rows'>): OrderGraphData {
  const at = (key: string): number => columns.findIndex((column) => column.key === key);
  const [count, pid] = [at('count'), at('pid')], ends = [[at('held'), at('held_address')], [at('taken'), at('taken_address')]] as const;
  const locks: Lock[] = [], numbers = new Map<string, number>(), found = new Map<string, Order>();
  // Columns that the table does not have are those that it does not need.
  const lockOf = (cells: Row['cells'], [name, address]: readonly [number, number]): number => {
    const lock = { name: String(cells[name]), place: [pid, address].filter((column) => column >= 0).map((column) => cellText(cells[column], columns[column]!.kind)).join(' ') };
    const key = `${lock.name}\n${lock.place}`, known = numbers.get(key) ?? locks.push(lock) - 1;
    numbers.set(key, known);
    return known;
  };
  for (const { cells } of ends.every(([name]) => name >= 0) ? rows : []) {
    const from = lockOf(cells, ends[0]), to = lockOf(cells, ends[1]), key = `${from} ${to}`;
    // A row for each cycle that has this order: its count is the same in all of them.
    found.set(key, { from, to, count: Math.max(found.get(key)?.count ?? 0, Number(cells[count]) || 0) });
  }
  const all = [...found.values()].sort((a, b) => b.count - a.count), kept = all.slice(0, MOST_ORDERS);
  const shown = [...new Set(kept.flatMap(({ from, to }) => [from, to]))];
  const orders = kept.map(({ from, to, count: n }) => ({ from: shown.indexOf(from), to: shown.indexOf(to), count: n }));
  return { locks: shown.map((one) => locks[one]!), orders, leftOut: all.length - kept.length };
}

export const lockText = ({ name, place }: Lock): string => (place === '' ? name : `${name} ${place}`);

const CHARACTER = 7.3;  // pixels of the font in the graph

// A label that lies inside of the picture, and beside that of the lock at the other side: the name is cut, not the place.
export function labelOf(lock: Lock, x: number, width: number): { text: string; x: number } {
  const room = Math.floor((width / 2 - 8) / CHARACTER), text = lockText({ ...lock, name: cutText(lock.name, Math.max(8, room - (lock.place === '' ? 0 : lock.place.length + 1))) });
  const half = (text.length * CHARACTER) / 2 + 4;
  return { text, x: Math.min(Math.max(x, half), width - half) };
}

export interface Place { x: number; y: number }

// On an ellipse; two of them side by side.
export function placesOf(count: number, width: number, height: number): Place[] {
  return Array.from({ length: count }, (_, at) => {
    const angle = Math.PI + (2 * Math.PI * at) / count;
    return { x: width / 2 + (width / 2 - 110) * Math.cos(angle), y: height / 2 + (height / 2 - 50) * Math.sin(angle) };
  });
}

// Bends to the left of its direction. (x, y): the place of its number.
export function arrowBetween(from: Place, to: Place): { path: string; head: string; x: number; y: number } {
  const [dx, dy] = [to.x - from.x, to.y - from.y], length = Math.hypot(dx, dy) || 1, bend = Math.min(60, length / 4), gap = 10 / length;
  const [mx, my] = [(from.x + to.x) / 2 + (dy / length) * bend, (from.y + to.y) / 2 - (dx / length) * bend];
  const near = (end: Place): Place => ({ x: end.x + (mx - end.x) * gap * 2, y: end.y + (my - end.y) * gap * 2 });
  const [a, b] = [near(from), near(to)], at = (value: number): string => value.toFixed(1);
  const [ux, uy] = [(b.x - mx) / (Math.hypot(b.x - mx, b.y - my) || 1), (b.y - my) / (Math.hypot(b.x - mx, b.y - my) || 1)];
  const corner = (side: number): string => `${at(b.x - 9 * ux - side * 4 * uy)} ${at(b.y - 9 * uy + side * 4 * ux)}`;
  return { head: `M${at(b.x)} ${at(b.y)}L${corner(1)} ${corner(-1)}z`, path: `M${at(a.x)} ${at(a.y)}Q${at(mx)} ${at(my)} ${at(b.x)} ${at(b.y)}`, x: (from.x + to.x) / 4 + mx / 2, y: (from.y + to.y) / 4 + my / 2 - 5 };
}
