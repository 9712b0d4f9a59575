// SPDX-License-Identifier: MIT
// Colours of everything that is drawn: hues that the colour-blind can tell apart, in a dark and a light set.
//
// Why: a frame must not make strings, so each colour is made once; text is written on what is at least 4.5 : 1 from it.
// Invariant: the same name has the same hue in every view and every session.

const HUES: readonly (readonly [hue: number, saturation: number])[] =
  [[210, 55], [35, 60], [165, 40], [265, 40], [55, 45], [190, 50], [330, 38], [235, 45]];
const SHADES = 4;

export interface Colors {
  isDark: boolean;
  fills: string[][];  // by hue, then by depth modulo SHADES
  text: string;       // on fills and on the page
  faint: string;
  back: string;
  line: string;
  grey: string;       // of what is not looked at
  wait: string[];     // by kind: lock, condition, join, other
  hold: string;
  point: string;
  found: string;
  chosen: string;
  curve: string;
  less: string[];     // of a change against another recording: from little to much
  more: string[];
  shade: string;      // over what is outside the selection
}

function make(isDark: boolean): Colors {
  const fills = HUES.map(([hue, saturation]) =>
    Array.from({ length: SHADES }, (_, at) => `hsl(${hue} ${saturation}% ${isDark ? 22 + at * 2.5 : 82 - at * 4}%)`));
  const steps = (hue: number): string[] => [35, 55, 75, 95].map((saturation, at) => `hsl(${hue} ${saturation}% ${isDark ? 30 - at : 84 - at * 5}%)`);
  const less = steps(210), more = steps(28);
  return isDark
    ? {
        isDark, fills, text: '#f2f2f2', faint: '#b0b4ba', back: '#16181c', line: '#33373e', grey: '#3a3d43',
        wait: ['#a8330a', '#8a5a00', '#7a4a6a', '#5f5f66'], hold: '#2fb596', point: '#f0e442', found: '#8a3fa8', chosen: '#ffffff',
        less, more, curve: '#56b4e9', shade: 'rgba(0,0,0,0.5)',
      }
    : {
        isDark, fills, text: '#14161a', faint: '#565b63', back: '#ffffff', line: '#d5d8dd', grey: '#e3e4e7',
        wait: ['#ff9a70', '#f5c36b', '#e3b3d2', '#c9c9cf'], hold: '#009e73', point: '#a05a00', found: '#f0a5ff', chosen: '#000000',
        less, more, curve: '#0072b2', shade: 'rgba(90,95,105,0.28)',
      };
}

const isDarkNow = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : undefined;
export const sets = [make(false), make(true)] as const;
export const colors = (): Colors => sets[isDarkNow?.matches ? 1 : 0];
export function onColorsChange(listener: () => void): () => void {
  isDarkNow?.addEventListener('change', listener);
  return () => isDarkNow?.removeEventListener('change', listener);
}

// What functions of a namespace or class have in common: they get one hue.
export function family(name: string): string {
  const plain = name.replace(/[(<].*$/s, '');
  const end = plain.lastIndexOf('::');
  return end > 0 ? plain.slice(0, end) : plain;
}

export function hueOf(name: string): number {
  let hash = 2166136261;
  for (let at = 0; at < name.length; ++at) hash = Math.imul(hash ^ name.charCodeAt(at), 16777619);
  return (hash >>> 8) % HUES.length;
}

// Hues by name id; grows as names come.
export class Hues {
  private hues = new Uint8Array(1024).fill(255);

  constructor(private readonly nameOf: (id: number) => string) {}

  of(id: number): number {
    if (id >= this.hues.length) this.grow(id);
    let hue = this.hues[id]!;
    if (hue === 255) this.hues[id] = hue = hueOf(family(this.nameOf(id)));
    return hue;
  }

  private grow(id: number): void {
    const larger = new Uint8Array(Math.max(id + 1, this.hues.length * 2)).fill(255);
    larger.set(this.hues);
    this.hues = larger;
  }
}

export const shadeOf = (depth: number): number => depth & (SHADES - 1);
