// SPDX-License-Identifier: MIT
// Draws one thread: flags of points, calls, density of the calls too short to draw, waits and holds.
//
// Why: apart from the frame around it, for each of these is a loop over columns. Of a long run there are thousands a
// lane, most of them side by side: they are joined before they are drawn.
// Invariant: nothing is allocated; what is too short for a pixel is drawn as the share of the pixel's time that it took.
import { shadeOf } from '../colors.ts';
import { Band } from './band.ts';
import { FLAGS, HOLDS, ROW, WAITS, type Lane } from './layout.ts';
import type { Scene } from './scene.ts';
import type { Track } from './tracks.ts';

type Context = CanvasRenderingContext2D;
const TEXT_ROOM = 22;  // pixels from which on a name is written
const PAD = 3;
const band = new Band();

export function drawLane(c: Context, scene: Scene, lane: Lane): void {
  const track = scene.tracks.get(lane.thread.id), y = scene.y(lane);
  c.fillStyle = scene.colors.line;
  c.fillRect(0, y + lane.height - 1, scene.width, 1);
  drawLife(c, scene, lane, y);
  if (track === undefined) return;
  if (lane.calls >= 0) {
    drawDensity(c, scene, lane, track, y + lane.calls);
    drawSlices(c, scene, lane, track, y + lane.calls);
  }
  if (lane.waits >= 0) {
    drawWaits(c, scene, track, y + lane.waits);
    drawHolds(c, scene, track, y + lane.holds);
  }
  if (lane.points >= 0) drawPoints(c, scene, track, y + lane.points, lane.height - lane.points - 4);
}

// From the thread's first event to its last: also a thread of which nothing else can be drawn is seen.
function drawLife(c: Context, scene: Scene, lane: Lane, y: number): void {
  const x0 = Math.max(0, scene.x(lane.thread.begin_ns)), x1 = Math.min(scene.width, scene.x(lane.thread.end_ns));
  if (x1 < 0 || x0 > scene.width) return;
  const alpha = c.globalAlpha;
  c.globalAlpha = alpha * 0.4;
  c.fillStyle = scene.colors.grey;
  c.fillRect(x0, y + 1, Math.max(1, x1 - x0), lane.height - 3);
  c.globalAlpha = alpha;
}

function drawSlices(c: Context, scene: Scene, lane: Lane, track: Track, top: number): void {
  const { start, duration, depth, name, flags } = track.slices;
  const { t0, t1 } = scene.view, scale = scene.width / (t1 - t0), fills = scene.colors.fills;
  for (let at = 0; at < start.length; ++at) {
    const begin = start[at]!, end = begin + duration[at]!, level = depth[at]!;
    if (end < t0 || begin > t1 || level >= lane.depths) continue;
    const x0 = Math.max(-1, (begin - t0) * scale), x1 = Math.min(scene.width + 1, (end - t0) * scale);
    const y = top + level * ROW, width = Math.max(x1 - x0 - 0.5, 0.7);
    c.fillStyle = fills[scene.hues.of(name[at]!)]![shadeOf(level)]!;
    c.fillRect(x0, y, width, ROW - 1);
    if (flags[at]! !== 0) drawOpenEnds(c, scene, flags[at]!, x0, x1, y);
    if (width > TEXT_ROOM) drawName(c, scene, name[at]!, Math.max(0, x0), width, y + ROW - 4.5);
  }
}

function drawName(c: Context, scene: Scene, name: number, x: number, width: number, y: number): void {
  c.fillStyle = scene.colors.text;
  c.fillText(scene.labels.cut(name, Math.floor((width - 2 * PAD) / scene.charWidth)), x + PAD, y);
}

// A begin or an end that is not known: a gap of the page's colour, like a torn edge.
function drawOpenEnds(c: Context, scene: Scene, flags: number, x0: number, x1: number, y: number): void {
  c.fillStyle = scene.colors.back;
  for (let step = 0; step < 3; ++step) {
    if (flags & 1) c.fillRect(x0, y + step * 5, 2, 3);
    if (flags & 2) c.fillRect(x1 - 2, y + step * 5, 2, 3);
  }
}

function drawDensity(c: Context, scene: Scene, lane: Lane, track: Track, top: number): void {
  const { d_depth, d_px, d_time, d_name } = track.density;
  const pixel = track.densityPixel, { t0, t1 } = scene.view, scale = scene.width / (t1 - t0), width = Math.max(1, pixel * scale);
  for (let at = 0; at < d_px.length; ++at) {
    const level = d_depth[at]!, x = (track.densityFrom + d_px[at]! * pixel - t0) * scale;
    if (x + width < 0 || x > scene.width || level >= lane.depths) continue;
    const height = Math.max(1, Math.min(1, d_time[at]! / pixel) * (ROW - 1));
    const fill = scene.colors.fills[scene.hues.of(d_name[at]!)]![shadeOf(level + 1)]!;
    band.add(c, fill, x, x + width, top + level * ROW + ROW - 1 - height, height);
  }
  band.end(c);
}

function drawWaits(c: Context, scene: Scene, track: Track, y: number): void {
  const { start, duration, lock, kind } = track.waits;
  for (let at = 0; at < start.length; ++at) {
    const x0 = Math.max(-1, scene.x(start[at]!)), x1 = Math.min(scene.width + 1, scene.x(start[at]! + duration[at]!));
    if (x1 < 0 || x0 > scene.width) continue;
    const width = Math.max(1, x1 - x0);
    band.add(c, scene.colors.wait[kind[at]!] ?? scene.colors.wait[3]!, x0, x0 + width, y, WAITS - 1);
    if (width <= TEXT_ROOM) continue;
    band.end(c);
    drawName(c, scene, lock[at]!, Math.max(0, x0), width, y + WAITS - 3.5);
  }
  band.end(c);
}

function drawHolds(c: Context, scene: Scene, track: Track, y: number): void {
  const { h_start, h_duration } = track.holds;
  for (let at = 0; at < h_start.length; ++at) {
    const x0 = Math.max(-1, scene.x(h_start[at]!)), x1 = Math.min(scene.width + 1, scene.x(h_start[at]! + h_duration[at]!));
    if (x1 >= 0 && x0 <= scene.width) band.add(c, scene.colors.hold, x0, Math.max(x0 + 1, x1), y, HOLDS - 1);
  }
  band.end(c);
}

const APART = 10;  // pixels: nearer points have no poles, which would hide the calls

// A pole through the lane with a flag on top; a broader flag stands for several.
function drawPoints(c: Context, scene: Scene, track: Track, y: number, pole: number): void {
  const { time, name, count } = track.points;
  for (let at = 0; at < time.length; ++at) {
    const x = scene.x(time[at]!);
    if (x < -8 || x > scene.width) continue;
    const next = at + 1 < time.length ? scene.x(time[at + 1]!) : scene.width;
    c.fillStyle = scene.colors.point;
    if (next - x > APART) {
      const alpha = c.globalAlpha;
      c.globalAlpha = alpha * 0.3;
      c.fillRect(x, y, 1, pole);
      c.globalAlpha = alpha;
    }
    c.fillRect(x, y, Math.max(1, Math.min(count[at]! > 1 ? 7 : 5, next - x - 0.5)), FLAGS - 5);
    if (next - x > 60) {
      c.fillStyle = scene.colors.faint;
      c.fillText(scene.labels.cut(name[at]!, Math.floor((next - x - 14) / scene.charWidth)), x + 9, y + FLAGS - 2);
    }
  }
}
