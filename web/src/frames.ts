// SPDX-License-Identifier: MIT
// Draws when the screen is ready, once however often asked, and measures what a frame takes.
//
// Why: "stays fluent" is a number; ?fps in the address shows it, and tests read it.
// Invariant: at most one frame is waiting; the last KEPT times are remembered, without allocating.

const KEPT = 240;

export class Frames {
  private isWaiting = false;
  private readonly times = new Float64Array(KEPT);
  private drawn = 0;
  private previous = 0;
  private readonly gaps = new Float64Array(KEPT);

  constructor(private readonly draw: () => void) {}

  ask(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(this.step);
  }

  private readonly step = (): void => {
    this.isWaiting = false;
    const begin = performance.now();
    this.draw();
    this.times[this.drawn % KEPT] = performance.now() - begin;
    this.gaps[this.drawn % KEPT] = begin - this.previous;
    this.previous = begin;
    ++this.drawn;
  };

  text(): string {
    const kept = Math.min(this.drawn, KEPT);
    const sorted = this.times.slice(0, kept).sort();
    const at = (share: number): string => (sorted[Math.min(kept - 1, Math.floor(share * kept))] ?? 0).toFixed(1);
    const gap = this.gaps.slice(0, kept).sort()[kept >> 1] ?? 0;
    return `frame ${at(0.5)} ms, 99 % ${at(0.99)} ms, apart ${gap.toFixed(1)} ms, ${this.drawn} drawn`;
  }
}
