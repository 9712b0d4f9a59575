// SPDX-License-Identifier: MIT
// The timeline, in a browser: every gesture and key of its list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, lanes, ROW, settle, view, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser();
const WHOLE = 5_000_000_000;
const details = (page) => page.getByRole('complementary', { name: 'Details' });
const firstServe = () => shared.server.recording.threads[0].calls.find((call) => call.depth === 0 && call.start > 1_000_000_000);

test('the wheel zooms at the cursor', async () => {
  const page = await shared.open(), box = await lanes(page);
  await page.mouse.move(...box.at(0.25, 200));
  for (let turn = 0; turn < 5; ++turn) await page.mouse.wheel(0, -200);
  const { t0, t1, length } = await view(page);
  assert.ok(length < WHOLE / 4, `${length}`);
  assert.ok(Math.abs((0.25 * WHOLE - t0) / (t1 - t0) - 0.25) < 0.01, 'the instant stays under the cursor');
  await page.end();
});

test('keys zoom, pan, fit and reset', async () => {
  const page = await shared.open();
  await page.keyboard.press('w');
  await page.keyboard.press('w');
  const zoomed = await view(page);
  assert.ok(Math.abs(zoomed.length - WHOLE / 1.96) < 10);
  await page.keyboard.press('d');
  const panned = await view(page);
  assert.ok(panned.t0 > zoomed.t0 && Math.abs(panned.length - zoomed.length) <= 1);
  await page.keyboard.press('a');
  assert.ok(Math.abs((await view(page)).t0 - zoomed.t0) <= 1);
  await page.locator('canvas.lanes').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowUp');
  assert.ok((await view(page)).length < zoomed.length);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('s');
  await page.keyboard.press('0');
  assert.equal((await address(page)).view, undefined);
  await page.end();
});

test('a drag selects a range, of which everything is; f fits it', async () => {
  const page = await shared.open('#tab=calls'), box = await lanes(page);
  const before = await page.locator('tbody').innerText();
  await page.mouse.move(...box.at(0.2, 220));
  await page.mouse.down();
  await page.mouse.move(...box.at(0.3, 230), { steps: 5 });
  await page.mouse.up();
  await settle(page);
  const [t0, t1] = (await address(page)).at.split('-').map(Number);
  assert.ok(Math.abs(t0 - 0.2 * WHOLE) < WHOLE / 500 && Math.abs(t1 - 0.3 * WHOLE) < WHOLE / 500, `${t0} ${t1}`);
  assert.notEqual(await page.locator('tbody').innerText(), before);
  await page.keyboard.press('f');
  const fitted = await view(page);
  assert.ok(fitted.t0 < t0 && fitted.t1 > t1 && fitted.length < 1.2 * (t1 - t0));
  await page.end();
});

test('a drag with Shift pans', async () => {
  const page = await shared.open('#view=1000000000-2000000000'), box = await lanes(page);
  await page.keyboard.down('Shift');
  await page.mouse.move(...box.at(0.5, 220));
  await page.mouse.down();
  await page.mouse.move(...box.at(0.25, 220), { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const { t0, length } = await view(page);
  assert.ok(Math.abs(t0 - 1_250_000_000) < 5_000_000, `${t0}`);
  assert.equal(length, 1_000_000_000);
  assert.equal((await address(page)).at, undefined);
  await page.end();
});

test('a call is shown, chosen, followed to its neighbours, and fitted by a double click', async () => {
  const page = await shared.open('#view=1000000000-1200000000'), box = await lanes(page), call = firstServe();
  const share = (call.start + call.duration / 2 - 1_000_000_000) / 200_000_000;
  await page.mouse.move(...box.at(share, ROW(0, 0)));
  const name = shared.server.recording.names.list[call.name];
  await details(page).getByRole('heading', { name }).waitFor();
  await page.mouse.click(...box.at(share, ROW(0, 0)));
  assert.match(await details(page).innerText(), /thread\s+main/);
  const start = async () => details(page).locator('dd').nth(2).innerText();
  const first = await start();
  await page.keyboard.press(']');
  await page.waitForFunction((text) => document.querySelectorAll('.details dd')[2]?.textContent !== text, first);
  await page.keyboard.press('[');
  await page.waitForFunction((text) => document.querySelectorAll('.details dd')[2]?.textContent === text, first);
  await settle(page);
  const now = await view(page);
  await page.mouse.dblclick(...box.at((call.start + call.duration / 2 - now.t0) / now.length, ROW(0, 0)));
  const fitted = await view(page);
  assert.ok(fitted.t0 <= call.start && fitted.t1 >= call.start + call.duration && fitted.length < 1.2 * call.duration, JSON.stringify(fitted));
  await page.keyboard.press('Enter');
  assert.equal((await address(page)).at, `${call.start}-${call.start + call.duration}`);
  await page.end();
});

test('what is too short to draw is shown as density that says how many', async () => {
  const page = await shared.open(), box = await lanes(page);
  const calls = shared.server.recording.threads[0].calls.filter((call) => call.depth === 4);
  const dense = calls[Math.floor(calls.length / 2)];
  await page.mouse.move(...box.at(dense.start / WHOLE, ROW(0, 4)));
  await details(page).getByText(/short calls, most of the time/).waitFor();
  await page.end();
});

test('a wait tells who held the lock', async () => {
  const page = await shared.open('#view=0-100000000&hidden=0'), box = await lanes(page);
  const depth = Math.max(...shared.server.recording.threads[1].calls.map((call) => call.depth)) + 1;
  await page.mouse.move(...box.at(0.5, ROW(0, depth) - 2));
  await details(page).getByRole('heading', { name: 'waits for ledger.mutex' }).waitFor();
  assert.match(await details(page).innerText(), /duration\s+60\.0 ms[\s\S]*held by\s+audit/);
  await page.end();
});

test('calls that the server had no room for are said', async () => {
  const page = await shared.open('#hidden=0.1.2');
  await page.locator('.thread').getByText('12 calls left out').waitFor();
  await page.end();
});

test('a point has its values, as text', async () => {
  const page = await shared.open('#view=1000000000-1200000000'), box = await lanes(page);
  const point = shared.server.recording.threads[0].points.find((one) => one.time > 1_000_000_000);
  await page.mouse.move(...box.at((point.time - 1_000_000_000) / 200_000_000 + 0.001, 98 + 6));
  await details(page).getByRole('heading', { name: 'shop:order' }).waitFor();
  assert.ok((await details(page).innerText()).includes(`item="${EVIL}"`));
  await page.end();
});

test('threads are moved, pinned, hidden and shown again', async () => {
  const page = await shared.open();
  const names = () => page.locator('.thread .name').allInnerTexts();
  assert.deepEqual((await names()).slice(0, 2), ['main', 'io-1']);
  await page.locator('.thread').first().hover();
  await page.getByRole('button', { name: 'move main down' }).click();
  assert.deepEqual((await names()).slice(0, 2), ['io-1', 'main']);
  await page.locator('.thread').nth(1).hover();
  await page.getByRole('button', { name: 'pin main' }).click();
  assert.deepEqual((await names()).slice(0, 2), ['main', 'io-1']);
  await page.locator('.thread').first().hover();
  await page.getByRole('button', { name: 'hide main' }).click();
  assert.equal((await names())[0], 'io-1');
  const { order, pinned, hidden } = await address(page);
  assert.deepEqual([order, pinned, hidden], ['1.0.2.3', '0', '0']);
  await page.getByRole('button', { name: 'show 1 hidden' }).click();
  assert.equal((await names())[0], 'main');
  await page.locator('.thread .name').first().click();
  assert.equal((await address(page)).at, 't0');
  await page.end();
});

test('m marks an instant, and takes the mark away', async () => {
  const page = await shared.open(), box = await lanes(page);
  await page.mouse.move(...box.at(0.4, 200));
  await page.keyboard.press('m');
  const mark = Number((await address(page)).marks);
  assert.ok(Math.abs(mark - 0.4 * WHOLE) < WHOLE / 500);
  await page.keyboard.press('m');
  assert.equal((await address(page)).marks, undefined);
  await page.end();
});

test('the overview moves the view', async () => {
  const page = await shared.open(), box = await page.locator('canvas.overview').boundingBox();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 10, { steps: 4 });
  await page.mouse.up();
  const { t0, t1 } = await view(page);
  assert.ok(Math.abs(t0 - 0.5 * WHOLE) < WHOLE / 200 && Math.abs(t1 - 0.6 * WHOLE) < WHOLE / 200);
  const before = await view(page);
  await page.mouse.click(box.x + box.width * 0.9, box.y + 10, { button: 'right' });
  await page.mouse.click(box.x + box.width * 0.9, box.y + 10, { button: 'middle' });
  assert.deepEqual(await view(page), before, 'only the main button moves it');
  await page.end();
});

test('without a mouse: things are chosen by keys, and the canvas says what it shows', async () => {
  const page = await shared.open('#view=1000000000-1200000000'), canvas = page.locator('canvas.lanes');
  assert.match(await canvas.getAttribute('aria-label'), /Timeline of 1\.000 s – 1\.200 s.*4 threads: main, io-1/);
  await canvas.focus();
  await page.keyboard.press('.');
  const first = await details(page).innerText();
  await page.keyboard.press('.');
  assert.notEqual(await details(page).innerText(), first);
  await page.keyboard.press(',');
  assert.equal(await details(page).innerText(), first);
  await page.keyboard.press('j');
  assert.match(await details(page).innerText(), /io-1/);
  await page.keyboard.press('k');
  assert.match(await details(page).innerText(), /main/);
  await page.end();
});

test('what a newer question replaces is aborted', async () => {
  const page = await shared.open();
  const failed = [];
  page.on('requestfailed', (request) => failed.push(request.failure().errorText));
  await page.route('**/api/slices?*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue().catch(() => {});
  });
  await page.keyboard.press('w');
  await page.keyboard.press('w');
  await page.keyboard.press('w');
  await page.waitForTimeout(400);
  await page.keyboard.press('0');
  for (let times = 0; times < 6; ++times) await page.keyboard.press('w');
  await page.waitForTimeout(2500);
  assert.ok(failed.some((text) => text.includes('ABORTED')), failed.join());
  await page.end();
});

test('touch: a finger pans', async () => {
  const page = await shared.open('#view=1000000000-2000000000', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const box = await lanes(page);
  const client = await page.context().newCDPSession(page);
  const touch = (type, x) => client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y: box.y + 200 }] });
  await touch('touchStart', box.x + 200);
  for (let x = 190; x >= 100; x -= 10) await touch('touchMove', box.x + x);
  await touch('touchEnd', 0);
  assert.ok((await view(page)).t0 > 1_100_000_000);
  assert.equal((await address(page)).at, undefined);
  await page.end();
});

test('several threads are selected with Shift, and their totals add up', async () => {
  const page = await shared.open('#tab=calls'), { threads } = shared.server.recording;
  const name = (at) => page.locator('.thread .name').nth(at), crumbs = page.getByRole('navigation', { name: 'Selection' });
  const calls = async () => {
    await settle(page);
    return page.locator('tbody tr').evaluateAll((rows) => rows.reduce((sum, row) => sum + Number(row.cells[3].innerText.replaceAll(',', '')), 0));
  };
  await name(0).click();
  assert.equal(await calls(), threads[0].calls.length);
  await name(1).click({ modifiers: ['Shift'] });
  assert.match(await crumbs.innerText(), /threads main, io-1/);
  assert.equal((await address(page)).at, 't0.1');
  assert.equal(await calls(), threads[0].calls.length + threads[1].calls.length);
  await name(0).focus();
  await page.keyboard.press('Shift+Enter');
  assert.equal(await calls(), threads[1].calls.length);
  await name(1).click({ modifiers: ['Shift'] });
  assert.equal((await address(page)).at, undefined);
  assert.equal(await calls(), threads.reduce((sum, one) => sum + one.calls.length, 0));
  await page.end();
});

test('the critical path of a thread goes through those that it waited for', async () => {
  const page = await shared.open('#at=t1&view=0-200000000'), lane = page.locator('canvas.lanes');
  const pixels = () => lane.evaluate((one) => one.toDataURL());
  const before = await pixels();
  await page.getByRole('button', { name: 'critical path' }).click();
  await settle(page);
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/critical_path?') && one.includes('thread=1')));
  assert.notEqual(await pixels(), before);
  assert.equal((await address(page)).path, '1');
  await page.getByRole('button', { name: 'critical path' }).click();
  await settle(page);
  assert.equal(await pixels(), before);
  await page.getByRole('button', { name: 'whole run' }).click();
  assert.equal(await page.getByRole('button', { name: 'critical path' }).count(), 0, 'it is of one thread');
  await page.end();
});

test('curves that are refused are not asked for again in the same view', async () => {
  const page = await shared.open('', { mayFail: true });
  let asked = 0;
  await page.route('**/api/counters?*', (route) => {
    ++asked;
    return route.fulfill({ status: 400, contentType: 'application/json', body: '{"error":"no curves today"}' });
  });
  await page.reload();
  await page.getByRole('alert').getByText('no curves today').waitFor();
  await settle(page);
  const before = asked;
  await page.waitForTimeout(1000);
  assert.equal(asked, before);
  await page.end();
});
