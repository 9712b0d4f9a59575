// SPDX-License-Identifier: MIT
// Which threads are drawn, in which order, and where in each its points, calls, waits and holds lie.
//
// Why: drawing and hit test use the same numbers.
// Invariant: tracks follow one another without gaps; what is hidden or too deep is counted, not forgotten.
import type { Thread } from '../protocol.ts';

export const ROW = 15;         // of a call
export const FLAGS = 11;       // of points
export const WAITS = 12;
export const HOLDS = 5;
export const FEW_DEPTHS = 6;   // rows until a track is opened
export const MOST_DEPTHS = 256;
const GAP = 5, LEAST = 30;

export interface Lane {
  thread: Thread;
  top: number;
  height: number;
  points: number;   // y of each part, from the lane's top; -1: it has none
  calls: number;
  waits: number;
  holds: number;
  depths: number;   // rows of calls that are drawn
  deeper: number;   // and that are not
}

// Pinned ones first, then those that were moved, then the others as the server has them.
export function orderThreads(threads: Thread[], order: number[], pinned: number[], hidden: number[]): Thread[] {
  const isHidden = new Set(hidden), byId = new Map(threads.map((thread) => [thread.id, thread]));
  const ids = new Set([...order, ...threads.map((thread) => thread.id)]);
  const first = new Set(pinned);
  return [...[...ids].filter((id) => first.has(id)), ...[...ids].filter((id) => !first.has(id))]
    .filter((id) => !isHidden.has(id)).map((id) => byId.get(id)).filter((thread) => thread !== undefined);
}

// The order after a thread went up or down by one; of all that are shown, so that it stays.
export function moveThread(shown: Thread[], id: number, by: number): number[] {
  const ids = shown.map((thread) => thread.id);
  const from = ids.indexOf(id), to = Math.min(Math.max(0, from + by), ids.length - 1);
  ids.splice(to, 0, ...ids.splice(from, 1));
  return ids;
}

export function layOut(threads: Thread[], hasLocks: boolean, opened: ReadonlySet<number>): Lane[] {
  let top = 0;
  return threads.map((thread) => {
    const depths = thread.calls === 0 ? 0 : Math.min(Math.max(1, thread.depth), opened.has(thread.id) ? MOST_DEPTHS : FEW_DEPTHS);
    let y = 2;
    const part = (has: boolean, height: number): number => {
      if (!has) return -1;
      y += height;
      return y - height;
    };
    const lane: Lane = {
      thread, top, depths, deeper: thread.calls === 0 ? 0 : Math.max(0, thread.depth - depths), height: 0,
      points: part(thread.points > 0, FLAGS), calls: part(depths > 0, depths * ROW), waits: part(hasLocks, WAITS),
      holds: part(hasLocks, HOLDS),
    };
    lane.height = Math.max(LEAST, y + GAP);
    top += lane.height;
    return lane;
  });
}

// The lane at y, by halving; undefined below the last.
export function laneAt(lanes: readonly Lane[], y: number): Lane | undefined {
  let low = 0, high = lanes.length;
  while (low < high) {
    const middle = (low + high) >> 1, lane = lanes[middle]!;
    if (y < lane.top) high = middle;
    else if (y >= lane.top + lane.height) low = middle + 1;
    else return lane;
  }
  return undefined;
}
