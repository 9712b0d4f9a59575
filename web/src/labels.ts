// SPDX-License-Identifier: MIT
// Names cut to the room that a rectangle has.
//
// Why: the font has one width, so that nothing is measured and, once cut, nothing is made again while panning.
// Invariant: what is cut ends in "…"; the same id and room give the same string object.

const MOST_CHARS = 200;

export class Labels {
  private readonly cuts = new Map<number, (string | undefined)[]>();

  constructor(private readonly nameOf: (id: number) => string) {}

  cut(id: number, chars: number): string {
    const room = Math.min(chars, MOST_CHARS);
    let known = this.cuts.get(id);
    if (known === undefined) this.cuts.set(id, (known = []));
    return (known[room] ??= cutText(this.nameOf(id), room));
  }
}

export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return chars < 2 ? '' : `${text.slice(0, chars - 1)}…`;
}
