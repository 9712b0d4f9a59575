// SPDX-License-Identifier: MIT
// What changed since another recording: the tables of penna diff, noise in grey.
//
// Why: the same numbers as on the command line, sorted, filtered and copied as all tables.
// Invariant: it says that it is of both recordings as a whole.
import { useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import type { Report } from '../protocol.ts';
import { store, useStore } from '../store.ts';
import { OneTable } from './table_view.tsx';

const KINDS = [['calls', 'calls', 'calls'], ['alloc', 'allocations', 'allocations'], ['leaks', 'leaks', 'allocations'], ['locks', 'waits for locks', 'locks']] as const;

export function DiffView() {
  const { summary, state } = useStore(), there = KINDS.filter(([, , kind]) => summary?.kinds.includes(kind));
  const of = there.find(([key]) => key === state.diff)?.[0] ?? there[0]?.[0] ?? 'calls';
  const [filter, setFilter] = useState('');
  const { answer: report, error, isLoading } = useAnswer<Report>('diff', { t0: '', t1: '', thread: '', of, sort: state.sort, top: state.top });
  return (
    <div class={`report${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <div class="filter point-tools">
        <label>Compare <select value={of} onChange={(event) => store.change({ diff: event.currentTarget.value, sort: '', top: 100 }, true)}>
          {there.map(([key, title]) => <option key={key} value={key}>{title}</option>)}</select></label>
        <span>with {summary?.compared_with}, both as a whole</span>
        <label>Rows with <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} placeholder="any text" /></label>
      </div>
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {report === undefined && error === undefined && <p class="hint">…</p>}
      {report?.warnings.map((line) => <p key={line} class="bad">{line}</p>)}
      {report?.head.map((line) => <p key={line}>{line}</p>)}
      {report?.tables.map((table) => <OneTable key={table.key} table={table} filter={filter} />)}
      {report?.tail.map((line) => <p key={line}>{line}</p>)}
    </div>
  );
}
