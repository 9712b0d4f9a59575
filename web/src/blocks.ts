// SPDX-License-Identifier: MIT
// Which blocks are listed, and what is said about the life of one.
//
// Why: pure functions, so that they can be tested without a browser.
// Invariant: a choice is text that `penna view` takes as parameters; anything else in it is ignored.
import type { BlockPlace, Blocks, Life } from './protocol.ts';
import type { Parameters } from './server.ts';
import { durationText } from './units.ts';

const KEYS = ['stack', 'function', 'instant', 'leaked'];

export const parseChoice = (text: string): Parameters => Object.fromEntries([...new URLSearchParams(text)].filter(([key]) => KEYS.includes(key)));
export const printChoice = (choice: Record<string, string>): string => new URLSearchParams(choice).toString();

const isLiveAt = ({ places, end }: Life, instant: number): boolean =>
  places[0]!.time_ns < instant && (end === 'live' || (end === 'freed' && places.at(-1)!.time_ns >= instant));

// Of a list that is here as a whole.
export function chosenBlocks(all: Blocks, { stack, function: name, instant, leaked }: Parameters): Blocks {
  const isChosen = (life: Life): boolean =>
    (leaked === undefined || life.end === 'live') && (instant === undefined || isLiveAt(life, Number(instant))) &&
    (stack === undefined || life.places.some((place) => place.what !== 'freed' && place.stack_id === stack)) &&
    (name === undefined || life.places.some((place) => place.what !== 'freed' && place.function === name));
  return { ...all, tables: all.tables.map((table) => ({ ...table, rows: table.rows.filter((row) => isChosen(all.lives[row.life!]!)) })) };
}

// How long it lived, and who ended that.
export function endText({ places, end }: Life, threadName: (id: number) => string): string {
  const first = places[0]!, last: BlockPlace = places.at(-1)!;
  if (end === 'live') return 'It was never freed.';
  if (end === 'unknown') return 'Its free was not recorded: another block had its address later.';
  const other = last.thread === first.thread ? '' : `, and was freed by another thread than the one that allocated it (${threadName(first.thread)})`;
  return `It lived ${durationText(last.time_ns - first.time_ns)}${other}.`;
}
