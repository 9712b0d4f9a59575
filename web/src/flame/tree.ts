// SPDX-License-Identifier: MIT
// The tree of a flame graph: what the server sent, changed by focus, hide and collapse, laid out.
//
// Why: a few thousand nodes in typed arrays are changed and laid out faster than the server could be asked.
// Invariant: parents stand before their children; node 0 is the root over all; a node's value is its own plus its children's.
import type { FlameChange } from '../state.ts';

export interface Tree {
  parent: Int32Array;
  name: Int32Array;     // name id; -1 of the root
  value: Float64Array;
  self: Float64Array;
  count: Float64Array;
  before?: Float64Array | undefined;  // value in the recording that is compared with
  isTurned?: boolean;                 // the other way round: `value` is that of the recording that is compared with
}

export interface Changes {
  focus: number;              // name id: only stacks through it; -1: all
  hidden: ReadonlySet<number>;  // their callees take their place
  dropped: ReadonlySet<number>;  // stacks through them are left out, and so is their value
  isCollapsed: boolean;       // a function that calls itself is one node
  isInOrder: boolean;         // siblings of one name stay apart: they are at different times
}

export const NO_CHANGES: Changes = { focus: -1, hidden: new Set(), dropped: new Set(), isCollapsed: false, isInOrder: false };

// Of two focuses the later one counts.
export function changesOf(list: readonly FlameChange[], isCollapsed: boolean, isInOrder: boolean): Changes {
  const named = (how: FlameChange['how']): number[] => list.filter((one) => one.how === how).map((one) => one.name);
  return { focus: named('o').at(-1) ?? -1, hidden: new Set(named('x')), dropped: new Set(named('d')), isCollapsed, isInOrder };
}

class BadTree extends Error {}

// From the columns of the answer, below one root. What a node has beyond its children is its own: that counts, whatever `self` says,
// so that nothing that was folded into a parent gets lost.
export function makeTree(parent: Int32Array, name: Uint32Array, value: Float64Array, count: Float64Array, before?: Float64Array): Tree {
  const size = parent.length + 1;
  const tree: Tree = {
    parent: new Int32Array(size), name: new Int32Array(size), value: new Float64Array(size), self: new Float64Array(size),
    count: new Float64Array(size),
  };
  [tree.parent[0], tree.name[0]] = [-1, -1];
  for (let at = 0; at < parent.length; ++at) {
    if (parent[at]! >= at || parent[at]! < -1) throw new BadTree('the tree of the answer has a node before its parent');
    tree.parent[at + 1] = parent[at]! + 1;
    tree.name[at + 1] = name[at]!;
    tree.value[at + 1] = Math.max(0, value[at]!) || 0;
    tree.count[at + 1] = count[at]!;
  }
  tree.self = ownOf(tree.parent, tree.value).map((own) => Math.max(0, own));
  tree.self[0] = 0;
  sumUp(tree.parent, tree.self, tree.value);
  if (before === undefined) return tree;
  const all = (tree.before = new Float64Array(size));
  all.set(before, 1);
  for (let at = 1; at < size; ++at) if (tree.parent[at] === 0) all[0] = all[0]! + all[at]!;
  return tree;
}

// The only node below the root as the root: callers or callees of one function.
export function rootedIn(tree: Tree, name: number): Tree {
  if (tree.parent.length === 1) return { ...tree, name: Int32Array.of(name) };
  return {
    parent: tree.parent.slice(1).map((at) => at - 1), name: tree.name.slice(1), value: tree.value.slice(1), self: tree.self.slice(1), count: tree.count.slice(1),
  };
}

// The same graph of the other recording: widths are of what was before.
export function turned(tree: Tree): Tree {
  return { ...makeTree(tree.parent.slice(1).map((at) => at - 1), Uint32Array.from(tree.name.slice(1)), tree.before!.slice(1), tree.count.slice(1)), before: tree.value, isTurned: true };
}

export function sidesOf(tree: Tree, node: number): { before: number; after: number } {
  const value = tree.value[node]!, other = tree.before?.[node] ?? value;
  return tree.isTurned ? { before: value, after: other } : { before: other, after: value };
}

const NOISE = 0.01;  // of the larger: what changed by less is noise, as penna diff has it

// -1 to 1: how much less or more there is than before, 0 for noise.
export function changeOf({ before, after }: { before: number; after: number }): number {
  const larger = Math.max(after, before), change = larger > 0 ? (after - before) / larger : 0;
  return Math.abs(change) < NOISE ? 0 : change;
}

// Values from what is each node's own, children before parents.
function sumUp(parent: ArrayLike<number>, own: ArrayLike<number>, value: Float64Array): void {
  for (let at = 0; at < value.length; ++at) value[at] = own[at]!;
  for (let at = value.length - 1; at > 0; --at) value[parent[at]!] = value[parent[at]!]! + value[at]!;
}

// What a node has beyond its children.
function ownOf(parent: Int32Array, value: Float64Array): Float64Array {
  const own = value.slice();
  for (let at = own.length - 1; at > 0; --at) own[parent[at]!] = own[parent[at]!]! - value[at]!;
  return own;
}

// Nodes of one parent with one name become one; what falls outside the focus, or is dropped, is left out.
export function changeTree(tree: Tree, { focus, hidden, dropped, isCollapsed, isInOrder }: Changes): Tree {
  const OUTSIDE = -2, DROPPED = -3, size = tree.parent.length;
  const to = new Int32Array(size), children = new Map<string, number>();
  const parent: number[] = [-1], name: number[] = [-1], self: number[] = [0], count: number[] = [0], before: number[] = [0];
  const ownBefore = tree.before && ownOf(tree.parent, tree.before);
  to[0] = focus < 0 ? 0 : OUTSIDE;
  for (let at = 1; at < size; ++at) {
    const above = to[tree.parent[at]!]!, id = tree.name[at]!;
    const target = above === DROPPED || dropped.has(id) ? DROPPED : above === OUTSIDE ? (id === focus ? 0 : OUTSIDE) : above;
    if (target < 0) {
      to[at] = target;
      continue;
    }
    const isMerged = hidden.has(id) || (isCollapsed && name[target] === id);
    const key = isInOrder ? String(at) : `${target} ${id}`;
    const node = isMerged ? target : children.get(key) ?? parent.length;
    if (!isMerged && node === parent.length) {
      children.set(key, node);
      parent.push(target);
      name.push(id);
      self.push(0);
      count.push(0);
      before.push(0);
    }
    to[at] = node;
    self[node] = self[node]! + tree.self[at]!;
    if (ownBefore) before[node] = before[node]! + ownBefore[at]!;
    if (!isMerged) count[node] = count[node]! + tree.count[at]!;
  }
  const changed: Tree = {
    parent: Int32Array.from(parent), name: Int32Array.from(name), self: Float64Array.from(self), count: Float64Array.from(count),
    value: new Float64Array(parent.length),
  };
  sumUp(parent, self, changed.value);
  if (tree.before) sumUp(parent, before, (changed.before = new Float64Array(parent.length)));
  return changed;
}

export interface Layout {
  x: Float64Array;       // share of the zoomed node's width, 0 to 1; may lie outside when it is above the zoomed node
  width: Float64Array;
  depth: Int32Array;
  children: Int32Array[];  // by node, from left to right
  depths: number;
}

// Every node's place below `zoomed`; its callers lie over its whole width, all else outside has no width.
export function layOut(tree: Tree, zoomed: number, before: (a: number, b: number) => number): Layout {
  const size = tree.parent.length, lists: number[][] = Array.from({ length: size }, () => []);
  for (let at = 1; at < size; ++at) lists[tree.parent[at]!]!.push(at);
  const children = lists.map((list) => Int32Array.from(list.sort(before)));
  const x = new Float64Array(size), width = new Float64Array(size), depth = new Int32Array(size);
  for (let at = zoomed; at >= 0; at = tree.parent[at]!) width[at] = 1;
  let depths = 0;
  for (let at = 0; at < size; ++at) {
    if (at > 0) depth[at] = depth[tree.parent[at]!]! + 1;
    if (width[at]! > 0) depths = Math.max(depths, depth[at]! + 1);
    const isAbove = width[at] === 1 && at !== zoomed && isCaller(tree, at, zoomed);
    if (isAbove || tree.value[at]! <= 0) continue;
    let left = x[at]!;
    for (const child of children[at]!) {
      width[child] = (width[at]! * tree.value[child]!) / tree.value[at]!;
      x[child] = left;
      left += width[child]!;
    }
  }
  return { x, width, depth, children, depths };
}

function isCaller(tree: Tree, node: number, of: number): boolean {
  for (let at = tree.parent[of]!; at >= 0; at = tree.parent[at]!) if (at === node) return true;
  return false;
}

// Names from the root's child to the node, and back: zooms are kept by names, for numbers of nodes change with the selection.
export function pathOf(tree: Tree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) path.unshift(tree.name[at]!);
  return path;
}

// The deepest node that the path leads to.
export function nodeAt(tree: Tree, path: readonly number[]): number {
  let node = 0;
  for (const name of path) {
    const next = tree.parent.findIndex((parent, at) => parent === node && tree.name[at] === name);
    if (next < 0) break;
    node = next;
  }
  return node;
}

// The same where siblings may have one name: how many of them stand before each on the way.
export function stepsOf(tree: Tree, node: number): number[] {
  const steps: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) {
    let before = 0;
    for (let other = tree.parent[at]! + 1; other < at; ++other) if (tree.parent[other] === tree.parent[at]) ++before;
    steps.unshift(before);
  }
  return steps;
}

export function nodeBySteps(tree: Tree, steps: readonly number[]): number {
  let node = 0;
  for (const step of steps) {
    let left = step, next = -1;
    for (let at = node + 1; at < tree.parent.length && next < 0; ++at) if (tree.parent[at] === node && left-- === 0) next = at;
    if (next < 0) break;
    node = next;
  }
  return node;
}

// How much of the total is below functions that are found: each stack once, however often it has one.
export function shareOf(tree: Tree, isFound: (name: number) => boolean): { value: number; nodes: number } {
  const inside = new Uint8Array(tree.parent.length);
  let value = 0, nodes = 0;
  for (let at = 1; at < tree.parent.length; ++at) {
    const isOne = isFound(tree.name[at]!);
    if (isOne) ++nodes;
    if (isOne && !inside[tree.parent[at]!]) value += tree.value[at]!;
    inside[at] = isOne || inside[tree.parent[at]!] ? 1 : 0;
  }
  return { value, nodes };
}
