// SPDX-License-Identifier: MIT
// Colours: text is readable on every background, and a name keeps its hue.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { family, hueOf, Hues, sets } from '../src/colors.ts';

const LEAST = 4.5;

// Red, green and blue from 0 to 1.
function parts(color: string): number[] {
  const hex = /^#(..)(..)(..)$/.exec(color);
  if (hex) return hex.slice(1).map((two) => parseInt(two, 16) / 255);
  const [h, s, l] = /^hsl\(([\d.]+) ([\d.]+)% ([\d.]+)%\)$/.exec(color)!.slice(1).map(Number) as [number, number, number];
  const range = (s / 100) * Math.min(l / 100, 1 - l / 100);
  return [0, 8, 4].map((n) => {
    const k = (n + h / 30) % 12;
    return l / 100 - range * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

// By the definition of WCAG.
function luminance(color: string): number {
  const [r, g, b] = parts(color).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test('black on white is 21 : 1', () => assert.ok(Math.abs(contrast('#000000', '#ffffff') - 21) < 1e-9));

for (const set of sets) {
  test(`text is readable, ${set.isDark ? 'dark' : 'light'}`, () => {
    for (const back of [...set.fills.flat(), ...set.wait, set.found, set.back, set.grey])
      assert.ok(contrast(set.text, back) >= LEAST, `${set.text} on ${back}: ${contrast(set.text, back)}`);
    assert.ok(contrast(set.faint, set.back) >= LEAST);
  });
}

test('functions of one class have one hue, in every order of ids', () => {
  assert.equal(family('shop::Order::total(int)'), 'shop::Order');
  assert.equal(family('std::vector<a::b>::push_back'), 'std');
  const names = Array.from({ length: 5000 }, (_, at) => `f${at}`), hues = new Hues((id) => names[id]!);
  for (const id of [4999, 0, 1023, 1024]) assert.equal(hues.of(id), hueOf(names[id]!));
  assert.ok(new Set(names.map(hueOf)).size >= 8, 'all hues are used');
});
