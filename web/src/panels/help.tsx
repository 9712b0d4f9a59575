// SPDX-License-Identifier: MIT
// The list of keys, which `?` shows.
//
// Why: everything that a mouse can do has a key, and nobody guesses keys.
// Invariant: what is listed here works; a test presses each of them.
import { store } from '../store.ts';
import { Dialog } from './dialog.tsx';

const KEYS: readonly [part: string, keys: readonly [key: string, what: string][]][] = [
  ['Everywhere', [
    ['?', 'these keys'], ['/ or Ctrl-F', 'find; n and N step through what was found'],
    ['Esc or Backspace', 'take back the last selection'], ['Tab', 'go to the next part of the page'],
  ]],
  ['Timeline', [
    ['W S or ↑ ↓', 'zoom in and out; also the wheel, at the cursor'], ['A D or ← →', 'pan; also drag with Shift'],
    ['drag', 'select a range of time: every tab is of it'], ['double-click', 'fit what is under the cursor'],
    ['0', 'show the whole run'], ['f', 'fit the selection'], ['m', 'mark the cursor, or take the mark away'],
    [', and .', 'choose the previous and next thing in the thread'], ['j and k', 'choose the next and previous thread'],
    ['[ and ]', 'previous and next call of the chosen function'], ['Enter', 'select the time of what is chosen'],
    ['a name, Shift with it', 'only that thread; one thread more or less'],
  ]],
  ['Flame graph', [
    ['← → ↑ ↓', 'choose a neighbour, the caller, the callee'], ['Enter or click', 'zoom in'], ['Esc', 'zoom out'],
    ['o', 'only stacks through the chosen function'], ['x', 'hide it: its callees take its place'],
    ['d', 'drop it: no stacks through it'], ['s', 'its callers and callees, all occurrences merged'], ['u', 'undo the last of these'],
    ['i', 'flame or icicle'], ['r', 'collapse recursion'],
  ]],
];

const close = (): void => store.set({ help: false });

export function Help() {
  return (
    <Dialog label="Keys" close={close}>
      <button class="close" onClick={close}>close</button>
      {KEYS.map(([part, keys]) => (
        <section key={part}>
          <h2>{part}</h2>
          <dl>{keys.map(([key, what]) => [<dt key={key}>{key}</dt>, <dd key={what}>{what}</dd>])}</dl>
        </section>
      ))}
    </Dialog>
  );
}
