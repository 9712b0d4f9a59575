// SPDX-License-Identifier: MIT
// One tree on a canvas: what is under the cursor or chosen goes to the panel of details.
//
// Why: the flame graph has one, callers and callees of a function are two.
// Invariant: what is too narrow to draw is said below.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { colors, Hues, onColorsChange } from '../colors.ts';
import { fitCanvas } from '../curve.ts';
import { Labels } from '../labels.ts';
import { store, type Shown } from '../store.ts';
import { amountText, countText, percentText } from '../units.ts';
import { drawFlame, FLAME_ROW, nodeUnder, type FlameScene } from './draw.ts';
import { layOut, pathOf, sidesOf, type Tree } from './tree.ts';

// Letters of the names decide, or the larger value, or time; then the id, so that the order is always the same.
export function orderOf(tree: Tree, by: 'name' | 'value' | 'time'): (a: number, b: number) => number {
  const name = (node: number): string => store.server.name(tree.name[node]!);
  if (by === 'time') return (a, b) => a - b;
  return by === 'name'
    ? (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b)
    : (a, b) => tree.value[b]! - tree.value[a]! || a - b;
}

export function nodeShown(tree: Tree, node: number, unit: string): Shown {
  const whole = tree.value[0]!, value = tree.value[node]!, share = (part: number): string => percentText(whole > 0 ? (100 * part) / whole : 0);
  const stack = pathOf(tree, tree.parent[node]!).reverse().map((id) => store.server.name(id));
  const amount = (part: number): string => `${amountText(part, unit)}, ${share(part)}`;
  if (node === 0) return { title: 'all', lines: [['all', amount(value)]], stack: [] };
  return {
    title: store.server.name(tree.name[node]!),
    lines: [['with callees', amount(value)], ...beforeLines(tree, node, unit), ['own', amount(tree.self[node]!)], ['count', countText(tree.count[node]!)]],
    stack, function: tree.name[node]!,
  };
}

function beforeLines(tree: Tree, node: number, unit: string): [string, string][] {
  if (!tree.before) return [];
  const { before, after } = sidesOf(tree, node), change = after - before, sign = change < 0 ? '−' : '+';
  return [['before', amountText(before, unit)], ['now', amountText(after, unit)], ['change', `${sign}${amountText(Math.abs(change), unit)}${before > 0 ? `, ${sign}${percentText((100 * Math.abs(change)) / before)}` : ''}`]];
}

interface Given {
  tree: Tree;
  unit: string;
  zoomed: number;
  isIcicle: boolean;
  by: 'name' | 'value' | 'time';
  what: string;       // it is called so
  rootText: string;
  found?: ((name: number) => boolean) | undefined;
  onChoose(node: number): void;
  onOpen(node: number): void;
  onKey(event: KeyboardEvent, scene: FlameScene, choose: (node: number) => void): boolean;
}

export function TreeCanvas(given: Given) {
  const { tree, unit, zoomed, isIcicle, by, found, rootText, what } = given;
  const canvas = useRef<HTMLCanvasElement>(null), box = useRef<HTMLDivElement>(null), scene = useRef<FlameScene | undefined>(undefined);
  const [width, setWidth] = useState(0), [scheme, setScheme] = useState(0), [narrow, setNarrow] = useState(0), [chosenText, say] = useState('');
  const layout = useMemo(() => layOut(tree, zoomed, orderOf(tree, by)), [tree, zoomed, by]);
  const names = useMemo(() => ({ hues: new Hues((id) => store.server.name(id)), labels: new Labels((id) => store.server.name(id)) }), [tree]);

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
    scene.current = { tree, layout, width, isIcicle, chosen: before?.chosen ?? -1, hovered: -1, found, colors: colors(), ...names, rootText };
    redraw();
  }, [tree, layout, width, found, isIcicle, scheme, rootText]);

  const choose = (node: number): void => {
    if (!scene.current) return;
    scene.current.chosen = node;
    const shown = node < 0 ? undefined : nodeShown(tree, node, unit);
    store.show({ chosen: shown });
    say(shown ? `${shown.title}: ${shown.lines[0]![1]}` : '');
    given.onChoose(node);
    redraw();
  };
  const hover = (node: number): void => {
    if (!scene.current || scene.current.hovered === node) return;
    scene.current.hovered = node;
    store.show({ hovered: node < 0 ? undefined : nodeShown(tree, node, unit) });
    redraw();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (!scene.current || !given.onKey(event, scene.current, choose)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const clicked = (event: MouseEvent): void => {
    const node = scene.current ? nodeUnder(scene.current, event.offsetX, event.offsetY) : -1;
    if (node < 0) return;
    choose(node);
    given.onOpen(node);
  };
  return (
    <>
      <div class="flame-box" ref={box}>
        <canvas ref={canvas} class="flame" tabIndex={0} role="application" aria-roledescription="flame graph"
          style={{ height: `${layout.depths * FLAME_ROW}px` }}
          aria-label={`${what} of ${amountText(tree.value[0]!, unit)}, ${tree.parent.length - 1} nodes, ${layout.depths} deep`}
          onKeyDown={pressed} onClick={clicked} onPointerLeave={() => hover(-1)}
          onPointerMove={(event) => scene.current && hover(nodeUnder(scene.current, event.offsetX, event.offsetY))} />
      </div>
      <span class="unseen" role="status">{chosenText}</span>
      {narrow > 0 && <p class="hint">{countText(narrow)} nodes are too narrow to draw: zoom in.</p>}
    </>
  );
}
