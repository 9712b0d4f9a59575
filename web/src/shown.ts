// SPDX-License-Identifier: MIT
// Whether the panel of details would say the same twice.
//
// Why: a pure function, so that it can be tested without a browser.
// Invariant: two calls of one function are two things.
import type { Shown } from './store.ts';

// Calls and hits are what they are by their time, all else by what is said of it.
export const isSame = (one: Shown, other: Shown): boolean => one.title === other.title && (one.start !== undefined && other.start !== undefined
  ? one.start === other.start && one.thread === other.thread
  : JSON.stringify([one.lines, one.stack]) === JSON.stringify([other.lines, other.stack]));
