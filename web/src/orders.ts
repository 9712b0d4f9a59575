// SPDX-License-Identifier: MIT
// The graph of lock orders: from the rows of `penna report order`, with a place for each lock and a curve for each order.
//
// Why: pure functions, so that they can be tested without a browser.
// Invariant: two opposite arrows never cover each other.
import type { Table } from './protocol.ts';

export interface Order { from: number; to: number; count: number }
export interface OrderGraphData { locks: string[]; orders: Order[]; leftOut: number }

const MOST_ORDERS = 40;

// Orders of the same two locks are one. Empty for a table of something else.
export function orderGraph({ columns, rows }: Pick<Table, 'columns' | 'rows'>): OrderGraphData {
  const [held, taken, count] = ['held', 'taken', 'count'].map((key) => columns.findIndex((column) => column.key === key)) as [number, number, number];
  const counts = new Map<string, { from: string; to: string; count: number }>();
  if (held >= 0 && taken >= 0) {
    for (const { cells } of rows) {
      const from = String(cells[held]), to = String(cells[taken]), known = counts.get(`${from}\n${to}`);
      // A row for each cycle that has this order: its count is the same in all of them.
      counts.set(`${from}\n${to}`, { from, to, count: Math.max(known?.count ?? 0, Number(cells[count]) || 0) });
    }
  }
  const all = [...counts.values()].sort((a, b) => b.count - a.count), kept = all.slice(0, MOST_ORDERS);
  const locks = [...new Set(kept.flatMap(({ from, to }) => [from, to]))];
  return { locks, orders: kept.map(({ from, to, count: n }) => ({ from: locks.indexOf(from), to: locks.indexOf(to), count: n })), leftOut: all.length - kept.length };
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
