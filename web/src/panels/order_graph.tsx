// SPDX-License-Identifier: MIT
// The locks that are taken in contradicting orders, as a graph: an arrow from the lock that was held to the one taken next.
//
// Why: a cycle of three or more locks is hard to see in a table.
// Invariant: it shows the orders of the table below it, the most frequent ones if there are many, and says so.
import { arrowBetween, labelOf, lockText, orderGraph, placesOf } from '../orders.ts';
import type { Table } from '../protocol.ts';
import { countText } from '../units.ts';

const WIDTH = 640, HEIGHT = 260;

export function OrderGraph({ table }: { table: Table }) {
  const { locks, orders, leftOut } = orderGraph(table);
  if (orders.length === 0) return null;
  const places = placesOf(locks.length, WIDTH, HEIGHT);
  const words = orders.map(({ from, to, count }) => `${lockText(locks[from]!)} before ${lockText(locks[to]!)} ${countText(count, 'time')}`).join('; ');
  return (
    <figure class="orders">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Contradicting orders: ${words}`}>
        {orders.map(({ from, to, count }, at) => {
          const arrow = arrowBetween(places[from]!, places[to]!);
          return (
            <g key={at}>
              <path class="arrow" d={arrow.path} />
              <path class="head" d={arrow.head} />
              <text x={arrow.x} y={arrow.y}>{countText(count)}</text>
            </g>
          );
        })}
        {locks.map((lock, at) => {
          const { x, y } = places[at]!, label = labelOf(lock, x, WIDTH);
          return (
            <g key={at}>
              <title>{lockText(lock)}</title>
              <circle cx={x} cy={y} r="7" />
              <text class="lock" x={label.x} y={y + (y < HEIGHT / 2 ? -14 : 24)}>{label.text}</text>
            </g>
          );
        })}
      </svg>
      <figcaption class="hint">An arrow leads from the lock that was held to the one taken next; the number says how often.
        {leftOut > 0 && ` ${countText(leftOut)} rarer orders are in the table alone.`}</figcaption>
    </figure>
  );
}
