// SPDX-License-Identifier: MIT
// Answers questions from those that the page has with it, where `penna export html` made it; else the server is asked.
//
// Why: the page is the same for both, and only this file knows the difference.
// Invariant: nobody is asked; tables and flame graphs are those of the whole run, whatever was asked for.
import { chosenBlocks } from './blocks.ts';
import { BadAnswer, group, type Column, type Columns } from './columns.ts';
import { sandwich } from './flame/sandwich.ts';
import { makeTree } from './flame/tree.ts';
import { findIn, type OneThread } from './packed_find.ts';
import { unpack, type Pack } from './pack.ts';
import type { Blocks, Found, Instance, PointName, Report, Source, Summary, Thread } from './protocol.ts';
import { counterOf, gridOf, holdsOf, pointsOf, slicesOf, waitsOf, type Slices, type Stored, type Wanted } from './resum.ts';
import { AskedServer, type Making, type Packed, type Parameters, type Server } from './server.ts';
import { durationText } from './units.ts';

const ELEMENT = 'penna-data';
const SLICES = { start: 'f64', duration: 'f64', depth: 'u32', name: 'u32', flags: 'u8' } as const;
const DENSITY = { d_depth: 'u32', d_px: 'u32', d_time: 'f64', d_count: 'u32', d_name: 'u32' } as const;
const WAITS = { start: 'f64', duration: 'f64', lock: 'u32', kind: 'u8', holder: 'i32', count: 'u32' } as const;
const HOLDS = { h_start: 'f64', h_duration: 'f64', h_lock: 'u32', h_count: 'u32' } as const;
const POINTS = { time: 'f64', name: 'u32', count: 'u32', text: 'u32' } as const;

const FLAME = { parent: 'i32', name: 'u32', value: 'f64', count: 'f64' } as const;

const slicesIn = (all: Columns): Slices => ({ ...group(all, SLICES), ...group(all, DENSITY) });
const columnsOf = (header: Record<string, unknown>, parts: object): Columns =>
  ({ header, columns: new Map(Object.entries(parts) as [string, Column][]) });

// An answer is here at once: no later question can come before it, so that there is nothing to abort.
export class PackedServer implements Server {
  readonly packed: Packed = { note: '', pixel: 0, hasSources: false, hasWeight: (weight) => this.pack?.has(`flame?weight=${weight}`) ?? false };
  private pack: Pack | undefined;
  private names: string[] = ['?'];
  private stored: Stored = { whole: 1, px: 1 };
  private threads: Thread[] = [];
  private readonly ready: Promise<Pack>;

  constructor(base64: string) {
    this.ready = unpack(base64).then((pack) => this.take(pack));
    this.ready.catch(() => {});  // told to whoever asks
  }

  async json<T>(question: string, parameters: Parameters = {}): Promise<T> {
    const pack = await this.ready;
    switch (question) {
      case 'table': return this.table(pack, String(parameters.name)) as T;
      case 'hits': return pack.json<T>(`hits?point=${parameters.point}&top=500`);
      case 'source': return this.source(pack, String(parameters.file)) as T;
      case 'blocks': return chosenBlocks(pack.json<Blocks>('blocks?top=1000'), parameters) as T;
      case 'point_names': return this.pointNames(pack) as T;
      case 'find': return this.find(pack, String(parameters.q)) as T;
      case 'instance': return this.instance(pack, parameters) as T;
      default: return pack.json<T>(question);
    }
  }

  async columns(question: string, parameters: Parameters): Promise<Columns> {
    const pack = await this.ready;
    if (question === 'flame') return this.flame(pack, parameters);
    const wanted: Wanted = { t0: Number(parameters.t0 ?? 0), t1: Number(parameters.t1 ?? this.stored.whole), px: Number(parameters.px) };
    if (question === 'live_heap') return pack.columns('live_heap?by=function&px=200');
    if (question === 'counters') return this.counters(pack, wanted);
    return this.track(pack, question, Number(parameters.thread), wanted);
  }

  abort(): void {}

  renew(): void {}

  act(): Promise<string> {
    return Promise.reject(new Error('nobody records this any more'));
  }

  name(id: number): string {
    return this.names[id] ?? '?';
  }

  private take(pack: Pack): Pack {
    const { duration_ns: duration } = pack.json<Summary>('summary');
    if (!(duration >= 0)) throw new BadAnswer('The recording in this file has no duration.');
    this.stored = { whole: duration + 1, px: pack.px };
    this.packed.note = pack.note;
    this.packed.hasSources = pack.has('sources');
    this.packed.pixel = this.stored.whole / pack.px;
    this.threads = pack.json<{ threads: Thread[] }>('threads').threads;
    const names: string[] = [];
    while (pack.has(`names?from=${names.length}`)) {
      const more = pack.json<{ names: unknown[] }>(`names?from=${names.length}`).names;
      if (!Array.isArray(more) || more.length === 0) break;
      for (const name of more) names.push(String(name));
    }
    this.names = names;
    this.pack = pack;
    return pack;
  }

  private of(pack: Pack, question: string, thread: number): Columns {
    return pack.columns(`${question}?px=${this.stored.px}&thread=${thread}`);
  }

  private track(pack: Pack, question: string, thread: number, wanted: Wanted): Columns {
    const all = this.of(pack, question, thread), { from: from_ns, step: step_ns, steps: px } = gridOf(this.stored, wanted);
    if (question === 'slices') {
      const header = { left_out: all.header.left_out, density: { px, from_ns, step_ns } };
      return columnsOf(header, slicesOf(slicesIn(all), this.stored, wanted));
    }
    if (question === 'points') return columnsOf({}, pointsOf(group(all, POINTS), this.stored, wanted));
    return columnsOf({}, { ...waitsOf(group(all, WAITS), this.stored, wanted), ...holdsOf(group(all, HOLDS), this.stored, wanted) });
  }

  private flame(pack: Pack, { weight, reverse, around }: Parameters): Columns {
    const isReversed = Number(reverse) === 1;
    if (around === undefined) return pack.columns(`flame?${isReversed ? 'reverse=1&' : ''}weight=${weight}`);
    const { columns, header } = pack.columns(`flame?weight=${weight}`);
    const { parent, name, value, count } = group({ columns, header }, FLAME), both = sandwich(makeTree(parent, name, value, count), Number(around));
    const half = isReversed ? both.callers : both.callees;
    return columnsOf(header, { ...half, name: Uint32Array.from(half.name) });
  }

  private counters(pack: Pack, wanted: Wanted): Columns {
    const { from: from_ns, step: step_ns, steps } = gridOf(this.stored, wanted), parts: Record<string, Float64Array> = {};
    for (const [name, all] of pack.columns(`counters?px=${this.stored.px}`).columns)
      if (all instanceof Float64Array && name !== 'time') parts[name] = counterOf(all, name === 'live_bytes', this.stored, wanted);
    parts.time = Float64Array.from({ length: steps }, (_, at) => from_ns + at * step_ns);
    return columnsOf({ grid: { px: steps, from_ns, step_ns } }, parts);
  }

  private table(pack: Pack, name: string): Report {
    return pack.json<Report>(`table?name=${name}&top=500`);
  }

  private source(pack: Pack, file: string): Source {
    if (!pack.has(`source?file=${file}`)) throw new Error(`${file} is not in this file: the summary says which sources are`);
    return pack.json<Source>(`source?file=${file}`);
  }

  // Those whose hits are here.
  private pointNames(pack: Pack): { points: PointName[] } {
    const all = pack.has('point_names') ? pack.json<{ points: PointName[] }>('point_names').points : [];
    return { points: all.filter(({ name }) => pack.has(`hits?point=${name}&top=500`)) };
  }

  private tracks(pack: Pack): OneThread[] {
    return this.threads.map((thread) => {
      const waits = this.of(pack, 'waits', thread.id);
      return {
        thread, slices: slicesIn(this.of(pack, 'slices', thread.id)), waits: group(waits, WAITS), holds: group(waits, HOLDS),
        points: group(this.of(pack, 'points', thread.id), POINTS),
      };
    });
  }

  private find(pack: Pack, text: string): Found {
    const calls = pack.has('table?name=calls&top=500') ? this.table(pack, 'calls') : undefined;
    return findIn(this.tracks(pack), this.names, calls, text);
  }

  // Of the calls that are here one by one. None: why that may be is part of the answer.
  private instance(pack: Pack, { name, thread, after, before }: Parameters): Instance {
    const among = thread === undefined ? undefined : new Set(String(thread).split(',').map(Number));
    let best: Instance & { start_ns: number; duration_ns: number } | undefined;
    for (const { id } of this.threads) {
      if (among !== undefined && !among.has(id)) continue;
      const { start, duration, depth, name: names } = group(this.of(pack, 'slices', id), SLICES);
      for (let at = 0; at < start.length; ++at) {
        const begin = start[at]!;
        if (names[at] !== name || (after !== undefined && begin <= Number(after)) || (before !== undefined && begin >= Number(before))) continue;
        const isBetter = best === undefined || (after !== undefined ? begin < best.start_ns
          : before !== undefined ? begin > best.start_ns : duration[at]! > best.duration_ns);
        if (isBetter) best = { thread: id, start_ns: begin, duration_ns: duration[at]!, depth: depth[at]! };
      }
    }
    if (best !== undefined) return best;
    const which = after !== undefined ? 'later ' : before !== undefined ? 'earlier ' : '';
    const shortest = durationText(this.packed.pixel);
    throw new Error(`this file has no ${which}call of ${this.name(Number(name))} that lasts ${shortest}: shorter ones are sums here`);
  }
}

export function chooseServer(tell: (making: Making) => void): Server {
  const element = document.getElementById(ELEMENT);
  return element === null ? new AskedServer('api/', tell) : new PackedServer(element.textContent ?? '');
}
