// SPDX-License-Identifier: MIT
// Callers and callees of one function, above and below it; a click goes on to another one.
//
// Why: apart from the flame graph, which is of the whole, and lacks nodes that are small there.
// Invariant: both halves are of the same total, which is said with its share of all.
import { useMemo } from 'preact/hooks';
import { useAsked, type Asked } from '../answers.ts';
import { group } from '../columns.ts';
import type { Parameters } from '../server.ts';
import { store } from '../store.ts';
import { amountText, percentText } from '../units.ts';
import type { FlameScene } from './draw.ts';
import { neighbour } from './keys.ts';
import { TreeCanvas } from './tree_canvas.tsx';
import { changeTree, makeTree, NO_CHANGES, rootedIn, type Tree } from './tree.ts';

export const leaveSandwich = (): void => store.change({ around: [] }, true);

interface Half { tree: Tree; unit: string; leftOut: number }

function useHalf(asks: Parameters, name: number, isCallers: boolean): Asked<Half> {
  const parameters = { ...asks, around: name, ...(isCallers ? { reverse: 1 } : {}) }, slot = isCallers ? 'callers' : 'callees';
  return useAsked(JSON.stringify(parameters), slot, () => store.server.columns('flame', parameters, slot).then((columns) => {
    const { parent, name: names, value, count } = group(columns, { parent: 'i32', name: 'u32', value: 'f64', count: 'f64' });
    const { unit, left_out: leftOut } = columns.header;
    return { tree: makeTree(parent, names, value, count), unit: String(unit), leftOut: Number(leftOut) || 0 };
  }));
}

function HalfView({ half, name, isCallers, isCollapsed }: { half: Half; name: number; isCallers: boolean; isCollapsed: boolean }) {
  const tree = useMemo(() => rootedIn(changeTree(half.tree, { ...NO_CHANGES, isCollapsed }), name), [half, isCollapsed]);
  const title = store.server.name(name), words = isCallers ? 'Callers' : 'Callees';
  const open = (node: number): void => {
    if (node > 0) store.change({ around: [tree.name[node]!] }, true);
  };
  const pressed = (event: KeyboardEvent, scene: FlameScene, choose: (node: number) => void): boolean => {
    if (event.key.startsWith('Arrow')) choose(scene.chosen < 0 ? 0 : neighbour(scene, scene.chosen, event.key));
    else if (event.key === 'Enter') open(scene.chosen);
    else if (event.key === 'Escape' || event.key === 'Backspace') leaveSandwich();
    else return false;
    return true;
  };
  return (
    <>
      <h2>{words}</h2>
      <TreeCanvas tree={tree} unit={half.unit} zoomed={0} by="value" isIcicle={!isCallers} what={`${words} of ${title}`}
        rootText={`${title}: ${amountText(tree.value[0]!, half.unit)}`} onChoose={() => {}} onOpen={open} onKey={pressed} />
      {half.leftOut > 0 && <p class="hint">{amountText(half.leftOut, half.unit)} of small nodes are {store.server.packed ? 'not in this file.' : 'folded.'}</p>}
    </>
  );
}

// asks: what the flame graph is of; whole: its total.
export function SandwichView({ asks, whole, name }: { asks: Parameters; whole: number; name: number }) {
  const callers = useHalf(asks, name, true), callees = useHalf(asks, name, false), isCollapsed = store.state.shape.includes('c');
  const error = callers.error ?? callees.error, isLoading = callers.isLoading || callees.isLoading, of = callees.answer;
  return (
    <div class={`sandwich${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <div class="flame-tools">
        <button onClick={leaveSandwich}>◂ flame graph</button>
        {of && <span role="status">{store.server.name(name)}: {amountText(of.tree.value[0]!, of.unit)}, {percentText(whole > 0 ? (100 * of.tree.value[0]!) / whole : 0)} of all</span>}
        <span class="hint">a click goes on to that function</span>
      </div>
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {callers.answer && of ? <>
        <HalfView half={callers.answer} name={name} isCallers isCollapsed={isCollapsed} />
        <HalfView half={of} name={name} isCallers={false} isCollapsed={isCollapsed} />
      </> : error === undefined && <p class="hint">…</p>}
    </div>
  );
}
