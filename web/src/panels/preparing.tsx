// SPDX-License-Identifier: MIT
// One line while a large recording's index is made: how far that is. The summary and the tables can be used meanwhile.
//
// Invariant: it asks only while the threads are not known, and is gone when they are.
import { useEffect, useState } from 'preact/hooks';
import { store, useStore } from '../store.ts';
import { countText } from '../units.ts';

interface Making { events: number; of: number; ready: boolean }
const AGAIN = 500;  // ms

export function Preparing() {
  const { summary, threads } = useStore();
  const isWaiting = summary?.pending === true && threads.length === 0;
  const [making, setMaking] = useState<Making>();
  useEffect(() => {
    if (!isWaiting) return undefined;
    let timer = 0;
    const ask = (): void => {
      store.server.json<Making>('index').then((answer) => {
        setMaking(answer);
        timer = window.setTimeout(ask, AGAIN);
      }, (error) => store.fail(error));
    };
    ask();
    return () => window.clearTimeout(timer);
  }, [isWaiting]);
  if (!isWaiting) return null;
  const share = making !== undefined && making.of > 0 ? Math.floor(100 * making.events / making.of) : 0;
  return (
    <p class="hint preparing" role="status">
      Making the timeline's index: {share} % of {countText(making?.of ?? 0)} events. It is made once.
    </p>
  );
}
