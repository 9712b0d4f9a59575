// SPDX-License-Identifier: MIT
// Band: rectangles of one colour, top and height that touch or overlap, drawn as one.
//
// Why: a canvas without a graphics card takes a microsecond for each rectangle, however small it is.
// Invariant: what is painted is the union of what was added; nothing is painted after end() until the next add().
const ROUNDING = 0.01;  // pixels: neighbours do not always touch to the last bit

export class Band {
  private fill = '';
  private x0 = 0;
  private x1 = 0;
  private y = 0;
  private height = 0;  // 0: there is nothing to draw

  // In order of x0, or nothing is joined.
  add(c: CanvasRenderingContext2D, fill: string, x0: number, x1: number, y: number, height: number): void {
    if (height === this.height && y === this.y && x0 <= this.x1 + ROUNDING && x0 >= this.x0 && fill === this.fill) {
      if (x1 > this.x1) this.x1 = x1;
      return;
    }
    this.end(c);
    [this.fill, this.x0, this.x1, this.y, this.height] = [fill, x0, x1, y, height];
  }

  // Draws what was added last. To be called before anything is drawn on top of it.
  end(c: CanvasRenderingContext2D): void {
    if (this.height === 0) return;
    c.fillStyle = this.fill;
    c.fillRect(this.x0, this.y, this.x1 - this.x0, this.height);
    this.height = 0;
  }
}
