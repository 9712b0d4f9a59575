// SPDX-License-Identifier: MIT
// Live bytes over time by who allocated them: the answer's columns, and what there was at one step.
//
// Why: apart from drawing, so that it is tested by itself.
// Invariant: the parts of a step add up to its total, to the byte.
import { BadAnswer, group, type Columns } from '../columns.ts';

export interface Series {
  names: string[];         // the largest first
  others: number;          // owners that have no series of their own
  time: Float64Array;      // by step: the instant that it shows, that of its most live bytes
  live: Float64Array;      // by step: of processes that had not ended
  total: Float64Array;     // and with what those that had ended never freed
  bytes: Float64Array[];   // by series, step
  rest: Float64Array;      // of others
}

export function readSeries(answer: Columns): Series {
  const { time, live, total, rest } = group(answer, { time: 'f64', live: 'f64', total: 'f64', rest: 'f64' });
  const { bytes } = group(answer, { bytes: 'f64' }), { series, others } = answer.header, steps = time.length;
  if (!Array.isArray(series) || bytes.length !== series.length * steps) throw new BadAnswer('the answer has not as many curves as names');
  return {
    names: series.map(String), others: Number(others) || 0, time, live, total, rest,
    bytes: series.map((_, at) => bytes.subarray(at * steps, (at + 1) * steps)),
  };
}

export interface Part { name: string; bytes: number; series: number }  // series: -1: of others

// What there was at a step, in the order of the series, the others last.
export function partsAt({ names, bytes, rest, others }: Series, step: number): Part[] {
  const parts = names.map((name, at) => ({ name, bytes: bytes[at]![step]!, series: at }));
  return others > 0 ? [...parts, { name: `${others} others`, bytes: rest[step]!, series: -1 }] : parts;
}

export function stepAt({ time }: Series, instant: number): number {
  let best = -1;
  for (let at = 0; at < time.length; ++at) if (best < 0 || Math.abs(time[at]! - instant) < Math.abs(time[best]! - instant)) best = at;
  return best;
}

export const most = (values: Float64Array): number => values.reduce((best, value, at) => (value > values[best]! ? at : best), 0);
