// SPDX-License-Identifier: MIT
// The filters of a recording that is being made: which are set, a field for another one.
//
// Why: whoever looks on sees what there is too much of.
// Invariant: what is listed is what the recorder has; a wrong filter changes nothing and is told beside the field.
import { useEffect, useState } from 'preact/hooks';
import { usePulse } from '../live.ts';
import { wordOptions } from '../point_words.ts';
import type { Found, PointName } from '../protocol.ts';
import { errorText } from '../server.ts';
import { store } from '../store.ts';

export interface Filter { kind: string; text: string }

const KINDS: Record<string, string> = { where: 'points where', function: 'only calls of', 'no-function': 'no calls of' };
const REST = 150;  // ms after a key until the server is asked

type Option = [value: string, label: string];

async function optionsFor(kind: string, text: string): Promise<Option[]> {
  if (kind === 'where') return wordOptions(text, (await store.server.json<{ points: PointName[] }>('point_names')).points);
  const part = text.replace(/[*/^$]/g, '');
  if (part === '') return [];
  const { matches } = await store.server.json<Found>('find', { q: part }, 'filter');
  return matches.filter((one) => one.kind === 'function').map((one) => [one.name, '']);
}

// A name may become known after it was asked for, while the recording grows.
function useOptions(kind: string, text: string): Option[] {
  const [options, setOptions] = useState<Option[]>([]), pulse = usePulse(false);
  useEffect(() => {
    const timer = setTimeout(() => optionsFor(kind, text).then(setOptions, () => {}), REST);
    return () => clearTimeout(timer);
  }, [kind, text, text === '' ? 0 : pulse]);
  return options;
}

export function LiveFilters({ filters, changed }: { filters: Filter[]; changed: () => void }) {
  const [kind, setKind] = useState('where'), [text, setText] = useState(''), [said, say] = useState<[string, boolean]>(['', true]);
  const options = useOptions(kind, text);
  const act = (filter: Filter, on: boolean): void => void store.server.act('filters', { ...filter, on: on ? '1' : '0' }).then((done) => {
    say([done, true]);
    if (on) setText('');
    changed();
  }, (error) => say([errorText(error), false]));
  return (
    <form class="filters" onSubmit={(event) => {
      event.preventDefault();
      act({ kind, text: text.trim() }, true);
    }}>
      <select aria-label="Kind of filter" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
        {Object.entries(KINDS).map(([key, words]) => <option key={key} value={key}>{words}</option>)}
      </select>
      <input type="search" aria-label="Filter" list="filter-words" value={text} placeholder={kind === 'where' ? 'rows > 100' : 'shop::*'}
        onInput={(event) => setText(event.currentTarget.value)} />
      <datalist id="filter-words">{options.map(([value, label]) => <option key={value + label} value={value} label={label} />)}</datalist>
      <button disabled={text.trim() === ''}>set</button>
      <span role={said[1] ? 'status' : 'alert'} class={said[1] ? 'hint' : 'bad'}>{said[0]}</span>
      <ul aria-label="Filters">
        {filters.map((one) => (
          <li key={`${one.kind} ${one.text}`}>{KINDS[one.kind] ?? one.kind} <code>{one.text}</code>{' '}
            <button type="button" aria-label={`remove ${one.text}`} onClick={() => act(one, false)}>×</button></li>
        ))}
      </ul>
    </form>
  );
}
