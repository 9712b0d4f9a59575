// SPDX-License-Identifier: MIT
// Speaks the protocol of `penna view` over a made-up recording, and serves the built page as the real one does.
//
//   node tests/view/fake_server.mjs [CALLS [THREADS]]    prints the address, serves until it is ended
//
// Why: the page is tested without a build of C++, against answers that are known.
// Invariant: answers by the protocol alone (docs/view-protocol.md); errors are 400 or 404 with a sentence.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { pack } from './columns.mjs';
import { EVIL, makeRecording } from './made_up.mjs';
import { tableNames, tableOf } from './tables.mjs';

const TOKEN = '0123456789abcdef0123456789abcdef';
const CSP = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data: blob:; " +
  "worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

class Refused extends Error {}

function range(query, of) {
  const number = (key, otherwise) => {
    const text = query.get(key);
    if (text === null) return otherwise;
    if (!/^\d{1,19}$/.test(text)) throw new Refused(`${key} is no number: ${text}`);
    return Number(text);
  };
  const px = number('px', 1000), t0 = number('t0', 0), t1 = number('t1', of.duration);
  if (px < 1 || px > 10_000) throw new Refused(`px is from 1 to 10000, not ${px}`);
  if (t1 <= t0) throw new Refused('t1 is not after t0');
  return { t0, t1, px, pixel: (t1 - t0) / px };
}

function threadsOf(query, of) {
  const id = query.get('thread');
  if (id === null) return of.threads;
  return id.split(',').map((one) => of.threads[Number(one)] ?? refuse(`there is no thread ${one}`));
}

const overlaps = (one, { t0, t1 }) => one.start < t1 && one.start + one.duration > t0;

function slices(query, of) {
  const { t0, t1, px, pixel } = range(query, of), [thread] = threadsOf(query, of);
  const long = [], short = new Map();
  for (const call of thread.calls) {
    if (!overlaps(call, { t0, t1 })) continue;
    if (call.duration >= pixel) {
      long.push(call);
      continue;
    }
    const at = Math.max(0, Math.min(px - 1, Math.floor((call.start - t0) / pixel))), key = at * 4096 + call.depth;
    const cell = short.get(key) ?? { px: at, depth: call.depth, time: 0, count: 0, name: call.name, most: 0 };
    cell.time += call.duration;
    ++cell.count;
    if (call.duration > cell.most) [cell.most, cell.name] = [call.duration, call.name];
    short.set(key, cell);
  }
  const cells = [...short.values()];
  return pack({ density: { depths: 8, px }, left_out: thread.id === 3 ? 12 : 0, names: of.names.list.length }, {
    start: ['f64', long.map((one) => one.start)], duration: ['f64', long.map((one) => one.duration)],
    depth: ['u32', long.map((one) => one.depth)], name: ['u32', long.map((one) => one.name)], flags: ['u8', long.map((one) => one.flags)],
    d_depth: ['u32', cells.map((one) => one.depth)], d_px: ['u32', cells.map((one) => one.px)],
    d_time: ['f64', cells.map((one) => Math.min(one.time, pixel))], d_count: ['u32', cells.map((one) => one.count)],
    d_name: ['u32', cells.map((one) => one.name)],
  });
}

function waits(query, of) {
  const within = range(query, of), [thread] = threadsOf(query, of);
  const seen = thread.waits.filter((one) => overlaps(one, within)), held = thread.holds.filter((one) => overlaps(one, within));
  return pack({ names: of.names.list.length }, {
    start: ['f64', seen.map((one) => one.start)], duration: ['f64', seen.map((one) => one.duration)],
    lock: ['u32', seen.map((one) => one.lock)], kind: ['u8', seen.map((one) => one.kind)],
    holder: ['i32', seen.map((one) => one.holder)], count: ['u32', seen.map(() => 1)],
    h_start: ['f64', held.map((one) => one.start)], h_duration: ['f64', held.map((one) => one.duration)],
    h_lock: ['u32', held.map((one) => one.lock)], h_count: ['u32', held.map(() => 1)],
  });
}

function points(query, of) {
  const { t0, t1, pixel } = range(query, of), [thread] = threadsOf(query, of), seen = [];
  for (const point of thread.points) {
    if (point.time < t0 || point.time >= t1) continue;
    const before = seen.at(-1);
    if (before && point.time - before.time < pixel) Object.assign(before, { count: before.count + 1, text: 0 });
    else seen.push({ ...point, count: 1 });
  }
  return pack({ names: of.names.list.length }, {
    time: ['f64', seen.map((one) => one.time)], name: ['u32', seen.map((one) => one.name)],
    count: ['u32', seen.map((one) => one.count)], text: ['u32', seen.map((one) => one.text)],
  });
}

function counters(query, of) {
  const { t0, px, pixel } = range(query, of);
  const columns = { calls: new Float64Array(px), waits: new Float64Array(px), events: new Float64Array(px) };
  const add = (key, time) => {
    const at = Math.floor((time - t0) / pixel);
    if (at >= 0 && at < px) ++columns[key][at], ++columns.events[at];
  };
  for (const thread of of.threads) {
    for (const call of thread.calls) add('calls', call.start);
    for (const wait of thread.waits) add('waits', wait.start);
  }
  const step = Array.from({ length: px }, (_, at) => t0 + at * pixel);
  const wave = step.map((time) => Math.round(1e6 * (1 + time / of.duration + 0.3 * Math.sin(time / 3e8))));
  return pack({ names: of.names.list.length }, {
    time: ['f64', step], live_bytes: ['f64', wave], allocations: ['f64', columns.calls], calls: ['f64', columns.calls],
    waits: ['f64', columns.waits], events: ['f64', columns.events],
  });
}

// Points have one name here; `values` are as a site would type them.
const hitsOf = (query, of) => {
  const { t0, t1 } = range(query, of), point = query.get('point');
  return threadsOf(query, of).flatMap((thread) => thread.points.filter((one) => one.time >= t0 && one.time < t1 && of.names.list[one.name] === point)
    .map((one) => ({ ...one, thread })));
};

function condition(text) {
  const [, name, operation, number] = /^(?:\(.*\) && )?(\w+) (>=|>|<|==) (\d+)(?: && \w+ <=? \d+)?$/.exec(text) ?? [];
  if (name === undefined) throw new Refused(`a condition is like id > 3, not ${text}`);
  const tests = { '>=': (a, b) => a >= b, '>': (a, b) => a > b, '<': (a, b) => a < b, '==': (a, b) => a === b };
  return ({ values }) => tests[operation](values[name], Number(number));
}

function histogramOf(column, hits) {
  const values = hits.map((hit) => hit.values[column]), most = Math.max(...values, 0), counts = new Array(10).fill(0), width = (most + 1) / 10;
  for (const value of values) ++counts[Math.floor(value / width)];
  return { column, edges: Array.from({ length: 11 }, (_, at) => at * width), counts, others: 0 };
}

function hits(query, of) {
  const where = query.get('where'), found = hitsOf(query, of).filter(where ? condition(where) : () => true);
  const top = Number(query.get('top') ?? 100), [, key, direction] = /^(.*):(asc|desc)$/.exec(query.get('sort') ?? 'time_ns:asc');
  if (top > 10_000) throw new Refused('top is a whole number from 1 to 10000');
  const columns = [['time_ns', 'TIME', 'duration'], ['thread', 'THREAD', 'text'], ['id', 'id', 'number'], ['item', 'item', 'text']]
    .map(([key, title, kind]) => ({ key, title, kind }));
  const rows = found.map(({ time, thread, values }) => ({ cells: [time, thread.name, values.id, values.item], thread: thread.id }));
  const at = columns.findIndex((one) => one.key === key);
  rows.sort((a, b) => (a.cells[at] < b.cells[at] ? -1 : a.cells[at] > b.cells[at] ? 1 : 0) * (direction === 'asc' ? 1 : -1));
  const table = { key: 'hits', title: `${found.length} hits of ${query.get('point')}`, columns, rows: rows.slice(0, top), rows_left_out: Math.max(0, rows.length - top) };
  const spread = query.get('histogram');
  return { head: [], tables: [table], tail: [], warnings: [], ...(spread ? { histogram: histogramOf(spread, found) } : {}) };
}

function curve(query, of) {
  const { t0, t1, px, pixel } = range(query, of), value = new Float64Array(px).fill(NaN), count = new Float64Array(px);
  if (query.get('argument') !== 'id') throw new Refused(`shop:order has no numbers of ${query.get('argument')}`);
  let last = NaN;
  for (const hit of of.threads.flatMap((thread) => thread.points).sort((a, b) => a.time - b.time)) {
    if (hit.time >= t1) break;
    const at = Math.floor((hit.time - t0) / pixel);
    if (at >= 0) value[at] = count[at]++ > 0 ? Math.max(value[at], hit.values.id) : hit.values.id;
    else last = hit.values.id;
  }
  for (let at = 0; at < px; ++at) last = count[at] > 0 ? value[at] : (value[at] = last);
  return pack({ step_ns: 1 }, { time: ['f64', Array.from(value, (_, at) => t0 + at * pixel)], value: ['f64', value], count: ['f64', count] });
}

function highlights(_query, of) {
  return { highlights: [
    { text: `Hottest function: ${EVIL}, 1.20 s of its own in 7 calls`, tab: 'calls', sort: 'total_ns:desc' },
    { text: 'Peak memory: 2.40 MB live after 2.00 s, 61.0 % of it allocated by grow', tab: 'memory', instant_ns: 2_000_000_000 },
    { text: 'Longest wait for a lock: io-1 (tid 4201) waited 60.0 ms for ledger.mutex, held by audit (tid 4202)', tab: 'waits', thread: 1, start_ns: of.threads[1].waits[0].start,
      duration_ns: of.threads[1].waits[0].duration },
  ] };
}

// The waiter's first wait: until its end the holder is on the path.
function criticalPath(query, of) {
  const [thread] = threadsOf(query, of), wait = thread.waits[0];
  if (wait === undefined) throw new Refused('this thread waits for nothing');
  return pack({ left_out: 0 }, {
    start: ['f64', [0, wait.start + wait.duration, wait.start + wait.duration + 1e6]], duration: ['f64', [wait.start + wait.duration, 1e6, 1e9]],
    thread: ['u32', [wait.holder, thread.id, thread.id]], what: ['u8', [1, 2, 0]],
  });
}

// Two owners that share a wave, and three small ones: `rest`.
function liveHeap(query, of) {
  const { t0, px, pixel } = range(query, of), names = query.get('by') === 'stack' ? ['grow ← main', `${EVIL} ← main`] : ['grow', EVIL];
  const time = Array.from({ length: px }, (_, at) => Math.round(t0 + (at + 0.5) * pixel));
  const large = time.map((at) => Math.round(1e6 * (1.5 + Math.sin(at / 8e8)))), small = time.map((at) => Math.round(at / 1e4)), rest = time.map(() => 300);
  const total = time.map((_, at) => large[at] + small[at] + rest[at]);
  return pack({ series: names, others: 3 }, {
    time: ['f64', time], live: ['f64', total.map((one) => one - 7)], total: ['f64', total], bytes: ['f64', [...large, ...small]], rest: ['f64', rest],
  });
}

function pointNames(_query, of) {
  return { points: [{ name: 'shop:order', hits: sum(of, 'points'), arguments: ['id', 'item'] }, { name: 'shop:done', hits: 20, arguments: ['code', 'id'] }] };
}

// Orders are done after 1 ms for each number, in the next thread.
function latency(query, of) {
  if (query.get('to') !== 'shop:done') throw new Refused('shop:order has no argument id');
  if ((query.get('from_key') ?? '') !== 'id' || query.get('to_key') !== 'id') throw new Refused(`shop:done has no argument ${query.get('to_key')}`);
  if (Number(query.get('top')) > 10_000) throw new Refused('top is a whole number from 1 to 10000');
  const [from, to] = of.threads, columns = [['time_ns', 'FROM', 'duration'], ['latency_ns', 'LATENCY', 'duration'], ['key', 'id', 'text'], ['from_thread', 'FROM THREAD', 'text'], ['to_thread', 'TO THREAD', 'text']]
    .map(([key, title, kind]) => ({ key, title, kind }));
  const rows = from.points.slice(0, 20).map(({ time, values }) => ({ cells: [time, (values.id + 1) * 1e6, String(values.id), from.name, to.name], thread: from.id })).reverse();
  return {
    head: [], warnings: [], tail: ['30 hits of shop:order had no shop:done after them, 0 of shop:done had no shop:order before them'],
    tables: [{ key: 'latency', title: '20 from shop:order to shop:done', columns, rows, rows_left_out: 0 }],
    histogram: { column: 'latency_ns', edges: [1e6, 11e6, 20e6], counts: [10, 10], others: 0 },
  };
}

const NO_COST = { calls: 0, total_ns: 0, self_ns: 0, bytes: 0, allocations: 0, live_bytes: 0, waits: 0, wait_ns: 0, hits: 0 };
const SHOP = '/src/shop/shop.c', LEDGER = '/src/shop/ledger.c';

function sources() {
  return { files: [{ ...NO_COST, file: SHOP, self_ns: 9e9 }, { ...NO_COST, file: LEDGER, wait_ns: 2e6 }], left_out: 0 };
}

// 3,000 lines of one file, with markup; of the other none may be read.
function source(query) {
  const file = query.get('file');
  if (file === LEDGER) return { file, problem: `${LEDGER} is in none of the directories that may be shown: give it by --source-dir DIR`, lines: [], costs: [{ ...NO_COST, line: 7, waits: 3, wait_ns: 2e6 }] };
  if (file !== SHOP) throw new Refused('nothing in this selection is of that file');
  return {
    file, path: SHOP, lines: Array.from({ length: 3000 }, (_, at) => `\tline(${at + 1}); // ${EVIL}`),
    costs: [{ ...NO_COST, line: 12, calls: 7, total_ns: 5e9, self_ns: 1e9 }, { ...NO_COST, line: 99, calls: 1, total_ns: 9e9, self_ns: 4e9 }, { ...NO_COST, line: 2900, bytes: 4096 }],
  };
}

// Neighbours of one name are one.
function timeOrder(query, of) {
  const within = range(query, of), threads = threadsOf(query, of), nodes = [], last = new Map();
  const enter = (parent, name) => {
    if (last.has(parent) && nodes[last.get(parent)].name === name) return last.get(parent);
    last.set(parent, nodes.push({ parent, name, value: 0, self: 0, count: 0 }) - 1);
    return nodes.length - 1;
  };
  for (const thread of threads) {
    const open = threads.length > 1 ? [enter(-1, of.names.id(thread.name))] : [], outer = open.length;
    for (const call of thread.calls.filter((one) => overlaps(one, within) && one.depth < 3)) {
      open.length = Math.min(open.length, outer + call.depth);
      const time = Math.min(call.start + call.duration, within.t1) - Math.max(call.start, within.t0), node = enter(open.at(-1) ?? -1, call.name);
      open.push(node);
      nodes[node].value += time;
      ++nodes[node].count;
      if (call.depth === 0 && outer > 0) nodes[open[0]].value += time;
    }
  }
  const total = nodes.filter((one) => one.parent < 0).reduce((sum, one) => sum + one.value, 0);
  return pack({ names: of.names.list.length, unit: 'ns', total, left_out: 0 }, {
    parent: ['i32', nodes.map((one) => one.parent)], name: ['u32', nodes.map((one) => one.name)], value: ['f64', nodes.map((one) => one.value)],
    self: ['f64', nodes.map((one) => one.self)], count: ['f64', nodes.map((one) => one.count)],
  });
}

// Of one function, the callees of all its outermost occurrences, or the callers.
function half(nodes, around, isReversed, of) {
  const parts = [], index = new Map();
  const node = (parent, name) => {
    const key = `${parent} ${name}`;
    if (!index.has(key)) index.set(key, parts.push({ parent, name, value: 0, self: 0, count: 0 }) - 1);
    return index.get(key);
  };
  for (const one of nodes) {
    const path = [one];
    while (path[0].parent >= 0) path.unshift(nodes[path[0].parent]);
    const at = path.findIndex((step) => step.name === around);
    if (at < 0) continue;
    let to = -1;
    for (const { name } of isReversed ? path.slice(0, at + 1).reverse() : path.slice(at)) {
      to = node(to, name);
      if (isReversed) parts[to].value += one.self;
    }
    if (isReversed) continue;
    parts[to].self += one.self;
    parts[to].count += one.count;
    for (let up = to; up >= 0; up = parts[up].parent) parts[up].value += one.self;
  }
  return pack({ names: of.names.list.length, unit: 'ns', total: parts[0]?.value ?? 0, left_out: 0 }, {
    parent: ['i32', parts.map((one) => one.parent)], name: ['u32', parts.map((one) => one.name)], value: ['f64', parts.map((one) => one.value)],
    self: ['f64', parts.map((one) => one.self)], count: ['f64', parts.map((one) => one.count)],
  });
}

function flame(query, of) {
  if (query.get('time_order') === '1') return timeOrder(query, of);
  const within = range(query, of), byCount = query.get('weight') === 'calls';
  const nodes = [], index = new Map();
  const node = (parent, name) => {
    const key = `${parent} ${name}`;
    if (!index.has(key)) index.set(key, nodes.push({ parent, name, value: 0, self: 0, count: 0 }) - 1);
    return nodes[index.get(key)];
  };
  for (const thread of threadsOf(query, of)) {
    const open = [], outer = query.get('by_thread') === '1' ? 1 : 0;
    if (outer) open.push(nodes.indexOf(node(-1, of.names.id(thread.name))));
    for (const call of thread.calls) {
      open.length = Math.min(open.length, outer + call.depth);
      const parent = open.length > 0 ? open.at(-1) : -1, found = node(parent, call.name);
      open.push(nodes.indexOf(found));
      if (!overlaps(call, within)) continue;
      const time = Math.min(call.start + call.duration, within.t1) - Math.max(call.start, within.t0);
      found.value += byCount ? 1 : time;
      if (outer && call.depth === 0 && !byCount) nodes[open[0]].value += time;
      ++found.count;
    }
  }
  if (byCount) for (let at = nodes.length - 1; at >= 0; --at) if (nodes[at].parent >= 0) nodes[nodes[at].parent].value += nodes[at].value;
  const total = nodes.filter((one) => one.parent < 0).reduce((sum, one) => sum + one.value, 0);
  for (const one of nodes) one.self = one.value;
  for (const one of nodes) if (one.parent >= 0) nodes[one.parent].self -= one.value;
  if (query.has('around')) return half(nodes, Number(query.get('around')), query.get('reverse') === '1', of);
  const before = query.get('compare') === '1' ? { before: ['f64', nodes.map((one, at) => Math.round(one.value * [1, 0.5, 2, 1.004][at % 4]))] } : {};
  return pack({ names: of.names.list.length, unit: byCount ? 'count' : 'ns', total, left_out: 0 }, {
    parent: ['i32', nodes.map((one) => one.parent)], name: ['u32', nodes.map((one) => one.name)],
    value: ['f64', nodes.map((one) => one.value)], self: ['f64', nodes.map((one) => one.self)], count: ['f64', nodes.map((one) => one.count)], ...before,
  });
}

function diff(query, of) {
  if (query.get('of') !== 'calls') throw new Refused('before.penna holds no allocations: record it with -k alloc');
  const columns = [['total_change_ns', 'CHANGE', 'change'], ['a_total_ns', 'A', 'duration'], ['b_total_ns', 'B', 'duration'], ['function', 'FUNCTION', 'text']]
    .map(([key, title, kind]) => ({ key, title, kind }));
  const rows = [{ cells: [-2_000_000, 5_000_000, 3_000_000, EVIL] }, { cells: [1000, 4_000_000, 4_001_000, 'main'], quiet: true }];
  const sorted = query.get('sort') === 'total_change_ns:asc' ? rows : rows.toReversed();
  return { head: [], tail: [], warnings: ['A: 3 stacks were cut.'], tables: [{ key: 'diff', title: '', columns, rows: sorted, rows_left_out: 0 }] };
}

function instance(query, of) {
  const name = Number(query.get('name')), after = query.get('after'), before = query.get('before');
  const calls = threadsOf(query, of).flatMap((thread) => thread.calls.filter((call) => call.name === name).map((call) => ({ thread, call })));
  let found;
  if (after !== null) found = calls.filter(({ call }) => call.start > Number(after)).sort((a, b) => a.call.start - b.call.start)[0];
  else if (before !== null) found = calls.filter(({ call }) => call.start < Number(before)).sort((a, b) => b.call.start - a.call.start)[0];
  else found = calls.sort((a, b) => b.call.duration - a.call.duration)[0];
  return found ? { thread: found.thread.id, start_ns: found.call.start, duration_ns: found.call.duration, depth: found.call.depth } : {};
}

function find(query, of) {
  const wanted = (query.get('q') ?? '').toLowerCase(), matches = [], calls = new Map();
  for (const thread of of.threads) for (const { name } of thread.calls) calls.set(name, (calls.get(name) ?? 0) + 1);
  for (const [id, count] of calls)
    if (of.names.list[id].toLowerCase().includes(wanted)) matches.push({ kind: 'function', name: of.names.list[id], id, count, total_ns: count * 1000 });
  for (const thread of of.threads)
    if (thread.name.toLowerCase().includes(wanted)) matches.push({ kind: 'thread', name: thread.name, id: thread.id, count: thread.calls.length });
  for (const [kind, name] of [['lock', 'ledger.mutex'], ['point', 'shop:order']])
    if (name.includes(wanted)) matches.push({ kind, name, id: of.names.id(name), count: 50 });
  return { matches: matches.slice(0, 100), left_out: Math.max(0, matches.length - 100) };
}

// Of io-1: a block that it moves and audit frees, one that is never freed, and one of a function whose name is markup.
function blocks(query, of) {
  const { t0, t1 } = range(query, of), name = query.get('function'), leaked = query.has('leaked');
  const place = (what, time_ns, thread, bytes, address, fn) => ({ what, time_ns, thread, bytes, address, function: fn, stack_id: fn,
    stack: what === 'freed' ? undefined : [{ text: fn, where: '(shop.c:12) [shop]' }, { text: 'main', where: '(shop.c:99) [shop]' }] });
  const lives = [
    { end: 'freed', moves_left_out: 0, places: [place('allocated', 1_000_000_000, 1, 100, '0x5000', 'shop::parse'), place('moved', 1_500_000_000, 1, 3000, '0x6000', 'shop::grow'), place('freed', 2_000_000_000, 2, 3000, '0x6000')] },
    { end: 'live', moves_left_out: 0, places: [place('allocated', 500_000_000, 1, 2000, '0x7000', 'shop::parse')] },
    { end: 'live', moves_left_out: 0, places: [place('allocated', 3_000_000_000, 0, 50, '0x8000', EVIL)] },
  ];
  const columns = [['time_ns', 'ALLOCATED', 'duration'], ['bytes', 'BYTES', 'bytes'], ['lived_ns', 'LIVED', 'duration'], ['thread', 'THREAD', 'text'], ['function', 'FUNCTION', 'text']]
    .map(([key, title, kind]) => ({ key, title, kind }));
  const threads = new Set(threadsOf(query, of).map((one) => one.id));
  const isChosen = ({ places: [born, ...more], end }) => threads.has(born.thread) && (query.has('instant') || (born.time_ns >= t0 && born.time_ns < t1)) &&
    (!leaked || end === 'live') && (name === null || [born, ...more].some((one) => one.function === name));
  const rows = lives.map((life, at) => ({ life: at, cells: [life.places[0].time_ns, life.places.findLast((one) => one.what !== 'freed').bytes, life.end === 'freed' ? 1_000_000_000 : null, of.threads[life.places[0].thread].name, life.places[0].function] }))
    .filter((row) => isChosen(lives[row.life]));
  return { head: [], tail: [], warnings: [], lives, tables: [{ key: 'blocks', title: `${rows.length} blocks`, columns, rows, rows_left_out: 0 }] };
}

const sum = (of, part) => of.threads.reduce((total, thread) => total + thread[part].length, 0);

function summary(_query, of) {
  return {
    version: 1, recording: 'shop.penna', ...(of.before ? { compared_with: of.before } : {}), command: ['./shop', '--serve', '<b>'], pid: 4200, start_utc_ns: '1764300000000000000',
    duration_ns: of.duration, threads: of.threads.length, processes: 1,
    events: { calls: sum(of, 'calls'), allocations: 1234, locks: sum(of, 'waits'), points: sum(of, 'points') }, lost: 0,
    kinds: ['calls', 'allocations', 'locks', 'points'],
    sentences: [
      { text: `Most of the time is spent in ${EVIL}.`, tab: 'calls', sort: 'total_ns' },
      { text: 'Thread io-1 waited longest, 60.0 ms, for ledger.mutex.', tab: 'waits' }, { text: 'At most 2.20 MB were live.', tab: 'flame' },
    ],
    health: { warnings: ['3 stacks were cut.'], counters: [{ name: 'stacks cut', count: 3 }] },
    missing: [{ kind: 'values', how: 'penna record --args' }],
  };
}

function threads(_query, of) {
  return {
    threads: of.threads.map((thread) => ({
      id: thread.id, tid: thread.tid, pid: thread.pid, name: thread.name, process: thread.process, begin_ns: 0, end_ns: of.duration,
      calls: thread.calls.length, allocations: 100, waits: thread.waits.length, points: thread.points.length,
      depth: thread.calls.reduce((most, call) => Math.max(most, call.depth + 1), 0),
    })),
  };
}

const QUESTIONS = {
  blocks, latency, sources, source, summary, threads, slices, waits, points, counters, flame, instance, find, hits, critical_path: criticalPath, curve, diff, highlights, live_heap: liveHeap, point_names: pointNames, tables: () => ({ tables: tableNames() }),
  table: (query, of) => (query.get('name') === 'threads' && query.has('thread') ? refuse('this is about all threads together') : undefined) ?? tableOf(query, range(query, of), threadsOf(query, of), of) ?? refuse(`there is no table ${query.get('name')}`),
  index: () => ({ events: 0, of: 0, ready: true }),
  names: (query, of) => ({ names: of.names.list.slice(Number(query.get('from'))), next: of.names.list.length }),
};

function refuse(sentence) {
  throw new Refused(sentence);
}

// An answer's bytes, without a server around it.
export function answerTo(question, of) {
  const url = new URL(question, 'http://localhost'), found = QUESTIONS[url.pathname.slice(1)](url.searchParams, of);
  return found instanceof Uint8Array ? found : new TextEncoder().encode(JSON.stringify(found));
}

function answer(request, response, of, page) {
  const url = new URL(request.url, 'http://localhost');
  const send = (status, type, body) => {
    response.writeHead(status, { 'Content-Type': type, 'Content-Security-Policy': CSP, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
    response.end(body);
  };
  if (url.pathname === `/${TOKEN}/`) return send(200, 'text/html; charset=utf-8', page());
  const question = url.pathname.startsWith(`/${TOKEN}/api/`) ? url.pathname.slice(TOKEN.length + 6) : '';
  if (!Object.hasOwn(QUESTIONS, question)) return send(404, 'application/json', JSON.stringify({ error: 'there is no such question' }));
  try {
    const found = QUESTIONS[question](url.searchParams, of);
    if (found instanceof Uint8Array) send(200, 'application/octet-stream', found);
    else send(200, 'application/json', JSON.stringify(found));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    send(400, 'application/json', JSON.stringify({ error: error.message }));
  }
}

export async function serve(options = {}) {
  const of = makeRecording(options), file = fileURLToPath(new URL('../../web/dist/index.html', import.meta.url));
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url.slice(TOKEN.length + 2));
    answer(request, response, of, () => readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/${TOKEN}/`, recording: of, asked, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [calls, threads] = process.argv.slice(2).map(Number);
  console.log((await serve({ ...(calls ? { calls } : {}), ...(threads ? { threads } : {}) })).url);
}
