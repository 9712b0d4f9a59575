// SPDX-License-Identifier: MIT
// The flame graph as a tab: weights, shapes, zoom with its crumbs, search, focus and hide; details go to their panel.
//
// Why: the tree comes once for each selection and weight; all else is done here.
// Invariant: what is folded by the server or too narrow to draw is said below the graph.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { colors, Hues, onColorsChange } from '../colors.ts';
import { group } from '../columns.ts';
import { fitCanvas } from '../curve.ts';
import { Labels } from '../labels.ts';
import { WholeRun } from '../panels/whole_run.tsx';
import { errorText } from '../server.ts';
import { store, useStore, type Shown } from '../store.ts';
import { amountText, countText, percentText } from '../units.ts';
import { drawFlame, FLAME_ROW, nodeUnder, type FlameScene } from './draw.ts';
import { flameKey } from './keys.ts';
import { changeTree, layOut, makeTree, nodeAt, NO_CHANGES, pathOf, shareOf, type Changes, type Tree } from './tree.ts';

interface Weight { key: string; title: string; kind: string }
const WEIGHTS: readonly Weight[] = [
  { key: 'time', title: 'time', kind: 'calls' }, { key: 'calls', title: 'calls', kind: 'calls' }, { key: 'bytes', title: 'bytes allocated', kind: 'allocations' },
  { key: 'allocations', title: 'allocations', kind: 'allocations' }, { key: 'live', title: 'live at the end', kind: 'allocations' },
  { key: 'peak', title: 'live at the peak', kind: 'allocations' }, { key: 'temporary', title: 'temporary', kind: 'allocations' },
  { key: 'wait', title: 'waiting for locks', kind: 'locks' }, { key: 'hold', title: 'waits, by who held the lock', kind: 'locks' },
  { key: 'points', title: 'points', kind: 'points' },
];

interface Answer { tree: Tree; unit: string; leftOut: number }

// What is shown belongs to the question; while another one is on its way, it is dimmed; an error takes its place.
interface Asked { answer?: Answer; error?: string; isLoading: boolean }

// `until`: of what was there at that instant, whatever time is selected.
function useFlame(weight: string, isReversed: boolean, until?: number): Asked {
  useStore();
  const [asked, setAsked] = useState<Asked>({ isLoading: true });
  const { t0: from, t1: to, thread } = store.selection(), t0 = until === undefined ? from : undefined, t1 = until ?? to;
  useEffect(() => {
    let isCurrent = true;
    setAsked((before) => ({ ...before, isLoading: true }));
    store.server.columns('flame', { weight, t0, t1, thread, reverse: isReversed ? 1 : 0 }, 'flame').then((columns) => {
      if (!isCurrent) return;
      const { parent, name, value, count } = group(columns, { parent: 'i32', name: 'u32', value: 'f64', count: 'f64' });
      const { unit, left_out: leftOut } = columns.header;
      const answer = { tree: makeTree(parent, name, value, count), unit: String(unit), leftOut: Number(leftOut) || 0 };
      setAsked({ answer, isLoading: false });
    }).catch((error) => isCurrent && setAsked({ error: errorText(error), isLoading: false }));
    return () => {
      isCurrent = false;
    };
  }, [weight, isReversed, t0, t1, thread]);
  return asked;
}

function toggleLetter(letter: string): void {
  const { shape } = store.state;
  store.change({ shape: shape.includes(letter) ? shape.replace(letter, '') : shape + letter, ...(letter === 'r' ? { zoom: [] } : {}) });
}

function Toggle({ letter, children }: { letter: string; children: string }) {
  return <button aria-pressed={store.state.shape.includes(letter)} onClick={() => toggleLetter(letter)}>
    {store.state.shape.includes(letter) ? '☑' : '☐'} {children}</button>;
}

// Letters of the names decide, or the larger value; then the id, so that the order is always the same.
function order(tree: Tree, byName: boolean): (a: number, b: number) => number {
  const name = (node: number): string => store.server.name(tree.name[node]!);
  return byName
    ? (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b)
    : (a, b) => tree.value[b]! - tree.value[a]! || a - b;
}

function nodeShown(answer: Answer, tree: Tree, node: number): Shown {
  const whole = tree.value[0]!, value = tree.value[node]!, share = (part: number): string => percentText(whole > 0 ? (100 * part) / whole : 0);
  const stack = pathOf(tree, tree.parent[node]!).reverse().map((id) => store.server.name(id));
  const amount = (part: number): string => `${amountText(part, answer.unit)}, ${share(part)}`;
  if (node === 0) return { title: 'all', lines: [['all', amount(value)]], stack: [] };
  return {
    title: store.server.name(tree.name[node]!),
    lines: [['with callees', amount(value)], ['own', amount(tree.self[node]!)], ['count', countText(tree.count[node]!)]],
    stack, function: tree.name[node]!,
  };
}

function Crumbs({ tree, zoomed, changes, undo }: { tree: Tree; zoomed: number; changes: Changes; undo: () => void }) {
  const path = pathOf(tree, zoomed);
  return (
    <div class="flame-crumbs" role="navigation" aria-label="Zoom of the flame graph">
      <button onClick={() => store.change({ zoom: [] })}>all</button>
      {path.map((id, at) => <button key={at} onClick={() => store.change({ zoom: path.slice(0, at + 1) })}>▸ {store.server.name(id)}</button>)}
      {changes.focus >= 0 && <span class="hint">only stacks through {store.server.name(changes.focus)}</span>}
      {[...changes.hidden].map((id) => <span class="hint" key={id}>without {store.server.name(id)}</span>)}
      {(changes.focus >= 0 || changes.hidden.size > 0) && <button onClick={undo}>undo</button>}
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
  const { packed } = store.server;
  const weights = WEIGHTS.filter((one) => (packed ? packed.hasWeight(one.key) : summary?.kinds.includes(one.kind)));
  const weight = weights.find((one) => one.key === state.weight) ?? weights[0];
  const { answer, error, isLoading } = useFlame(weight?.key ?? '', state.shape.includes('r'));
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
      </div>
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {answer ? <Graph answer={answer} /> : error === undefined && <p class="hint">…</p>}
    </div>
  );
}

// One weight, up to an instant.
export function FlameOf({ weight, t1 }: { weight: string; t1: number }) {
  const { answer, error, isLoading } = useFlame(weight, store.state.shape.includes('r'), Math.max(1, Math.round(t1)));
  return (
    <div class={`flame-view${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {answer ? <Graph answer={answer} /> : error === undefined && <p class="hint">…</p>}
    </div>
  );
}

function Graph({ answer }: { answer: Answer }) {
  const { state } = useStore();
  const canvas = useRef<HTMLCanvasElement>(null), box = useRef<HTMLDivElement>(null), scene = useRef<FlameScene | undefined>(undefined);
  const [search, setSearch] = useState('');
  const [undone, setUndone] = useState<Changes[]>([NO_CHANGES]);
  const [width, setWidth] = useState(0), [scheme, setScheme] = useState(0), [narrow, setNarrow] = useState(0), [chosenText, say] = useState('');
  const changes = { ...undone.at(-1)!, isCollapsed: state.shape.includes('c') };
  const tree = useMemo(() => changeTree(answer.tree, changes), [answer, undone, changes.isCollapsed]);
  const zoomed = useMemo(() => nodeAt(tree, state.zoom), [tree, state.zoom]);
  const layout = useMemo(() => layOut(tree, zoomed, order(tree, state.shape.includes('n'))), [tree, zoomed, state.shape]);
  const found = useMemo(() => matcher(search), [search, answer]);
  const share = found && shareOf(tree, found);
  const names = useMemo(() => ({ hues: new Hues((id) => store.server.name(id)), labels: new Labels((id) => store.server.name(id)) }), [answer]);

  useEffect(() => {
    const resized = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    resized.observe(box.current!);
    const undo = onColorsChange(() => setScheme((n) => n + 1));
    return () => {
      resized.disconnect();
      undo();
    };
  }, []);
  const redraw = (): void => {
    const c = canvas.current && fitCanvas(canvas.current);
    if (c && scene.current) setNarrow(drawFlame(c, scene.current));
  };
  useEffect(() => {
    const before = scene.current?.tree === tree ? scene.current : undefined;
    scene.current = {
      tree, layout, width, isIcicle: state.shape.includes('i'), chosen: before?.chosen ?? -1, hovered: -1, found, colors: colors(), ...names,
      rootText: `all: ${amountText(tree.value[0]!, answer.unit)}`,
    };
    redraw();
  }, [tree, layout, width, found, state.shape, scheme]);

  const zoomTo = (node: number): void => store.change({ zoom: pathOf(tree, node) }, true);
  const choose = (node: number): void => {
    if (!scene.current) return;
    scene.current.chosen = node;
    const shown = node < 0 ? undefined : nodeShown(answer, tree, node);
    store.show({ chosen: shown });
    say(shown ? `${shown.title}: ${shown.lines[0]![1]}` : '');
    redraw();
  };
  const hover = (node: number): void => {
    if (!scene.current || scene.current.hovered === node) return;
    scene.current.hovered = node;
    store.show({ hovered: node < 0 ? undefined : nodeShown(answer, tree, node) });
    redraw();
  };
  const change = (next: Changes): void => {
    setUndone([...undone, next]);
    store.change({ zoom: [] });
  };
  const undo = (): void => setUndone(undone.length > 1 ? undone.slice(0, -1) : undone);
  const pressed = (event: KeyboardEvent): void => {
    const isDone = scene.current && flameKey(event.key, scene.current, zoomed, {
      choose, zoomTo, undo, toggle: toggleLetter,
      focus: (name) => change({ ...undone.at(-1)!, focus: name }),
      hide: (name) => change({ ...undone.at(-1)!, hidden: new Set([...undone.at(-1)!.hidden, name]) }),
    });
    if (!isDone) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const clicked = (event: MouseEvent): void => {
    const node = scene.current ? nodeUnder(scene.current, event.offsetX, event.offsetY) : -1;
    if (node < 0) return;
    choose(node);
    zoomTo(node);
  };
  return (
    <>
      <div class="flame-tools">
        <label>Find <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} placeholder="function" /></label>
        {share && <span role="status">{countText(share.nodes)} found, {amountText(share.value, answer.unit)},{' '}
          {percentText(tree.value[0]! > 0 ? (100 * share.value) / tree.value[0]! : 0)} of the total</span>}
        <span class="space" />
        {scene.current && scene.current.chosen > 0 && <>
          <button onClick={() => change({ ...undone.at(-1)!, focus: tree.name[scene.current!.chosen]! })}>focus</button>
          <button onClick={() => change({ ...undone.at(-1)!, hidden: new Set([...undone.at(-1)!.hidden, tree.name[scene.current!.chosen]!]) })}>
            hide</button>
        </>}
      </div>
      <Crumbs tree={tree} zoomed={zoomed} changes={changes} undo={undo} />
      <div class="flame-box" ref={box}>
        <canvas ref={canvas} class="flame" tabIndex={0} role="application" aria-roledescription="flame graph"
          style={{ height: `${layout.depths * FLAME_ROW}px` }}
          aria-label={`Flame graph of ${amountText(tree.value[0]!, answer.unit)}, ${tree.parent.length - 1} nodes, ${layout.depths} deep`}
          onKeyDown={pressed} onClick={clicked} onPointerLeave={() => hover(-1)}
          onPointerMove={(event) => scene.current && hover(nodeUnder(scene.current, event.offsetX, event.offsetY))} />
      </div>
      <span class="unseen" role="status">{chosenText}</span>
      <p class="hint">
        {answer.tree.value[0] === 0 && 'There is nothing of this in the selection. '}
        {narrow > 0 && `${countText(narrow)} nodes are too narrow to draw: zoom in. `}
        {answer.leftOut > 0 && `${amountText(answer.leftOut, answer.unit)} of small nodes are folded into their callers. `}
      </p>
    </>
  );
}
