// SPDX-License-Identifier: MIT
// Questions to the server, with fetch() in its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedServer } from '../src/server.ts';

// fetch() fails in this way so often, and then answers; the index is ready.
function answersAfter(failures: number, failure: Error): () => number {
  let asked = 0;
  globalThis.fetch = (async (address: string) => {
    if (address.startsWith('api/index')) return new Response('{"ready":true}');
    if (++asked <= failures) throw failure;
    return new Response('{"threads":[]}');
  }) as typeof fetch;
  return () => asked;
}

test('a question whose connection was just closed is asked again', async () => {
  const asked = answersAfter(1, new TypeError('Failed to fetch'));
  assert.deepEqual(await new AskedServer().json('threads'), { threads: [] });
  assert.equal(asked(), 2);
});

test('a server that is gone is told', async () => {
  const asked = answersAfter(2, new TypeError('Failed to fetch'));
  await assert.rejects(new AskedServer().json('threads'), /the server does not answer/);
  assert.equal(asked(), 2);
});

test('a question that was given up is not asked again', async () => {
  const asked = answersAfter(1, new DOMException('gone', 'AbortError'));
  await assert.rejects(new AskedServer().json('threads'), { name: 'AbortError' });
  assert.equal(asked(), 1);
});

test('what changes something is asked once', async () => {
  const asked = answersAfter(1, new TypeError('Failed to fetch'));
  await assert.rejects(new AskedServer().act('stop', {}), /the server does not answer/);
  assert.equal(asked(), 1);
});

test('what needs the index is asked when it is ready, and all else meanwhile', async () => {
  const asked: string[] = [], told: number[] = [];
  let events = 0;
  globalThis.fetch = (async (address: string) => {
    const question = /^api\/(\w+)/.exec(address)![1]!;
    asked.push(question);
    return new Response(JSON.stringify(question === 'index' ? { events: ++events, of: 3, ready: events === 3 } : {}));
  }) as typeof fetch;
  const server = new AskedServer('api/', ({ events: so_far }) => told.push(so_far));
  const late = Promise.all([server.json('threads'), server.json('find', { q: 'a' })]);
  const replaced = assert.rejects(server.json('instance', {}, 'slot'), { name: 'AbortError' });
  const last = server.json('instance', {}, 'slot');
  await server.json('table');
  assert.deepEqual(asked, ['index', 'table']);
  await Promise.all([late, last, replaced]);
  assert.deepEqual(asked.slice(2).sort(), ['find', 'index', 'index', 'instance', 'threads']);
  assert.deepEqual(told, [1, 2, 3]);
  await server.json('threads');
  assert.equal(asked.filter((one) => one === 'index').length, 3, 'it is known from then on');
});
