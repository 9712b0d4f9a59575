// SPDX-License-Identifier: MIT
// Find: functions, threads, locks and points by a part of their name; n and N step through what was found.
//
// Why: one box for everything that has a name.
// Invariant: the dialog says how many there are beyond those that it lists.
import { useEffect, useState } from 'preact/hooks';
import { showInstance } from '../instances.ts';
import type { Found, Match } from '../protocol.ts';
import { ofPoint, ofTab } from '../state.ts';
import { store } from '../store.ts';
import { countText, durationText } from '../units.ts';
import { Dialog } from './dialog.tsx';

const REST = 120;  // ms after a key until the server is asked

// What was last found, for n and N after the dialog is gone.
let last: { matches: Match[]; at: number } = { matches: [], at: -1 };

function go(match: Match): void {
  if (match.kind === 'thread') store.addCrumb({ kind: 'thread', ids: [match.id] });
  else if (match.kind === 'function') void showInstance(match.id, { slowest: 1 }, store.selection().thread);
  else if (match.kind === 'point') store.change(ofPoint(match.name), true);
  else store.change(ofTab('locks'), true);
}

export function stepFound(by: 1 | -1): boolean {
  const { matches } = last;
  if (matches.length === 0) return false;
  last.at = (last.at + by + matches.length) % matches.length;
  go(matches[last.at]!);
  return true;
}

const amount = (match: Match): string =>
  `${match.at_least ? 'at least ' : ''}${countText(match.count)}×${match.total_ns === undefined ? '' : `, ${durationText(match.total_ns)}`}`;

const close = (): void => store.set({ find: false });

export function FindView() {
  const [text, setText] = useState(''), [found, setFound] = useState<Found>(), [at, setAt] = useState(0);
  useEffect(() => {
    if (text === '') return setFound(undefined);
    const timer = setTimeout(() => {
      store.server.json<Found>('find', { q: text }, 'find').then((answer) => {
        setFound(answer);
        setAt(0);
        last = { matches: answer.matches, at: -1 };
      }, (error) => store.fail(error));
    }, REST);
    return () => clearTimeout(timer);
  }, [text]);
  const matches = found?.matches ?? [];
  const choose = (index: number): void => {
    const match = matches[index];
    if (match === undefined) return;
    last.at = index;
    close();
    go(match);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, matches.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') choose(at);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Find" close={close}>
      <input autofocus type="search" value={text} placeholder="function, thread, lock or point" aria-label="Find"
        onInput={(event) => setText(event.currentTarget.value)} onKeyDown={pressed} />
      <button class="close" onClick={close}>close</button>
      <p class="hint" role="status">
        {found && `${countText(matches.length + found.left_out)} found${found.left_out > 0 ? `, the first ${countText(matches.length)} are here` : ''}`}
        {found ? '; Enter goes there, n and N to the next and previous' : 'A part of a name is enough.'}
      </p>
      <ul class="found">
        {matches.map((match, index) => (
          <li key={`${match.kind} ${match.id}`}>
            <button aria-current={index === at ? 'true' : undefined} onClick={() => choose(index)}>
              <span class="hint">{match.kind}</span><span class="name">{match.name}</span><span>{amount(match)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
