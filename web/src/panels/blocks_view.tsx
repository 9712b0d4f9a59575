// SPDX-License-Identifier: MIT
// Single blocks and the life of each: allocated here, moved there, freed by whom; each place leads to its instant.
//
// Why: a sum says that something leaks or is short-lived; one block shows how.
// Invariant: what limits the list is said above it.
import { useState } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import { endText, parseChoice } from '../blocks.ts';
import { showHit } from '../instances.ts';
import type { Blocks, Life } from '../protocol.ts';
import { store, useStore } from '../store.ts';
import { bytesText, countText, instantText } from '../units.ts';
import { Frames, OneTable } from './table_view.tsx';
import { WholeRun } from './whole_run.tsx';

const MOST = 1000;
const name = (id: number): string => store.threadName(id);

function LifeView({ life }: { life: Life }) {
  return (
    <ol class="life" aria-label="Life of the block">
      {life.places.map((place, at) => (
        <li key={at}>
          {at === 1 && life.moves_left_out > 0 && <p class="hint">{countText(life.moves_left_out)} moves before that are not here.</p>}
          {place.what} at <button class="link" onClick={() => showHit(`block ${place.what}`, place.time_ns, place.thread,
            [['size', bytesText(place.bytes)], ['address', place.address], ['thread', name(place.thread)]])}>{instantText(place.time_ns, 1)}</button>
          {' '}by {name(place.thread)}: {bytesText(place.bytes)} at {place.address}
          {place.stack ? <Frames details={place.stack} /> : place.what === 'freed' && <p class="hint">Where is not recorded: penna record --free-stacks</p>}
        </li>
      ))}
      <p>{endText(life, name)}</p>
    </ol>
  );
}

function Choice() {
  const { stack, function: of, instant, leaked } = parseChoice(store.state.blocks);
  const words = [stack !== undefined && 'of one stack', of !== undefined && `of ${of}`, instant !== undefined && `live at ${instantText(Number(instant), 1)}`,
    leaked !== undefined && 'never freed'].filter(Boolean).join(', ');
  return words === '' ? null : <p class="source-tools">Blocks {words} <button onClick={() => store.change({ blocks: '' }, true)}>all blocks</button></p>;
}

export function BlocksView() {
  const { state, server } = useStore(), [filter, setFilter] = useState('');
  const { answer, error, isLoading } = useAnswer<Blocks>('blocks', { ...parseChoice(state.blocks), sort: state.sort, top: Math.min(MOST, state.top) });
  const table = answer?.tables[0];
  return (
    <div class={`report${isLoading ? ' busy' : ''}`} aria-busy={isLoading}>
      <WholeRun />
      <Choice />
      {server.packed && <p class="hint">Among the {countText(MOST)} largest blocks, which this file has.</p>}
      {error !== undefined && <p class="bad" role="alert">{error}</p>}
      {answer?.warnings.map((line) => <p key={line} class="bad">{line}</p>)}
      <label class="filter">Rows with <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} placeholder="any text" /></label>
      {table && <OneTable table={table} filter={filter} most={MOST} more={(row) => <LifeView life={answer!.lives[row.life!]!} />} />}
    </div>
  );
}
