// SPDX-License-Identifier: MIT
// Draws live bytes as areas on one another, the largest owner at the bottom.
//
// Why: a canvas, as there are hundreds of steps times ten owners.
// Invariant: the upper edge is the total; zero is the bottom.
import type { Colors } from '../colors.ts';
import { highest } from '../curve.ts';
import type { Series } from './series.ts';

export const CHART = 150;  // pixels

export const colorOf = (set: Colors, series: number): string =>
  series < 0 ? set.grey : set.fills[series % set.fills.length]![series < set.fills.length ? 3 : 0]!;

export interface Chart { series: Series; width: number; hovered: number; chosen: number; dragged: [number, number] | undefined; colors: Colors }

export function drawChart(c: CanvasRenderingContext2D, { series, width, hovered, chosen, dragged, colors }: Chart): void {
  const steps = series.time.length, top = highest(series.total), scale = top > 0 ? (CHART - 4) / top : 0;
  const x = (step: number): number => (step * width) / steps;
  c.fillStyle = colors.back;
  c.fillRect(0, 0, width, CHART);
  const base = new Float64Array(steps);
  const layers = [...series.bytes.map((values, at) => ({ values, color: colorOf(colors, at) })), { values: series.rest, color: colorOf(colors, -1) }];
  for (const { values, color } of layers) {
    c.fillStyle = color;
    for (let step = 0; step < steps; ++step) {
      const y0 = CHART - base[step]! * scale, height = values[step]! * scale;
      if (height > 0) c.fillRect(x(step), y0 - height, x(step + 1) - x(step) + 0.5, height);
      base[step] = base[step]! + values[step]!;
    }
  }
  c.strokeStyle = colors.text;
  c.lineWidth = 1;
  c.beginPath();
  for (let step = 0; step < steps; ++step) {
    const y = CHART - series.total[step]! * scale;
    c.lineTo(x(step), y);
    c.lineTo(x(step + 1), y);
  }
  c.stroke();
  c.fillStyle = colors.shade;
  if (dragged) c.fillRect(Math.min(...dragged), 0, Math.abs(dragged[1] - dragged[0]), CHART);
  for (const [step, wide] of [[hovered, 1], [chosen, 2]] as const) {
    if (step < 0) continue;
    c.fillStyle = colors.chosen;
    c.fillRect(x(step + 0.5) - wide / 2, 0, wide, CHART);
  }
}
