// SPDX-License-Identifier: MIT
// What the source view shows: columns of costs, a part of a long file, and the lines to step to.
//
// Why: pure functions, so that they can be tested without a browser.
// Invariant: the chosen line is always among those that are shown.
import type { LineCost, Source, SourceFile } from './protocol.ts';

export interface CostColumn { key: keyof LineCost; title: string; unit: string }

// The first one that a file has decides the shading.
const COLUMNS: readonly CostColumn[] = [
  { key: 'self_ns', title: 'SELF', unit: 'ns' }, { key: 'total_ns', title: 'TOTAL', unit: 'ns' }, { key: 'calls', title: 'CALLS', unit: 'count' },
  { key: 'wait_ns', title: 'WAITED', unit: 'ns' }, { key: 'waits', title: 'WAITS', unit: 'count' },
  { key: 'bytes', title: 'ALLOCATED', unit: 'bytes' }, { key: 'live_bytes', title: 'LEFT', unit: 'bytes' },
  { key: 'hits', title: 'HITS', unit: 'count' },
];
const MOST_LINES = 2000;

export const shownCosts = (costs: readonly LineCost[]): readonly CostColumn[] => COLUMNS.filter(({ key }) => costs.some((cost) => cost[key] > 0));

const weight = (cost: LineCost): number => cost.self_ns + cost.wait_ns || cost.bytes || cost.hits || cost.calls;

export interface Near { line: number; before?: number; after?: number; most?: number }

// line: the chosen one, or that with the highest cost.
export function nearCosts({ costs }: Source, chosen: number): Near {
  const most = costs.reduce<(LineCost & { line: number }) | undefined>((best, cost) => (!best || weight(cost) > weight(best) ? cost : best), undefined)?.line;
  const line = chosen || most || 1, sorted = costs.map((cost) => cost.line).sort((a, b) => a - b);
  const before = sorted.filter((one) => one < line).at(-1), after = sorted.find((one) => one > line);
  return { line, ...(before ? { before } : {}), ...(after ? { after } : {}), ...(most ? { most } : {}) };
}

// Without the text, the lines that have a cost.
export function shownLines({ lines, costs }: Source, around: number): { number: number; text: string }[] {
  if (lines.length === 0) return costs.map(({ line }) => ({ number: line, text: '' }));
  const first = Math.max(0, Math.min(around - MOST_LINES / 2, lines.length - MOST_LINES));
  return lines.slice(first, first + MOST_LINES).map((text, at) => ({ number: first + at + 1, text }));
}

// "(leak.cc:16) [leak]", as a frame of a stack says where it is.
export function placeOf(where: string): { file: string; line: number } | undefined {
  const [, file, line] = /^\((.+):(\d{1,8})\)/.exec(where) ?? [];
  return file === undefined ? undefined : { file, line: Number(line) };
}

// Frames have the last part of the path alone: of several files of one name, the one with the highest cost.
export const fileNamed = (files: readonly SourceFile[], name: string): string | undefined =>
  files.find(({ file }) => file === name || file.endsWith(`/${name}`))?.file;
