// SPDX-License-Identifier: MIT
// Callers and callees of one function, above and below it; a click goes on to another one.
//
// Why: apart from the flame graph, which is of the whole.
// Invariant: both halves are of the same total, which is said with its share of all.
import { useMemo } from 'preact/hooks';
import { store } from '../store.ts';
import { amountText, percentText } from '../units.ts';
import type { FlameScene } from './draw.ts';
import { sandwich } from './sandwich.ts';
import { neighbour } from './keys.ts';
import { TreeCanvas } from './tree_canvas.tsx';
import type { Tree } from './tree.ts';

export const leaveSandwich = (): void => store.change({ around: [] }, true);

export function SandwichView({ tree, unit, name }: { tree: Tree; unit: string; name: number }) {
  const { callers, callees } = useMemo(() => sandwich(tree, name), [tree, name]);
  const value = callees.value[0]!, whole = tree.value[0]!, title = store.server.name(name), rootText = `${title}: ${amountText(value, unit)}`;
  const open = (of: Tree) => (node: number): void => {
    if (node > 0) store.change({ around: [of.name[node]!] }, true);
  };
  const keys = (of: Tree) => (event: KeyboardEvent, scene: FlameScene, choose: (node: number) => void): boolean => {
    if (event.key.startsWith('Arrow')) choose(scene.chosen < 0 ? 0 : neighbour(scene, scene.chosen, event.key));
    else if (event.key === 'Enter') open(of)(scene.chosen);
    else if (event.key === 'Escape' || event.key === 'Backspace') leaveSandwich();
    else return false;
    return true;
  };
  const half = { unit, zoomed: 0, by: 'value' as const, rootText, onChoose: () => {} };
  return (
    <div class="sandwich">
      <div class="flame-tools">
        <button onClick={leaveSandwich}>◂ flame graph</button>
        <span role="status">{rootText}, {percentText(whole > 0 ? (100 * value) / whole : 0)} of all</span>
        <span class="hint">a click goes on to that function</span>
      </div>
      <h2>Callers</h2>
      <TreeCanvas {...half} tree={callers} isIcicle={false} what={`Callers of ${title}`} onOpen={open(callers)} onKey={keys(callers)} />
      <h2>Callees</h2>
      <TreeCanvas {...half} tree={callees} isIcicle what={`Callees of ${title}`} onOpen={open(callees)} onKey={keys(callees)} />
    </div>
  );
}
