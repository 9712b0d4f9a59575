// SPDX-License-Identifier: MIT
// How fluent the timeline is: frames while panning and zooming, in a browser without a graphics card.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle, withBrowser } from './browser.mjs';

const shared = withBrowser({ calls: 400_000, threads: 40 });
const LONGEST = 20;  // ms from frame to frame, in the median: 50 a second
const TRIES = 4;     // others may use the processors

// The median time between frames while each of 120 frames moves the wheel.
const median = (page, kind) => page.evaluate((kind) => new Promise((done) => {
  const canvas = document.querySelector('canvas.lanes'), gaps = [];
  let before = performance.now();
  const frame = (now) => {
    gaps.push(now - before);
    before = now;
    const way = gaps.length % 40 < 20 ? 1 : -1;
    canvas.dispatchEvent(new WheelEvent('wheel', { [kind]: way * 12, bubbles: true, cancelable: true, clientX: 600, clientY: 250 }));
    if (gaps.length < 120) requestAnimationFrame(frame);
    else done(gaps.sort((a, b) => a - b)[60]);
  };
  requestAnimationFrame(frame);
}), kind);

for (const [name, kind] of [['pans', 'deltaX'], ['zooms', 'deltaY']]) {
  test(`${name} at 50 frames a second`, async () => {
    const page = await shared.open('#view=1000000000-3000000000', { query: '?fps' }), gaps = [];
    while (gaps.length < TRIES && !(gaps.at(-1) <= LONGEST)) {
      gaps.push(await median(page, kind));
      await settle(page);
    }
    assert.ok(gaps.at(-1) <= LONGEST, gaps.join(' '));
    assert.match(await page.locator('.fps').innerText(), /^frame \d+\.\d ms/);
    await page.end();
  });
}
