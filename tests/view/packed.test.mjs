// SPDX-License-Identifier: MIT
// The page with its answers inside, opened from a file, in a browser that reaches nobody.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { address, BROWSER, lanes, ROW, settle, view } from './browser.mjs';
import { EVIL, makeRecording } from './made_up.mjs';
import { NOTE, packedAnswers, packedPage, PX } from './packed_page.mjs';

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');
const recording = makeRecording(), text = packedAnswers(recording), PIXEL = (recording.duration + 1) / PX;
let folder, browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'penna-page-'));
  browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

async function open(content, hash = '') {
  const file = join(folder, 'one.html'), said = [];
  writeFileSync(file, content);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.route('**', (route) => (route.request().url().startsWith('file:') ? route.continue() : route.abort()));
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(message.text()));
  const url = pathToFileURL(file).href;
  page.on('request', (request) => request.url().split('#')[0] === url || request.url().startsWith('data:') || said.push(`asks ${request.url()}`));
  await page.goto(url + hash);
  page.end = async () => {
    assert.deepEqual(said, []);
    await context.close();
  };
  return page;
}

async function openWhole(hash) {
  const page = await open(packedPage(text), hash);
  await page.locator('canvas.lanes').waitFor();
  await settle(page);
  return page;
}

const details = (page) => page.getByRole('complementary', { name: 'Details' });
const noError = async (page) => assert.equal(await page.locator('.error').isVisible(), false, await page.locator('.error').innerText());
const calls = recording.threads.flatMap((thread) => thread.calls);
const WHOLE_RUN = 'of the whole run: this file holds no events; penna view shows any part';

test('the summary says what is not here; a table is sorted in the page', async () => {
  const page = await openWhole();
  assert.match(await page.locator('header').innerText(), /shop\.penna · 5\.00 s · 4 threads/);
  assert.equal(await page.locator('.note').innerText(), NOTE);
  assert.equal(await page.locator('.spark').count(), 3);
  await page.getByRole('tab', { name: 'Calls' }).click();
  await page.locator('tbody tr').first().waitFor();
  const column = async () => (await page.locator('tbody tr td:nth-child(4)').allInnerTexts()).map((one) => Number(one.replaceAll(',', '')));
  assert.equal((await column()).reduce((sum, one) => sum + one, 0), calls.length);
  await page.getByRole('button', { name: 'CALLS' }).click();
  assert.deepEqual(await column(), (await column()).toSorted((a, b) => b - a));
  await page.getByRole('button', { name: 'CALLS' }).click();
  assert.deepEqual(await column(), (await column()).toSorted((a, b) => a - b));
  assert.equal(await page.locator('.whole-run').count(), 0);
  await noError(page);
  await page.end();
});

test('tables and flame graphs are of the whole run, and say so when something is selected', async () => {
  const page = await openWhole('#tab=calls&at=1000000000-2000000000_t1');
  assert.equal(await page.locator('.whole-run').innerText(), WHOLE_RUN);
  await page.getByRole('tab', { name: 'Flame graph' }).click();
  await page.locator('canvas.flame').waitFor();
  assert.equal(await page.locator('.whole-run').innerText(), WHOLE_RUN);
  assert.deepEqual(await page.getByLabel('Width is').locator('option').allInnerTexts(), ['time', 'calls']);
  await page.getByLabel('Width is').selectOption('calls');
  await settle(page);
  const label = await page.locator('canvas.flame').getAttribute('aria-label');
  assert.ok(label.startsWith(`Flame graph of ${calls.length.toLocaleString('en-US')},`), label);
  await page.getByRole('button', { name: 'by callee' }).click();
  await settle(page);
  await noError(page);
  await page.end();
});

test('the timeline zooms: calls, then sums that stay as wide as they were stored', async () => {
  const short = recording.threads[0].calls.find((call) => call.depth === 4 && call.duration < PIXEL && call.start > 1e9);
  const cell = Math.floor(short.start / PIXEL);
  const inCell = recording.threads[0].calls.filter((call) => call.depth === 4 && call.duration < PIXEL && Math.floor(call.start / PIXEL) === cell);
  const page = await openWhole(`#view=${Math.round(short.start - 60 * PIXEL)}-${Math.round(short.start + 60 * PIXEL)}`), box = await lanes(page);
  await page.mouse.move(...box.at(0.5, 200));
  for (let turn = 0; turn < 6; ++turn) await page.mouse.wheel(0, -200);
  await settle(page);
  const { t0, t1, length } = await view(page);
  assert.ok(length < 20 * PIXEL && t0 < short.start && short.start < t1, `${length}`);
  const middle = Math.min(t1, (cell + 1) * PIXEL) / 2 + Math.max(t0, cell * PIXEL) / 2;
  await page.mouse.move(...box.at((middle - t0) / length, ROW(0, 4)));
  await details(page).getByText(`${inCell.length} short calls, most of the time`).waitFor();
  await noError(page);
  await page.end();
});

test('find leads to the slowest call, and on to its neighbours', async () => {
  const page = await openWhole();
  await page.keyboard.press('/');
  await page.keyboard.type('onerror');
  await page.getByText('2 found').waitFor();
  await page.keyboard.press('Enter');
  await details(page).getByRole('heading', { name: EVIL }).waitFor();
  const id = recording.names.list.indexOf(EVIL), slowest = calls.filter((call) => call.name === id).sort((a, b) => b.duration - a.duration)[0];
  const { view: shown } = await address(page), [t0, t1] = shown.split('-').map(Number);
  assert.ok(t0 <= slowest.start && slowest.start + slowest.duration <= t1, shown);
  const start = await details(page).locator('dd').nth(2).innerText();
  await details(page).getByRole('button', { name: '] next' }).click();
  await page.waitForFunction((before) => document.querySelectorAll('.details dd')[2]?.textContent !== before, start);
  await noError(page);
  await page.end();
});

test('a damaged file gives one sentence', async () => {
  for (const damaged of [text.slice(0, text.length / 2), `!${text}`, '', `${text.slice(0, 4000)}AAAA${text.slice(4004)}`, 'eJwDAAAAAAE=']) {
    const page = await open(packedPage(damaged));
    await page.locator('.broken').waitFor();
    assert.equal(await page.locator('#page').innerText(), 'The recording in this file cannot be read: the file is damaged or was cut off.');
    await page.end();
  }
});

test('hits of points are here; what would need the events says so', async () => {
  const page = await openWhole('#tab=points&point=shop:order');
  await page.locator('tbody tr').first().waitFor();
  const hits = recording.threads.reduce((sum, thread) => sum + thread.points.length, 0);
  assert.equal(await page.locator('tbody tr').count(), Math.min(500, hits));
  await page.getByText('Conditions, histograms and curves are only in penna view.').waitFor();
  await page.getByRole('button', { name: 'show in the timeline' }).last().click();
  await settle(page);
  assert.ok((await view(page)).length < 1e9);
  await page.end();
});

test('memory over time is here; the flame graph of an instant is not, and that is said', async () => {
  const page = await openWhole('#tab=memory');
  await page.locator('table.parts tbody tr').first().waitFor();
  await page.getByText('The flame graph of an instant, and curves by stack, are only in penna view.').waitFor();
  const box = await page.locator('canvas.chart').boundingBox();
  await page.mouse.click(box.x + box.width * 0.75, box.y + 50);
  assert.ok(Math.abs(Number((await address(page)).instant) - 0.75 * recording.duration) < recording.duration / 200);
  await page.end();
});

test('with --embed-source, source files have their text; what is not here is told', async () => {
  const page = await open(packedPage(packedAnswers(recording, { embedsSource: true })), '#tab=calls');
  await page.locator('tbody tr').first().click();
  await page.getByRole('button', { name: '(shop.c:12) [shop]' }).click();
  const line = page.locator('table.source tr[aria-current=true]', { hasText: 'line(12)' });
  await line.waitFor();
  assert.ok((await line.innerText()).includes(EVIL), 'its text is text');
  assert.equal(await page.locator('table.source img').count(), 0);
  await page.getByLabel('File').selectOption('/src/shop/ledger.c');
  await page.getByText('/src/shop/ledger.c is not in this file: the summary says which sources are').waitFor();
  await page.end();
});

test('without it, there is no source; blocks are those that are here', async () => {
  const page = await openWhole('#tab=memory');
  assert.equal(await page.getByRole('tab', { name: 'Source' }).count(), 0);
  await page.locator('table.parts').getByRole('button', { name: EVIL }).click();
  await page.getByText('Among the 1,000 largest blocks').waitFor();
  await page.getByRole('button', { name: 'all blocks' }).click();
  await page.locator('section.table tbody tr', { hasText: '3.0' }).first().click();
  const life = page.getByRole('list', { name: 'Life of the block' });
  await life.getByText('It lived 1.00 s').waitFor();
  await life.getByRole('button', { name: /^1\.50+ s$/ }).click();
  await details(page).getByRole('heading', { name: 'block moved' }).waitFor();
  await noError(page);
  await page.end();
});
