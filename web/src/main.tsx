// SPDX-License-Identifier: MIT
// Where the page begins: puts it together and asks for what all of it needs.
//
// Why: the summary, the threads and the list of tables are asked once; each panel asks for the rest itself.
// Invariant: an error is shown, never swallowed.
import { render } from 'preact';
import { follow } from './live.ts';
import { Page } from './page.tsx';
import type { Summary, TableName, Thread } from './protocol.ts';
import { errorText } from './server.ts';
import { store } from './store.ts';
import { withUniqueNames } from './threads.ts';
import './style.css';

const VERSION = 1;

async function start(): Promise<void> {
  // Of a large recording, what takes as long as reading it comes later: its sentences, and its threads with the index.
  const summary = await store.server.json<Summary>('summary', store.server.packed ? {} : { now: 1 });
  if (summary.version !== VERSION) throw new Error(`this page speaks version ${VERSION} of the protocol, the server ${summary.version}`);
  const asked = store.server.json<{ threads: Thread[] }>('threads');
  const { tables } = await store.server.json<{ tables: TableName[] }>('tables');
  document.title = `penna · ${summary.recording.replace(/^.*\//s, '')}`;
  if (summary.growing) follow(store);
  if (summary.pending) {
    store.set({ summary, tables });
    // While it grows, the summary's panel asks again and again.
    if (!summary.growing) store.server.json<Summary>('summary').then((whole) => store.set({ summary: whole }), (error) => store.fail(error));
  }
  const { threads } = await asked;
  store.set(summary.pending ? { threads: withUniqueNames(threads) } : { summary, threads: withUniqueNames(threads), tables });
}

addEventListener('error', (event) => store.fail(event.error ?? event.message));
addEventListener('unhandledrejection', (event) => store.fail(event.reason));
render(<Page />, document.getElementById('page')!);
start().catch((error) => {
  if (store.server.packed) store.set({ broken: errorText(error) });
  else if (location.protocol === 'file:') store.set({ broken: 'This file has no recording in it: it is damaged or was cut off.' });
  else store.fail(error);
});
