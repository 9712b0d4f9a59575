// SPDX-License-Identifier: MIT
// Goes from a function to one of its calls in time: the previous, the next, the slowest.
//
// Why: tables, flame graph, find and timeline all link to calls.
// Invariant: if there is no such call, a sentence says so and the view stays.
import type { Found, Instance } from './protocol.ts';
import { store, type Shown } from './store.ts';
import { durationText, instantText } from './units.ts';

export type Which = { after: number } | { before: number } | { slowest: 1 };

// A view of which the call takes a fifth, so that its neighbours are visible.
export function viewAround(start: number, duration: number, whole: number): { t0: number; t1: number } {
  const margin = Math.max(2 * duration, 500);
  const t0 = Math.floor(Math.max(0, start - margin));
  return { t0, t1: Math.ceil(Math.min(Math.max(whole, t0 + 1), start + duration + margin)) };
}

export function callShown(name: number, thread: number, start: number, duration: number, depth: number, stack: string[]): Shown {
  return {
    title: store.server.name(name),
    lines: [
      ['thread', store.threadName(thread)], ['duration', durationText(duration)],
      ['start', instantText(start, 1)], ['depth', String(depth)],
    ],
    stack, function: name, thread, start, duration, depth,
  };
}

export async function showInstance(name: number, which: Which, thread?: number | string): Promise<void> {
  try {
    const found = await store.server.json<Instance>('instance', { name, thread, ...which }, 'instance');
    if (found.start_ns === undefined || found.thread === undefined) {
      throw new Error(`there is no ${'after' in which ? 'later ' : 'before' in which ? 'earlier ' : ''}call of ${store.server.name(name)}`);
    }
    const { start_ns: start, duration_ns: duration = 0, depth = 0 } = found;
    store.forgive();
    store.show({ chosen: callShown(name, found.thread, start, duration, depth, []) });
    store.change({ view: viewAround(start, duration, store.duration()), hidden: store.state.hidden.filter((id) => id !== found.thread) });
  } catch (error) {
    store.fail(error);
  }
}

// A hit of a point: the view moves there; a wide one is narrowed so that the neighbours can be told apart.
export function showHit(point: string, time: number, thread: number, lines: [string, string][]): void {
  const whole = store.duration(), view = store.state.view ?? { t0: 0, t1: whole };
  const length = Math.min(view.t1 - view.t0, Math.max(whole / 100, 1000)), t0 = Math.max(0, Math.floor(time - length / 2));
  store.forgive();
  store.show({ chosen: { title: point, lines: [['time', instantText(time, 1)], ...lines], stack: [], thread, start: time } });
  store.change({
    view: { t0, t1: Math.ceil(Math.min(Math.max(whole, t0 + 1), t0 + length)) },
    hidden: store.state.hidden.filter((id) => id !== thread),
  }, true);
}

// A time in a thread that is no call, such as that between two points.
export function showSpan(title: string, start: number, duration: number, thread: number, lines: [string, string][]): void {
  store.forgive();
  store.show({ chosen: { title, lines: [['start', instantText(start, 1)], ...lines], stack: [], thread, start, duration } });
  store.change({ view: viewAround(start, duration, store.duration()), hidden: store.state.hidden.filter((id) => id !== thread) }, true);
}

const MOST_ASKED = 120;  // characters, at most 480 bytes: the server takes 500 of a text to find

// A function by its name, whose id only the server knows.
export async function showSlowest(name: string): Promise<void> {
  try {
    const { matches } = await store.server.json<Found>('find', { q: [...name].slice(0, MOST_ASKED).join('') }, 'slowest');
    const match = matches.find((one) => one.kind === 'function' && one.name === name);
    if (match === undefined) throw new Error(`the timeline has no call of ${name}`);
    await showInstance(match.id, { slowest: 1 }, store.selection().thread);
  } catch (error) {
    store.fail(error);
  }
}
