// SPDX-License-Identifier: MIT
// Draws a frame of the timeline: ruler, counters, the lanes in view, arrows to holders, selection, marks, cursor.
//
// Why: all of it from one scene, in the order in which it lies above one another.
// Invariant: only lanes in view are drawn; nothing is allocated but the texts of the ruler.
import { fillCurve, highest } from '../curve.ts';
import { amountText, durationText, instantText } from '../units.ts';
import { drawLane } from './draw_lane.ts';
import { FLAGS, HOLDS, ROW, WAITS } from './layout.ts';
import { drawPath } from './path.ts';
import { CURVE, RULER, type Hit, type Scene } from './scene.ts';
import { tickStep } from './scale.ts';

type Context = CanvasRenderingContext2D;
export const FONT = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const ARROW_FROM = 8;   // pixels: shorter waits have an arrow only under the cursor
const MOST_ARROWS = 60;

export function drawScene(c: Context, scene: Scene): void {
  c.font = FONT;
  c.textBaseline = 'alphabetic';
  c.fillStyle = scene.colors.back;
  c.fillRect(0, 0, scene.width, scene.height);
  for (const lane of scene.lanes) {
    const y = scene.y(lane);
    if (y + lane.height < scene.head) continue;
    if (y > scene.height) break;
    const isDim = scene.selection.threads !== undefined && !scene.selection.threads.includes(lane.thread.id);
    if (isDim) c.globalAlpha = 0.35;
    drawLane(c, scene, lane);
    c.globalAlpha = 1;
  }
  drawArrows(c, scene);
  drawPath(c, scene);
  drawChosen(c, scene);
  c.fillStyle = scene.colors.back;
  c.fillRect(0, 0, scene.width, scene.head);
  drawCurves(c, scene);
  drawRuler(c, scene);
  drawSelection(c, scene);
  drawMarks(c, scene);
  drawCursor(c, scene);
}

function drawRuler(c: Context, scene: Scene): void {
  const step = tickStep(scene.view, scene.width, 90), { t0, t1 } = scene.view;
  for (let at = Math.ceil(t0 / step) * step; at <= t1; at += step) {
    const x = scene.x(at);
    c.fillStyle = scene.colors.line;
    c.fillRect(x, 0, 1, scene.head);
    c.fillStyle = scene.colors.faint;
    c.fillText(instantText(at, step), x + 3, RULER - 6);
  }
  c.fillStyle = scene.colors.line;
  c.fillRect(0, RULER - 1, scene.width, 1);
  c.fillRect(0, scene.head - 1, scene.width, 1);
}

function drawCurves(c: Context, scene: Scene): void {
  const x0 = scene.x(scene.curvesOf.t0), x1 = scene.x(scene.curvesOf.t1);
  for (let at = 0; at < scene.curves.length; ++at) {
    const curve = scene.curves[at]!, top = RULER + at * CURVE;
    c.globalAlpha = 0.55;
    fillCurve(c, curve.values, x0, x1, top + 3, CURVE - 5, curve.title === 'waits' ? scene.colors.wait[0]! : curve.of ? scene.colors.point : scene.colors.curve);
    c.globalAlpha = 1;
    const most = amountText(highest(curve.values), curve.unit);
    c.fillStyle = scene.colors.back;
    c.globalAlpha = 0.8;
    c.fillRect(scene.width - most.length * scene.charWidth - 8, top + 3, most.length * scene.charWidth + 6, 12);
    c.globalAlpha = 1;
    c.fillStyle = scene.colors.text;
    c.fillText(most, scene.width - most.length * scene.charWidth - 5, top + 12);
  }
}

// From the end of each wait, when the holder let go, to the holder's thread.
function drawArrows(c: Context, scene: Scene): void {
  let left = MOST_ARROWS;
  for (const lane of scene.lanes) {
    const y = scene.y(lane), waits = scene.tracks.get(lane.thread.id)?.waits;
    if (waits === undefined || lane.waits < 0 || y + lane.height < scene.head || y > scene.height) continue;
    for (let at = 0; at < waits.start.length && left > 0; ++at) {
      if (waits.holder[at]! < 0) continue;
      const x0 = scene.x(waits.start[at]!), x1 = scene.x(waits.start[at]! + waits.duration[at]!);
      const isHit = scene.hit?.kind === 'wait' && scene.hit.lane === lane && scene.hit.index === at;
      if (x1 < 0 || x1 > scene.width || (x1 - x0 < ARROW_FROM && !isHit)) continue;
      drawArrow(c, scene, x1, y + lane.waits + WAITS / 2, waits.holder[at]!, isHit);
      --left;
    }
  }
}

function drawArrow(c: Context, scene: Scene, x: number, y: number, holder: number, isHit: boolean): void {
  const lane = scene.laneOf.get(holder);
  if (lane === undefined || lane.holds < 0) return;
  const to = scene.y(lane) + lane.holds + HOLDS / 2, way = to > y ? 1 : -1;
  c.strokeStyle = c.fillStyle = isHit ? scene.colors.chosen : scene.colors.hold;
  c.lineWidth = isHit ? 2 : 1;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x, to - way * 4);
  c.stroke();
  c.beginPath();
  c.moveTo(x, to);
  c.lineTo(x - 3.5, to - way * 6);
  c.lineTo(x + 3.5, to - way * 6);
  c.fill();
}

function outline(c: Context, scene: Scene, start: number, duration: number, y: number, height: number): void {
  const x0 = Math.max(-2, scene.x(start)), x1 = Math.min(scene.width + 2, scene.x(start + duration));
  c.strokeStyle = scene.colors.chosen;
  c.lineWidth = 1.5;
  c.strokeRect(x0, y, Math.max(2, x1 - x0), height);
}

function drawChosen(c: Context, scene: Scene): void {
  const { chosen, hit } = scene;
  const lane = chosen && scene.laneOf.get(chosen.thread);
  if (chosen && lane && lane.calls >= 0 && chosen.depth < lane.depths)
    outline(c, scene, chosen.start, chosen.duration, scene.y(lane) + lane.calls + chosen.depth * ROW, ROW - 1);
  const at = scene.instant && scene.laneOf.get(scene.instant.thread);
  if (scene.instant && at) {
    c.fillStyle = scene.colors.chosen;
    c.fillRect(scene.x(scene.instant.time) - 1, scene.y(at), 2, at.height);
  }
  if (hit) outlineHit(c, scene, hit);
}

function outlineHit(c: Context, scene: Scene, { kind, lane, index }: Hit): void {
  const track = scene.tracks.get(lane.thread.id), y = scene.y(lane);
  if (track === undefined) return;
  if (kind === 'slice' && index < track.slices.start.length)
    outline(c, scene, track.slices.start[index]!, track.slices.duration[index]!, y + lane.calls + track.slices.depth[index]! * ROW, ROW - 1);
  else if (kind === 'wait' && index < track.waits.start.length)
    outline(c, scene, track.waits.start[index]!, track.waits.duration[index]!, y + lane.waits, WAITS - 1);
  else if (kind === 'hold' && index < track.holds.h_start.length)
    outline(c, scene, track.holds.h_start[index]!, track.holds.h_duration[index]!, y + lane.holds, HOLDS - 1);
  else if (kind === 'point' && index < track.points.time.length)
    outline(c, scene, track.points.time[index]!, 0, y + lane.points, FLAGS);
}

function drawSelection(c: Context, scene: Scene): void {
  const t0 = scene.dragged?.t0 ?? scene.selection.t0, t1 = scene.dragged?.t1 ?? scene.selection.t1;
  if (t0 === undefined || t1 === undefined) return;
  const x0 = Math.max(0, scene.x(t0)), x1 = Math.min(scene.width, scene.x(t1));
  c.fillStyle = scene.colors.shade;
  if (x0 > 0) c.fillRect(0, 0, Math.min(x0, scene.width), scene.height);
  if (x1 < scene.width) c.fillRect(Math.max(0, x1), 0, scene.width - Math.max(0, x1), scene.height);
  if (scene.dragged === undefined) return;
  const text = durationText(t1 - t0), width = text.length * scene.charWidth + 8;
  c.fillStyle = scene.colors.back;
  c.fillRect((x0 + x1 - width) / 2, 2, width, 14);
  c.fillStyle = scene.colors.text;
  c.fillText(text, (x0 + x1 - width) / 2 + 4, 13);
}

function drawMarks(c: Context, scene: Scene): void {
  c.fillStyle = scene.colors.point;
  for (const mark of scene.marks) {
    const x = scene.x(mark);
    if (x < 0 || x > scene.width) continue;
    c.fillRect(x - 0.5, 0, 1.5, scene.height);
    c.fillRect(x - 3, 0, 7, 5);
  }
}

function drawCursor(c: Context, scene: Scene): void {
  if (scene.cursor < 0 || scene.dragged !== undefined) return;
  const x = scene.x(scene.cursor);
  if (x < 0 || x > scene.width) return;
  c.fillStyle = scene.colors.faint;
  c.fillRect(x, RULER, 1, scene.height);
  const text = instantText(scene.cursor, (scene.view.t1 - scene.view.t0) / scene.width);
  const width = text.length * scene.charWidth + 6, left = Math.min(Math.max(0, x - width / 2), scene.width - width);
  c.fillStyle = scene.colors.text;
  c.fillRect(left, 2, width, 14);
  c.fillStyle = scene.colors.back;
  c.fillText(text, left + 3, 13);
}
