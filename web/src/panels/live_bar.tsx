// SPDX-License-Identifier: MIT
// The bar of a recording that is being made: whether the timeline follows its end, and what can be switched.
//
// Why: whoever watches may want to record more of something, or less, or a snapshot, or nothing further.
// Invariant: each button does what penna ctl does, and its outcome is shown.
import { useEffect, useState } from 'preact/hooks';
import { errorText } from '../server.ts';
import { store, useStore } from '../store.ts';
import { durationText } from '../units.ts';
import { LiveFilters, type Filter } from './live_filters.tsx';

interface Switch { name: string; on: boolean }
interface Controls { kinds: Switch[]; points: Switch[]; filters: Filter[] }

const MOST = 200;  // points in the list
const KINDS: Record<string, string> = { calls: 'calls', alloc: 'allocations', locks: 'locks' };

type Act = (name: string, parameters: Record<string, string>) => Promise<void>;

function Kinds({ kinds, turn }: { kinds: Switch[]; turn: (kind: string, on: boolean) => void }) {
  if (kinds.length === 0) return null;
  return (
    <p>
      {kinds.map(({ name, on }) => (
        <label key={name}><input type="checkbox" checked={on} onChange={() => turn(name, !on)} /> {KINDS[name] ?? name}</label>
      ))}
      <span class="hint">What begins while its kind is off is not recorded; the program&#39;s own cost stays.</span>
    </p>
  );
}

function Points({ points, turn }: { points: Switch[]; turn: (pattern: string, on: boolean) => void }) {
  const [pattern, setPattern] = useState('');
  const shown = points.filter(({ name }) => name.includes(pattern.replaceAll('*', '')) || pattern.includes('*'));
  return (
    <>
      <label>Points like <input type="search" value={pattern} placeholder="provider:*" onInput={(event) => setPattern(event.currentTarget.value)} /></label>
      <button disabled={pattern === ''} onClick={() => turn(pattern, true)}>on</button>
      <button disabled={pattern === ''} onClick={() => turn(pattern, false)}>off</button>
      {points.length === 0 && <p class="hint">The recorded programs have no points.</p>}
      <ul>
        {shown.slice(0, MOST).map(({ name, on }) => (
          <li key={name}><label><input type="checkbox" checked={on} onChange={() => turn(name, !on)} /> {name}</label></li>
        ))}
      </ul>
      {shown.length > MOST && <p class="hint">{shown.length - MOST} more</p>}
    </>
  );
}

// Read again after each change: it shows what the recorder has done, not what was requested.
function Switches({ act }: { act: Act }) {
  const [controls, setControls] = useState<Controls>();
  const ask = (): Promise<void> => store.server.json<Controls>('controls').then(setControls, (error) => store.fail(error));
  useEffect(() => void ask(), []);
  const turn = (name: string, key: string) => (what: string, on: boolean): void =>
    void act(name, { [key]: what, on: on ? '1' : '0' }).then(ask);
  if (controls === undefined) return <p class="hint">…</p>;
  return (
    <div class="switches">
      <Kinds kinds={controls.kinds} turn={turn('kinds', 'kind')} />
      <LiveFilters filters={controls.filters} changed={ask} />
      <Points points={controls.points} turn={turn('points', 'pattern')} />
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
      <button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>on and off</button>
      <button onClick={() => void act('snapshot')} title="store the events that penna record --keep holds in memory">snapshot</button>
      <button onClick={() => void act('stop')} title="end the recording; the program goes on">stop</button>
      <span role="status" class="hint">{said}</span>
      {isOpen && <Switches act={act} />}
    </section>
  );
}
