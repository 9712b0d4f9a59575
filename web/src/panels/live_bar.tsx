// SPDX-License-Identifier: MIT
// While a recording is written: that it is, whether the timeline follows its end, and what the recorder can be asked to do.
//
// Why: who looks on sees something, and wants more of it, or no more.
// Invariant: what is asked for is what penna ctl asks for; what came of it is said.
import { useEffect, useState } from 'preact/hooks';
import { errorText } from '../server.ts';
import { store, useStore } from '../store.ts';
import { durationText } from '../units.ts';

interface Point { name: string; on: boolean }

const MOST = 200;  // points in the list

function Points({ act }: { act: (name: string, parameters: Record<string, string>) => Promise<void> }) {
  const [points, setPoints] = useState<Point[]>();
  const [pattern, setPattern] = useState('');
  const ask = (): Promise<void> =>
    store.server.json<{ points: Point[] }>('controls').then((answer) => setPoints(answer.points), (error) => store.fail(error));
  useEffect(() => void ask(), []);
  const turn = (what: string, on: boolean): Promise<void> => act('points', { pattern: what, on: on ? '1' : '0' }).then(ask);
  if (points === undefined) return <p class="hint">…</p>;
  const shown = points.filter(({ name }) => name.includes(pattern.replaceAll('*', '')) || pattern.includes('*'));
  return (
    <div class="switches">
      <label>Points like <input type="search" value={pattern} placeholder="provider:*" onInput={(event) => setPattern(event.currentTarget.value)} /></label>
      <button disabled={pattern === ''} onClick={() => void turn(pattern, true)}>on</button>
      <button disabled={pattern === ''} onClick={() => void turn(pattern, false)}>off</button>
      {points.length === 0 && <p class="hint">The programs that are recorded have no points.</p>}
      <ul>
        {shown.slice(0, MOST).map(({ name, on }) => (
          <li key={name}><label><input type="checkbox" checked={on} onChange={() => void turn(name, !on)} /> {name}</label></li>
        ))}
      </ul>
      {shown.length > MOST && <p class="hint">{shown.length - MOST} more</p>}
    </div>
  );
}

export function LiveBar() {
  const { summary, follows } = useStore();
  const [said, say] = useState('');
  const [isOpen, setOpen] = useState(false);
  if (!summary?.growing) return said === '' ? null : <p class="live hint" role="status">{said}</p>;
  const act = (name: string, parameters: Record<string, string> = {}): Promise<void> => {
    say('…');
    return store.server.act(name, parameters).then(say, (error) => say(errorText(error)));
  };
  return (
    <section class="live" aria-label="Recording">
      <span class="recording">● recording</span> <span>{durationText(summary.duration_ns)}</span>
      <button aria-pressed={follows} onClick={() => store.set({ follows: !follows })}>{follows ? '☑' : '☐'} follow</button>
      <button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>points</button>
      <button onClick={() => void act('snapshot')} title="store what penna record --keep has kept">snapshot</button>
      <button onClick={() => void act('stop')} title="end the recording; the program goes on">stop</button>
      <span role="status" class="hint">{said}</span>
      {isOpen && <Points act={act} />}
    </section>
  );
}
