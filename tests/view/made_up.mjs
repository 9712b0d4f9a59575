// SPDX-License-Identifier: MIT
// A made-up recording: threads with deep calls, waits with their holders, points; the same each time.
//
// Why: the page's tests need to know what they should see, to the nanosecond.
// Invariant: calls of a thread nest; names contain markup, which must be seen as text.

export const EVIL = '<img src=x onerror="document.title=1">';
export const DURATION = 5_000_000_000;

// A generator that gives the same numbers on each machine (mulberry32).
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export class Names {
  list = ['?'];
  ids = new Map();
  id(name) {
    let id = this.ids.get(name);
    if (id === undefined) {
      id = this.list.length;
      this.list.push(name);
      this.ids.set(name, id);
    }
    return id;
  }
}

const FUNCTIONS = [
  ['serve(Connection&)', 'shop::loop()'], ['shop::parse(Request const&)', 'shop::handle(Order&)', 'shop::reply(int)'],
  ['json::read(char const*)', 'ledger::append(Entry)', EVIL], ['json::number()', 'std::vector<Entry>::push_back', 'ledger::lock()'],
  ['json::digit(char)', 'memcpy', 'hash(long)'], ['step', 'leaf'],
];

const ALWAYS = 3;  // depths that are always there; a third of the deeper calls have callees

// Calls of `depth` and below in [start, end), until the thread's share is used up.
function addCalls(thread, random, names, start, end, depth, left) {
  let at = start;
  while (at < end && left.calls > 0) {
    const duration = Math.min(end - at, Math.max(40, Math.round((end - start) * (0.05 + 0.4 * random()))));
    const of = FUNCTIONS[Math.min(depth, FUNCTIONS.length - 1)];
    const name = names.id(of[Math.floor(random() * of.length)]);
    --left.calls;
    thread.calls.push({ start: at, duration, depth, name, flags: 0 });
    if (depth + 1 < FUNCTIONS.length && duration > 400 && (depth + 1 < ALWAYS || random() < 0.35)) addCalls(thread, random, names, at + 10, at + duration - 10, depth + 1, left);
    at += duration + Math.round(duration * 0.1 * random());
  }
}

function makeThread(id, name, random, names, calls, served) {
  const thread = { id, tid: 4200 + id, pid: 4200, name, process: 'shop', calls: [], waits: [], holds: [], points: [] };
  const each = DURATION / served;
  for (let at = 0; at < served; ++at) {
    const start = Math.round(at * each + each * 0.1 * random());
    addCalls(thread, random, names, start, Math.round((at + 0.9) * each), 0, { calls: Math.ceil(calls / served) });
    thread.points.push({ time: start, name: names.id('shop:order'), text: names.id(`id=${at} item="${EVIL}"`), values: { id: at, item: EVIL } });
  }
  if (thread.calls.length > 0) {
    thread.calls[0].flags = 1;
    thread.calls.at(-1).flags = 2;
  }
  thread.calls.sort((a, b) => a.start - b.start || a.depth - b.depth);
  return thread;
}

// Thread 2 holds the ledger while 1 waits for it, every tenth of a second; the first wait is the longest.
function addLocks(waiter, holder, names) {
  const lock = names.id('ledger.mutex');
  for (let at = 0; at < 50; ++at) {
    const start = at * 100_000_000 + 20_000_000, duration = at === 0 ? 60_000_000 : 5_000_000 + at * 100_000;
    waiter.waits.push({ start, duration, lock, kind: at % 4, holder: holder.id });
    waiter.holds.push({ start: start + duration, duration: 1_000_000, lock });
    holder.holds.push({ start: start - 5_000_000, duration: duration + 5_000_000, lock });
  }
}

// before: the name of another recording that it is compared with.
export function makeRecording({ calls = 20_000, threads = 4, before } = {}) {
  const names = new Names(), random = numbers(7);
  const called = ['main', 'io-1', 'audit', EVIL];
  const made = Array.from({ length: threads }, (_, at) =>
    makeThread(at, called[at] ?? `worker-${at}`, random, names, at < 4 ? calls : 200, at === 0 ? 50 : 20));
  addLocks(made[1], made[2], names);
  return { names, threads: made, duration: DURATION, before };
}
