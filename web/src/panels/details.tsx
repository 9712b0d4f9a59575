// SPDX-License-Identifier: MIT
// What is under the cursor, or was chosen: its numbers, the calls around it, and the ways on from there.
//
// Why: hovering must not hide what it explains, so this is a panel and no tip at the cursor.
// Invariant: all of it is text of the recording, shown as text.
import { useState } from 'preact/hooks';
import { copyText } from '../copy.ts';
import { showInstance } from '../instances.ts';
import { isSame } from '../shown.ts';
import { ofTab } from '../state.ts';
import { store, useStore, type Shown } from '../store.ts';
import { durationText } from '../units.ts';

const asText = (shown: Shown): string =>
  [shown.title, ...shown.lines.map(([label, value]) => `${label}: ${value}`), ...shown.stack.map((frame) => `    ${frame}`)].join('\n') + '\n';

function selectTime(shown: Shown): void {
  const t0 = Math.floor(shown.start!);
  store.addCrumb({ kind: 'range', t0, t1: Math.max(t0 + 1, Math.ceil(shown.start! + shown.duration!)) });
}

// Those that its thread allocated meanwhile.
function showBlocks(shown: Shown): void {
  selectTime(shown);
  store.addCrumb({ kind: 'thread', ids: [shown.thread!] });
  store.change(ofTab('blocks'));
}

function Ways({ shown }: { shown: Shown }) {
  const { function: name, thread, start, duration } = shown, { packed } = store.server;
  const [said, say] = useState('');
  const copy = async (): Promise<void> => say((await copyText(asText(shown))) ? 'copied' : 'the browser does not allow it');
  return (
    <p class="ways">
      {name !== undefined && start !== undefined && <>
        <button onClick={() => showInstance(name, { before: Math.floor(start) }, thread)}>[ previous</button>
        <button onClick={() => showInstance(name, { after: Math.floor(start) }, thread)}>] next</button>
      </>}
      {name !== undefined && <button onClick={() => showInstance(name, { slowest: 1 })}>slowest</button>}
      {name !== undefined && packed && <span class="hint">among calls of {durationText(packed.pixel)} and more </span>}
      {start !== undefined && (duration ?? 0) > 0 && <button onClick={() => selectTime(shown)}>select its time</button>}
      {thread !== undefined && <>
        {(duration ?? 0) > 0 && !packed && store.summary?.kinds.includes('allocations') && <button onClick={() => showBlocks(shown)}>its blocks</button>}
        <button onClick={() => store.addCrumb({ kind: 'thread', ids: [thread] })}>only this thread</button>
        {store.selection().threads && <button onClick={() => store.toggleThread(thread)}>
          {store.selection().threads!.includes(thread) ? 'without this thread' : 'this thread, too'}</button>}
      </>}
      <button onClick={copy}>copy</button> <span role="status">{said}</span>
    </p>
  );
}

export function Details() {
  const { hovered, chosen } = useStore('shown');
  const shown = chosen ?? hovered;
  const other = chosen && hovered && !isSame(hovered, chosen) ? hovered : undefined;
  return (
    <aside aria-label="Details" class="details">
      {shown === undefined && <p class="hint">Point at something in the timeline or the flame graph: what it is stands here. A click keeps it.</p>}
      {shown && <>
        <h2>{shown.title}</h2>
        <dl>{shown.lines.map(([label, value]) => [<dt key={label}>{label}</dt>, <dd key={`${label}=`}>{value}</dd>])}</dl>
        {shown === chosen && <Ways shown={shown} />}
        {shown.stack.length > 0 && <ol class="frames">{shown.stack.map((frame, at) => <li key={at}>{frame}</li>)}</ol>}
      </>}
      {other && <section class="other"><h2>{other.title}</h2>
        <dl>{other.lines.map(([label, value]) => [<dt key={label}>{label}</dt>, <dd key={`${label}=`}>{value}</dd>])}</dl></section>}
    </aside>
  );
}
