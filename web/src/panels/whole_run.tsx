// SPDX-License-Identifier: MIT
// The line that says that what stands below is not of the selection.
//
// Why: a page that has its answers with it has its tables and flame graphs once.
// Invariant: it is there whenever something is selected that they do not follow.
import { useStore } from '../store.ts';

export function WholeRun() {
  const { server, state } = useStore();
  if (!server.packed || state.crumbs.length === 0) return null;
  return <p class="hint whole-run">of the whole run: this file holds no events; penna view shows any part</p>;
}
