// SPDX-License-Identifier: MIT
// One line while a large recording's index is made: how far that is. The summary and the tables can be used meanwhile.
//
// Invariant: it is gone when the index is ready.
import { useStore } from '../store.ts';
import { countText } from '../units.ts';

export function Preparing() {
  const { making } = useStore();
  if (making === undefined || making.ready) return null;
  const share = making.of > 0 ? Math.floor((100 * making.events) / making.of) : 0;
  return (
    <p class="hint preparing" role="status">
      Making the timeline's index: {share} % of {countText(making.of, 'event')}. It is made once.
    </p>
  );
}
