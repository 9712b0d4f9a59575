// SPDX-License-Identifier: MIT
// Draws a flame graph and finds the node under the cursor.
//
// Why: one canvas, however many nodes there are.
// Invariant: both walk the same layout; nothing is allocated for a node.
import { shadeOf, type Colors, type Hues } from '../colors.ts';
import type { Labels } from '../labels.ts';
import { FONT } from '../timeline/draw.ts';
import { changeOf, sidesOf, type Layout, type Tree } from './tree.ts';

export const FLAME_ROW = 18;
const LEAST = 0.4;  // pixels: narrower nodes are not drawn

export interface FlameScene {
  tree: Tree;
  layout: Layout;
  width: number;
  isIcicle: boolean;   // the root on top
  chosen: number;      // node, -1: none
  hovered: number;
  found: ((name: number) => boolean) | undefined;
  colors: Colors;
  hues: Hues;
  labels: Labels;
  rootText: string;
}

export const rowY = (scene: FlameScene, depth: number): number =>
  (scene.isIcicle ? depth : scene.layout.depths - 1 - depth) * FLAME_ROW;

// Returns how many nodes are too narrow to be drawn.
export function drawFlame(c: CanvasRenderingContext2D, scene: FlameScene): number {
  const { tree, layout, width } = scene;
  c.font = FONT;
  c.fillStyle = scene.colors.back;
  c.fillRect(0, 0, width, layout.depths * FLAME_ROW);
  let narrow = 0;
  for (let node = 0; node < tree.parent.length; ++node) {
    const w = layout.width[node]! * width;
    if (w <= 0) continue;
    if (w < LEAST) ++narrow;
    else drawNode(c, scene, node, w);
  }
  for (const node of [scene.hovered, scene.chosen]) if (node >= 0) outline(c, scene, node);
  return narrow;
}

// Grey is noise.
function diffColor(colors: Colors, change: number): string {
  if (change === 0) return colors.grey;
  const steps = change < 0 ? colors.less : colors.more;
  return steps[Math.min(steps.length - 1, Math.floor(Math.abs(change) * steps.length))]!;
}

function drawNode(c: CanvasRenderingContext2D, scene: FlameScene, node: number, w: number): void {
  const { tree, layout, colors } = scene, name = tree.name[node]!, x = layout.x[node]! * scene.width, y = rowY(scene, layout.depth[node]!);
  const isFound = scene.found !== undefined && name >= 0 && scene.found(name);
  if (name < 0 || (scene.found !== undefined && !isFound)) c.fillStyle = colors.grey;
  else if (tree.before && !isFound) c.fillStyle = diffColor(colors, changeOf(sidesOf(tree, node)));
  else c.fillStyle = isFound ? colors.found : colors.fills[scene.hues.of(name)]![shadeOf(layout.depth[node]!)]!;
  c.fillRect(x, y, Math.max(0.5, w - 0.5), FLAME_ROW - 1);
  if (w < 24) return;
  c.fillStyle = colors.text;
  const room = Math.floor((w - 6) / 6.62);
  c.fillText(name < 0 ? scene.rootText.slice(0, room) : scene.labels.cut(name, room), x + 3, y + FLAME_ROW - 6);
}

function outline(c: CanvasRenderingContext2D, scene: FlameScene, node: number): void {
  const w = scene.layout.width[node]! * scene.width;
  if (w <= 0) return;
  c.strokeStyle = scene.colors.chosen;
  c.lineWidth = node === scene.chosen ? 2 : 1;
  c.strokeRect(scene.layout.x[node]! * scene.width + 0.5, rowY(scene, scene.layout.depth[node]!) + 0.5, Math.max(1, w - 1.5), FLAME_ROW - 2);
}

export function nodeUnder(scene: FlameScene, x: number, y: number): number {
  const row = Math.floor(y / FLAME_ROW), depth = scene.isIcicle ? row : scene.layout.depths - 1 - row;
  const at = x / scene.width;
  for (let node = 0; node < scene.tree.parent.length; ++node)
    if (scene.layout.depth[node] === depth && at >= scene.layout.x[node]! && at < scene.layout.x[node]! + scene.layout.width[node]!)
      return node;
  return -1;
}
