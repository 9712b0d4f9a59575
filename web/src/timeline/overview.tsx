// SPDX-License-Identifier: MIT
// The row above the timeline: the whole run, and which part of it is in view. A drag there is the view.
//
// Why: who has zoomed in must see where.
// Invariant: asks once, of a recording that grows again and again; events as density, live bytes as a line, waits in their colour.
import { useEffect, useRef, useState } from 'preact/hooks';
import { colors, onColorsChange } from '../colors.ts';
import { group } from '../columns.ts';
import { fillCurve, fitCanvas, highest } from '../curve.ts';
import { usePulse } from '../live.ts';
import { store } from '../store.ts';
import { durationText } from '../units.ts';
import { clampView } from './scale.ts';
import type { Timeline } from './timeline.ts';

interface Values { events: Float64Array; live_bytes: Float64Array; waits: Float64Array }
const STEPS = 600;

function drawLine(c: CanvasRenderingContext2D, values: Float64Array, width: number, height: number): void {
  const most = highest(values);
  if (most <= 0) return;
  c.beginPath();
  for (let at = 0; at < values.length; ++at)
    c.lineTo(((at + 0.5) * width) / values.length, height - 2 - (values[at]! / most) * (height - 4));
  c.stroke();
}

function draw(canvas: HTMLCanvasElement, values: Values | undefined, timeline: Timeline): void {
  const c = fitCanvas(canvas), width = canvas.clientWidth, height = canvas.clientHeight, set = colors();
  if (c === null) return;
  c.clearRect(0, 0, width, height);
  if (values) {
    fillCurve(c, values.events, 0, width, 2, height - 2, set.grey);
    fillCurve(c, values.waits, 0, width, height * 0.65, height * 0.35, set.wait[0]!);
    c.strokeStyle = set.curve;
    c.lineWidth = 1.5;
    drawLine(c, values.live_bytes, width, height);
  }
  const { view } = timeline.scene, whole = timeline.whole();
  const x0 = (view.t0 / whole) * width, x1 = Math.max(x0 + 2, (view.t1 / whole) * width);
  c.fillStyle = set.shade;
  c.fillRect(0, 0, x0, height);
  c.fillRect(x1, 0, width - x1, height);
  c.strokeStyle = set.chosen;
  c.lineWidth = 1;
  c.strokeRect(x0 + 0.5, 0.5, Math.max(1, x1 - x0 - 1), height - 1);
}

export function Overview({ timeline, drawn }: { timeline: Timeline; drawn: { current: () => void } }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const values = useRef<Values | undefined>(undefined);
  const from = useRef(-1);
  const [isLoading, setLoading] = useState(true);
  const pulse = usePulse(isLoading);
  useEffect(() => {
    const redraw = (): void => {
      if (canvas.current) draw(canvas.current, values.current, timeline);
    };
    drawn.current = redraw;
    redraw();
    return onColorsChange(redraw);
  }, [timeline]);
  useEffect(() => {
    setLoading(true);
    store.server.columns('counters', { px: STEPS }, 'overview').then((answer) => {
      values.current = group(answer, { events: 'f64', live_bytes: 'f64', waits: 'f64' });
      drawn.current();
    }).catch((error) => store.fail(error)).finally(() => setLoading(false));
  }, [timeline, pulse]);
  const time = (event: PointerEvent): number => (event.offsetX / canvas.current!.clientWidth) * timeline.whole();
  const view = (event: PointerEvent): void => {
    const at = time(event), whole = timeline.whole(), half = (timeline.scene.view.t1 - timeline.scene.view.t0) / 2;
    const isClick = Math.abs(at - from.current) < whole / 200;
    timeline.setView(isClick ? clampView(at - half, at + half, whole)
                             : clampView(Math.min(at, from.current), Math.max(at, from.current), whole));
  };
  return (
    <canvas ref={canvas} class="overview" role="img" aria-label={`Overview of the whole run, ${durationText(timeline.whole())}`}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        from.current = time(event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (from.current >= 0 && Math.abs(time(event) - from.current) > timeline.whole() / 200) view(event);
      }}
      onPointerUp={(event) => {
        if (from.current >= 0) view(event);
        from.current = -1;
      }} />
  );
}
