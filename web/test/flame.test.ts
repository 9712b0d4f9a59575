// SPDX-License-Identifier: MIT
// The flame graph's tree: with any focus, hiding or collapsing, nothing is lost, and widths add up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandwich } from '../src/flame/sandwich.ts';
import { changeTree, layOut, makeTree, nodeAt, nodeBySteps, NO_CHANGES, pathOf, rootedIn, shareOf, sidesOf, stepsOf, turned, changeOf, type Tree } from '../src/flame/tree.ts';

// 1 → (2 → (2, 3), 3), 4: own 10, 20, 5, 7, 3, 55.
const PARENT = [-1, 0, 1, 1, 0, -1], NAME = [1, 2, 2, 3, 3, 4], VALUE = [45, 32, 5, 7, 3, 55];
const tree = (): Tree =>
  makeTree(Int32Array.from(PARENT), Uint32Array.from(NAME), Float64Array.from(VALUE), Float64Array.from([1, 2, 3, 4, 5, 6]));
const byValue = (of: Tree) => (a: number, b: number) => of.value[b]! - of.value[a]! || a - b;
const named = (of: Tree): [number, number][] => [...of.name].map((name, at) => [name, of.value[at]!]);

test('a value is what is its own and its children', () => {
  const of = tree();
  assert.equal(of.value[0], 100);
  assert.deepEqual([...of.self], [0, 10, 20, 5, 7, 3, 55]);
  assert.throws(() => makeTree(Int32Array.of(1, -1), Uint32Array.of(1, 1), Float64Array.of(1, 1), Float64Array.of(1, 1)));
});

test('what was folded into a parent stays in it', () => {
  const of = makeTree(Int32Array.of(-1, 0), Uint32Array.of(1, 2), Float64Array.of(10, 4), Float64Array.of(1, 1));
  assert.deepEqual([...of.value], [10, 10, 4]);
});

test('hidden functions leave their callees in their place', () => {
  const of = changeTree(tree(), { ...NO_CHANGES, hidden: new Set([2]) });
  assert.deepEqual(named(of), [[-1, 100], [1, 45], [3, 10], [4, 55]]);
});

test('focus keeps the stacks through a function', () => {
  const of = changeTree(tree(), { ...NO_CHANGES, focus: 3 });
  assert.deepEqual(named(of), [[-1, 10], [3, 10]]);
  assert.equal(changeTree(tree(), { ...NO_CHANGES, focus: 2 }).value[0], 32);
});

test('recursion collapses into one', () => {
  const of = changeTree(tree(), { ...NO_CHANGES, isCollapsed: true });
  assert.equal(of.value[0], 100);
  assert.equal([...of.name].filter((name) => name === 2).length, 1);
});

test('widths of children lie within their parent', () => {
  const of = tree(), layout = layOut(of, 0, byValue(of));
  assert.equal(layout.depths, 4);
  assert.equal(layout.x[6], 0, 'the heaviest is on the left');
  assert.ok(Math.abs(layout.width[6]! - 0.55) < 1e-9);
  for (let node = 1; node < of.parent.length; ++node) {
    const parent = of.parent[node]!;
    assert.ok(layout.x[node]! >= layout.x[parent]! - 1e-9);
    assert.ok(layout.x[node]! + layout.width[node]! <= layout.x[parent]! + layout.width[parent]! + 1e-9);
  }
});

test('a zoomed node and its callers take the whole width', () => {
  const of = tree(), layout = layOut(of, 2, byValue(of));
  assert.deepEqual([0, 1, 2].map((node) => layout.width[node]), [1, 1, 1]);
  assert.equal(layout.width[6], 0);
  assert.equal(layout.width[5], 0);
  assert.ok(Math.abs(layout.width[4]! - 7 / 32) < 1e-9);
});

test('a zoom is found again by its names', () => {
  const of = tree();
  assert.deepEqual(pathOf(of, 4), [1, 2, 3]);
  assert.equal(nodeAt(of, [1, 2, 3]), 4);
  assert.equal(nodeAt(of, [1, 9]), 1);
});

test('each stack is found once', () => {
  assert.deepEqual(shareOf(tree(), (name) => name === 2), { value: 32, nodes: 2 });
  assert.deepEqual(shareOf(tree(), (name) => name === 3), { value: 10, nodes: 2 });
});

test('dropped functions take their stacks along, also out of a focus', () => {
  const of = changeTree(tree(), { ...NO_CHANGES, dropped: new Set([2]) });
  assert.deepEqual(named(of), [[-1, 68], [1, 13], [3, 3], [4, 55]]);
  assert.equal(changeTree(tree(), { ...NO_CHANGES, dropped: new Set([2]), focus: 3 }).value[0], 3);
  assert.equal(changeTree(tree(), { ...NO_CHANGES, dropped: new Set([1, 4]) }).value[0], 0);
});

test('in time order siblings of one name stay apart, and are found by their place', () => {
  const of = makeTree(Int32Array.of(-1, 0, 0, 0), Uint32Array.of(1, 2, 3, 2), Float64Array.of(10, 4, 3, 2), Float64Array.of(1, 1, 1, 1));
  assert.equal(changeTree(of, NO_CHANGES).parent.length, 4);
  const ordered = changeTree(of, { ...NO_CHANGES, isInOrder: true });
  assert.deepEqual(named(ordered), named(of));
  for (let node = 0; node < ordered.parent.length; ++node) assert.equal(nodeBySteps(ordered, stepsOf(ordered, node)), node);
  assert.equal(nodeBySteps(ordered, [0, 9]), 1, 'as far as the way leads');
});

test('callers and callees of a function have its value, and recursion counts once', () => {
  const { callers, callees } = sandwich(tree(), 2);
  assert.deepEqual(named(callers), [[2, 32], [1, 32]]);
  assert.deepEqual(named(callees), [[2, 32], [2, 5], [3, 7]]);
  const both = sandwich(tree(), 3);
  assert.deepEqual([both.callers.value[0], both.callees.value[0]], [10, 10]);
  assert.deepEqual(named(both.callers), [[3, 10], [2, 7], [1, 7], [1, 3]]);
  assert.equal(sandwich(tree(), 77).callees.value[0], 0);
});

test('the answer about one function has that function as its root', () => {
  const of = rootedIn(makeTree(Int32Array.of(-1, 0, 0), Uint32Array.of(5, 5, 6), Float64Array.of(9, 2, 3), Float64Array.of(4, 1, 1)), 5);
  assert.deepEqual([...of.parent], [-1, 0, 0]);
  assert.deepEqual(named(of), [[5, 9], [5, 2], [6, 3]]);
  assert.deepEqual([...of.self], [4, 2, 3]);
  const none = rootedIn(makeTree(new Int32Array(), new Uint32Array(), new Float64Array(), new Float64Array()), 7);
  assert.deepEqual(named(none), [[7, 0]]);
});

test('a comparison knows both sides, also turned and changed', () => {
  const of = makeTree(Int32Array.of(-1, 0, -1), Uint32Array.of(1, 2, 3), Float64Array.of(10, 4, 0), Float64Array.of(1, 1, 0), Float64Array.of(6, 6, 5));
  assert.deepEqual(sidesOf(of, 0), { before: 11, after: 10 });
  const changed = changeTree(of, { ...NO_CHANGES, dropped: new Set([3]) });
  assert.deepEqual(sidesOf(changed, 0), { before: 6, after: 10 });
  const less = changeTree(of, { ...NO_CHANGES, dropped: new Set([2]) });
  assert.deepEqual([0, 1].map((node) => sidesOf(less, node)), [{ before: 5, after: 6 }, { before: 0, after: 6 }], 'what is dropped is not before, either');
  const hidden = changeTree(of, { ...NO_CHANGES, hidden: new Set([1]) });
  assert.deepEqual([0, 1].map((node) => sidesOf(hidden, node)), [{ before: 11, after: 10 }, { before: 6, after: 4 }], 'what is hidden is in its caller on both sides');
  const own = makeTree(Int32Array.of(-1), Uint32Array.of(1), Float64Array.of(10), Float64Array.of(1), Float64Array.of(7));
  assert.deepEqual(sidesOf(changeTree(own, { ...NO_CHANGES, hidden: new Set([1]) }), 0), { before: 7, after: 10 });
  const other = turned(of);
  assert.deepEqual([...other.value], [11, 6, 6, 5]);
  for (let node = 0; node < 4; ++node) assert.deepEqual(sidesOf(other, node), sidesOf(of, node));
  assert.equal(changeOf({ before: 1000, after: 1009 }), 0, 'noise');
  assert.equal(changeOf({ before: 0, after: 0 }), 0);
  assert.equal(changeOf({ before: 4, after: 2 }), -0.5);
  assert.equal(changeOf({ before: 0, after: 2 }), 1);
});
