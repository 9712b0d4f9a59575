// SPDX-License-Identifier: MIT
// Memory over time: who had how much when, and what was live at the instant that was clicked, as a table and a flame graph.
//
// Why: a peak is understood by who was there then, not by who allocated most over the whole run.
// Invariant: the parts of an instant add up to its total, and the flame graph below is of the same instant and total.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAsked, type Asked } from '../answers.ts';
import { colors, onColorsChange } from '../colors.ts';
import { printChoice } from '../blocks.ts';
import { fitCanvas } from '../curve.ts';
import { FlameOf } from '../flame/flame_view.tsx';
import { ofTab } from '../state.ts';
import { store, useStore } from '../store.ts';
import { bytesText, countText, instantText, percentText } from '../units.ts';
import { WholeRun } from '../panels/whole_run.tsx';
import { CHART, colorOf, drawChart, type Chart } from './draw.ts';
import { most, partsAt, readSeries, stepAt, type Series } from './series.ts';

const STEPS = 200;
const DRAGGED = 4;  // pixels: less is a click

function useSeries(): Asked<Series> {
  const { by } = useStore().state, { t0, t1, thread } = store.selection(), parameters = { t0, t1, thread, px: STEPS, by: by || 'function' };
  return useAsked(JSON.stringify(parameters), 'live_heap', () => store.server.columns('live_heap', parameters, 'live_heap').then(readSeries));
}

// Which part of time the chart is of.
function spanOf(): { t0: number; t1: number } {
  const { t0, t1 } = store.server.packed ? {} as { t0?: number; t1?: number } : store.selection();
  return { t0: t0 ?? 0, t1: t1 ?? store.duration() + 1 };
}

function ChartView({ series, step, onHover }: { series: Series; step: number; onHover: (step: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null), chart = useRef<Chart | undefined>(undefined), from = useRef(-1);
  const [width, setWidth] = useState(0), [scheme, setScheme] = useState(0);
  const redraw = (part: Partial<Chart> = {}): void => {
    const c = canvas.current && fitCanvas(canvas.current);
    if (c && chart.current) drawChart(c, Object.assign(chart.current, part));
  };
  useEffect(() => {
    const resized = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    resized.observe(canvas.current!);
    const undo = onColorsChange(() => setScheme((n) => n + 1));
    return () => {
      resized.disconnect();
      undo();
    };
  }, []);
  useEffect(() => {
    chart.current = { series, width, hovered: -1, chosen: step, dragged: undefined, colors: colors() };
    redraw();
  }, [series, width, step, scheme]);
  const steps = series.time.length;
  const under = (event: PointerEvent): number => Math.min(steps - 1, Math.max(0, Math.floor((event.offsetX / Math.max(1, width)) * steps)));
  const choose = (at: number): void => store.change({ instant: series.time[at]! }, true);
  const released = (event: PointerEvent): void => {
    const x = event.offsetX, start = from.current, { t0, t1 } = spanOf();
    from.current = -1;
    redraw({ dragged: undefined });
    if (start < 0) return;
    if (Math.abs(x - start) < DRAGGED) return choose(under(event));
    const time = (at: number): number => t0 + Math.min(1, Math.max(0, at / width)) * (t1 - t0);
    store.addCrumb({ kind: 'range', t0: Math.floor(time(Math.min(x, start))), t1: Math.ceil(time(Math.max(x, start))) });
  };
  const moved = (event: PointerEvent): void => {
    redraw({ hovered: under(event), dragged: from.current >= 0 ? [from.current, event.offsetX] : undefined });
    onHover(under(event));
  };
  const pressed = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Math.min(steps - 1, Math.max(0, step + by)));
  };
  return (
    <canvas ref={canvas} class="chart" style={{ height: `${CHART}px` }} tabIndex={0} role="slider" aria-label="Live bytes over time: the instant looked at"
      aria-valuemin={0} aria-valuemax={steps - 1} aria-valuenow={step} aria-valuetext={`${instantText(series.time[step] ?? 0, 1000)}, ${bytesText(series.total[step] ?? 0)}`}
      onKeyDown={pressed} onPointerMove={moved} onPointerUp={released}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        from.current = event.offsetX;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerLeave={() => {
        redraw({ hovered: -1 });
        onHover(-1);
      }} />
  );
}

function Parts({ series, step }: { series: Series; step: number }) {
  const total = series.total[step] ?? 0, set = colors(), { by } = store.state;
  return (
    <table class="parts">
      <thead><tr><th scope="col" class="number"><span>LIVE</span></th><th scope="col" class="number"><span>SHARE</span></th><th scope="col"><span>ALLOCATED BY</span></th></tr></thead>
      <tbody>
        {partsAt(series, step).map(({ name, bytes, series: at }) => (
          <tr key={name}>
            <td class="number">{bytesText(bytes)}</td><td class="number">{percentText(total > 0 ? (100 * bytes) / total : 0)}</td>
            <td class="text"><span class="swatch" style={{ background: colorOf(set, at) }} /> {by === 'stack' || at < 0 ? name
              : <button class="link" title="its blocks" onClick={() => store.change({ ...ofTab('blocks'), blocks: printChoice({ function: name, instant: String(series.time[step]) }) }, true)}>{name}</button>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function MemoryView() {
  const { state } = useStore(), { answer: series, error, isLoading } = useSeries(), { packed } = store.server;
  const [hovered, setHovered] = useState(-1);
  if (error !== undefined) return <p class="bad" role="alert">{error}</p>;
  if (series === undefined) return <p class="hint">…</p>;
  const step = state.instant === undefined ? most(series.total) : stepAt(series, state.instant), seen = hovered < 0 ? step : hovered;
  const instant = series.time[step] ?? 0, ended = (series.total[seen] ?? 0) - (series.live[seen] ?? 0);
  return (
    <div class={`memory${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <WholeRun />
      <div class="flame-tools">
        {!packed && <label>By <select value={state.by || 'function'} onChange={(event) => store.change({ by: event.currentTarget.value === 'stack' ? 'stack' : '' })}>
          <option value="function">function</option><option value="stack">the innermost four frames</option></select></label>}
        <span role="status">{bytesText(series.total[seen] ?? 0)} live at {instantText(series.time[seen] ?? 0, 1000)}</span>
        <span class="hint">at most {bytesText(series.total[most(series.total)] ?? 0)}; click or ← → choose an instant, a drag selects a time</span>
        {step !== most(series.total) && <button onClick={() => store.change({ instant: undefined }, true)}>the peak</button>}
      </div>
      <ChartView series={series} step={step} onHover={setHovered} />
      {ended > 0 && <p class="hint">{bytesText(ended)} of it were left by processes that had ended.</p>}
      <Parts series={series} step={seen} />
      {packed ? <p class="hint">The flame graph of an instant, and curves by stack, are only in penna view.</p> : (
        <section class="instant" aria-label="Live at that instant">
          <h2>Live at {instantText(instant, 1)}, by stack</h2>
          <FlameOf weight="live" t1={instant} />
        </section>
      )}
      {series.others > 0 && <p class="hint">{countText(series.others)} others have no curve of their own.</p>}
    </div>
  );
}
