// SPDX-License-Identifier: MIT
// Names of threads: those that several have are told apart by the thread's number.
//
// Why: a program that names none of its threads has the same name for each of them.
// Invariant: no two threads have one name, unless the system gave one number twice.
import type { Thread } from './protocol.ts';

export function withUniqueNames(threads: Thread[]): Thread[] {
  const times = new Map<string, number>();
  for (const { name } of threads) times.set(name, (times.get(name) ?? 0) + 1);
  return threads.map((thread) => {
    if (thread.name !== '' && times.get(thread.name) === 1) return thread;
    return { ...thread, name: `${thread.name || 'thread'} ${thread.tid}` };
  });
}
