// SPDX-License-Identifier: MIT
// Answers to questions about the selection, asked again when it changes or the recording has grown.
//
// Why: panels say what they ask, and draw.
// Invariant: the answer to an older question is never shown as the newer one's; an error takes its place.
import { useEffect, useState } from 'preact/hooks';
import { usePulse } from './live.ts';
import { errorText, type Parameters } from './server.ts';
import { store, useStore } from './store.ts';

export interface Asked<T> { answer?: T; error?: string; isLoading: boolean }

// key: what the question depends on; empty: nothing is asked. slot: of requests, of which only the last one counts.
export function useAsked<T>(key: string, slot: string, ask: () => Promise<T>): Asked<T> {
  useStore();
  const [asked, setAsked] = useState<Asked<T>>({ isLoading: true });
  const pulse = usePulse(asked.isLoading);
  useEffect(() => {
    let isCurrent = true;
    if (key === '') return undefined;
    setAsked((before) => ({ ...before, isLoading: true }));
    ask().then((answer) => isCurrent && setAsked({ answer, isLoading: false }))
      .catch((error) => isCurrent && setAsked({ error: errorText(error), isLoading: false }));
    return () => {
      isCurrent = false;
      store.server.abort(slot);
    };
  }, [key, pulse]);
  return asked;
}

// more: parameters besides the selection; empty texts are left out.
export function useAnswer<T>(question: string, more: Parameters = {}, read: (answer: T) => T = (answer) => answer): Asked<T> {
  const { t0, t1, thread } = store.selection();
  const parameters = Object.fromEntries(Object.entries({ t0, t1, thread, ...more }).filter(([, value]) => value !== ''));
  return useAsked(question && question + JSON.stringify(parameters), question, () => store.server.json<T>(question, parameters, question).then(read));
}
