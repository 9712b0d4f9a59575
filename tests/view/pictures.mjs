// SPDX-License-Identifier: MIT
// Pictures of each view of the page, for README.md, of examples/demo/orders.cc as `penna view` serves it.
//
//   node tests/view/pictures.mjs ADDRESS FOLDER
//
// Why a program: a page that changes gets its pictures anew by one command (tests/e2e/pictures.sh).
// Invariant: what is in a picture was asked of a real recording, and the page said no error.
import { withServed } from './served_page.mjs';

const [address, folder] = process.argv.slice(2);

const tab = async (page, name) => {
  await page.getByRole('tab', { name, exact: true }).click();
  await page.waitForFunction(() => document.querySelector('.panel [aria-busy=true], .panel .hint')?.textContent !== '…');
};
const settled = async (page) => {
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(300);
};
// The view as it is, without the cursor and what it points at.
const take = async (page, name) => {
  await page.mouse.move(1, 1);
  await settled(page);
  await page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
};

// The time of main(), in all pictures: what comes before is the loading of libraries.
async function mainAlone(page) {
  await tab(page, 'Calls');
  await page.locator('tbody tr', { hasText: 'main' }).first().click();
  await page.getByRole('button', { name: 'show the slowest call' }).first().click();
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: 'main' }).waitFor();
  await details.getByRole('button', { name: 'select its time' }).click();
  await page.keyboard.press('f');
  await settled(page);
}

// A wait, with the thread that held the lock.
async function timeline(page) {
  const box = await page.locator('canvas.lanes').boundingBox();
  await tab(page, 'Calls');
  await page.mouse.click(box.x + box.width * 0.6, box.y + 270);
}

async function memory(page) {
  await tab(page, 'Memory');
  const chart = page.locator('canvas.chart');
  await chart.focus();
  for (let step = 0; step < 3; ++step) await page.keyboard.press('ArrowLeft');
  await page.locator('.memory .busy').waitFor({ state: 'detached' });
}

// A block that was freed, as far as the table's first rows have one.
async function blocks(page) {
  await tab(page, 'Blocks');
  const rows = page.locator('section.table tbody tr');
  await rows.first().waitFor();
  await rows.filter({ hasText: /ledger|order|serve/ }).first().click();
  await page.getByRole('list', { name: 'Life of the block' }).waitFor();
}

async function points(page) {
  await tab(page, 'Points');
  await page.getByLabel('Hits of').selectOption('shop:order');
  await page.locator('tbody tr').first().waitFor();
  await page.getByLabel('Histogram of').selectOption({ index: 1 });
  await page.getByRole('figure').getByRole('button').first().waitFor();
}

await withServed(address, async (page) => {
  await page.setViewportSize({ width: 1200, height: 720 });
  await mainAlone(page);
  await tab(page, 'Summary');
  await take(page, 'summary');
  await tab(page, 'Flame graph');
  await page.getByLabel('Width is').selectOption('time');
  await page.locator('canvas.flame[aria-label^="Flame graph of"]').waitFor();
  await take(page, 'flame-graph');
  await memory(page);
  await take(page, 'memory');
  await blocks(page);
  await take(page, 'blocks');
  await tab(page, 'Source');
  await page.locator('table.source tr[aria-current=true]').waitFor();
  await take(page, 'source');
  await points(page);
  await take(page, 'points');
  await tab(page, 'Waits');
  await page.locator('tbody tr').first().waitFor();
  await take(page, 'waits');
  await tab(page, 'Diff');
  await page.locator('tbody tr').first().waitFor();
  await take(page, 'diff');
  await timeline(page);
  await take(page, 'timeline');
});
