// SPDX-License-Identifier: MIT
// Source files with the cost of their lines, in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser();
const chosen = (page) => page.locator('table.source tr[aria-current=true]');

test('the most expensive line of the most expensive file is shown first', async () => {
  const page = await shared.open();
  await page.getByRole('tab', { name: 'Source', exact: true }).click();
  await chosen(page).waitFor();
  assert.deepEqual(await page.locator('table.source th').allInnerTexts(), ['SELF', 'TOTAL', 'CALLS', 'ALLOCATED', 'LINE', 'shop.c']);
  assert.deepEqual((await chosen(page).locator('td').allInnerTexts()).slice(0, 5), ['4.00 s', '9.00 s', '1', '', '99']);
  assert.ok((await chosen(page).innerText()).includes(EVIL), 'its text is text');
  assert.equal(await page.locator('table.source img').count(), 0);
  assert.ok(await chosen(page).isVisible());
  const box = await chosen(page).boundingBox(), panel = await page.locator('.panel').boundingBox();
  assert.ok(box.y >= panel.y && box.y + box.height <= panel.y + panel.height, 'it is scrolled to');
  await page.getByText('2,000 of 3,000 lines are shown.').waitFor();
  await page.end();
});

test('from cost to cost, by button and by key, in the address', async () => {
  const page = await shared.open('#tab=source');
  await chosen(page).waitFor();
  await page.getByRole('button', { name: 'next', exact: true }).click();
  await page.locator('table.source tr[aria-current=true]', { hasText: 'line(2900)' }).waitFor();
  assert.equal((await address(page)).line, '2900');
  assert.equal(await page.getByRole('button', { name: 'next', exact: true }).isDisabled(), true);
  await page.getByRole('button', { name: 'previous line with a cost' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.locator('table.source tr[aria-current=true]', { hasText: 'line(12)' }).waitFor();
  await page.goBack();
  await page.locator('table.source tr[aria-current=true]', { hasText: 'line(99)' }).waitFor();
  await page.reload();
  await page.locator('table.source tr[aria-current=true]', { hasText: 'line(99)' }).waitFor();
  await page.end();
});

test('a file that may not be read has its costs, and the reason', async () => {
  const page = await shared.open('#tab=source');
  await chosen(page).waitFor();
  await page.getByLabel('File').selectOption('/src/shop/ledger.c');
  await page.getByText('in none of the directories that may be shown: give it by --source-dir DIR').waitFor();
  assert.deepEqual((await chosen(page).locator('td').allInnerTexts()).slice(0, 3), ['2.00 ms', '3', '7']);
  await page.end();
});

test('a frame of a stack leads to its line', async () => {
  const page = await shared.open('#tab=calls');
  await page.locator('tbody tr').first().click();
  await page.getByRole('button', { name: '(shop.c:12) [shop]' }).click();
  await page.locator('table.source tr[aria-current=true]', { hasText: 'line(12)' }).waitFor();
  const { tab, file, line } = await address(page);
  assert.deepEqual([tab, file, line], ['source', '/src/shop/shop.c', '12']);
  await page.goBack();
  await page.getByRole('tab', { name: 'Waits' }).click();
  await page.locator('tbody tr').first().click();
  await page.getByRole('button', { name: '(audit.c:3)' }).click();
  await page.getByText('nothing in the selection is of audit.c').waitFor();
  await page.getByRole('button', { name: 'dismiss' }).click();
  await page.end();
});
