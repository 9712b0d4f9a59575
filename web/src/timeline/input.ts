// SPDX-License-Identifier: MIT
// Mouse, touch and keys of the timeline.
//
// Why: everything has a key and a gesture; this is the table of both.
// Invariant: a drag that is given up (Esc, capture lost) changes nothing.
import { hitAt } from './hit.ts';
import { laneAt } from './layout.ts';
import type { Hit } from './scene.ts';
import { panBy, zoomAt } from './scale.ts';
import type { Timeline } from './timeline.ts';

const WHEEL = 0.0018;     // zoom for each pixel of the wheel
const KEY_ZOOM = 1.4, KEY_PAN = 0.15;
const CLICK = 4;          // pixels: less is no drag

type Drag = { kind: 'select' | 'pan'; x: number; y: number; scroll: number; view: { t0: number; t1: number }; moved: boolean };

export class Input {
  private drag: Drag | undefined;
  private readonly touches = new Map<number, { x: number; y: number }>();
  private pinch: { distance: number; middle: number; view: { t0: number; t1: number } } | undefined;
  private readonly undo: (() => void)[] = [];

  constructor(private readonly timeline: Timeline, private readonly canvas: HTMLCanvasElement, private readonly scroller: HTMLElement) {
    const on = <K extends keyof HTMLElementEventMap>(name: K, listener: (event: HTMLElementEventMap[K]) => void): void => {
      canvas.addEventListener(name, listener, { passive: false });
      this.undo.push(() => canvas.removeEventListener(name, listener));
    };
    on('wheel', (event) => this.wheel(event));
    on('pointerdown', (event) => this.down(event));
    on('pointermove', (event) => this.move(event));
    on('pointerup', (event) => this.up(event));
    on('pointercancel', (event) => this.giveUp(event));
    on('pointerleave', () => this.leave());
    on('dblclick', (event) => this.doubleClick(event));
    const keys = (event: KeyboardEvent): void => this.key(event);
    addEventListener('keydown', keys, { capture: true });
    this.undo.push(() => removeEventListener('keydown', keys, { capture: true }));
  }

  end(): void {
    for (const one of this.undo) one();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { timeline } = this;
    const pixels = event.deltaMode === 1 ? 16 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      timeline.pan(((event.deltaX || event.deltaY) * pixels) / timeline.scene.width);
    } else if (event.altKey) {
      this.scroller.scrollTop += event.deltaY * pixels;
    } else {
      timeline.zoom(timeline.scene.time(event.offsetX), Math.exp(event.deltaY * pixels * WHEEL));
    }
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === 'touch') this.touches.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.touches.size === 2) return this.startPinch();
    const kind = event.shiftKey || event.pointerType === 'touch' ? 'pan' : 'select';
    this.drag = { kind, x: event.offsetX, y: event.offsetY, scroll: this.scroller.scrollTop, view: this.timeline.scene.view, moved: false };
  }

  private startPinch(): void {
    const [a, b] = [...this.touches.values()];
    this.drag = undefined;
    this.pinch = { distance: Math.max(10, Math.abs(a!.x - b!.x)), middle: (a!.x + b!.x) / 2, view: this.timeline.scene.view };
  }

  private move(event: PointerEvent): void {
    const { timeline, drag } = this, { scene } = timeline;
    if (this.touches.has(event.pointerId)) this.touches.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pinch && this.touches.size === 2) return this.pinched();
    scene.cursor = scene.time(event.offsetX);
    if (drag && Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > CLICK) drag.moved = true;
    if (drag?.moved) this.dragged(drag, event);
    else timeline.hover(hitAt(scene, event.offsetX, event.offsetY));
    timeline.frames.ask();
  }

  private pinched(): void {
    const { pinch, timeline } = this, [a, b] = [...this.touches.values()];
    const factor = pinch!.distance / Math.max(10, Math.abs(a!.x - b!.x)), { view } = pinch!;
    const at = view.t0 + (pinch!.middle / timeline.scene.width) * (view.t1 - view.t0);
    timeline.setView(zoomAt(view, at, factor, timeline.whole()));
  }

  private dragged(drag: Drag, event: PointerEvent): void {
    const { timeline } = this, { scene } = timeline;
    if (drag.kind === 'pan') {
      const ns = ((drag.x - event.offsetX) / scene.width) * (drag.view.t1 - drag.view.t0);
      timeline.setView(panBy(drag.view, ns, timeline.whole()));
      this.scroller.scrollTop = drag.scroll + drag.y - event.offsetY;
      return;
    }
    const [from, to] = [scene.time(drag.x), scene.time(event.offsetX)];
    scene.dragged = { t0: Math.max(0, Math.min(from, to)), t1: Math.min(timeline.whole(), Math.max(from, to)) };
  }

  private up(event: PointerEvent): void {
    const { drag, timeline } = this, { scene } = timeline, { dragged } = scene;
    this.touches.delete(event.pointerId);
    if (this.touches.size === 0) this.pinch = undefined;
    this.drag = scene.dragged = undefined;
    if (dragged) timeline.select(dragged);
    else if (drag && !drag.moved) timeline.choose(hitAt(scene, event.offsetX, event.offsetY));
    timeline.frames.ask();
  }

  private giveUp(event: PointerEvent): void {
    this.touches.delete(event.pointerId);
    this.drag = this.pinch = this.timeline.scene.dragged = undefined;
    this.timeline.frames.ask();
  }

  private leave(): void {
    this.timeline.scene.cursor = -1;
    this.timeline.hover(undefined);
    this.timeline.frames.ask();
  }

  private doubleClick(event: MouseEvent): void {
    const { timeline } = this;
    const hit = hitAt(timeline.scene, event.offsetX, event.offsetY);
    timeline.choose(hit);
    const { chosen } = timeline.store;
    if (hit && chosen?.start !== undefined && (chosen.duration ?? 0) > 0) timeline.fit(chosen.start, chosen.start + chosen.duration!);
    else timeline.fitSelection();
  }

  // The keys of the timeline work wherever one is not typing; those that other parts need too only on it.
  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || this.timeline.store.find || this.timeline.store.help) return;
    if (target.closest('input, select, textarea, canvas.flame')) return;
    const isHere = target === this.canvas || target === document.body;
    if (event.key === 'Escape' && this.drag) this.drag = this.timeline.scene.dragged = undefined;
    else if (!this.anywhere(event.key.length === 1 ? event.key.toLowerCase() : '') && !(isHere && this.here(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    this.timeline.frames.ask();
  }

  private anywhere(key: string): boolean {
    const { timeline } = this, { scene } = timeline;
    const middle = scene.cursor >= 0 ? scene.cursor : (scene.view.t0 + scene.view.t1) / 2;
    switch (key) {
      case 'w': timeline.zoom(middle, 1 / KEY_ZOOM); return true;
      case 's': timeline.zoom(middle, KEY_ZOOM); return true;
      case 'a': timeline.pan(-KEY_PAN); return true;
      case 'd': timeline.pan(KEY_PAN); return true;
      case '0': timeline.fitAll(); return true;
      case 'f': timeline.fitSelection(); return true;
      case 'm': timeline.mark(middle); return true;
      case '[': timeline.instance('before'); return true;
      case ']': timeline.instance('after'); return true;
      case ',': this.step(-1); return true;
      case '.': this.step(1); return true;
      case 'j': this.stepThread(1); return true;
      case 'k': this.stepThread(-1); return true;
      default: return false;
    }
  }

  private here(key: string): boolean {
    const { timeline } = this, { scene } = timeline;
    const middle = scene.cursor >= 0 ? scene.cursor : (scene.view.t0 + scene.view.t1) / 2;
    switch (key) {
      case 'ArrowLeft': timeline.pan(-KEY_PAN); return true;
      case 'ArrowRight': timeline.pan(KEY_PAN); return true;
      case 'ArrowUp': timeline.zoom(middle, 1 / KEY_ZOOM); return true;
      case 'ArrowDown': timeline.zoom(middle, KEY_ZOOM); return true;
      case 'Enter': return this.selectChosen();
      default: return false;
    }
  }

  private selectChosen(): boolean {
    const { chosen } = this.timeline.store;
    if (chosen?.start === undefined || !chosen.duration) return false;
    this.timeline.select({ t0: chosen.start, t1: chosen.start + chosen.duration });
    return true;
  }

  // The next or previous call, wait or point that begins in the view, in the chosen thread.
  private step(by: 1 | -1): void {
    const { timeline } = this, { scene } = timeline, { chosen } = timeline.store;
    const lane = scene.laneOf.get(chosen?.thread ?? -1) ?? timeline.visibleLanes()[0];
    const track = lane && scene.tracks.get(lane.thread.id);
    if (lane === undefined || track === undefined) return;
    const from = [chosen?.start ?? scene.view.t0 - 1, chosen?.depth ?? -1] as const;
    let best: Hit | undefined, bestAt: readonly [number, number] = [by * Infinity, 0];
    const look = (kind: Hit['kind'], starts: Float64Array, depths?: Uint32Array): void => {
      for (let index = 0; index < starts.length; ++index) {
        const at = [starts[index]!, depths?.[index] ?? -1] as const;
        if (at[0] < scene.view.t0 || at[0] > scene.view.t1 || order(at, from) * by <= 0 || order(at, bestAt) * by >= 0) continue;
        best = { kind, lane, index };
        bestAt = at;
      }
    };
    look('slice', track.slices.start, track.slices.depth);
    look('wait', track.waits.start);
    look('point', track.points.time);
    if (best) timeline.choose(best);
  }

  private stepThread(by: number): void {
    const { timeline } = this, { scene } = timeline;
    const lanes = scene.lanes, current = lanes.findIndex((lane) => lane.thread.id === timeline.store.chosen?.thread);
    const lane = lanes[current < 0 ? 0 : Math.min(Math.max(0, current + by), lanes.length - 1)];
    if (lane === undefined) return;
    const middle = scene.y(lane) + Math.max(0, lane.calls) + 4;
    timeline.choose(laneAt(lanes, lane.top) && hitAt(scene, scene.width / 2, middle));
    if (timeline.store.chosen === undefined) timeline.chooseThread(lane.thread);
  }
}

function order(a: readonly [number, number], b: readonly [number, number]): number {
  return a[0] - b[0] || a[1] - b[1];
}
