// SPDX-License-Identifier: MIT
// All that a frame of the timeline is drawn from; the controller (timeline.ts) writes it, drawing and hit test read it.
//
// Why: one object that lives as long as the page: a frame allocates nothing.
// Invariant: x is in CSS pixels from the canvas's left edge; lanes begin below HEAD and are shifted by `scroll`.
import { type Colors, Hues } from '../colors.ts';
import { Labels } from '../labels.ts';
import type { Server } from '../server.ts';
import type { PointCurve, Range, Selected } from '../state.ts';
import type { Lane } from './layout.ts';
import type { Path } from './path.ts';
import type { Tracks } from './tracks.ts';

export const RULER = 20, CURVE = 26;

export type HitKind = 'slice' | 'density' | 'wait' | 'hold' | 'point';
export interface Hit { kind: HitKind; lane: Lane; index: number }

export interface CounterCurve { title: string; unit: string; values: Float64Array; of?: PointCurve }  // of: an argument of a point

export class Scene {
  view: Range = { t0: 0, t1: 1 };
  width = 0;
  height = 0;
  scroll = 0;
  lanes: Lane[] = [];
  laneOf = new Map<number, Lane>();
  curves: CounterCurve[] = [];
  curvesOf: Range = { t0: 0, t1: 1 };
  selection: Selected = {};
  dragged: Range | undefined;   // a range that is being selected
  marks: number[] = [];
  cursor = -1;                  // ns; -1: not over the timeline
  hit: Hit | undefined;
  chosen: { thread: number; start: number; duration: number; depth: number } | undefined;
  path: Path | undefined;
  instant: { thread: number; time: number } | undefined;  // chosen, and without a length
  readonly hues: Hues;
  readonly labels: Labels;
  charWidth = 6.6;

  constructor(public colors: Colors, public readonly tracks: Tracks, public readonly server: Server) {
    this.hues = new Hues((id) => server.name(id));
    this.labels = new Labels((id) => server.name(id));
  }

  get head(): number {
    return RULER + this.curves.length * CURVE;
  }

  x(ns: number): number {
    return ((ns - this.view.t0) / (this.view.t1 - this.view.t0)) * this.width;
  }

  time(x: number): number {
    return this.view.t0 + (x / Math.max(1, this.width)) * (this.view.t1 - this.view.t0);
  }

  // Where a lane begins on the canvas.
  y(lane: Lane): number {
    return this.head + lane.top - this.scroll;
  }

  setLanes(lanes: Lane[]): void {
    this.lanes = lanes;
    this.laneOf = new Map(lanes.map((lane) => [lane.thread.id, lane]));
  }
}
