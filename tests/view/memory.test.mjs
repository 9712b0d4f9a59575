// SPDX-License-Identifier: MIT
// Memory over time: curves by who allocated, and what was live at the instant that was clicked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, settle, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser();
const chart = (page) => page.locator('canvas.chart');
const parts = (page) => page.locator('table.parts tbody tr');
const said = (page) => page.locator('.memory [role=status]').first().innerText();
const flames = () => shared.server.asked.filter((one) => one.startsWith('api/flame?')).map((one) => new URLSearchParams(one.split('?')[1]));

test('the peak is shown first: its parts, and its flame graph', async () => {
  const page = await shared.open('#tab=memory');
  await parts(page).first().waitFor();
  assert.deepEqual(await parts(page).evaluateAll((rows) => rows.map((row) => row.cells[2].innerText.trim())), ['grow', EVIL, '3 others']);
  assert.match(await said(page), /^2\.\d+ MB live at/);
  const asked = flames().at(-1);
  assert.equal(asked.get('weight'), 'live');
  assert.equal(asked.get('t0'), null, 'what is live may be older than the selection');
  await page.getByText('7 B of it were left by processes that had ended.').waitFor();
  await page.end();
});

test('a click chooses an instant, the arrows its neighbours', async () => {
  const page = await shared.open('#tab=memory'), box = await chart(page).boundingBox();
  await page.mouse.click(box.x + box.width * 0.25, box.y + 60);
  await settle(page);
  const { instant } = await address(page);
  assert.ok(Math.abs(Number(instant) - 0.25 * 5e9) < 5e9 / 200, instant);
  assert.equal(flames().at(-1).get('t1'), instant);
  await chart(page).focus();
  await page.keyboard.press('ArrowRight');
  await settle(page);
  const next = Number((await address(page)).instant);
  assert.ok(Math.abs(next - Number(instant) - 5e9 / 200) < 2, String(next));
  assert.match(await chart(page).getAttribute('aria-valuetext'), /^1\.\d+ s, \d+\.\d+ MB$/);
  await page.getByRole('button', { name: 'the peak' }).click();
  assert.equal((await address(page)).instant, undefined);
  await page.end();
});

test('pointing shows the parts of an instant; they add up', async () => {
  const page = await shared.open('#tab=memory'), box = await chart(page).boundingBox();
  const shares = new Set();
  for (const share of [0.1, 0.5, 0.9]) {
    await page.mouse.move(box.x + box.width * share, box.y + 60);
    const percents = await parts(page).evaluateAll((rows) => rows.map((row) => Number(row.cells[1].innerText.replace(/[<%]/g, ''))));
    assert.ok(Math.abs(percents.reduce((a, b) => a + b) - 100) < 0.3, String(percents));
    shares.add(String(percents));
  }
  assert.equal(shares.size, 3);
  await page.end();
});

test('a drag selects that time for every tab', async () => {
  const page = await shared.open('#tab=memory'), box = await chart(page).boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 70, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const [t0, t1] = (await address(page)).at.split('-').map(Number);
  assert.ok(Math.abs(t0 - 1e9) < 2e7 && Math.abs(t1 - 2e9) < 2e7, `${t0} ${t1}`);
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/live_heap?') && one.includes(`t0=${t0}`)));
  await page.end();
});

test('curves by stack', async () => {
  const page = await shared.open('#tab=memory');
  await page.locator('.memory select').selectOption('stack');
  await page.getByText('grow ← main').waitFor();
  assert.equal((await address(page)).by, 'stack');
  await page.end();
});
