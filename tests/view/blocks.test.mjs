// SPDX-License-Identifier: MIT
// The life of a block: from a row, a curve of memory or a call in the timeline to where it was allocated, moved and freed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, lanes, ROW, settle, view, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser();
const rows = (page) => page.locator('section.table tbody tr:not(.details-row)');
const functions = (page) => rows(page).evaluateAll((all) => all.map((row) => row.cells[5].innerText.trim()));
const asked = () => new URLSearchParams(shared.server.asked.filter((one) => one.startsWith('api/blocks?')).at(-1).split('?')[1]);

test('a block was allocated here, moved there, and freed by another thread; each place leads to its instant', async () => {
  const page = await shared.open('#tab=blocks');
  assert.deepEqual(await functions(page), ['shop::parse', 'shop::parse', EVIL]);
  await rows(page).first().click();
  const life = page.getByRole('list', { name: 'Life of the block' });
  const text = await life.innerText();
  assert.match(text, /allocated at 1\.0+ s by io-1: 100 B at 0x5000[\s\S]*shop::parse \(shop\.c:12\)[\s\S]*main/);
  assert.match(text, /moved at 1\.50+ s by io-1: 3\.\d+ kB at 0x6000[\s\S]*shop::grow/);
  assert.match(text, /freed at 2\.0+ s by audit[\s\S]*--free-stacks/);
  assert.match(text, /It lived 1\.00 s, and was freed by another thread than the one that allocated it \(io-1\)\./);
  await life.getByRole('button', { name: /^2\.0+ s$/ }).click();
  const { t0, t1 } = await view(page);
  assert.ok(t0 < 2e9 && 2e9 < t1 && t1 - t0 < 1e8, `${t0} ${t1}`);
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: 'block freed' }).waitFor();
  await details.getByText('0x6000').waitFor();
  await page.end();
});

test('a row of memory leads to the blocks of its function at that instant, and back to all', async () => {
  const page = await shared.open('#tab=memory');
  await page.locator('table.parts').getByRole('button', { name: EVIL }).click();
  await page.getByText(`Blocks of ${EVIL}, live at`).waitFor();
  await settle(page);
  assert.equal(asked().get('function'), EVIL);
  assert.ok(Number(asked().get('instant')) > 0);
  assert.deepEqual(await functions(page), [EVIL]);
  const { blocks } = await address(page);
  assert.equal(new URLSearchParams(blocks).get('function'), EVIL, 'the address has it');
  await page.getByRole('button', { name: 'all blocks' }).click();
  await settle(page);
  assert.equal((await functions(page)).length, 3);
  await page.end();
});

test('a stack of a table leads to its blocks; those of leaks were never freed', async () => {
  const page = await shared.open('#tab=leaks');
  await rows(page).first().click();
  await page.getByRole('button', { name: 'its blocks' }).click();
  await page.getByText('Blocks of one stack, never freed').waitFor();
  await settle(page);
  assert.deepEqual([asked().get('stack'), asked().get('leaked')], ['0123456789abcdef', '1']);
  await page.end();
});

test('a call in the timeline leads to what its thread allocated meanwhile', async () => {
  const page = await shared.open('#hidden=0.2.3'), box = await lanes(page);
  const call = shared.server.recording.threads[1].calls.filter((one) => one.depth === 0).sort((a, b) => b.duration - a.duration)[0];
  await page.mouse.click(...box.at((call.start + call.duration / 2) / 5e9, ROW(0, 0)));
  await page.getByRole('complementary', { name: 'Details' }).getByRole('button', { name: 'its blocks' }).click();
  await settle(page);
  const { at, tab } = await address(page);
  assert.deepEqual([at, tab], [`${call.start}-${call.start + call.duration}_t1`, 'blocks']);
  assert.deepEqual([asked().get('t0'), asked().get('t1'), asked().get('thread')], [String(call.start), String(call.start + call.duration), '1']);
  await page.end();
});
