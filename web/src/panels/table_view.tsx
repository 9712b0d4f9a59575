// SPDX-License-Identifier: MIT
// A report's tables: sorted by column, filtered by text, with rows that unfold to stacks, copied as text or CSV.
//
// Why: one component shows every table of every report; the differences are in each table's description.
// Invariant: rows that are not shown are counted: filtered ones, and those that the server left out.
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import { printChoice } from '../blocks.ts';
import { copyText } from '../copy.ts';
import { showSlowest } from '../instances.ts';
import { MOST_ROWS, type Detail, type Report, type Row, type SourceFile, type Table, type TableName } from '../protocol.ts';
import { fileNamed, placeOf } from '../sources.ts';
import { DEFAULT_TOP, ofTab } from '../state.ts';
import { store, useStore } from '../store.ts';
import { filterRows, keysOf, nextSort, parseSort, printSort, sortRows, toCsv, toText, type Sort } from '../tables.ts';
import { cellText, countText } from '../units.ts';
import { OrderGraph } from './order_graph.tsx';
import { WholeRun } from './whole_run.tsx';

const MORE = 5;  // "more" asks for this many times the rows

const hasSources = (): boolean => store.server.packed?.hasSources ?? true;

// Opens the source of a frame.
async function showSource(where: { file: string; line: number }): Promise<void> {
  const { t0, t1, thread } = store.selection();
  try {
    const { files } = await store.server.json<{ files: SourceFile[] }>('sources', { t0, t1, thread }, 'sources');
    const file = fileNamed(files, where.file);
    if (file === undefined) throw new Error(`nothing in the selection is of ${where.file}`);
    store.forgive();
    store.change({ ...ofTab('source'), file, line: where.line }, true);
  } catch (error) {
    store.fail(error);
  }
}

function Where({ where }: { where: string }) {
  const place = hasSources() ? placeOf(where) : undefined;
  if (place === undefined) return <span class="where">{where}</span>;
  return <button class="link where" onClick={() => void showSource(place)}>{where}</button>;
}

export function Frames({ details, title }: { details: Detail[]; title?: string | undefined }) {
  return (
    <>
      {title && <p class="hint">{title}</p>}
      <ol class="frames">
        {details.map((detail, at) => <li key={at}>{detail.text} <Where where={detail.where} /></li>)}
      </ol>
    </>
  );
}

const hasDetails = (row: Row): boolean => (row.details?.length ?? 0) + (row.other_details?.length ?? 0) > 0;

// For tables whose rows are places in time: shows a row's place.
type Go = ((row: Row) => void) | undefined;
// For tables whose rows have more to show than details.
type More = ((row: Row) => VNode) | undefined;

const showBlocks = (table: Table, stack: string): void =>
  store.change({ ...ofTab('blocks'), blocks: printChoice({ stack, ...(table.key === 'leaks' ? { leaked: '1' } : {}) }) }, true);

function RowView({ table, row, go, more }: { table: Table; row: Row; go: Go; more: More }) {
  const [isOpen, setOpen] = useState(false);
  const foldable = hasDetails(row);
  const isOfCalls = table.key === 'calls' || table.key === 'tree';
  const name = isOfCalls ? row.cells[table.columns.findIndex((column) => column.key === 'function')] : undefined;
  // The lines of a tree are its details: they are indented.
  const text = (at: number): string => (table.key === 'tree' && at === table.columns.length - 1 && row.details?.[0]?.text) ||
    cellText(row.cells[at], table.columns[at]!.kind);
  const unfolds = foldable || typeof name === 'string' || more !== undefined;
  return (
    <>
      <tr onClick={() => unfolds && getSelection()?.isCollapsed !== false && setOpen(!isOpen)} class={`${unfolds ? 'unfolds' : ''}${row.quiet ? ' quiet' : ''}`}>
        <td class="fold">
          {go && <button aria-label="show in the timeline" onClick={() => go(row)}>◎</button>}
          {unfolds && <button aria-expanded={isOpen} aria-label="details" onClick={(event) => {
            event.stopPropagation();
            setOpen(!isOpen);
          }}>{isOpen ? '▾' : '▸'}</button>}
        </td>
        {table.columns.map((column, at) => (
          <td key={column.key} class={column.kind === 'text' ? 'text' : 'number'}>{text(at)}</td>
        ))}
      </tr>
      {isOpen && (
        <tr class="details-row">
          <td />
          <td colSpan={table.columns.length}>
            {typeof name === 'string' && <button onClick={() => showSlowest(name)}>show the slowest call in the timeline</button>}
            {row.stack !== undefined && <button onClick={() => showBlocks(table, row.stack!)}>its blocks</button>}
            {more?.(row)}
            {row.details && row.details.length > 0 && <Frames details={row.details} />}
            {row.other_details && row.other_details.length > 0 && <Frames details={row.other_details} title={row.other_title} />}
          </td>
        </tr>
      )}
    </>
  );
}

function Heads({ table, sort, onSort }: { table: Table; sort: Sort | undefined; onSort: (sort: Sort) => void }) {
  return (
    <tr>
      <th class="fold"><span class="unseen">details</span></th>
      {table.columns.map((column) => {
        const isSorted = sort?.column === column.key;
        const direction = !isSorted ? undefined : sort.descending ? 'descending' : 'ascending';
        return (
          <th key={column.key} scope="col" aria-sort={direction} class={column.kind === 'text' ? 'text' : 'number'}>
            <button onClick={() => onSort(nextSort(sort, column.key, column.kind))} title={`sort by ${column.key}`}>
              {column.title || column.key}{isSorted ? (sort.descending ? ' ▾' : ' ▴') : ''}
            </button>
          </th>
        );
      })}
    </tr>
  );
}

function Copies({ table, rows }: { table: Table; rows: Row[] }) {
  const [said, say] = useState('');
  const copy = async (text: string): Promise<void> => say((await copyText(text)) ? 'copied' : 'the browser does not allow it');
  return (
    <span class="copies">
      <button onClick={() => copy(toText(table, rows))}>copy text</button>
      <button onClick={() => copy(toCsv(table, rows))}>copy CSV</button>
      <span role="status">{said}</span>
    </span>
  );
}

export function OneTable({ table, filter, go, more, most = MOST_ROWS }: { table: Table; filter: string; go?: Go; more?: More; most?: number }) {
  const { state } = useStore();
  const sort = parseSort(state.sort);
  const sorted = useMemo(() => sortRows(table, sort), [table, state.sort]);
  const rows = useMemo(() => filterRows(table, sorted, filter), [table, sorted, filter]);
  const keys = useMemo(() => keysOf(table, rows), [table, rows]);
  const unfound = sorted.length - rows.length;
  return (
    <section class="table" aria-label={table.title || table.key}>
      <div class="caption">
        {table.title && <h2>{table.title}</h2>}
        <span class="hint">{countText(rows.length, 'row')}</span>
        {unfound > 0 && <span class="hint">{countText(unfound)} hidden by the filter</span>}
        <span class="space" />
        <Copies table={table} rows={rows} />
      </div>
      <div class="scroll">
        <table>
          <thead><Heads table={table} sort={sort} onSort={(next) => store.change({ sort: printSort(next) })} /></thead>
          <tbody>{rows.map((row, at) => <RowView key={more ? row.life! : keys[at]} table={table} row={row} go={go} more={more} />)}</tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="hint">{filter ? 'No row has this text.' : 'There is nothing of this in the selection.'}</p>}
      {table.rows_left_out > 0 && (
        <p class="hint">{countText(table.rows_left_out)} more rows are not here.{' '}
          {store.server.packed ? 'Only those that are here can be sorted.'
            : state.top < most && <button onClick={() => store.change({ top: Math.min(most, state.top * MORE) })}>more</button>}</p>
      )}
    </section>
  );
}

// Some tables are about all threads together: the server says so, and a button selects them all.
function Failed({ error }: { error: string }) {
  const all = (): void => store.change({ crumbs: store.state.crumbs.filter((crumb) => crumb.kind !== 'thread') }, true);
  return (
    <div role="alert">
      <p class="bad">{error}</p>
      {store.selection().thread !== undefined && <button onClick={all}>all threads</button>}
    </div>
  );
}

export function TableView({ name }: { name: TableName }) {
  const { sort, top } = store.state, { answer: report, error, isLoading } = useAnswer<Report>('table', { name: name.key, sort, top });
  const [filter, setFilter] = useState('');
  if (error !== undefined) return <Failed error={error} />;
  if (report === undefined) return <p class="hint">…</p>;
  const typed = (event: { currentTarget: HTMLInputElement }): void => setFilter(event.currentTarget.value);
  return (
    <div class={`report${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <WholeRun />
      <label class="filter">Rows with <input type="search" value={filter} onInput={typed} placeholder="any text" /></label>
      {store.state.top !== DEFAULT_TOP && !store.server.packed && <span class="hint"> at most {countText(store.state.top, 'row')}</span>}
      {report.warnings.map((line) => <p key={line} class="bad">{line}</p>)}
      {report.head.map((line) => <p key={line}>{line}</p>)}
      {name.key === 'order' && report.tables.map((table) => <OrderGraph key={table.key} table={table} />)}
      {report.tables.map((table) => <OneTable key={table.key} table={table} filter={filter} />)}
      {report.tail.map((line) => <p key={line}>{line}</p>)}
    </div>
  );
}
