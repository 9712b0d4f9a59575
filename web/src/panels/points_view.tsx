// SPDX-License-Identifier: MIT
// The tab of points: the report's table, or the hits of one point with typed columns, a condition, a histogram, curves,
// and the time to another point.
//
// Why: sums show which point matters; the reason is in its values, and in their places in time.
// Invariant: a condition that filters rows is visible; a wrong one is reported, and no rows are shown.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer, type Asked } from '../answers.ts';
import { showHit } from '../instances.ts';
import { usePulse } from '../live.ts';
import { MOST_HITS, type Hits, type PointName, type Row, type Table, type TableName } from '../protocol.ts';
import { ofPoint } from '../state.ts';
import { store, useStore } from '../store.ts';
import { cellText, countText, type CellValue } from '../units.ts';
import { barCondition, both } from '../point_words.ts';
import { HistogramView } from './histogram.tsx';
import { LatencyTools, LatencyView } from './latency_view.tsx';
import { OneTable, TableView } from './table_view.tsx';
import { WholeRun } from './whole_run.tsx';

const MOST_CURVES = 4;
const FIRST = 2;  // columns before the arguments

function usePointNames(): PointName[] {
  const [names, setNames] = useState<PointName[]>([]);
  const [isLoading, setLoading] = useState(true);
  const pulse = usePulse(isLoading);
  useEffect(() => {
    setLoading(true);
    store.server.json<{ points: PointName[] }>('point_names').then(({ points }) => setNames(points), (error) => store.fail(error))
      .finally(() => setLoading(false));
  }, [pulse]);
  return names;
}

// Times to the nanosecond, threads by their unique names.
function readable(hits: Hits): Hits {
  const tables = hits.tables.map((table) => ({
    ...table,
    columns: table.columns.map((column, at) => (at === 0 ? { ...column, kind: 'instant' as const } : column)),
    rows: table.rows.map((row) => ({ ...row, cells: row.cells.map((cell, at) => (at === 1 && row.thread !== undefined ? store.threadName(row.thread) : cell)) })),
  }));
  return { ...hits, tables };
}

function useHits(): Asked<Hits> {
  const { point, where, spread, sort, top } = store.state;
  return useAnswer<Hits>('hits', { point, where, histogram: spread, sort, top: Math.min(MOST_HITS, top) }, readable);
}

const choose = (point: string): void => store.change(ofPoint(point), true);

function Condition() {
  const { where } = useStore().state, input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current) input.current.value = where;
  }, [where]);
  const ask = (event: Event): void => {
    event.preventDefault();
    // Enter is told twice: as that of the form, and as a search.
    const asked = input.current!.value.trim();
    if (asked !== store.state.where) store.change({ where: asked }, true);
  };
  return (
    <form class="where" onSubmit={ask}>
      <label>Only where <input ref={input} type="search" placeholder={'rows > 100 && table ~ "ord*"'} defaultValue={where} onSearch={ask} /></label>
      <button>ask</button>
    </form>
  );
}

// Columns of numbers can be drawn.
function Numbers({ table }: { table: Table }) {
  const { spread, curves, point } = useStore().state;
  const numbers = table.columns.filter(({ kind }, at) => kind === 'number' && at >= FIRST);
  if (numbers.length === 0) return <span class="hint">no argument of it is a number</span>;
  const has = (argument: string): boolean => curves.some((one) => one.point === point && one.argument === argument);
  const toggle = (argument: string): void => store.change({
    curves: has(argument) ? curves.filter((one) => one.point !== point || one.argument !== argument)
      : [...curves, { point, argument }].slice(-MOST_CURVES),
  }, true);
  return (
    <>
      <label>Histogram of <select value={spread} onChange={(event) => store.change({ spread: event.currentTarget.value })}>
        <option value="">nothing</option>{numbers.map(({ key }) => <option key={key} value={key}>{key}</option>)}
      </select></label>
      <span>In the timeline:</span>
      {numbers.map(({ key }) => <button key={key} aria-pressed={has(key)} onClick={() => toggle(key)}>{has(key) ? '☑' : '☐'} {key}</button>)}
    </>
  );
}

function OnePoint() {
  const { state } = useStore(), { packed } = store.server;
  const { answer: hits, error, isLoading } = useHits();
  const [filter, setFilter] = useState('');
  const table = hits?.tables[0];
  const placeOf = (argument: string): number => table!.columns.findIndex(({ key }, at) => at >= FIRST && key === argument) - FIRST + 1;
  const go = (row: Row): void => showHit(state.point, Number(row.cells[0]), row.thread ?? 0,
    table!.columns.slice(1).map((column, at): [string, string] => [column.title, cellText(row.cells[at + 1] as CellValue, column.kind)]));
  return (
    <div class={`report${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <WholeRun />
      {packed ? <p class="hint">Conditions, histograms and curves are only in penna view.</p> : (
        <div class="point-tools filter"><Condition />{table && <Numbers table={table} />}</div>
      )}
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {hits?.histogram && <HistogramView histogram={hits.histogram} choose={(bar) =>
        store.change({ where: both(store.state.where, barCondition(hits.histogram!, bar, placeOf(hits.histogram!.column))) }, true)} />}
      {table && <>
        <label class="filter">Rows with <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} placeholder="any text" /></label>
        <OneTable table={table} filter={filter} go={go} most={MOST_HITS} />
      </>}
      {table === undefined && error === undefined && <p class="hint">…</p>}
    </div>
  );
}

export function PointsView({ name }: { name: TableName }) {
  const { point, to } = useStore().state, names = usePointNames();
  return (
    <>
      <label>Hits of <select value={point} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">all points, as sums</option>
        {names.map((one) => <option key={one.name} value={one.name}>{one.name}, {countText(one.hits)}</option>)}
      </select></label>
      {point !== '' && !store.server.packed && <LatencyTools names={names} />}
      {point === '' ? <TableView name={name} /> : to === '' ? <OnePoint key={point} /> : <LatencyView key={`${point} ${to}`} />}
    </>
  );
}
