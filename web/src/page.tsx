// SPDX-License-Identifier: MIT
// The page's frame: header, crumbs, timeline, tabs and details, and the keys that work everywhere.
//
// Why: one place defines the layout.
// Invariant: everything below the crumbs is about the selection that they name, or says that it is not.
import { useEffect } from 'preact/hooks';
import { FlameView } from './flame/flame_view.tsx';
import { MemoryView } from './memory/memory_view.tsx';
import { BlocksView } from './panels/blocks_view.tsx';
import { DiffView } from './panels/diff_view.tsx';
import { Details } from './panels/details.tsx';
import { FindView, stepFound } from './panels/find_view.tsx';
import { Help } from './panels/help.tsx';
import { LiveBar } from './panels/live_bar.tsx';
import { PointsView } from './panels/points_view.tsx';
import { Preparing } from './panels/preparing.tsx';
import { SourceView } from './panels/source_view.tsx';
import { SummaryView } from './panels/summary_view.tsx';
import { TableView } from './panels/table_view.tsx';
import type { TableName } from './protocol.ts';
import { ofTab, type Crumb } from './state.ts';
import { useStore, type Store } from './store.ts';
import { TimelineView } from './timeline/timeline_view.tsx';
import { countText, durationText, rangeText } from './units.ts';

function crumbText(store: Store, crumb: Crumb): string {
  return crumb.kind === 'range' ? rangeText(crumb.t0, crumb.t1) : store.threadsText(crumb.ids);
}

// The selection, in the words of the crumbs.
function selectionText(store: Store): string {
  const { t0, t1, threads } = store.selection();
  return [t0 !== undefined && t1 !== undefined ? rangeText(t0, t1) : '', threads !== undefined ? store.threadsText(threads) : '']
    .filter((text) => text !== '').join(', ');
}

function Header() {
  const store = useStore();
  const { summary } = store;
  const events = summary ? Object.values(summary.events).reduce((sum, one) => sum + one, 0) : 0;
  return (
    <header>
      <strong>penna</strong>
      {summary && (
        <span class="what" title={`${summary.recording}: ${summary.command.join(' ')}`}>
          {summary.recording.replace(/^.*\//s, '')} · {durationText(summary.duration_ns)} · {countText(summary.threads, 'thread')} · {countText(events, 'event')} ·{' '}
          {summary.compared_with !== undefined && `compared with ${summary.compared_with.replace(/^.*\//s, '')} · `}
          <span class={summary.lost > 0 ? 'bad' : ''}>{countText(summary.lost)} lost</span>
        </span>
      )}
      <span class="space" />
      <button onClick={() => store.set({ find: true })} aria-keyshortcuts="/ Control+F">/ find</button>
      <button onClick={() => store.set({ help: true })} aria-keyshortcuts="?">? keys</button>
    </header>
  );
}

function Crumbs() {
  const store = useStore();
  const { crumbs } = store.state;
  return (
    <nav aria-label="Selection" class="crumbs">
      <button onClick={() => store.dropCrumbs(0)} aria-current={crumbs.length === 0 ? 'true' : undefined}>whole run</button>
      {crumbs.map((crumb, at) => (
        <button key={at} onClick={() => store.dropCrumbs(at + 1)} aria-current={at === crumbs.length - 1 ? 'true' : undefined}>
          <span aria-hidden="true">▸ </span>{crumbText(store, crumb)}
        </button>
      ))}
      {store.selection().threads?.length === 1 && store.summary?.kinds.includes('locks') && !store.server.packed && (
        <button class="path" aria-pressed={store.state.path} onClick={() => store.change({ path: !store.state.path }, true)}>
          {store.state.path ? '☑' : '☐'} critical path</button>
      )}
      {crumbs.length > 0 && <span class="hint">Esc goes back</span>}
    </nav>
  );
}

function ErrorLine() {
  const store = useStore();
  return (
    <div role="alert" class="error" hidden={store.error === ''}>
      <span>{store.error}</span> <button onClick={() => store.forgive()}>dismiss</button>
    </div>
  );
}

// Titles of tables whose own title is just their key.
const TITLES: Record<string, string> = { tree: 'Call tree', alloc: 'Allocations', temp: 'Temporary', order: 'Lock order' };
const titleOf = ({ key, title }: TableName): string =>
  title !== key ? title : Object.hasOwn(TITLES, key) ? TITLES[key]! : key.charAt(0).toUpperCase() + key.slice(1);

const hasFlames = (store: Store): boolean =>
  ['calls', 'allocations', 'locks', 'points'].some((kind) => store.summary?.kinds.includes(kind) ?? false);

function Panel({ of }: { of: TableName }) {
  switch (of.key) {
    case 'summary': return <SummaryView />;
    case 'flame': return <FlameView />;
    case 'diff': return <DiffView />;
    case 'memory': return <MemoryView />;
    case 'blocks': return <BlocksView />;
    case 'points': return <PointsView name={of} />;
    case 'source': return <SourceView />;
    default: return <TableView key={of.key} name={of} />;
  }
}

function Tabs() {
  const store = useStore();
  const tabs: TableName[] = [{ key: 'summary', title: 'Summary' }];
  if (hasFlames(store)) tabs.push({ key: 'flame', title: 'Flame graph' });
  if (store.summary?.compared_with !== undefined) tabs.push({ key: 'diff', title: 'Diff' });
  if (store.summary?.kinds.includes('allocations')) tabs.push({ key: 'memory', title: 'Memory' }, { key: 'blocks', title: 'Blocks' });
  if (hasFlames(store) && (store.server.packed?.hasSources ?? true)) tabs.push({ key: 'source', title: 'Source' });
  tabs.push(...store.tables.map((table) => ({ key: table.key, title: titleOf(table) })));
  const current = tabs.find((one) => one.key === store.state.tab) ?? tabs[0]!;
  const open = (key: string): void => store.change(ofTab(key), true);
  const step = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const next = tabs[(tabs.indexOf(current) + by + tabs.length) % tabs.length];
    if (by === 0 || next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    open(next.key);
    document.getElementById(`tab-${next.key}`)?.focus();
  };
  return (
    <section class="tabs" aria-label="Of the selection">
      <div role="tablist" onKeyDown={step}>
        {tabs.map((tab) => (
          <button key={tab.key} role="tab" id={`tab-${tab.key}`} aria-selected={tab === current} tabIndex={tab === current ? 0 : -1}
            onClick={() => open(tab.key)}>{tab.title}</button>
        ))}
        {store.state.crumbs.length > 0 && !store.server.packed && <span class="hint of">of {selectionText(store)}</span>}
      </div>
      <div role="tabpanel" aria-labelledby={`tab-${current.key}`} class="panel">
        <Panel of={current} />
      </div>
    </section>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;

// Keys that mean the same everywhere; the canvases handle theirs first.
function pressed(store: Store, event: KeyboardEvent): void {
  const isFind = (event.key === 'f' && (event.ctrlKey || event.metaKey)) || event.key === '/';
  if (isFind && !(event.key === '/' && isTyping(event.target))) {
    event.preventDefault();
    store.set({ find: true, help: false });
    return;
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape' && (store.help || store.find)) store.set({ help: false, find: false });
  else if (isTyping(event.target)) return;
  else if (event.key === '?') store.set({ help: !store.help });
  else if (event.key === 'n' || event.key === 'N') stepFound(event.key === 'n' ? 1 : -1);
  else if (event.key === 'Escape' && store.chosen) store.show({ chosen: undefined });
  else if (event.key === 'Escape' || event.key === 'Backspace') store.dropCrumbs(store.state.crumbs.length - 1);
  else return;
  event.preventDefault();
}

export function Page() {
  const store = useStore();
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => pressed(store, event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
  if (store.broken !== '') return <p role="alert" class="broken">{store.broken}</p>;
  return (
    <>
      <Header />
      <Crumbs />
      <Preparing />
      <LiveBar />
      <ErrorLine />
      {store.summary ? <TimelineView /> : <p class="wait">{store.error === '' ? 'The recording is being read …' : ''}</p>}
      {store.summary && <main><Tabs /><Details /></main>}
      {store.find && <FindView />}
      {store.help && <Help />}
    </>
  );
}
