// SPDX-License-Identifier: MIT
// What the page asks about parts of a recording, as `penna view` answers it: of examples/demo/orders.cc, which has all kinds of event.
//
//   node tests/view/served_parts.mjs ADDRESS
//
// Why: as served.mjs. Invariant: what the page counts is what it was told elsewhere.
import assert from 'node:assert/strict';
import { withServed } from './served_page.mjs';

const [address] = process.argv.slice(2);
const number = (text) => Number(text.replaceAll(',', ''));
const tab = (page, name) => page.getByRole('tab', { name, exact: true }).click();

// The hits of a point with values: a column of numbers is counted in a histogram, and a row leads to its place in time.
async function hits(page) {
  await tab(page, 'Points');
  await page.getByLabel('Hits of').selectOption('shop:order');
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  const key = await page.getByLabel('Histogram of').locator('option').nth(1).innerText();
  await page.getByLabel('Histogram of').selectOption(key);
  const bars = page.getByRole('figure').getByRole('button');
  await bars.first().waitFor();
  const counts = await bars.evaluateAll((all) => all.map((one) => Number(one.title.split(': ')[1].replaceAll(',', ''))));
  const titled = await page.getByRole('heading', { name: / hits of / }).innerText();
  assert.equal(counts.reduce((a, b) => a + b), number(titled.split(' ')[0]));
  await page.locator('.point-tools').getByRole('button', { name: key }).click();
  await page.locator('.curve-label').last().waitFor();
  await rows.first().getByRole('button', { name: 'show in the timeline' }).click();
  await page.getByRole('complementary', { name: 'Details' }).getByText(key).first().waitFor();
  await page.getByLabel('Only where').fill(`${key} < -1000000`);
  await page.getByRole('button', { name: 'ask' }).click();
  await page.getByText('There is nothing of this in the selection.').waitFor();
}

// Of live bytes, the chart and the flame graph of one instant tell the same.
async function memory(page) {
  await tab(page, 'Memory');
  const chart = page.locator('canvas.chart');
  await chart.focus();
  for (let step = 0; step < 3; ++step) await page.keyboard.press('ArrowLeft');
  await page.locator('.memory .busy').waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
  const total = (await chart.getAttribute('aria-valuetext')).split(', ')[1];
  await page.locator(`canvas.flame[aria-label^="Flame graph of ${total},"]`).waitFor();
}

// Around a function; in time order, the time is the same.
async function flames(page) {
  await tab(page, 'Flame graph');
  await page.getByLabel('Width is').selectOption('time');
  const graph = page.locator('canvas.flame').first(), label = () => graph.getAttribute('aria-label');
  await page.locator('canvas.flame[aria-label^="Flame graph of"]').waitFor();
  await page.waitForLoadState('networkidle');
  const time = (await label()).split(',')[0];
  await page.getByRole('button', { name: 'time order' }).click();
  await page.locator('.flame-view.busy').waitFor({ state: 'detached' });
  assert.equal((await label()).split(',')[0], time);
  await graph.focus();
  for (let depth = 0; depth < 3; ++depth) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('s');
  await page.getByText(' of all').waitFor();
  assert.equal(await page.locator('canvas.flame').count(), 2);
  await page.getByRole('button', { name: 'flame graph' }).click();
}

await withServed(address, async (page) => {
  await hits(page);
  await memory(page);
  await flames(page);
});
