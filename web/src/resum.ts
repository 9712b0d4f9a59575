// SPDX-License-Identifier: MIT
// Answers about a part of the run, worked out from stored ones about the whole of it.
//
// Why: a page that has its answers with it has them once, at one resolution; the timeline asks at many.
// Invariant: counts and times of what overlaps the range add up to the stored ones; no step is finer than a stored one, and each
// begins where a stored one does, so that no sum has to be divided.

export interface Stored { whole: number; px: number }  // ns, and the equal steps that it was stored in
export interface Wanted { t0: number; t1: number; px: number }

export interface Slices {
  start: Float64Array; duration: Float64Array; depth: Uint32Array; name: Uint32Array; flags: Uint8Array;
  d_depth: Uint32Array; d_px: Uint32Array; d_time: Float64Array; d_count: Uint32Array; d_name: Uint32Array;
}
export interface Waits {
  start: Float64Array; duration: Float64Array; lock: Uint32Array; kind: Uint8Array; holder: Int32Array; count: Uint32Array;
}
export interface Holds { h_start: Float64Array; h_duration: Float64Array; h_lock: Uint32Array; h_count: Uint32Array }
export interface Points { time: Float64Array; name: Uint32Array; count: Uint32Array; text: Uint32Array }

// Steps of `join` stored ones each, beginning with the stored one `first`.
export interface Grid { from: number; step: number; steps: number; first: number; join: number }

export function gridOf({ whole, px }: Stored, { t0, t1, px: wanted }: Wanted): Grid {
  const stored = whole / px, join = Math.max(1, Math.round((t1 - t0) / wanted / stored));
  const first = Math.max(0, Math.floor(t0 / stored / join) * join), end = Math.min(px, Math.ceil(t1 / stored));
  return { from: first * stored, step: join * stored, steps: Math.max(1, Math.ceil((end - first) / join)), first, join };
}

const stepAt = ({ from, step, steps }: Grid, time: number): number => Math.min(steps - 1, Math.max(0, Math.floor((time - from) / step)));
const overlaps = (start: number, end: number, { t0, t1 }: Wanted): boolean => start < t1 && (end > t0 || start >= t0);

// Short calls of one step and depth, with the time of each function.
interface Cell { depth: number; px: number; time: number; count: number; names: Map<number, number> }

class Density {
  private readonly cells = new Map<string, Cell>();

  add(depth: number, px: number, name: number, time: number, count: number): void {
    const key = `${depth} ${px}`;
    let cell = this.cells.get(key);
    if (cell === undefined) this.cells.set(key, (cell = { depth, px, time: 0, count: 0, names: new Map() }));
    cell.time += time;
    cell.count += count;
    cell.names.set(name, (cell.names.get(name) ?? 0) + time);
  }

  columns() {
    const cells = [...this.cells.values()];
    const most = ({ names }: Cell): number => [...names].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
    return {
      d_depth: Uint32Array.from(cells, (cell) => cell.depth), d_px: Uint32Array.from(cells, (cell) => cell.px),
      d_time: Float64Array.from(cells, (cell) => cell.time), d_count: Uint32Array.from(cells, (cell) => cell.count),
      d_name: Uint32Array.from(cells, most),
    };
  }
}

// Calls that last a wanted pixel stay; those that do not, and what was already a sum, are summed where they begin.
export function slicesOf(all: Slices, stored: Stored, wanted: Wanted): Slices {
  const grid = gridOf(stored, wanted), pixel = (wanted.t1 - wanted.t0) / wanted.px, unit = stored.whole / stored.px;
  const kept: number[] = [], density = new Density();
  for (let at = 0; at < all.start.length; ++at) {
    const start = all.start[at]!, duration = all.duration[at]!;
    if (!overlaps(start, start + duration, wanted)) continue;
    if (duration >= pixel) kept.push(at);
    else density.add(all.depth[at]!, stepAt(grid, start), all.name[at]!, duration, 1);
  }
  for (let at = 0; at < all.d_px.length; ++at) {
    const px = all.d_px[at]!;
    if (!overlaps(px * unit, (px + 1) * unit, wanted)) continue;
    const step = Math.min(grid.steps - 1, Math.max(0, Math.floor((px - grid.first) / grid.join)));
    density.add(all.d_depth[at]!, step, all.d_name[at]!, all.d_time[at]!, all.d_count[at]!);
  }
  return {
    start: Float64Array.from(kept, (at) => all.start[at]!), duration: Float64Array.from(kept, (at) => all.duration[at]!),
    depth: Uint32Array.from(kept, (at) => all.depth[at]!), name: Uint32Array.from(kept, (at) => all.name[at]!),
    flags: Uint8Array.from(kept, (at) => all.flags[at]!), ...density.columns(),
  };
}

// Entries in the range, as [index of the first, end, count]: short ones of one step and key are one, from the first's begin to the
// last's end, as the server joins them.
function joinShort(start: Float64Array, duration: Float64Array, count: Uint32Array, keyOf: (at: number) => string, stored: Stored,
  wanted: Wanted): { at: number; end: number; count: number }[] {
  const grid = gridOf(stored, wanted), pixel = (wanted.t1 - wanted.t0) / wanted.px;
  const found: { at: number; end: number; count: number }[] = [], shorts = new Map<string, { at: number; end: number; count: number }>();
  for (let at = 0; at < start.length; ++at) {
    const end = start[at]! + duration[at]!;
    if (!overlaps(start[at]!, end, wanted)) continue;
    const key = duration[at]! < pixel ? `${stepAt(grid, start[at]!)} ${keyOf(at)}` : undefined;
    const before = key === undefined ? undefined : shorts.get(key);
    if (before !== undefined) {
      before.end = Math.max(before.end, end);
      before.count += count[at]!;
      continue;
    }
    const one = { at, end, count: count[at]! };
    found.push(one);
    if (key !== undefined) shorts.set(key, one);
  }
  return found;
}

export function waitsOf(all: Waits, stored: Stored, wanted: Wanted): Waits {
  const found = joinShort(all.start, all.duration, all.count, (at) => `${all.lock[at]} ${all.kind[at]} ${all.holder[at]}`, stored, wanted);
  return {
    start: Float64Array.from(found, ({ at }) => all.start[at]!), duration: Float64Array.from(found, ({ at, end }) => end - all.start[at]!),
    lock: Uint32Array.from(found, ({ at }) => all.lock[at]!), kind: Uint8Array.from(found, ({ at }) => all.kind[at]!),
    holder: Int32Array.from(found, ({ at }) => all.holder[at]!), count: Uint32Array.from(found, ({ count }) => count),
  };
}

export function holdsOf(all: Holds, stored: Stored, wanted: Wanted): Holds {
  const found = joinShort(all.h_start, all.h_duration, all.h_count, (at) => String(all.h_lock[at]), stored, wanted);
  return {
    h_start: Float64Array.from(found, ({ at }) => all.h_start[at]!),
    h_duration: Float64Array.from(found, ({ at, end }) => end - all.h_start[at]!),
    h_lock: Uint32Array.from(found, ({ at }) => all.h_lock[at]!), h_count: Uint32Array.from(found, ({ count }) => count),
  };
}

// Points of one step are one at the time of the first: without values, and without a name when theirs differ.
export function pointsOf(all: Points, stored: Stored, wanted: Wanted): Points {
  const grid = gridOf(stored, wanted), found: { time: number; step: number; name: number; count: number; text: number }[] = [];
  for (let at = 0; at < all.time.length; ++at) {
    const time = all.time[at]!, step = stepAt(grid, time), last = found.at(-1);
    if (time < wanted.t0 || time >= wanted.t1) continue;
    if (last?.step === step) {
      last.count += all.count[at]!;
      last.text = 0;
      if (last.name !== all.name[at]!) last.name = 0;
    } else {
      found.push({ time, step, name: all.name[at]!, count: all.count[at]!, text: all.text[at]! });
    }
  }
  return {
    time: Float64Array.from(found, (one) => one.time), name: Uint32Array.from(found, (one) => one.name),
    count: Uint32Array.from(found, (one) => one.count), text: Uint32Array.from(found, (one) => one.text),
  };
}

// One counter: its steps summed, or the greatest of them.
export function counterOf(all: Float64Array, isLevel: boolean, stored: Stored, wanted: Wanted): Float64Array {
  const { first, join, steps } = gridOf(stored, wanted), found = new Float64Array(steps);
  for (let at = first; at < Math.min(all.length, first + steps * join); ++at) {
    const step = Math.floor((at - first) / join);
    found[step] = isLevel ? Math.max(found[step]!, all[at]!) : found[step]! + all[at]!;
  }
  return found;
}
