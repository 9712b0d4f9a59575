// SPDX-License-Identifier: MIT
// Where the page begins: puts it together and asks for what all of it needs.
//
// Why: the summary and the threads are asked once; each panel asks for the rest itself.
// Invariant: an error is shown, never swallowed.
import { render } from 'preact';
import { Page } from './page.tsx';
import type { Summary, Thread } from './protocol.ts';
import { store } from './store.ts';
import './style.css';

const VERSION = 1;

async function start(): Promise<void> {
  const summary = await store.server.json<Summary>('summary');
  if (summary.version !== VERSION) throw new Error(`this page speaks version ${VERSION} of the protocol, the server ${summary.version}`);
  const { threads } = await store.server.json<{ threads: Thread[] }>('threads');
  document.title = `penna · ${summary.recording}`;
  store.set({ summary, threads });
}

addEventListener('error', (event) => store.fail(event.error ?? event.message));
addEventListener('unhandledrejection', (event) => store.fail(event.reason));
render(<Page />, document.getElementById('page')!);
start().catch((error) => store.fail(error));
