// SPDX-License-Identifier: MIT
// A filled curve over a whole canvas, and canvases that are as sharp as the screen.
//
// Why: the summary's small pictures and the overview are the same drawing.
// Invariant: the highest value touches the top; the bottom is zero, or the lowest value below it. What is no number is not drawn.

// As many pixels as the screen has; what is drawn is in CSS pixels. No context: there is nothing to draw on.
export function fitCanvas(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export function highest(values: Float64Array): number {
  let most = 0;
  for (let at = 0; at < values.length; ++at) if (values[at]! > most) most = values[at]!;
  return most;
}

function lowest(values: Float64Array): number {
  let least = 0;
  for (let at = 0; at < values.length; ++at) if (values[at]! < least) least = values[at]!;
  return least;
}

// In a box of the context. x0 and x1: where the first step begins and the last ends.
export function fillCurve(context: CanvasRenderingContext2D, values: Float64Array, x0: number, x1: number, top: number, height: number,
  color: string): void {
  const base = lowest(values), most = highest(values) - base, step = (x1 - x0) / values.length;
  if (most <= 0 || values.length === 0) return;
  context.fillStyle = color;
  context.beginPath();
  context.moveTo(x0, top + height);
  for (let at = 0; at < values.length; ++at) {
    const value = values[at]!, y = top + height - (value === value ? (value - base) / most : 0) * height;
    context.lineTo(x0 + at * step, y);
    context.lineTo(x0 + (at + 1) * step, y);
  }
  context.lineTo(x1, top + height);
  context.fill();
}

export function drawCurve(canvas: HTMLCanvasElement, values: Float64Array, color: string): void {
  const context = fitCanvas(canvas);
  if (context === null) return;
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  fillCurve(context, values, 0, canvas.clientWidth, 1, canvas.clientHeight - 1, color);
}
