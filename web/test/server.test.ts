// SPDX-License-Identifier: MIT
// Questions to the server, with fetch() in its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedServer } from '../src/server.ts';

// fetch() fails in this way so often, and then answers.
function answersAfter(failures: number, failure: Error): () => number {
  let asked = 0;
  globalThis.fetch = (async () => {
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
