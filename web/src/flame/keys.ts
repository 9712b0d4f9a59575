// SPDX-License-Identifier: MIT
// Keys of the flame graph: from node to node, in and out, focus, hide, drop, and their undo; callers and callees.
//
// Why: apart from the component, as a table.
// Invariant: a key that means nothing here is left to the page.
import type { FlameScene } from './draw.ts';

export interface Actions {
  choose(node: number): void;
  zoomTo(node: number): void;
  focus(name: number): void;
  hide(name: number): void;
  drop(name: number): void;
  around(name: number): void;
  undo(): void;
  toggle(letter: string): void;
}

function sibling({ tree, layout }: FlameScene, node: number, by: 1 | -1): number {
  const row = layout.children[tree.parent[node]!];
  return row?.[row.indexOf(node) + by] ?? node;
}

// The neighbour that an arrow leads to. Up and down are on the screen: which of them is the caller depends on the shape.
export function neighbour(scene: FlameScene, node: number, key: string): number {
  if (key === 'ArrowLeft' || key === 'ArrowRight') return node === 0 ? node : sibling(scene, node, key === 'ArrowLeft' ? -1 : 1);
  const toCaller = (key === 'ArrowUp') === scene.isIcicle;
  return toCaller ? Math.max(0, scene.tree.parent[node]!) : scene.layout.children[node]![0] ?? node;
}

export function flameKey(key: string, scene: FlameScene, zoomed: number, actions: Actions): boolean {
  const chosen = scene.chosen < 0 ? zoomed : scene.chosen, name = scene.tree.name[chosen]!;
  switch (key) {
    case 'ArrowLeft': case 'ArrowRight': case 'ArrowUp': case 'ArrowDown': actions.choose(neighbour(scene, chosen, key)); return true;
    case 'Enter': actions.zoomTo(chosen); return true;
    case 'Escape': case 'Backspace':
      if (zoomed === 0) return false;
      actions.zoomTo(Math.max(0, scene.tree.parent[zoomed]!));
      return true;
    case 'o': if (name >= 0) actions.focus(name); return true;
    case 'x': if (name >= 0) actions.hide(name); return true;
    case 'd': if (name >= 0) actions.drop(name); return true;
    case 's': if (name >= 0) actions.around(name); return true;
    case 'u': actions.undo(); return true;
    case 'i': actions.toggle('i'); return true;
    case 'r': actions.toggle('c'); return true;
    default: return false;
  }
}
