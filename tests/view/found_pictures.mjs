// SPDX-License-Identifier: MIT
// Pictures for docs/see-*.md, of the programs in examples/tutorial as `penna view` shows them.
//
//   node tests/view/found_pictures.mjs convoy|leak|slow ADDRESS FOLDER
//
// Why a program: it goes the way that the page describes, so the page describes a way that exists.
// Invariant: each picture is taken after what its page says about it was found in the text of the browser's page.
import assert from 'node:assert/strict';
import { withServed } from './served_page.mjs';

const [which, address, folder] = process.argv.slice(2);
const tab = (page, name) => page.getByRole('tab', { name, exact: true }).click();

async function take(page, name) {
  await page.mouse.move(1, 1);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/${which}-${name}.png`, animations: 'disabled' });
}

// The chosen line is the most expensive one.
async function source(page, text) {
  await tab(page, 'Source');
  const chosen = page.locator('table.source tr[aria-current=true]');
  await chosen.waitFor();
  assert.ok((await chosen.innerText()).includes(text), await chosen.innerText());
}

const WAYS = {
  async convoy(page) {
    const wait = page.getByRole('button', { name: /^Longest wait for a lock: .* for log_mutex/ });
    await wait.waitFor();
    await take(page, 'summary');
    await wait.click();
    await page.getByRole('complementary', { name: 'Details' }).getByText('log_mutex').first().waitFor();
    await tab(page, 'Waits');
    await page.locator('canvas.lanes').focus();
    for (let step = 0; step < 5; ++step) await page.keyboard.press('s');
    await page.locator('tbody tr').first().waitFor();
    await take(page, 'timeline');
    await source(page, 'lock_guard lock(log_mutex)');
    await take(page, 'source');
  },
  async leak(page) {
    await tab(page, 'Memory');
    const chart = page.locator('canvas.chart');
    await chart.waitFor();
    const { width, height } = await chart.boundingBox();
    await chart.click({ position: { x: width - 4, y: height / 2 } });
    await page.locator('.memory .busy').waitFor({ state: 'detached' });
    await page.locator('canvas.flame').waitFor();
    await take(page, 'memory');
    await tab(page, 'Leaks');
    const row = page.locator('tbody tr').first();
    await row.click();
    const frame = page.locator('.frames li', { hasText: 'log_in' });
    await frame.getByRole('button').click();
    const chosen = page.locator('table.source tr[aria-current=true]', { hasText: 'new Session' });
    await chosen.waitFor();
    await take(page, 'source');
  },
  async slow(page) {
    await tab(page, 'Flame graph');
    const graph = page.locator('canvas.flame[aria-label^="Flame graph of"]');
    await graph.waitFor();
    await page.getByPlaceholder('function').fill('find_customer');
    await page.getByText(/^1 found/).waitFor();
    await take(page, 'flame');
    await source(page, 'find_customer(const char');
    await take(page, 'source');
  },
};

await withServed(address, async (page) => {
  await page.setViewportSize({ width: 1000, height: 600 });
  await WAYS[which](page);
});
