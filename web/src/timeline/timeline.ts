// SPDX-License-Identifier: MIT
// The timeline's controller: what the scene shows, and what is asked of the server for it.
//
// Why: apart from Preact, for a frame must not wait for a tree of components; input (input.ts) calls the methods here.
// Invariant: the view that is drawn is `scene.view`; the store's address follows when it has come to rest.
import { group } from '../columns.ts';
import { colors, onColorsChange } from '../colors.ts';
import { fitCanvas } from '../curve.ts';
import { Frames } from '../frames.ts';
import { showInstance } from '../instances.ts';
import type { Thread } from '../protocol.ts';
import { selection, type PointCurve, type Range } from '../state.ts';
import { isAbort } from '../server.ts';
import type { Store } from '../store.ts';
import { durationText, rangeText } from '../units.ts';
import { drawScene, FONT } from './draw.ts';
import { shownOf, threadShown } from './hit.ts';
import { layOut, orderThreads, ROW, type Lane } from './layout.ts';
import { Scene, type CounterCurve, type Hit } from './scene.ts';
import { readPath } from './path.ts';
import { clampView, panBy, stillDoes, zoomAt } from './scale.ts';
import { gridOf, LATE, Tracks, withMargin } from './tracks.ts';

const REST = 120;     // ms without a change until the server is asked and the address is written
const FIT = 0.05;     // of a fitted range, free on each side

const COUNTERS = [
  { column: 'live_bytes', title: 'live bytes', unit: 'bytes', kind: 'allocations' },
  { column: 'calls', title: 'calls', unit: 'count', kind: 'calls' },
  { column: 'waits', title: 'waits', unit: 'count', kind: 'locks' },
] as const;

export class Timeline {
  readonly scene: Scene;
  readonly frames = new Frames(() => this.draw());
  readonly opened = new Set<number>();
  private context: CanvasRenderingContext2D | null = null;
  private restTimer = 0;
  private shownView: Range | undefined;   // of the store, as it was last seen
  private countersOf: Range = { t0: 0, t1: 0 };  // what was last asked for, answered or refused
  private countersPixel = 0;
  private countersAsked = 0;              // how long the recording was then, ns
  private countersBusy = false;
  private length = 0;                     // of the recording, as it was last seen
  private pathOf = '';                    // thread and time whose critical path is shown
  private kinds = 0;                      // of counters that there are
  private points: PointCurve[] = [];      // whose curves are shown
  private readonly undo: (() => void)[] = [];

  constructor(readonly store: Store, private readonly canvas: HTMLCanvasElement, private readonly scroller: HTMLElement,
    private readonly changed: () => void) {
    const tracks = new Tracks(store.server, () => this.arrived(), (error) => store.fail(error));
    this.scene = new Scene(colors(), tracks, store.server);
    this.takeCurves();
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(canvas);
    resized.observe(scroller);
    this.undo.push(
      () => resized.disconnect(), store.subscribe(() => this.sync()), store.subscribe(() => this.syncShown(), 'shown'),
      onColorsChange(() => {
        this.scene.colors = colors();
        this.frames.ask();
      }));
    this.sync();
  }

  private arrived(): void {
    this.frames.ask();
    this.changed();
  }

  end(): void {
    clearTimeout(this.restTimer);
    for (const one of this.undo) one();
  }

  private kindsOf() {
    return COUNTERS.filter(({ kind }) => this.store.summary?.kinds.includes(kind));
  }

  // Those of counters and of points' arguments; what is shown already stays until the answer.
  private takeCurves(): void {
    const { curves } = this.store.state, known = this.scene.curves;
    this.points = this.store.server.packed ? [] : curves;
    this.kinds = this.kindsOf().length;
    const empty = (one: CounterCurve): CounterCurve => known.find(({ title }) => title === one.title) ?? one;
    this.scene.curves = [
      ...this.kindsOf().map(({ title, unit }) => empty({ title, unit, values: new Float64Array() })),
      ...this.points.map((of) => empty({ title: `${of.point} ${of.argument}`, unit: 'number', values: new Float64Array(), of })),
    ];
    this.countersPixel = 0;
  }

  private has(kind: string): boolean {
    return this.store.summary?.kinds.includes(kind) ?? false;
  }

  whole(): number {
    return this.store.duration();
  }

  resize(): void {
    this.context = fitCanvas(this.canvas);
    this.scene.width = this.canvas.clientWidth;
    this.scene.height = this.canvas.clientHeight;
    if (this.context) {
      this.context.font = FONT;
      this.scene.charWidth = this.context.measureText('0123456789').width / 10;
    }
    this.rest();
    this.frames.ask();
    this.changed();
  }

  scrolled(): void {
    this.scene.scroll = this.scroller.scrollTop;
    this.rest();
    this.frames.ask();
    this.changed();
  }

  toggleDepths(thread: number): void {
    if (!this.opened.delete(thread)) this.opened.add(thread);
    this.sync();
  }

  // Takes over what the store says.
  sync(): void {
    const { state, threads } = this.store, scene = this.scene;
    if (this.kindsOf().length !== this.kinds) this.takeCurves();
    if (state.curves !== this.points && !this.store.server.packed) {
      this.takeCurves();
      this.ask();
    }
    scene.setLanes(layOut(orderThreads(threads, state.order, state.pinned, state.hidden), this.has('locks'), this.opened));
    scene.selection = selection(state);
    this.askPath().catch((error) => this.store.fail(error));
    scene.marks = state.marks;
    if (state.view !== this.shownView || scene.view.t1 === 1) {
      this.shownView = state.view;
      clearTimeout(this.restTimer);
      scene.view = clampView(state.view?.t0 ?? 0, state.view?.t1 ?? this.whole(), this.whole());
      this.ask();
    }
    if (this.whole() !== this.length) this.grew();
    if (!this.isGrowing()) this.rest();
    this.frames.ask();
    this.changed();
  }

  private isGrowing(): boolean {
    return this.store.summary?.growing === true;
  }

  // The end of the recording stays in view, unless somebody has looked elsewhere.
  private grew(): void {
    const { scene } = this, { t0, t1 } = scene.view, whole = this.whole(), isFirst = this.length === 0;
    this.length = whole;
    if (isFirst) return;
    if (this.store.follows) scene.view = this.store.state.view === undefined ? { t0: 0, t1: whole } : { t0: Math.max(0, whole - (t1 - t0)), t1: whole };
    this.ask();
    if (!this.store.follows) this.keep();
  }

  private syncShown(): void {
    const { chosen } = this.store;
    this.scene.chosen = chosen?.depth === undefined || chosen.thread === undefined || chosen.start === undefined
      ? undefined
      : { thread: chosen.thread, start: chosen.start, duration: chosen.duration ?? 0, depth: chosen.depth };
    this.scene.instant = chosen?.thread !== undefined && chosen.start !== undefined && chosen.duration === undefined
      ? { thread: chosen.thread, time: chosen.start } : undefined;
    if (chosen?.thread !== undefined) this.reveal(chosen.thread, chosen.depth ?? 0);
    this.frames.ask();
  }

  // Scrolls to a thread, when it is not to be seen, and opens it when the depth is not.
  private reveal(thread: number, depth: number): void {
    let lane = this.scene.laneOf.get(thread);
    if (lane === undefined) return;
    if (depth >= lane.depths && lane.deeper > 0 && !this.opened.has(thread)) {
      this.toggleDepths(thread);
      lane = this.scene.laneOf.get(thread)!;
    }
    const room = this.scene.height - this.scene.head, y = lane.top + Math.max(0, lane.calls) + depth * ROW;
    if (y < this.scene.scroll || y + ROW > this.scene.scroll + room) this.scroller.scrollTop = Math.max(0, y - room / 2);
  }

  setView(view: Range): void {
    this.scene.view = view;
    const follows = view.t1 >= this.whole();
    if (this.isGrowing() && this.store.follows !== follows) this.store.set({ follows });
    this.rest();
    this.frames.ask();
    this.changed();
  }

  zoom(at: number, factor: number): void {
    this.setView(zoomAt(this.scene.view, at, factor, this.whole()));
  }

  pan(share: number): void {
    this.setView(panBy(this.scene.view, share * (this.scene.view.t1 - this.scene.view.t0), this.whole()));
  }

  fit(t0: number, t1: number): void {
    const margin = (t1 - t0) * FIT;
    this.setView(clampView(t0 - margin, t1 + margin, this.whole()));
  }

  fitAll(): void {
    this.setView({ t0: 0, t1: this.whole() });
  }

  fitSelection(): void {
    const { t0, t1 } = this.scene.selection, { chosen } = this.store;
    if (t0 !== undefined && t1 !== undefined) this.fit(t0, t1);
    else if (chosen?.start !== undefined && (chosen.duration ?? 0) > 0) this.fit(chosen.start, chosen.start + chosen.duration!);
    else this.fitAll();
  }

  select(range: Range): void {
    const t0 = Math.max(0, Math.floor(Math.min(range.t0, range.t1))), t1 = Math.min(this.whole(), Math.ceil(Math.max(range.t0, range.t1)));
    if (t1 > t0) this.store.addCrumb({ kind: 'range', t0, t1 });
  }

  // Puts a mark at an instant, or takes away one that is within some pixels.
  mark(at: number): void {
    const near = (4 * (this.scene.view.t1 - this.scene.view.t0)) / this.scene.width;
    const marks = this.store.state.marks.filter((mark) => Math.abs(mark - at) > near);
    this.store.change({ marks: marks.length < this.store.state.marks.length ? marks : [...marks, Math.round(at)].sort((a, b) => a - b) });
  }

  hover(hit: Hit | undefined): void {
    const before = this.scene.hit;
    if (before?.kind === hit?.kind && before?.lane === hit?.lane && before?.index === hit?.index) return;
    this.scene.hit = hit;
    this.store.show({ hovered: hit && shownOf(this.store, this.scene, hit) });
  }

  choose(hit: Hit | undefined): void {
    this.store.show({ chosen: hit && shownOf(this.store, this.scene, hit) });
  }

  chooseThread(thread: Thread): void {
    this.store.show({ chosen: threadShown(thread) });
  }

  instance(way: 'after' | 'before'): void {
    const { chosen } = this.store;
    if (chosen?.function === undefined || chosen.start === undefined) {
      this.store.fail(new Error('choose a call first: click on it'));
      return;
    }
    const at = Math.floor(chosen.start);
    void showInstance(chosen.function, way === 'after' ? { after: at } : { before: at }, chosen.thread);
  }

  // What is drawn, for those who do not see it.
  description(): string {
    const { view, lanes } = this.scene;
    const hidden = this.store.threads.length - lanes.length;
    return `Timeline of ${rangeText(view.t0, view.t1)}, ${durationText(view.t1 - view.t0)} of ${durationText(this.whole())}; ` +
      `${lanes.length} threads${hidden > 0 ? `, ${hidden} hidden` : ''}: ${lanes.slice(0, 8).map((lane) => lane.thread.name || lane.thread.tid).join(', ')}`;
  }

  visibleLanes(): Lane[] {
    const { scene } = this;
    return scene.lanes.filter((lane) => scene.y(lane) + lane.height > scene.head && scene.y(lane) < scene.height);
  }

  private rest(): void {
    clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => {
      this.ask();
      this.keep();
    }, REST);
  }

  private ask(): void {
    const { scene } = this;
    if (scene.width === 0) return;
    const wanted = this.visibleLanes().map(({ thread }) => ({
      thread: thread.id, hasCalls: thread.calls > 0, hasLocks: this.has('locks'), hasPoints: thread.points > 0,
    }));
    scene.tracks.want(wanted, scene.view, scene.width, this.whole(), this.isGrowing());
    this.askCounters().catch((error) => this.store.fail(error));
  }

  private async askCounters(): Promise<void> {
    const { scene, points } = this, kinds = this.kindsOf();
    const isKnown = this.countersAsked === this.whole() || scene.view.t1 < this.countersAsked - LATE;
    if (scene.curves.length === 0 || (isKnown && stillDoes(this.countersOf, this.countersPixel, scene.view, scene.width))) return;
    if (this.isGrowing() && this.countersBusy) return;
    this.countersAsked = this.whole();
    this.countersBusy = true;
    const { range, px } = withMargin(scene.view, scene.width / 2, this.whole());
    this.countersOf = range;
    this.countersPixel = (range.t1 - range.t0) / (2 * px);
    const [answer, ...ofPoints] = await Promise.all([
      this.store.server.columns('counters', { t0: range.t0, t1: range.t1, px }, 'counters'),
      ...points.map((of) => this.store.server.columns('curve', { ...of, t0: range.t0, t1: range.t1, px }, `curve ${of.point}\n${of.argument}`)
        .catch((error) => this.refuseCurve(of, error))),
    ]).finally(() => (this.countersBusy = false));
    if (points !== this.points) return;
    const values = group(answer, { live_bytes: 'f64', calls: 'f64', waits: 'f64' });
    const { from, step } = gridOf(answer.header.grid, range, px);
    scene.curvesOf = answer.header.grid === undefined ? range : { t0: from, t1: from + step * values.calls.length };
    scene.curves = [
      ...kinds.map(({ title, unit, column }) => ({ title, unit, values: values[column] })),
      ...points.map((of, at) => ({
        title: `${of.point} ${of.argument}`, unit: 'number', of,
        values: ofPoints[at] ? group(ofPoints[at], { value: 'f64' }).value : new Float64Array(),
      })),
    ];
    this.frames.ask();
  }

  // Of one thread that is selected, and of that time.
  private async askPath(): Promise<void> {
    const { thread, threads, t0, t1 } = this.scene.selection, isWanted = this.store.state.path && threads?.length === 1 && !this.store.server.packed;
    const wanted = isWanted ? `${thread} ${t0} ${t1}` : '';
    if (wanted === this.pathOf) return;
    this.pathOf = wanted;
    this.scene.path = undefined;
    if (!isWanted) return;
    const answer = await this.store.server.columns('critical_path', { thread, t0, t1 }, 'critical_path');
    if (this.pathOf !== wanted) return;
    this.scene.path = readPath(answer);
    this.frames.ask();
  }

  // An address may name what the recording does not have.
  private refuseCurve(of: PointCurve, error: unknown): undefined {
    if (isAbort(error)) throw error;
    this.store.fail(error);
    this.store.change({ curves: this.store.state.curves.filter((one) => one.point !== of.point || one.argument !== of.argument) });
  }

  private keep(): void {
    const { view } = this.scene, isWhole = view.t0 === 0 && view.t1 === this.whole();
    const known = this.store.state.view;
    if (isWhole ? known === undefined : known?.t0 === view.t0 && known.t1 === view.t1) return;
    this.shownView = isWhole ? undefined : view;
    this.store.change({ view: this.shownView });
  }

  private draw(): void {
    if (this.context) drawScene(this.context, this.scene);
  }
}
