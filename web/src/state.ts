// SPDX-License-Identifier: MIT
// The state of the page, as a value and as the part of its address after the #: a copied address shows the same view.
//
// Why: everything is drawn from one value. Undo removes a crumb; the browser's Back goes to an older address.
// Invariant: parse(print(state)) equals state; parse() of any other text returns a valid state.

import { MOST_ROWS } from './protocol.ts';

export interface Range { t0: number; t1: number }
export type Crumb = { kind: 'range'; t0: number; t1: number } | { kind: 'thread'; ids: number[] };

// thread: the ids as a request parameter.
export interface Selected { t0?: number; t1?: number; thread?: string; threads?: number[] }

export interface PageState {
  crumbs: Crumb[];       // the selection, from wide to narrow
  tab: string;           // "summary", "flame", or the key of a table
  sort: string;          // of that table: "column:desc"; empty: as it comes
  top: number;           // its number of rows
  view?: Range;          // of the timeline; missing: the whole run
  marks: number[];       // instants
  order: number[];       // ids of threads that were moved, in their new order; they come before all others
  pinned: number[];
  hidden: number[];
  weight: string;        // of the flame graph; empty: the first available one
  shape: string;         // letters: i icicle, r reversed, n by name, c recursion collapsed, t time order, p threads apart, d what changed, b widths of before
  zoom: number[];        // name ids from the flame graph's root to the zoomed frame
  changes: FlameChange[];  // of the flame graph, in their order
  around: number[];      // empty, or the name id of the function whose callers and callees are shown
  instant?: number | undefined;  // of memory over time; none: its peak
  by: string;            // its curves: "stack", or empty: function
  path: boolean;         // the critical path of the selected thread is drawn
  diff: string;          // what is compared; empty: the first available one
  point: string;         // the point whose hits are listed; empty: none
  where: string;         // a condition on its arguments
  spread: string;        // the argument shown as a histogram
  curves: PointCurve[];  // in the timeline
  to: string;            // the point up to which the time is shown; empty: none
  keys: string;          // by which hits belong together: "argument\nargument of the other"; empty: the thread
  blocks: string;        // which blocks are listed (blocks.ts); empty: all
  file: string;          // whose source is shown; empty: the most expensive one
  line: number;          // of it; 0: the most expensive one
}

// o: only stacks through a function, x: without it, d: no stacks through it; by its name id.
export interface FlameChange { how: 'o' | 'x' | 'd'; name: number }

// An argument of a point over time.
export interface PointCurve { point: string; argument: string }

export const DEFAULT_TOP = 100;

export function emptyState(): PageState {
  return {
    crumbs: [], tab: 'summary', sort: '', top: DEFAULT_TOP, marks: [], order: [], pinned: [], hidden: [], weight: '', shape: 'i',
    zoom: [], changes: [], around: [], by: '', path: false, diff: '', point: '', where: '', spread: '', curves: [], to: '', keys: '', blocks: '', file: '', line: 0,
  };
}

// What belongs to the tab that is left, or to the point, starts anew with another one.
export const ofTab = (tab: string, sort = ''): Partial<PageState> => ({ tab, sort, top: DEFAULT_TOP, blocks: '' });
export const ofPoint = (point: string): Partial<PageState> => ({ ...ofTab('points'), point, where: '', spread: '', to: '', keys: '' });

// The selection: the last crumb of each kind counts.
export function selection(state: PageState): Selected {
  const found: Selected = {};
  for (const crumb of state.crumbs) {
    if (crumb.kind === 'thread') [found.threads, found.thread] = [crumb.ids, crumb.ids.join()];
    else [found.t0, found.t1] = [crumb.t0, crumb.t1];
  }
  return found;
}

const printCrumb = (crumb: Crumb): string => (crumb.kind === 'thread' ? `t${crumb.ids.join('.')}` : `${crumb.t0}-${crumb.t1}`);

export function print(state: PageState): string {
  const parts = new URLSearchParams();
  const empty = emptyState();
  const put = (key: string, value: string, otherwise: string): void => {
    if (value !== otherwise) parts.set(key, value);
  };
  put('tab', state.tab, empty.tab);
  put('at', state.crumbs.map(printCrumb).join('_'), '');
  put('sort', state.sort, '');
  put('top', String(state.top), String(DEFAULT_TOP));
  if (state.view) parts.set('view', `${state.view.t0}-${state.view.t1}`);
  for (const key of ['marks', 'order', 'pinned', 'hidden', 'zoom', 'around'] as const) put(key, state[key].join('.'), '');
  put('changes', state.changes.map(({ how, name }) => how + name).join('.'), '');
  put('weight', state.weight, '');
  put('diff', state.diff, '');
  put('path', state.path ? '1' : '', '');
  put('shape', state.shape, empty.shape);
  if (state.instant !== undefined) parts.set('instant', String(state.instant));
  for (const key of ['by', 'point', 'where', 'spread', 'to', 'keys', 'blocks', 'file'] as const) put(key, state[key], '');
  put('line', String(state.line), '0');
  for (const { point, argument } of state.curves) parts.append('curve', `${point}\n${argument}`);
  return parts.toString();
}

function parseRange(text: string): Range | undefined {
  const [, t0, t1] = /^(\d{1,16})-(\d{1,16})$/.exec(text) ?? [];
  if (t0 === undefined || t1 === undefined) return undefined;
  const range = { t0: Number(t0), t1: Number(t1) };
  return range.t0 < range.t1 && Number.isSafeInteger(range.t1) ? range : undefined;
}

function parseCrumb(text: string): Crumb | undefined {
  const threads = /^t(\d{1,9}(?:\.\d{1,9})*)$/.exec(text)?.[1];
  if (threads !== undefined) return { kind: 'thread', ids: [...new Set(threads.split('.').map(Number))].slice(0, MOST) };
  const range = parseRange(text);
  return range && { kind: 'range', ...range };
}

const MOST = 1000;  // entries of a list: an address is at most some kB
// Of a function's name, as the server takes it, in which each byte may be written as three. What is longer is left out: a part of it is
// another name.
const MOST_TEXT = 12_000, MOST_CURVES = 4;
const whole = (text: string | null): string => (text === null || text.length > MOST_TEXT ? '' : text);
const numbers = (text: string | null): number[] =>
  (text ?? '').split('.').filter((one) => /^\d{1,16}$/.test(one)).slice(0, MOST).map(Number).filter(Number.isSafeInteger);

export function parse(hash: string): PageState {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const state = emptyState();
  const word = (key: string, otherwise: string): string => {
    const text = parts.get(key);
    return text !== null && /^[\w.:+-]{0,64}$/.test(text) ? text : otherwise;
  };
  state.tab = word('tab', state.tab) || state.tab;
  state.weight = word('weight', '');
  state.diff = word('diff', '');
  state.path = parts.get('path') === '1';
  state.shape = word('shape', state.shape);
  state.top = Math.min(MOST_ROWS, Math.max(1, numbers(parts.get('top'))[0] ?? DEFAULT_TOP));
  state.crumbs = (parts.get('at') ?? '').split('_').slice(0, MOST).map(parseCrumb).filter((one) => one !== undefined);
  state.view = parseRange(parts.get('view') ?? '');
  for (const key of ['marks', 'order', 'pinned', 'hidden', 'zoom', 'around'] as const) state[key] = numbers(parts.get(key));
  for (const text of (parts.get('changes') ?? '').split('.').slice(0, MOST)) {
    const [, how, name] = /^([oxd])(\d{1,9})$/.exec(text) ?? [];
    if (how !== undefined) state.changes.push({ how: how as FlameChange['how'], name: Number(name) });
  }
  const instant = numbers(parts.get('instant'))[0];
  if (instant !== undefined) state.instant = instant;
  state.by = parts.get('by') === 'stack' ? 'stack' : '';
  state.line = Math.min(10_000_000, numbers(parts.get('line'))[0] ?? 0);
  const sort = parts.get('sort') ?? '';
  if (/^[\w.]*$|:(asc|desc)$/.test(sort)) state.sort = whole(sort);
  for (const key of ['point', 'where', 'spread', 'to', 'keys', 'blocks', 'file'] as const) state[key] = whole(parts.get(key));
  for (const text of parts.getAll('curve').slice(0, MOST_CURVES)) {
    const [point, argument, ...more] = text.split('\n');
    if (point && argument && more.length === 0 && text.length <= 2 * MOST_TEXT) state.curves.push({ point, argument });
  }
  if (state.view === undefined) delete state.view;
  return state;
}
