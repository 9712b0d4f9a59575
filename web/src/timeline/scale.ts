// SPDX-License-Identifier: MIT
// Time and pixels: zooming, panning, and where the ruler's marks lie.
//
// Why: pure, so that it is tested without a canvas.
// Invariant: a view lies within the run, is whole nanoseconds, and is never shorter than SHORTEST.
import type { Range } from '../state.ts';

export const SHORTEST = 100;  // ns

export function clampView(t0: number, t1: number, whole: number): Range {
  const length = Math.min(Math.max(Math.round(t1 - t0), Math.min(SHORTEST, whole)), whole);
  const from = Math.min(Math.max(0, Math.round(t0)), whole - length);
  return { t0: from, t1: from + length };
}

// factor < 1 zooms in; the instant `at` stays where it is.
export function zoomAt(view: Range, at: number, factor: number, whole: number): Range {
  const length = Math.min(Math.max((view.t1 - view.t0) * factor, Math.min(SHORTEST, whole)), whole);
  const share = (at - view.t0) / (view.t1 - view.t0);
  return clampView(at - share * length, at - share * length + length, whole);
}

export function panBy(view: Range, ns: number, whole: number): Range {
  return clampView(view.t0 + ns, view.t1 + ns, whole);
}

// The distance of the ruler's marks: 1, 2 or 5 times a power of ten, at least `apart` pixels.
export function tickStep(view: Range, width: number, apart: number): number {
  const least = ((view.t1 - view.t0) / Math.max(1, width)) * apart;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const times of [1, 2, 5]) if (power * times >= least) return power * times;
  return power * 10;
}

// Does what was loaded for `loaded` at a resolution of `ns` a pixel still do for a view?
export function stillDoes(loaded: Range, ns: number, view: Range, width: number): boolean {
  const needed = (view.t1 - view.t0) / Math.max(1, width);
  return loaded.t0 <= view.t0 && loaded.t1 >= view.t1 && ns <= needed * 1.6 && ns >= needed / 4;
}
