// SPDX-License-Identifier: MIT
// Callers above and callees below one function, all its occurrences merged: of a tree that is here as a whole.
//
// Why: whoever asks "who calls this, and what does it cost there" does not want to add up by eye; a page that has its
// answers with it (packed.ts) has nobody else to ask.
// Invariant: both trees have the same value at their roots: that of the function's occurrences, of which one in another
// counts once.
import type { Tree } from './tree.ts';

export interface Sandwich { callers: Tree; callees: Tree }

// Grows a tree by paths; equal ones are one.
class Growing {
  private readonly children = new Map<string, number>();
  readonly parent: number[] = [-1];
  readonly name: number[];
  readonly self: number[] = [0];
  readonly count: number[] = [0];

  constructor(root: number) {
    this.name = [root];
  }

  child(of: number, name: number): number {
    const key = `${of} ${name}`;
    let node = this.children.get(key);
    if (node !== undefined) return node;
    node = this.parent.push(of) - 1;
    this.children.set(key, node);
    this.name.push(name);
    this.self.push(0);
    this.count.push(0);
    return node;
  }

  tree(): Tree {
    const value = Float64Array.from(this.self);
    for (let at = value.length - 1; at > 0; --at) value[this.parent[at]!] = value[this.parent[at]!]! + value[at]!;
    return {
      parent: Int32Array.from(this.parent), name: Int32Array.from(this.name), self: Float64Array.from(this.self), count: Float64Array.from(this.count), value,
    };
  }
}

// Of a tree from the outermost function on.
export function sandwich(tree: Tree, name: number): Sandwich {
  const callers = new Growing(name), callees = new Growing(name), size = tree.parent.length;
  const to = new Int32Array(size).fill(-1);  // the node of callees that it is in
  for (let at = 1; at < size; ++at) {
    const above = to[tree.parent[at]!]!, isOutermost = above < 0 && tree.name[at] === name;
    if (!isOutermost && above < 0) continue;
    const node = (to[at] = isOutermost ? 0 : callees.child(above, tree.name[at]!));
    callees.self[node] = callees.self[node]! + tree.self[at]!;
    callees.count[node] = callees.count[node]! + tree.count[at]!;
    if (!isOutermost) continue;
    let caller = 0;
    callers.count[0] = callers.count[0]! + tree.count[at]!;
    for (let up = tree.parent[at]!; up > 0; up = tree.parent[up]!) {
      caller = callers.child(caller, tree.name[up]!);
      callers.count[caller] = callers.count[caller]! + tree.count[at]!;
    }
    callers.self[caller] = callers.self[caller]! + tree.value[at]!;
  }
  return { callers: callers.tree(), callees: callees.tree() };
}
