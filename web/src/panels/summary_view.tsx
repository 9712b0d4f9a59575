// SPDX-License-Identifier: MIT
// The first tab: what stands out, in sentences that lead further; three curves; health; kinds that were not recorded.
//
// Why: nobody should have to know what to click first.
// Invariant: an empty kind says how to record it; what was lost is said here.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAsked } from '../answers.ts';
import { group } from '../columns.ts';
import { colors } from '../colors.ts';
import { drawCurve } from '../curve.ts';
import { viewAround } from '../instances.ts';
import { usePulse } from '../live.ts';
import type { Highlight, Summary } from '../protocol.ts';
import { ofTab } from '../state.ts';
import { store, useStore } from '../store.ts';
import { amountText, countText } from '../units.ts';

const STEPS = 200;
const CURVES = [
  { key: 'calls', title: 'calls', kind: 'calls', tab: 'calls', unit: 'count' },
  { key: 'live_bytes', title: 'live bytes', kind: 'allocations', tab: 'peak', unit: 'bytes' },
  { key: 'waits', title: 'waits for locks', kind: 'locks', tab: 'waits', unit: 'count' },
] as const;

const isThere = (tab: string | undefined): boolean => tab === 'flame' || tab === 'memory' || store.tables.some((table) => table.key === tab);
const open = ({ tab, sort }: { tab?: string | undefined; sort?: string | undefined }): void => {
  if (tab) store.change(ofTab(tab, sort === undefined ? '' : sort.includes(':') ? sort : `${sort}:desc`), true);
};

function Curve({ of, values }: { of: (typeof CURVES)[number]; values: Float64Array }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) drawCurve(canvas.current, values, colors().curve);
  }, [values]);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return (
    <button class="spark" onClick={() => isThere(of.tab) && open({ tab: of.tab })}>
      <canvas ref={canvas} aria-hidden="true" />
      <span>{of.title}, at most {amountText(most, of.unit)}{of.key === 'live_bytes' ? '' : ' a step'}</span>
    </button>
  );
}

function Curves() {
  const { summary } = useStore();
  const [values, setValues] = useState<Record<string, Float64Array>>();
  const [isLoading, setLoading] = useState(true);
  const pulse = usePulse(isLoading);
  useEffect(() => {
    setLoading(true);
    store.server.columns('counters', { px: STEPS }, 'summary').then(
      (answer) => setValues(group(answer, { live_bytes: 'f64', calls: 'f64', waits: 'f64' })), (error) => store.fail(error))
      .finally(() => setLoading(false));
  }, [pulse]);
  if (values === undefined || summary === undefined) return null;
  const there = CURVES.filter((curve) => summary.kinds.includes(curve.kind));
  return <div class="sparks">{there.map((curve) => <Curve key={curve.key} of={curve} values={values[curve.key]!} />)}</div>;
}

function follow({ text, tab, sort, instant_ns: instant, thread, start_ns: start, duration_ns: duration = 0 }: Highlight): void {
  if (thread !== undefined && start !== undefined) {
    const [title, ...more] = text.split(': ');
    store.show({ chosen: { title: title!, lines: [['what', more.join(': ')]], stack: [], thread, start, duration } });
    store.change({ view: viewAround(start, duration, store.duration()), hidden: store.state.hidden.filter((id) => id !== thread) });
  }
  if (instant !== undefined) store.change({ ...ofTab(tab ?? 'memory'), instant }, true);
  else open({ tab, sort });
}

// Worked out when it is asked for, which may take a while.
function Highlights() {
  const { answer, error } = useAsked('highlights', 'highlights', () => store.server.json<{ highlights: Highlight[] }>('highlights')), list = answer?.highlights;
  if (error !== undefined) return <p class="bad" role="alert">{error}</p>;
  if (list === undefined) return <p class="hint">…</p>;
  return (
    <ul class="sentences highlights" aria-label="What stands out">
      {list.map((one) => <li key={one.text}><button class="link" onClick={() => follow(one)}>{one.text}</button></li>)}
    </ul>
  );
}

function Health({ of: { health, lost } }: { of: Summary }) {
  const counted = health.counters.filter(({ count }) => count !== 0);
  return (
    <section>
      <h2>{isThere('health') ? <button class="link" onClick={() => open({ tab: 'health' })}>Health</button> : 'Health'}</h2>
      {lost > 0 && <p class="bad">{countText(lost, 'event')} lost: all numbers are less than the truth.</p>}
      {health.warnings.map((warning) => <p key={warning} class="bad">{warning}</p>)}
      {lost === 0 && health.warnings.length === 0 && <p>Nothing was lost.</p>}
      {counted.length > 0 && (
        <dl class="counters">
          {counted.map(({ name, count }) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{countText(count)}</dd>])}
        </dl>
      )}
    </section>
  );
}

export function SummaryView() {
  const { summary: known, state } = useStore(), { packed } = store.server;
  const { answer } = useAsked(known?.growing ? 'summary' : '', 'sentences', () => store.server.json<Summary>('summary', {}, 'sentences'));
  const summary = known?.growing ? answer ?? known : known;  // what only reading all events tells grows, too
  if (summary === undefined) return null;
  return (
    <div class="summary">
      {state.crumbs.length > 0 && !packed && <p class="hint">This tab is of the whole run; the others are of the selection.</p>}
      <Highlights />
      <h2>Recorded</h2>
      <ul class="sentences">
        {summary.sentences.map((sentence) => (
          <li key={sentence.text}>
            {isThere(sentence.tab) ? <button class="link" onClick={() => open(sentence)}>{sentence.text}</button> : sentence.text}
          </li>
        ))}
      </ul>
      <Curves />
      <p class="command"><span class="hint">Command</span> <code>{summary.command.join(' ') || '?'}</code>
        <span class="hint"> process</span> {summary.pid}</p>
      {summary.pending ? <p class="hint">What stands out, and what is wrong, is shown once all events have been read.</p> : <Health of={summary} />}
      {packed && packed.note !== '' && <section><h2>What this file lacks</h2><p class="note">{packed.note}</p></section>}
      {summary.missing.length > 0 && (
        <section>
          <h2>Not in this recording</h2>
          <dl class="missing">
            {summary.missing.map(({ kind, how }) => [<dt key={kind}>{kind}</dt>, <dd key={how}>{how}</dd>])}
          </dl>
        </section>
      )}
    </div>
  );
}
