// SPDX-License-Identifier: MIT
// The flame graph as a tab: weights, shapes, zoom with its crumbs, search, focus and hide; details go to their panel.
//
// Why: the tree comes once for each selection and weight; all else is done here.
// Invariant: what is folded by the server or too narrow to draw is said below the graph.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAsked, type Asked } from '../answers.ts';
import { colors } from '../colors.ts';
import { group } from '../columns.ts';
import { WholeRun } from '../panels/whole_run.tsx';
import type { Parameters } from '../server.ts';
import type { FlameChange } from '../state.ts';
import { store, useStore } from '../store.ts';
import { amountText, countText, percentText } from '../units.ts';
import { flameKey } from './keys.ts';
import { SandwichView } from './sandwich_view.tsx';
import { TreeCanvas } from './tree_canvas.tsx';
import {
  changesOf, changeTree, makeTree, nodeAt, nodeBySteps, pathOf, shareOf, stepsOf, turned, type Changes, type Tree,
} from './tree.ts';

interface Weight { key: string; title: string; kind: string }
const WEIGHTS: readonly Weight[] = [
  { key: 'time', title: 'time', kind: 'calls' }, { key: 'calls', title: 'calls', kind: 'calls' }, { key: 'bytes', title: 'bytes allocated', kind: 'allocations' },
  { key: 'allocations', title: 'allocations', kind: 'allocations' }, { key: 'live', title: 'live at the end', kind: 'allocations' },
  { key: 'peak', title: 'live at the peak', kind: 'allocations' }, { key: 'temporary', title: 'temporary', kind: 'allocations' },
  { key: 'wait', title: 'waiting for locks', kind: 'locks' }, { key: 'hold', title: 'waits, by who held the lock', kind: 'locks' },
  { key: 'points', title: 'points', kind: 'points' },
];

// around: what to ask with the function whose callers and callees are wanted.
interface Answer { tree: Tree; unit: string; leftOut: number; isInOrder: boolean; around: Parameters }

const ORDER_STEPS = 4000;  // calls shorter than this part of the time are in their callers, when they are in time order

// Waits by holder are sums over all threads.
const canBeApart = (weight: string): boolean => weight !== 'hold';

// `until`: of what was there at that instant, whatever time is selected.
function useFlame(weight: string, shape: string, until?: number): Asked<Answer> {
  const { t0: from, t1: to, thread } = store.selection(), t0 = until === undefined ? from : undefined, t1 = until ?? to;
  const isInOrder = shape.includes('t') && weight === 'time', isReversed = shape.includes('r') && !isInOrder, compares = shape.includes('d') && !isInOrder;
  const byThread = shape.includes('p') && !isInOrder && !compares && canBeApart(weight);
  const around = { weight, ...(compares ? {} : { t0, t1, thread }), by_thread: byThread ? 1 : undefined };
  const how = { reverse: isReversed ? 1 : undefined, time_order: isInOrder ? 1 : undefined, px: isInOrder ? ORDER_STEPS : undefined, compare: compares ? 1 : undefined };
  const parameters = { ...around, ...how };
  return useAsked(weight && JSON.stringify(parameters), 'flame', () => store.server.columns('flame', parameters, 'flame').then((columns) => {
    const { parent, name, value, count } = group(columns, { parent: 'i32', name: 'u32', value: 'f64', count: 'f64' });
    const { unit, left_out: leftOut } = columns.header;
    const before = compares ? group(columns, { before: 'f64' }).before : undefined;
    return { tree: makeTree(parent, name, value, count, before), unit: String(unit), leftOut: Number(leftOut) || 0, isInOrder, around };
  }));
}

function toggleLetter(letter: string): void {
  const { shape } = store.state;
  store.change({ shape: shape.includes(letter) ? shape.replace(letter, '') : shape + letter, ...('rtpd'.includes(letter) ? { zoom: [] } : {}) });
}

function Toggle({ letter, children }: { letter: string; children: string }) {
  return <button aria-pressed={store.state.shape.includes(letter)} onClick={() => toggleLetter(letter)}>
    {store.state.shape.includes(letter) ? '☑' : '☐'} {children}</button>;
}

function Crumbs({ tree, zoomed, changes, undo, zoomTo }: { tree: Tree; zoomed: number; changes: Changes; undo: () => void; zoomTo: (node: number) => void }) {
  const path: number[] = [];
  for (let at = zoomed; at > 0; at = tree.parent[at]!) path.unshift(at);
  return (
    <div class="flame-crumbs" role="navigation" aria-label="Zoom of the flame graph">
      <button onClick={() => zoomTo(0)}>all</button>
      {path.map((node) => <button key={node} onClick={() => zoomTo(node)}>▸ {store.server.name(tree.name[node]!)}</button>)}
      {changes.focus >= 0 && <span class="hint">only stacks through {store.server.name(changes.focus)}</span>}
      {[...changes.hidden].map((id) => <span class="hint" key={id}>without {store.server.name(id)}</span>)}
      {[...changes.dropped].map((id) => <span class="hint" key={-1 - id}>no stacks through {store.server.name(id)}</span>)}
      {(changes.focus >= 0 || changes.hidden.size > 0 || changes.dropped.size > 0) && <button onClick={undo}>undo</button>}
    </div>
  );
}

function matcher(text: string): ((name: number) => boolean) | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return undefined;
  const known = new Map<number, boolean>();
  return (name) => {
    let isFound = known.get(name);
    if (isFound === undefined) known.set(name, (isFound = name >= 0 && store.server.name(name).toLowerCase().includes(wanted)));
    return isFound;
  };
}

export function FlameView() {
  const { state, summary } = useStore();
  const { packed } = store.server, before = summary?.compared_with;
  const weights = WEIGHTS.filter((one) => (packed ? packed.hasWeight(one.key) : summary?.kinds.includes(one.kind)));
  const weight = weights.find((one) => one.key === state.weight) ?? weights[0];
  const { answer, error, isLoading } = useFlame(weight?.key ?? '', packed ? state.shape.replace(/[tpd]/g, '') : state.shape);
  if (weight === undefined) return <p class="hint">The recording has no stacks.</p>;
  return (
    <div class={`flame-view${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <WholeRun />
      <div class="flame-tools">
        <label>Width is <select value={weight.key} onChange={(event) => store.change({ weight: event.currentTarget.value, zoom: [] })}>
          {weights.map((one) => <option key={one.key} value={one.key}>{one.title}</option>)}
        </select></label>
        <Toggle letter="i">icicle</Toggle><Toggle letter="r">by callee</Toggle><Toggle letter="n">by name</Toggle>
        <Toggle letter="c">collapse recursion</Toggle>
        {!packed && weight.key === 'time' && <Toggle letter="t">time order</Toggle>}
        {!packed && canBeApart(weight.key) && <Toggle letter="p">threads apart</Toggle>}
        {before !== undefined && <Toggle letter="d">what changed</Toggle>}
      </div>
      {answer?.tree.before && <Legend before={before ?? ''} answer={answer} />}
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {answer ? <Graph answer={answer} /> : error === undefined && <p class="hint">…</p>}
    </div>
  );
}

// What the colours of a comparison mean; widths are of one of both.
function Legend({ before, answer: { tree, unit } }: { before: string; answer: Answer }) {
  const set = colors();
  return (
    <p class="legend">
      <span>{amountText(tree.value[0]!, unit)}, {amountText(tree.before![0]!, unit)} in {before.replace(/^.*\//s, '')}, both as a whole:</span>
      <span><span class="swatch" style={{ background: set.less[2]! }} /> less</span>
      <span><span class="swatch" style={{ background: set.grey }} /> changed by less than 1 %</span>
      <span><span class="swatch" style={{ background: set.more[2]! }} /> more</span>
      <Toggle letter="b">widths of before</Toggle>
    </p>
  );
}

// One weight, up to an instant.
export function FlameOf({ weight, t1 }: { weight: string; t1: number }) {
  const { answer, error, isLoading } = useFlame(weight, store.state.shape.replace(/[tpd]/g, ''), Math.max(1, Math.round(t1)));
  return (
    <div class={`flame-view${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {answer ? <Graph answer={answer} /> : error === undefined && <p class="hint">…</p>}
    </div>
  );
}

function Graph({ answer }: { answer: Answer }) {
  const { state } = useStore();
  const [search, setSearch] = useState(''), [chosen, setChosen] = useState(-1);
  const isInOrder = answer.isInOrder, by = isInOrder ? 'time' : state.shape.includes('n') ? 'name' : 'value';
  const changes = useMemo(() => changesOf(state.changes, state.shape.includes('c'), isInOrder), [state.changes, state.shape, isInOrder]);
  const isBefore = state.shape.includes('b') && answer.tree.before !== undefined;
  const tree = useMemo(() => {
    const changed = changeTree(answer.tree, changes);
    return isBefore ? turned(changed) : changed;
  }, [answer, changes, isBefore]);
  const zoomed = useMemo(() => (isInOrder ? nodeBySteps : nodeAt)(tree, state.zoom), [tree, state.zoom]);
  const found = useMemo(() => matcher(search), [search, answer]);
  const share = found && shareOf(tree, found), name = chosen > 0 && chosen < tree.name.length ? tree.name[chosen]! : -1;
  useEffect(() => setChosen(-1), [tree]);

  const zoomTo = (node: number): void => store.change({ zoom: (isInOrder ? stepsOf : pathOf)(tree, node) }, true);
  const change = (how: FlameChange['how']) => (name: number): void => store.change({ changes: [...state.changes, { how, name }], zoom: [] }, true);
  const focus = change('o'), hide = change('x'), drop = change('d');
  const undo = (): void => {
    if (state.changes.length > 0) store.change({ changes: state.changes.slice(0, -1), zoom: [] }, true);
  };
  const around = (id: number): void => store.change({ around: [id] }, true);
  const dropped = (isBefore ? answer.tree.before! : answer.tree.value)[0]! - tree.value[0]!;
  if (state.around[0] !== undefined) return <SandwichView key={state.around[0]} asks={answer.around} whole={answer.tree.value[0]!} name={state.around[0]} />;
  return (
    <>
      <div class="flame-tools">
        <label>Find <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} placeholder="function" /></label>
        {share && <span role="status">{countText(share.nodes)} found, {amountText(share.value, answer.unit)},{' '}
          {percentText(tree.value[0]! > 0 ? (100 * share.value) / tree.value[0]! : 0)} of the total</span>}
        <span class="space" />
        {name >= 0 && <>
          <button onClick={() => focus(name)}>focus</button><button onClick={() => hide(name)}>hide</button>
          <button onClick={() => drop(name)}>drop</button>
          <button onClick={() => around(name)}>callers and callees</button>
        </>}
      </div>
      <Crumbs tree={tree} zoomed={zoomed} changes={changes} undo={undo} zoomTo={zoomTo} />
      {changes.dropped.size > 0 && changes.focus < 0 && <p class="hint">{amountText(dropped, answer.unit)} went with what was dropped.</p>}
      <TreeCanvas tree={tree} unit={answer.unit} zoomed={zoomed} isIcicle={state.shape.includes('i')} by={by} what="Flame graph" found={found}
        rootText={`all: ${amountText(tree.value[0]!, answer.unit)}`} onChoose={setChosen} onOpen={zoomTo}
        onKey={(event, scene, choose) => flameKey(event.key, scene, zoomed, { choose, zoomTo, undo, toggle: toggleLetter, focus, hide, drop, around })} />
      <p class="hint">
        {answer.tree.value[0] === 0 && 'There is nothing of this in the selection. '}
        {answer.leftOut > 0 && `${amountText(answer.leftOut, answer.unit)} of small nodes are folded into their callers. `}
      </p>
    </>
  );
}
