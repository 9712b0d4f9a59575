// SPDX-License-Identifier: MIT
// The critical path of a thread, drawn through the lanes: where its time went, followed through those who ended its waits.
//
// Why: what a thread waited for is seen at a glance, in the order of time.
// Invariant: pieces follow one another; one of a thread that is not shown is left out, and so are the ways to it.
import { group, type Columns } from '../columns.ts';
import type { Scene } from './scene.ts';

const WAITED = 2, NOT_KNOWN = 3;

export interface Path { start: Float64Array; duration: Float64Array; thread: Uint32Array; what: Uint8Array }

export const readPath = (answer: Columns): Path => group(answer, { start: 'f64', duration: 'f64', thread: 'u32', what: 'u8' });

export function drawPath(c: CanvasRenderingContext2D, scene: Scene): void {
  const { path } = scene;
  if (path === undefined) return;
  let fromX = -1, fromY = -1;
  for (let at = 0; at < path.start.length; ++at) {
    const lane = scene.laneOf.get(path.thread[at]!), begin = path.start[at]!, end = begin + path.duration[at]!;
    if (lane === undefined || path.what[at] === NOT_KNOWN) {
      fromX = -1;
      continue;
    }
    const x0 = Math.max(-2, scene.x(begin)), x1 = Math.min(scene.width + 2, scene.x(end)), y = scene.y(lane) + 2;
    if (x1 >= 0 && x0 <= scene.width) {
      c.fillStyle = scene.colors.chosen;
      if (fromX >= 0 && fromY !== y) c.fillRect(x0 - 1, Math.min(y, fromY), 2, Math.abs(y - fromY));
      if (path.what[at] === WAITED) c.fillStyle = scene.colors.wait[0]!;
      c.fillRect(x0, y - 1, Math.max(1, x1 - x0), 3);
    }
    [fromX, fromY] = [x1, y];
  }
}
