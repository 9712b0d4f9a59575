// SPDX-License-Identifier: MIT
// A recording that is still written: the server tells how far it is, and what was asked about is asked again.
//
// Why one place: panels need not know whether anything grows; they ask again when usePulse() says so.
// Invariant: no question is asked again before it was answered, and a slow one less often.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Summary, TableName, Thread } from './protocol.ts';
import { useStore, type Store } from './store.ts';
import { withUniqueNames } from './threads.ts';

type News = Partial<Summary> & { growing: boolean; error?: string };

const THREADS_AGAIN = 500, PANELS_AGAIN = 2000;  // ms
const SHARE = 4;  // of the time that an answer took: so long it is left alone

const asksThreads = (store: Store): Promise<{ threads: Thread[] }> => store.server.json<{ threads: Thread[] }>('threads');

// Listens until the recording has ended.
export function follow(store: Store): void {
  const source = new EventSource('events');
  let askedThreads = 0, isAsking = false;
  const ask = async (whole: boolean): Promise<void> => {
    isAsking = true;
    askedThreads = performance.now();
    try {
      const [{ threads }, { tables }] = await Promise.all([asksThreads(store), store.server.json<{ tables: TableName[] }>('tables')]);
      const summary = whole ? await store.server.json<Summary>('summary', { now: 1 }) : store.summary;
      store.set({ threads: withUniqueNames(threads), tables, ...(summary ? { summary } : {}) });
      if (whole && summary?.pending) store.set({ summary: await store.server.json<Summary>('summary') });
    } finally {
      isAsking = false;
    }
  };
  source.onmessage = ({ data }: MessageEvent<string>) => {
    const { growing, error, ...more } = JSON.parse(data) as News;
    if (!store.summary) return;
    store.set({ summary: { ...store.summary, ...more, growing } });
    if (error !== undefined) store.fail(new Error(error));
    if (!growing) store.server.renew();
    if (!growing) source.close();
    if (!growing) ask(true).catch((trouble) => store.fail(trouble));
    else if (!isAsking && performance.now() - askedThreads > THREADS_AGAIN) ask(false).catch((trouble) => store.fail(trouble));
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) store.fail(new Error('the server does not tell any more what is recorded: load the page again'));
  };
}

// A number that changes when a question is to be asked again; the last time when the recording has ended.
export function usePulse(isLoading: boolean): number {
  const isGrowing = useStore().summary?.growing === true;
  const [pulse, setPulse] = useState(0);
  const began = useRef(0);
  useEffect(() => {
    if (!isGrowing) return undefined;
    if (isLoading) {
      began.current = performance.now();
      return undefined;
    }
    const took = began.current === 0 ? 0 : performance.now() - began.current;
    const timer = setTimeout(() => setPulse((n) => n + 1), Math.max(PANELS_AGAIN, SHARE * took));
    return () => clearTimeout(timer);
  }, [isGrowing, isLoading, pulse]);
  return isGrowing ? pulse : -1;
}
