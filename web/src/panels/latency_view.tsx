// SPDX-License-Identifier: MIT
// The time from hits of one point to hits of another with the same key: a table and a histogram.
//
// Why: a request that begins in one thread and ends in another is a pair of points, and its id is an argument of both.
// Invariant: hits without a partner are counted below the table.
import { useAnswer, type Asked } from '../answers.ts';
import { showSpan } from '../instances.ts';
import { MOST_HITS, type Hits, type PointName, type Row } from '../protocol.ts';
import { store, useStore } from '../store.ts';
import { cellText, durationText, type CellValue } from '../units.ts';
import { HistogramView } from './histogram.tsx';
import { OneTable } from './table_view.tsx';
import { WholeRun } from './whole_run.tsx';

function useLatency(): Asked<Hits> {
  const { point, to, keys, sort, top } = store.state, [from_key = '', to_key = ''] = keys.split('\n');
  return useAnswer<Hits>('latency', { from: point, to, from_key, to_key, sort, top: Math.min(MOST_HITS, top) });
}

// Which point, and which arguments belong together; the argument that both have is chosen first.
export function LatencyTools({ names }: { names: PointName[] }) {
  const { point, to, keys } = useStore().state;
  const argumentsOf = (name: string): string[] => names.find((one) => one.name === name)?.arguments ?? [];
  const ours = argumentsOf(point), theirs = argumentsOf(to), [our = '', their = ''] = keys.split('\n');
  const change = (part: { to?: string; keys?: string }): void => store.change({ sort: '', ...part }, true);
  const choose = (name: string): void => {
    const shared = ours.find((one) => argumentsOf(name).includes(one));
    change({ to: name, keys: name === '' || shared === undefined ? '' : `${shared}\n${shared}` });
  };
  const key = (one: string, other: string): void => change({ keys: one === '' && other === '' ? '' : `${one || ours[0] || ''}\n${other || theirs[0] || ''}` });
  return (
    <span class="latency-tools">
      <label>Time to <select value={to} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">no other point</option>
        {names.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
      </select></label>
      {to !== '' && <>
        <label>with the same <select value={our} onChange={(event) => key(event.currentTarget.value, event.currentTarget.value === '' ? '' : their)}>
          <option value="">thread</option>
          {ours.map((one) => <option key={one} value={one}>{one}</option>)}
        </select></label>
        {our !== '' && <label>as <select value={their} onChange={(event) => key(our, event.currentTarget.value)}>
          {theirs.map((one) => <option key={one} value={one}>{one}</option>)}
        </select></label>}
      </>}
    </span>
  );
}

export function LatencyView() {
  const { state } = useStore();
  const { answer: hits, error, isLoading } = useLatency();
  const table = hits?.tables[0];
  const go = (row: Row): void => showSpan(`${state.point} to ${state.to}`, Number(row.cells[0]), Number(row.cells[1]), row.thread ?? 0,
    table!.columns.slice(1).map((column, at): [string, string] => [column.title.toLowerCase(), cellText(row.cells[at + 1] as CellValue, column.kind)]));
  return (
    <div class={`report${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <WholeRun />
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {hits?.histogram && <HistogramView histogram={hits.histogram} show={durationText} />}
      {table && <OneTable table={table} filter="" go={go} most={MOST_HITS} />}
      {hits?.tail.map((line) => <p key={line}>{line}</p>)}
      {table === undefined && error === undefined && <p class="hint">…</p>}
    </div>
  );
}
