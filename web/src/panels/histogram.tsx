// SPDX-License-Identifier: MIT
// How the numbers of an argument are spread: bars, each a button that asks for those hits alone.
//
// Why: as DOM, so that bars can be read and pressed by keyboard; there are at most some tens.
// Invariant: the counts of all bars and `others` add up to the hits above the table.
import type { Histogram } from '../protocol.ts';
import { barCondition, both, short } from '../point_words.ts';
import { store } from '../store.ts';
import { countText } from '../units.ts';

export function HistogramView({ histogram }: { histogram: Histogram }) {
  const { counts, edges, others, column } = histogram, most = Math.max(1, ...counts);
  const choose = (bar: number): void => store.change({ where: both(store.state.where, barCondition(histogram, bar)) }, true);
  if (counts.length === 0) return <p class="hint">None of the hits has a number here.</p>;
  return (
    <figure class="histogram" aria-label={`Histogram of ${column}`}>
      <div class="bars">
        {counts.map((count, bar) => {
          const text = `${short(edges[bar]!)} to ${short(edges[bar + 1]!)}: ${countText(count)}`;
          return (
            <button key={bar} aria-label={text} title={text} disabled={count === 0} onClick={() => choose(bar)}>
              <span style={{ height: `${count === 0 ? 0 : Math.max(2, (100 * count) / most)}%` }} />
            </button>
          );
        })}
      </div>
      <figcaption>
        <span>{short(edges[0]!)}</span>
        <span class="hint">{column}: at most {countText(most)} hits a bar{others > 0 ? `; ${countText(others)} have no number` : ''}</span>
        <span>{short(edges.at(-1)!)}</span>
      </figcaption>
    </figure>
  );
}
