// SPDX-License-Identifier: MIT
// Tables of the made-up recording: functions, waits, threads and points, as `penna report` has them.
//
// Why: enough kinds of columns, details and left out rows for the page's tests.
// Invariant: sums over a partition of the run are those of the run.

import { EVIL } from './made_up.mjs';

const NAMES = { calls: 'calls', waits: 'Waits', points: 'Points', threads: 'Threads', leaks: 'Leaks', locks: 'Locks', order: 'order' };
export const tableNames = () => Object.entries(NAMES).map(([key, title]) => ({ key, title }));

const column = (key, title, kind) => ({ key, title, kind });

function functions({ t0, t1 }, threads, of) {
  const byName = new Map();
  for (const thread of threads) {
    for (const call of thread.calls) {
      if (call.start < t0 || call.start >= t1) continue;
      const row = byName.get(call.name) ?? { calls: 0, total: 0, max: 0 };
      ++row.calls;
      row.total += call.duration;
      row.max = Math.max(row.max, call.duration);
      byName.set(call.name, row);
    }
  }
  return {
    columns: [column('total_ns', 'TOTAL', 'duration'), column('max_ns', 'MAX', 'duration'), column('calls', 'CALLS', 'count'),
      column('share', 'SHARE', 'percent'), column('function', 'FUNCTION', 'text')],
    rows: [...byName].map(([name, row]) => ({
      cells: [row.total, row.max, row.calls, (100 * row.total) / of.duration, of.names.list[name]],
      details: [{ text: of.names.list[name], where: '(shop.c:12) [shop]' }, { text: 'main', where: '(shop.c:99) [shop]' }],
    })),
  };
}

function waits({ t0, t1 }, threads, of) {
  const rows = threads.flatMap((thread) => thread.waits.filter((one) => one.start >= t0 && one.start < t1).map((one) => ({
    cells: [one.start, one.duration, thread.name, of.names.list[one.lock], of.threads[one.holder].name],
    details: [{ text: 'ledger::append(Entry)', where: '(ledger.c:7)' }], other_title: 'held by', other_details: [{ text: 'audit', where: '(audit.c:3)' }],
  })));
  return {
    columns: [column('start_ns', 'START', 'duration'), column('wait_ns', 'WAIT', 'duration'), column('thread', 'THREAD', 'text'),
      column('lock', 'LOCK', 'text'), column('holder', 'HOLDER', 'text')],
    rows,
  };
}

const leaks = () => ({
  columns: [column('bytes', 'BYTES', 'bytes'), column('function', 'STACK', 'text')],
  rows: [{ cells: [2000, 'shop::parse'], details: [{ text: 'shop::parse', where: '(shop.c:12) [shop]' }], stack: '0123456789abcdef' }],
});

function others(name, { t0, t1 }, threads, of) {
  if (name === 'threads') {
    return { columns: [column('calls', 'CALLS', 'count'), column('tid', 'TID', 'number'), column('thread', 'THREAD', 'text')],
      rows: threads.map((thread) => ({ cells: [thread.calls.length, thread.tid, thread.name] })) };
  }
  const points = threads.flatMap((thread) => thread.points.filter((one) => one.time >= t0 && one.time < t1));
  return { columns: [column('time_ns', 'TIME', 'duration'), column('point', 'POINT', 'text'), column('values', 'VALUES', 'text')],
    rows: points.map((one) => ({ cells: [one.time, of.names.list[one.name], of.names.list[one.text]] })) };
}

// Two locks in both orders, and a third that makes a longer cycle; its name is markup.
function order() {
  const rows = [[1, 400, 'ledger.mutex', 'cache'], [1, 3, 'cache', 'ledger.mutex'], [2, 7, 'cache', EVIL], [2, 5, EVIL, 'ledger.mutex'], [2, 400, 'ledger.mutex', 'cache']];
  return {
    columns: [column('cycle', 'CYCLE', 'number'), column('count', 'COUNT', 'count'), column('held', 'HELD', 'text'), column('taken', 'THEN TAKEN', 'text')],
    rows: rows.map((cells) => ({ cells })),
  };
}

export function tableOf(query, range, threads, of) {
  const name = query.get('name'), top = Number(query.get('top') ?? 100);
  if (!Object.hasOwn(NAMES, name)) return undefined;
  const { columns, rows } = name === 'calls' ? functions(range, threads, of)
    : name === 'waits' || name === 'locks' ? waits(range, threads, of) : name === 'order' ? order() : name === 'leaks' ? leaks() : others(name, range, threads, of);
  const [key, direction] = (query.get('sort') ?? `${columns[0].key}:desc`).split(':'), at = columns.findIndex((one) => one.key === key);
  if (at >= 0) rows.sort((a, b) => (a.cells[at] < b.cells[at] ? -1 : a.cells[at] > b.cells[at] ? 1 : 0) * (direction === 'asc' ? 1 : -1));
  return {
    head: [], tail: [], warnings: [],
    tables: [{ key: name, title: NAMES[name], columns, rows: rows.slice(0, top), rows_left_out: Math.max(0, rows.length - top) }],
  };
}
