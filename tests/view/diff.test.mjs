// SPDX-License-Identifier: MIT
// What changed since another recording: its tables, and colours of the flame graph.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, settle, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser({ before: '/tmp/before.penna' });
const alone = withBrowser();
const details = (page) => page.getByRole('complementary', { name: 'Details' });
const canvas = (page) => page.locator('canvas.flame');

test('the table of changes has noise in grey, and is sorted as all tables', async () => {
  const page = await shared.open('#at=1000000000-2000000000');
  assert.match(await page.locator('header').innerText(), /compared with before\.penna/);
  await page.getByRole('tab', { name: 'Diff' }).click();
  await page.getByText('with /tmp/before.penna, both as a whole').waitFor();
  await page.getByText('A: 3 stacks were cut.').waitFor();
  const rows = page.locator('tbody tr');
  assert.deepEqual(await rows.evaluateAll((all) => all.map((row) => [row.cells[4].innerText, row.classList.contains('quiet')])), [['main', true], [EVIL, false]]);
  assert.equal(await rows.nth(1).locator('td').nth(1).innerText(), '-2.00 ms');
  await page.getByRole('button', { name: 'CHANGE' }).click();
  await page.getByRole('button', { name: 'CHANGE' }).click();
  await settle(page);
  assert.equal((await address(page)).sort, 'total_change_ns:asc');
  assert.equal(await rows.first().locator('td').nth(4).innerText(), EVIL);
  await page.end();
});

test('what cannot be compared is said', async () => {
  const page = await shared.open('#tab=diff', { mayFail: true });
  await page.getByLabel('Compare').selectOption('alloc');
  await page.getByRole('alert').filter({ hasText: 'before.penna holds no allocations' }).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 0);
  assert.equal((await address(page)).diff, 'alloc');
  await page.getByLabel('Compare').selectOption('calls');
  await page.locator('tbody tr').first().waitFor();
  await page.end();
});

// Of a pixel: red, green, blue.
async function color(page, x, y) {
  return canvas(page).evaluate((one, [x, y]) => {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    context.drawImage(one, x * devicePixelRatio, y * devicePixelRatio, 1, 1, 0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }, [x, y]);
}

test('the flame graph has less in blue, more in orange, noise in grey', async () => {
  const page = await shared.open('#tab=flame');
  await page.getByRole('button', { name: 'what changed' }).click();
  await page.getByText('changed by less than 1 %').waitFor();
  await settle(page);
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/flame?') && one.includes('compare=1')));
  const box = await canvas(page).boundingBox(), kinds = new Set();
  for (let row = 1; row < 5; ++row) {
    for (let x = 3; x < box.width; x += 40) {
      await page.mouse.move(box.x + x, box.y + row * 18 + 3);
      const text = await details(page).first().innerText(), [, sign, percent] = /change\s+[−+][^,]*, ([−+])([\d.]+|< 0\.01)/.exec(text) ?? [];
      if (sign === undefined || /^all/.test(text)) continue;
      const near = await Promise.all([x - 2, x, x + 2].map((at) => color(page, at, row * 18 + 3)));
      if (new Set(near.map(String)).size > 1) continue;  // an edge
      const [red, , blue] = near[1], seen = Math.abs(red - blue) < 8 ? 'grey' : red > blue ? 'orange' : 'blue';
      const wanted = Number(percent) < 1 || percent.startsWith('<') ? 'grey' : sign === '+' ? 'orange' : 'blue';
      assert.equal(seen, wanted, text);
      kinds.add(seen);
    }
  }
  assert.deepEqual([...kinds].sort(), ['blue', 'grey', 'orange']);
  const label = () => canvas(page).getAttribute('aria-label');
  const now = await label();
  await page.getByRole('button', { name: 'widths of before' }).click();
  await settle(page);
  assert.notEqual((await label()).split(',')[0], now.split(',')[0]);
  assert.match((await address(page)).shape, /d.*b|b.*d/);
  await page.end();
});

test('without another recording there is nothing of it', async () => {
  const page = await alone.open('#tab=flame');
  assert.equal(await page.getByRole('tab', { name: 'Diff' }).count() + await page.getByRole('button', { name: 'what changed' }).count(), 0);
  await page.end();
});
