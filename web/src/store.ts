// SPDX-License-Identifier: MIT
// The page's state for all its parts, kept in the address; and what is shown of errors and of the thing under the cursor.
//
// Why: panels neither know each other nor the address; they change the state and are told.
// Invariant: what is shown is a function of `state`; every change goes through change() and is in the address soon after.
import { useLayoutEffect, useState } from 'preact/hooks';
import { chooseServer } from './packed.ts';
import type { Summary, TableName, Thread } from './protocol.ts';
import { errorText, isAbort, type Making } from './server.ts';
import { parse, print, selection, type Crumb, type PageState, type Selected } from './state.ts';

// What the panel of details shows: lines of text, the calls around, and where in time it lies.
export interface Shown {
  title: string;
  lines: [label: string, value: string][];
  stack: string[];       // innermost first
  function?: number;     // name id: there are other instances
  thread?: number;
  start?: number;
  duration?: number;
  depth?: number;
}

// What changed: 'shown' does so with each move of the mouse, and is worth drawing the details again but nothing else.
export type Topic = 'state' | 'shown';

const MOST_NAMED = 4;  // threads
const REST = 150;  // ms: a browser refuses more than some new addresses a second, so the last one of a pan counts

export class Store {
  state: PageState = parse(location.hash);
  summary: Summary | undefined;
  threads: Thread[] = [];
  tables: TableName[] = [];
  error = '';
  hovered: Shown | undefined;
  chosen: Shown | undefined;
  help = false;
  find = false;
  follows = true;  // the timeline shows the end of a recording that grows
  broken = '';  // why there is nothing to show
  making: Making | undefined;  // the index
  readonly server = chooseServer((making) => this.set({ making }));
  private addressTimer = 0;
  private readonly listeners: Record<Topic, Set<() => void>> = { state: new Set(), shown: new Set() };

  constructor() {
    addEventListener('popstate', () => {
      clearTimeout(this.addressTimer);
      this.state = parse(location.hash);
      this.tell();
    });
  }

  // Is it a step that the browser's Back should undo? Panning is not.
  change(part: Partial<PageState>, isStep = false): void {
    this.state = { ...this.state, ...part };
    const address = `#${print(this.state)}`;
    clearTimeout(this.addressTimer);
    if (isStep) history.pushState(null, '', address);
    else this.addressTimer = window.setTimeout(() => history.replaceState(null, '', address), REST);
    this.tell();
  }

  set(part: Partial<Pick<Store, 'summary' | 'threads' | 'tables' | 'help' | 'find' | 'broken' | 'follows' | 'making'>>): void {
    Object.assign(this, part);
    this.tell();
  }

  show(part: Partial<Pick<Store, 'hovered' | 'chosen'>>): void {
    Object.assign(this, part);
    this.tell('shown');
  }

  fail(error: unknown): void {
    if (isAbort(error)) return;
    this.error = errorText(error);
    this.tell();
  }

  forgive(): void {
    if (this.error === '') return;
    this.error = '';
    this.tell();
  }

  addCrumb(crumb: Crumb): void {
    const crumbs = this.state.crumbs.filter((one) => !(one.kind === 'thread' && crumb.kind === 'thread'));
    this.change({ crumbs: [...crumbs, crumb], zoom: [] }, true);
  }

  dropCrumbs(keep: number): void {
    if (keep < this.state.crumbs.length) this.change({ crumbs: this.state.crumbs.slice(0, Math.max(0, keep)), zoom: [] }, true);
  }

  // A thread is added to those that are selected, or taken away from them.
  toggleThread(id: number): void {
    const { threads = [] } = this.selection(), ids = threads.includes(id) ? threads.filter((one) => one !== id) : [...threads, id];
    if (ids.length > 0) return this.addCrumb({ kind: 'thread', ids });
    this.change({ crumbs: this.state.crumbs.filter((one) => one.kind !== 'thread'), zoom: [] }, true);
  }

  selection(): Selected {
    return selection(this.state);
  }

  duration(): number {
    return Math.max(1, this.summary?.duration_ns ?? 1);
  }

  threadName(id: number): string {
    const thread = this.threads.find((one) => one.id === id);
    return thread === undefined ? 'unknown thread' : thread.name || String(thread.tid);
  }

  // "thread main", "threads main, io-1 and 7 more".
  threadsText(ids: readonly number[]): string {
    const names = ids.slice(0, MOST_NAMED).map((id) => this.threadName(id)).join(', '), more = ids.length - MOST_NAMED;
    return `thread${ids.length > 1 ? 's' : ''} ${names}${more > 0 ? ` and ${more} more` : ''}`;
  }

  subscribe(listener: () => void, topic: Topic = 'state'): () => void {
    this.listeners[topic].add(listener);
    return () => this.listeners[topic].delete(listener);
  }

  private tell(topic: Topic = 'state'): void {
    for (const listener of this.listeners[topic]) listener();
  }
}

export const store = new Store();

// Draws the component again whenever the store changes; from the first drawing on, so that no change is missed.
export function useStore(topic: Topic = 'state'): Store {
  const [, again] = useState(0);
  useLayoutEffect(() => store.subscribe(() => again((n) => n + 1), topic), [topic]);
  return store;
}
