// SPDX-License-Identifier: MIT
// What the timeline draws of each thread, asked for as it comes into view, with a margin on both sides.
//
// Why: while one pans, what is drawn is what is here; the server is asked for the rest, a few threads at a time.
// Invariant: a track holds one answer of each kind; what is older than MOST_TRACKS tracks ago is forgotten.
import { group } from '../columns.ts';
import type { Server } from '../server.ts';
import { isAbort } from '../server.ts';
import type { Range } from '../state.ts';
import { stillDoes } from './scale.ts';

const MARGIN = 0.5;     // of the view, on each side
const AT_A_TIME = 3;    // threads
const MOST_TRACKS = 200;
const MOST_PX = 10_000;
export const LATE = 1e9;  // ns: what is older than this is known, also of a recording that grows

export interface Track {
  loaded: Range;
  pixel: number;  // ns
  asked: number;    // how long the recording was then, ns
  leftOut: number;  // calls of the thread that the server had no room for
  slices: { start: Float64Array; duration: Float64Array; depth: Uint32Array; name: Uint32Array; flags: Uint8Array };
  density: { d_depth: Uint32Array; d_px: Uint32Array; d_time: Float64Array; d_count: Uint32Array; d_name: Uint32Array };
  densityFrom: number;   // ns: where the first of its pixels begins
  densityPixel: number;  // ns
  waits: { start: Float64Array; duration: Float64Array; lock: Uint32Array; kind: Uint8Array; holder: Int32Array; count: Uint32Array };
  holds: { h_start: Float64Array; h_duration: Float64Array; h_lock: Uint32Array; h_count: Uint32Array };
  points: { time: Float64Array; name: Uint32Array; count: Uint32Array; text: Uint32Array };
}

export interface Wanted { thread: number; hasCalls: boolean; hasLocks: boolean; hasPoints: boolean }

const nothing = {
  slices: { start: new Float64Array(), duration: new Float64Array(), depth: new Uint32Array(), name: new Uint32Array(), flags: new Uint8Array() },
  density: { d_depth: new Uint32Array(), d_px: new Uint32Array(), d_time: new Float64Array(), d_count: new Uint32Array(), d_name: new Uint32Array() },
  waits: {
    start: new Float64Array(), duration: new Float64Array(), lock: new Uint32Array(), kind: new Uint8Array(), holder: new Int32Array(),
    count: new Uint32Array(),
  },
  holds: { h_start: new Float64Array(), h_duration: new Float64Array(), h_lock: new Uint32Array(), h_count: new Uint32Array() },
  points: { time: new Float64Array(), name: new Uint32Array(), count: new Uint32Array(), text: new Uint32Array() },
};

// The view with its margins, and the pixels that this takes.
export function withMargin(view: Range, width: number, whole: number): { range: Range; px: number } {
  const margin = (view.t1 - view.t0) * MARGIN;
  const range = { t0: Math.max(0, Math.floor(view.t0 - margin)), t1: Math.min(whole, Math.ceil(view.t1 + margin)) };
  const px = Math.round((width * (range.t1 - range.t0)) / (view.t1 - view.t0));
  return { range, px: Math.min(MOST_PX, Math.max(1, px)) };
}

// The steps that sums are of: `px` equal ones of the range asked for, unless the answer tells others.
export function gridOf(told: unknown, range: Range, px: number): { from: number; step: number } {
  const { px: steps, from_ns: from, step_ns: step } = (told ?? {}) as Record<string, unknown>;
  if (typeof from === 'number' && typeof step === 'number' && step > 0) return { from, step };
  return { from: range.t0, step: (range.t1 - range.t0) / (typeof steps === 'number' && steps > 0 ? steps : px) };
}

export class Tracks {
  private readonly tracks = new Map<number, Track>();
  private readonly loading = new Map<number, Range & { pixel: number }>();
  private readonly refused = new Map<number, Range & { pixel: number }>();  // asked again only when the view is another
  private queue: (() => Promise<void>)[] = [];
  private running = 0;

  constructor(private readonly server: Server, private readonly changed: () => void, private readonly failed: (error: unknown) => void) {}

  get(thread: number): Track | undefined {
    return this.tracks.get(thread);
  }

  // Is a track that is in view still on its way?
  isWaiting(): boolean {
    return this.running > 0 || this.queue.length > 0;
  }

  // The threads in view, from top to bottom; what was queued for an older view is dropped.
  want(threads: Wanted[], view: Range, width: number, whole: number, isGrowing = false): void {
    this.queue = [];
    const { range, px } = withMargin(view, width, whole);
    for (const wanted of threads) {
      const has = this.tracks.get(wanted.thread);
      const isKnown = has && (has.asked === whole || Math.min(has.loaded.t1, view.t1) < has.asked - LATE);
      if (has && isKnown && stillDoes(has.loaded, has.pixel, view, width)) continue;
      if (isGrowing && this.loading.has(wanted.thread)) continue;
      const asked = [this.loading.get(wanted.thread), this.refused.get(wanted.thread)];
      if (asked.some((one) => one && stillDoes(one, one.pixel, view, width))) continue;
      this.queue.push(() => this.load(wanted, range, px, whole));
    }
    this.pump();
  }

  private pump(): void {
    while (this.running < AT_A_TIME) {
      const next = this.queue.shift();
      if (next === undefined) return;
      ++this.running;
      next().catch((error) => this.failed(error)).finally(() => {
        --this.running;
        this.pump();
        this.changed();
      });
    }
  }

  private async load(wanted: Wanted, range: Range, px: number, whole: number): Promise<void> {
    const { thread } = wanted;
    const pixel = (range.t1 - range.t0) / px;
    const mine = { ...range, pixel };
    this.loading.set(thread, mine);
    try {
      const track = await this.fetch(wanted, range, px, whole);
      this.refused.delete(thread);
      this.tracks.delete(thread);
      this.tracks.set(thread, track);
      if (this.tracks.size > MOST_TRACKS) this.tracks.delete(this.tracks.keys().next().value!);
    } catch (error) {
      if (isAbort(error)) return;
      this.refused.set(thread, mine);
      throw error;
    } finally {
      if (this.loading.get(thread) === mine) this.loading.delete(thread);
    }
  }

  private async fetch({ thread, hasCalls, hasLocks, hasPoints }: Wanted, range: Range, px: number, whole: number): Promise<Track> {
    const parameters = { thread, t0: range.t0, t1: range.t1, px };
    const ask = (has: boolean, kind: string) => (has ? this.server.columns(kind, parameters, `${kind}-${thread}`) : undefined);
    const [slices, waits, points] = await Promise.all([ask(hasCalls, 'slices'), ask(hasLocks, 'waits'), ask(hasPoints, 'points')]);
    const density = gridOf(slices?.header.density, range, px);
    return {
      loaded: range,
      asked: whole,
      leftOut: Number(slices?.header.left_out ?? 0) || 0,
      pixel: (range.t1 - range.t0) / px,
      densityFrom: density.from,
      densityPixel: density.step,
      slices: slices ? group(slices, { start: 'f64', duration: 'f64', depth: 'u32', name: 'u32', flags: 'u8' }) : nothing.slices,
      density: slices ? group(slices, { d_depth: 'u32', d_px: 'u32', d_time: 'f64', d_count: 'u32', d_name: 'u32' }) : nothing.density,
      waits: waits ? group(waits, { start: 'f64', duration: 'f64', lock: 'u32', kind: 'u8', holder: 'i32', count: 'u32' }) : nothing.waits,
      holds: waits ? group(waits, { h_start: 'f64', h_duration: 'f64', h_lock: 'u32', h_count: 'u32' }) : nothing.holds,
      points: points ? group(points, { time: 'f64', name: 'u32', count: 'u32', text: 'u32' }) : nothing.points,
    };
  }
}
