// SPDX-License-Identifier: MIT
// The distribution of a column of numbers as bars. Where `choose` is given, a bar is a button that selects its rows.
//
// Why DOM elements: they can be read and pressed by keyboard, and there are only a few dozen.
// Invariant: the counts of all bars and `others` add up to the rows of the table.
import type { Histogram } from '../protocol.ts';
import { short } from '../point_words.ts';
import { countText } from '../units.ts';

interface Given {
  histogram: Histogram;
  show?: (value: number) => string;
  choose?: (bar: number) => void;
}

export function HistogramView({ histogram, show = short, choose }: Given) {
  const { counts, edges, others, column } = histogram, most = Math.max(1, ...counts);
  if (counts.length === 0) return <p class="hint">No row has a number in this column.</p>;
  return (
    <figure class="histogram" aria-label={`Histogram of ${column}`}>
      <div class="bars">
        {counts.map((count, bar) => {
          const text = `${show(edges[bar]!)} to ${show(edges[bar + 1]!)}: ${countText(count)}`;
          return (
            <button key={bar} aria-label={text} title={text} disabled={count === 0 || !choose} onClick={() => choose?.(bar)}>
              <span style={{ height: `${count === 0 ? 0 : Math.max(2, (100 * count) / most)}%` }} />
            </button>
          );
        })}
      </div>
      <figcaption>
        <span>{show(edges[0]!)}</span>
        <span class="hint">{column}: at most {countText(most)} per bar{others > 0 ? `; ${countText(others)} have no number` : ''}</span>
        <span>{show(edges.at(-1)!)}</span>
      </figcaption>
    </figure>
  );
}
