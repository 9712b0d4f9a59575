// SPDX-License-Identifier: MIT
// The flame graph, in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, settle, withBrowser } from './browser.mjs';

const shared = withBrowser();
const details = (page) => page.getByRole('complementary', { name: 'Details' });
const canvas = (page) => page.locator('canvas.flame');
const label = async (page) => canvas(page).getAttribute('aria-label');

test('a click zooms in, crumbs and Esc zoom out', async () => {
  const page = await shared.open('#tab=flame'), box = await canvas(page).boundingBox();
  await page.mouse.click(box.x + 20, box.y + 18 + 9);
  const name = await details(page).locator('h2').innerText();
  assert.ok(['serve(Connection&)', 'shop::loop()'].includes(name), name);
  const { zoom } = await address(page);
  assert.equal(shared.server.recording.names.list[Number(zoom)], name);
  const crumbs = page.getByRole('navigation', { name: 'Zoom of the flame graph' });
  assert.match(await crumbs.innerText(), new RegExp(`all.*${name.slice(0, 5)}`, 's'));
  // What is zoomed takes the whole width: its right end is the same function.
  await page.mouse.move(box.x + box.width - 20, box.y + 18 + 9);
  assert.equal(await details(page).locator('h2').first().innerText(), name);
  await canvas(page).focus();
  await page.keyboard.press('Escape');
  assert.equal((await address(page)).zoom, undefined);
  await page.end();
});

test('search tells how many, and their share of the total', async () => {
  const page = await shared.open('#tab=flame');
  await page.getByPlaceholder('function').fill('serve(');
  await page.getByText(/^1 found/).waitFor();
  const text = await page.locator('.flame-tools [role=status]').innerText();
  const { threads, names } = shared.server.recording, tops = threads.flatMap((thread) => thread.calls).filter((call) => call.depth === 0);
  const sum = (calls) => calls.reduce((total, call) => total + call.duration, 0);
  const share = (100 * sum(tops.filter((call) => names.list[call.name].startsWith('serve')))) / sum(tops);
  assert.ok(text.includes(`${share.toFixed(1)} % of the total`), `${text}, ${share}`);
  await page.end();
});

test('weights and shapes are chosen, and stand in the address', async () => {
  const page = await shared.open('#tab=flame');
  assert.match(await label(page), /^Flame graph of \d+\.\d+ s/);
  await page.getByLabel('Width is').selectOption('calls');
  await settle(page);
  const calls = shared.server.recording.threads.reduce((sum, thread) => sum + thread.calls.length, 0);
  assert.ok((await label(page)).startsWith(`Flame graph of ${calls.toLocaleString('en-US')},`), await label(page));
  await page.getByRole('button', { name: 'by callee' }).click();
  await page.getByRole('button', { name: 'by name' }).click();
  await page.getByRole('button', { name: 'icicle' }).click();
  await settle(page);
  const { weight, shape } = await address(page);
  assert.deepEqual([weight, [...shape].sort().join('')], ['calls', 'nr']);
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/flame?') && one.includes('reverse=1')));
  await page.end();
});

test('by keys: walk, zoom, focus, hide, undo', async () => {
  const page = await shared.open('#tab=flame');
  await canvas(page).focus();
  const whole = await label(page);
  await page.keyboard.press('ArrowDown');
  const first = await details(page).locator('h2').innerText();
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await details(page).locator('h2').innerText(), first);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await details(page).locator('h2').innerText(), first);
  await page.keyboard.press('Enter');
  assert.notEqual((await address(page)).zoom, undefined);
  await page.keyboard.press('Escape');
  await page.keyboard.press('o');
  await page.getByText('only stacks through').waitFor();
  const focused = await label(page);
  assert.notEqual(focused, whole);
  await settle(page);
  await page.reload();
  await page.getByText('only stacks through').waitFor();
  assert.equal(await label(page), focused, 'it is in the address');
  await canvas(page).focus();
  await page.keyboard.press('u');
  await page.waitForFunction((text) => document.querySelector('canvas.flame').getAttribute('aria-label') === text, whole);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('x');
  await page.getByText('without').waitFor();
  await page.keyboard.press('i');
  await page.keyboard.press('r');
  assert.equal((await address(page)).shape, 'c', 'a flame, recursion collapsed');
  assert.equal((await label(page)).split(',')[0], whole.split(',')[0], 'what is hidden leaves its time to its caller');
  await page.end();
});

test('the graph is of the selection', async () => {
  const page = await shared.open('#tab=flame&at=1000000000-1500000000_t1');
  const calls = shared.server.recording.threads[1].calls.filter((call) => call.depth === 0);
  const inside = calls.reduce((sum, call) => sum + Math.max(0, Math.min(1.5e9, call.start + call.duration) - Math.max(1e9, call.start)), 0);
  assert.ok((await label(page)).startsWith(`Flame graph of ${(inside / 1e6).toFixed(0)} ms`), `${await label(page)} ${inside}`);
  await page.end();
});

test('a weight that the recording cannot fill says so in place of the graph', async () => {
  const page = await shared.open('#tab=flame', { mayFail: true }), error = 'points have no stacks in this recording';
  assert.equal((await page.getByLabel('Width is').locator('option').allInnerTexts()).includes('self_time'), false);
  await page.route('**/api/flame?*weight=points*', (route) => route.fulfill({ status: 400, contentType: 'application/json', body: JSON.stringify({ error }) }));
  await page.getByLabel('Width is').selectOption('points');
  await page.locator('.flame-view').getByText(error).waitFor();
  assert.equal(await canvas(page).count(), 0);
  await page.getByLabel('Width is').selectOption('time');
  await canvas(page).waitFor();
  assert.equal(await page.getByText(error).count(), 0);
  await page.end();
});

test('drop leaves out all stacks through a function, and says how much went', async () => {
  const page = await shared.open('#tab=flame'), whole = await label(page);
  await canvas(page).focus();
  await page.keyboard.press('ArrowDown');
  const name = await details(page).locator('h2').innerText();
  await page.keyboard.press('d');
  await page.getByText(`no stacks through ${name}`).waitFor();
  await page.getByText(/went with what was dropped/).waitFor();
  assert.notEqual((await label(page)).split(',')[0], whole.split(',')[0]);
  await page.keyboard.press('u');
  await page.waitForFunction((text) => document.querySelector('canvas.flame').getAttribute('aria-label') === text, whole);
  await canvas(page).click({ position: { x: 30, y: 27 } });
  await page.getByRole('button', { name: 'drop' }).click();
  await page.getByText('no stacks through').waitFor();
  await page.end();
});

test('callers and callees of a function, all its occurrences merged', async () => {
  const page = await shared.open('#tab=flame');
  await canvas(page).focus();
  for (let depth = 0; depth < 3; ++depth) await page.keyboard.press('ArrowDown');
  const name = await details(page).locator('h2').innerText();
  await page.keyboard.press('s');
  const callers = page.getByLabel(`Callers of ${name}`), callees = page.getByLabel(`Callees of ${name}`);
  await callees.waitFor();
  const amount = async (half) => / of ([\d.]+ \S+), \d+ nodes/.exec(await half.getAttribute('aria-label'))[1];
  assert.equal(await amount(callers), await amount(callees));
  const { list } = shared.server.recording.names;
  assert.equal(list[Number((await address(page)).around)], name);
  await page.reload();
  await callers.waitFor();
  await callers.focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  const caller = await details(page).locator('h2').innerText();
  assert.notEqual(caller, name);
  await page.keyboard.press('Enter');
  await page.getByLabel(`Callees of ${caller}`).waitFor();
  await page.goBack();
  await callers.waitFor();
  await page.getByRole('button', { name: '◂ flame graph' }).click();
  await canvas(page).waitFor();
  assert.match(await label(page), /^Flame graph/);
  await page.end();
});

test('time order: a function comes again when it was called again later', async () => {
  const page = await shared.open('#tab=flame&at=t1'), whole = await label(page);
  await page.getByRole('button', { name: 'time order' }).click();
  await settle(page);
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/flame?') && one.includes('time_order=1')));
  assert.equal((await label(page)).split(',')[0], whole.split(',')[0], 'the time is the same');
  const nodes = (text) => Number(/(\d+) nodes/.exec(text)[1]);
  assert.ok(nodes(await label(page)) > nodes(whole));
  const box = await canvas(page).boundingBox(), seen = [];
  for (let x = 4; x < box.width; x += 8) {
    await page.mouse.move(box.x + x, box.y + 27);
    const name = await details(page).locator('h2').first().innerText();
    if (seen.at(-1) !== name) seen.push(name);
  }
  assert.ok(seen.length > new Set(seen).size, seen.join());
  await page.mouse.click(box.x + box.width * 0.6, box.y + 27);
  const chosen = await details(page).locator('h2').first().innerText();
  await page.mouse.move(box.x + 20, box.y + 27);
  assert.equal(await details(page).locator('h2').first().innerText(), chosen, 'that call takes the whole width, not an earlier one of its name');
  assert.match((await address(page)).zoom, /^[1-9]/);
  await page.end();
});

test('threads apart: each has a frame of its own', async () => {
  const page = await shared.open('#tab=flame'), whole = await label(page);
  await page.getByRole('button', { name: 'threads apart' }).click();
  await settle(page);
  assert.equal((await label(page)).split(',')[0], whole.split(',')[0]);
  const seen = new Set();
  await canvas(page).focus();
  await page.keyboard.press('ArrowDown');
  for (let step = 0; step < 4; ++step) {
    seen.add(await details(page).locator('h2').innerText());
    await page.keyboard.press('ArrowRight');
  }
  assert.deepEqual([...seen].sort(), shared.server.recording.threads.map((one) => one.name).sort());
  // The server refuses that for waits by holder: neither the button nor an address asks for it.
  await page.getByLabel('Width is').selectOption('hold');
  await settle(page);
  assert.equal(await page.getByRole('button', { name: 'threads apart' }).count(), 0);
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/flame?') && one.includes('weight=hold')));
  assert.ok(!shared.server.asked.some((one) => one.includes('weight=hold') && one.includes('by_thread')));
  await page.end();
});
