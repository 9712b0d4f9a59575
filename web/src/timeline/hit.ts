// SPDX-License-Identifier: MIT
// What lies under the cursor, what it is called, and what is its neighbour.
//
// Why: by the same columns and the same layout as the drawing, so that what is seen is what is hit.
// Invariant: of several things under the cursor the narrowest that contains it, else the nearest within SLOP pixels.
import { callShown } from '../instances.ts';
import type { Thread } from '../protocol.ts';
import type { Shown, Store } from '../store.ts';
import { countText, durationText, instantText, percentText } from '../units.ts';
import { FLAGS, HOLDS, laneAt, ROW, WAITS, type Lane } from './layout.ts';
import type { Hit, Scene } from './scene.ts';
import type { Track } from './tracks.ts';

const SLOP = 3;  // pixels

// The narrowest interval around x, or the nearest; -1.
function nearest(scene: Scene, x: number, start: Float64Array, duration: Float64Array | undefined, isIn?: (at: number) => boolean): number {
  let best = -1, bestOff = SLOP + 0.01, bestWidth = Infinity;
  for (let at = 0; at < start.length; ++at) {
    if (isIn !== undefined && !isIn(at)) continue;
    const x0 = scene.x(start[at]!), x1 = duration ? scene.x(start[at]! + duration[at]!) : x0 + 6;
    const off = x < x0 ? x0 - x : x > x1 ? x - x1 : 0;
    if (off < bestOff || (off === bestOff && x1 - x0 < bestWidth)) [best, bestOff, bestWidth] = [at, off, x1 - x0];
  }
  return best;
}

function densityAt(scene: Scene, track: Track, x: number, level: number): number {
  const px = Math.floor((scene.time(x) - track.densityFrom) / track.densityPixel);
  const { d_px, d_depth } = track.density, isNarrow = scene.x(track.densityPixel) - scene.x(0) <= SLOP;
  let beside = -1;
  for (let at = 0; at < d_px.length; ++at) {
    if (d_depth[at] !== level || Math.abs(d_px[at]! - px) > 1) continue;
    if (d_px[at] === px) return at;
    if (isNarrow) beside = at;
  }
  return beside;
}

const within = (y: number, top: number, height: number): boolean => top >= 0 && y >= top && y < top + height;

function inLane(scene: Scene, lane: Lane, track: Track, x: number, y: number): Hit | undefined {
  const hit = (kind: Hit['kind'], index: number): Hit | undefined => (index < 0 ? undefined : { kind, lane, index });
  if (within(y, lane.points, FLAGS)) return hit('point', nearest(scene, x, track.points.time, undefined));
  if (within(y, lane.waits, WAITS)) return hit('wait', nearest(scene, x, track.waits.start, track.waits.duration));
  if (within(y, lane.holds, HOLDS + 3)) return hit('hold', nearest(scene, x, track.holds.h_start, track.holds.h_duration));
  if (!within(y, lane.calls, lane.depths * ROW)) return undefined;
  const level = Math.floor((y - lane.calls) / ROW), { start, duration, depth } = track.slices;
  return hit('slice', nearest(scene, x, start, duration, (at) => depth[at] === level)) ?? hit('density', densityAt(scene, track, x, level));
}

export function hitAt(scene: Scene, x: number, y: number): Hit | undefined {
  if (y < scene.head) return undefined;
  const lane = laneAt(scene.lanes, y - scene.head + scene.scroll);
  const track = lane && scene.tracks.get(lane.thread.id);
  return lane && track && inLane(scene, lane, track, x, y - scene.y(lane));
}

// The calls around [start, end) at lower depths, innermost first.
export function stackAt(scene: Scene, track: Track, start: number, end: number, depth: number): string[] {
  const { slices } = track, frames: [depth: number, name: string][] = [];
  for (let at = 0; at < slices.start.length; ++at)
    if (slices.depth[at]! < depth && slices.start[at]! <= start && slices.start[at]! + slices.duration[at]! >= end)
      frames.push([slices.depth[at]!, scene.server.name(slices.name[at]!)]);
  return frames.sort((a, b) => b[0] - a[0]).map(([, name]) => name);
}

const WAIT_KINDS = ['lock', 'condition', 'end of a thread', 'other'];

function waitShown(store: Store, scene: Scene, track: Track, thread: number, at: number): Shown {
  const { start, duration, lock, kind, holder, count } = track.waits, many = count[at]!;
  return {
    title: `waits for ${store.server.name(lock[at]!)}`,
    lines: [
      ['thread', store.threadName(thread)], ['waits', many > 1 ? `${countText(many)}, too short to draw one by one` : '1'],
      ['duration', durationText(duration[at]!)], ['start', instantText(start[at]!, 1)], ['for a', WAIT_KINDS[kind[at]!] ?? 'other'],
      ['held by', holder[at]! < 0 ? 'not known' : store.threadName(holder[at]!)],
    ],
    stack: stackAt(scene, track, start[at]!, start[at]! + duration[at]!, Infinity), thread, start: start[at]!, duration: duration[at]!,
  };
}

function holdShown(store: Store, track: Track, thread: number, at: number): Shown {
  const { h_start, h_duration, h_lock, h_count } = track.holds;
  return {
    title: `holds ${store.server.name(h_lock[at]!)}`,
    lines: [
      ['thread', store.threadName(thread)], ['holds', countText(h_count[at]!)], ['duration', durationText(h_duration[at]!)],
      ['start', instantText(h_start[at]!, 1)],
    ],
    stack: [], thread, start: h_start[at]!, duration: h_duration[at]!,
  };
}

function pointShown(store: Store, track: Track, thread: number, at: number): Shown {
  const { time, name, count, text } = track.points, many = count[at]!;
  return {
    title: store.server.name(name[at]!),
    lines: [
      ['thread', store.threadName(thread)], ['at', instantText(time[at]!, 1)],
      many > 1 ? ['points', `${countText(many)}, too near to draw one by one`] : ['values', text[at] === 0 ? '' : store.server.name(text[at]!)],
    ],
    stack: [], thread, start: time[at]!, duration: 0,
  };
}

function densityShown(store: Store, track: Track, thread: number, at: number): Shown {
  const { d_depth, d_time, d_count, d_name, d_px } = track.density, pixel = track.densityPixel;
  return {
    title: `${countText(d_count[at]!, 'short call')}, most of the time ${store.server.name(d_name[at]!)}`,
    lines: [
      ['thread', store.threadName(thread)], ['time', `${durationText(d_time[at]!)}, ${percentText((100 * d_time[at]!) / pixel)} of ${durationText(pixel)}`],
      ['depth', String(d_depth[at]!)], ['start', instantText(track.densityFrom + d_px[at]! * pixel, 1)],
    ],
    stack: [], thread, function: d_name[at]!, start: track.densityFrom + d_px[at]! * pixel, duration: pixel,
  };
}

export function threadShown(thread: Thread): Shown {
  return {
    title: `thread ${thread.name || thread.tid}`,
    lines: [
      ['process', `${thread.process ?? ''} ${thread.pid}`.trim()], ['thread', String(thread.tid)], ['begins', instantText(thread.begin_ns, 1)],
      ['ends', instantText(thread.end_ns, 1)], ['calls', countText(thread.calls)], ['allocations', countText(thread.allocations)],
      ['waits', countText(thread.waits)], ['points', countText(thread.points)], ['deepest', countText(thread.depth)],
    ],
    stack: [], thread: thread.id,
  };
}

export function shownOf(store: Store, scene: Scene, hit: Hit): Shown | undefined {
  const thread = hit.lane.thread.id, track = scene.tracks.get(thread), at = hit.index;
  if (track === undefined) return undefined;
  if (hit.kind === 'wait') return waitShown(store, scene, track, thread, at);
  if (hit.kind === 'hold') return holdShown(store, track, thread, at);
  if (hit.kind === 'point') return pointShown(store, track, thread, at);
  if (hit.kind === 'density') return densityShown(store, track, thread, at);
  const { start, duration, depth, name, flags } = track.slices;
  const shown = callShown(name[at]!, thread, start[at]!, duration[at]!, depth[at]!,
    stackAt(scene, track, start[at]!, start[at]! + duration[at]!, depth[at]!));
  if (flags[at]! & 1) shown.lines.push(['begin', 'not known: the duration is at least that']);
  if (flags[at]! & 2) shown.lines.push(['end', 'not known: the duration is at least that']);
  return shown;
}
