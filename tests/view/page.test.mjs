// SPDX-License-Identifier: MIT
// Frame, summary, tables and find, in a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, settle, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser();

test('the summary is first, its sentences lead to tables, markup stays text', async () => {
  const page = await shared.open();
  assert.match(await page.locator('header').innerText(), /shop\.penna · 5\.00 s · 4 threads/);
  assert.match(await page.locator('.missing').innerText(), /values\s+penna record --args/);
  assert.match(await page.locator('.summary').innerText(), /3 stacks were cut\./);
  assert.equal(await page.locator('.spark').count(), 3);
  await page.getByRole('button', { name: `Most of the time is spent in ${EVIL}.` }).click();
  await page.locator('tbody tr').first().waitFor();
  assert.equal(await page.getByRole('tab', { selected: true }).innerText(), 'Calls');
  assert.equal((await address(page)).sort, 'total_ns:desc');
  assert.equal(await page.locator('th[aria-sort=descending]').innerText(), 'TOTAL ▾');
  assert.ok((await page.locator('tbody').innerText()).includes(EVIL));
  assert.equal(await page.locator('img').count(), 0);
  assert.match(await page.title(), /^penna · shop/);
  await page.goBack();
  assert.equal(await page.getByRole('tab', { selected: true }).innerText(), 'Summary');
  await page.end();
});

test('? shows the keys, Esc hides them', async () => {
  const page = await shared.open();
  await page.keyboard.press('?');
  assert.match(await page.getByRole('dialog', { name: 'Keys' }).innerText(), /double-click/);
  const isInside = () => page.evaluate(() => document.activeElement === document.body || document.activeElement.closest('dialog') !== null);
  for (let step = 0; step < 4; ++step) {
    await page.keyboard.press('Tab');
    assert.ok(await isInside(), 'the focus stays in the dialog');
  }
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').count(), 0);
  const button = page.getByRole('button', { name: '/ find' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('serve');
  assert.equal(await page.getByRole('dialog', { name: 'Find' }).getByRole('searchbox').inputValue(), 'serve');
  await page.keyboard.press('Escape');
  assert.equal(await button.evaluate((one) => document.activeElement === one), true, 'the focus is where it was');
  await page.end();
});

test('an address is the whole view; crumbs go away one by one', async () => {
  const page = await shared.open('#at=1000000000-2000000000_t1&tab=calls');
  const crumbs = page.getByRole('navigation', { name: 'Selection' });
  assert.match(await crumbs.innerText(), /1\.00 s – 2\.00 s[\s\S]*thread io-1/);
  await page.keyboard.press('Escape');
  assert.equal((await address(page)).at, '1000000000-2000000000');
  await page.keyboard.press('Backspace');
  assert.equal((await address(page)).at, undefined);
  await page.goBack();
  assert.equal((await address(page)).at, '1000000000-2000000000');
  await crumbs.getByRole('button', { name: 'whole run' }).click();
  assert.equal((await address(page)).at, undefined);
  await page.end();
});

test('an error is said where the answer should be, or in a line that goes away', async () => {
  const page = await shared.open('#tab=calls', { mayFail: true });
  await page.route('**/api/table?*', (route) => route.fulfill({ status: 400, contentType: 'application/json', body: `{"error": ${JSON.stringify(EVIL)}}` }));
  await page.getByRole('tab', { name: 'Waits' }).click();
  await page.getByRole('tabpanel').getByText(EVIL).waitFor();
  assert.equal(await page.locator('table').count(), 0, 'no other table in its place');
  await page.locator('canvas.lanes').focus();
  await page.keyboard.press(']');
  const line = page.locator('.error');
  await line.getByText('choose a call first').waitFor();
  await line.getByRole('button', { name: 'dismiss' }).click();
  assert.equal(await line.isVisible(), false);
  await page.end();
});

test('a table that is about all threads leads to them', async () => {
  const page = await shared.open('#tab=threads&at=0-1000000000_t1', { mayFail: true });
  await page.getByText('this is about all threads together').waitFor();
  await page.getByRole('button', { name: 'all threads' }).click();
  await page.locator('tbody tr').first().waitFor();
  assert.equal((await address(page)).at, '0-1000000000');
  await page.end();
});

test('a table is sorted by mouse and by keys', async () => {
  const page = await shared.open('#tab=calls');
  const first = async (column) => (await page.locator(`tbody tr >> nth=0 >> td`).nth(column).innerText()).trim();
  await page.getByRole('button', { name: 'CALLS' }).click();
  await settle(page);
  const most = Number((await first(3)).replaceAll(',', ''));
  await page.getByRole('button', { name: /CALLS/ }).press('Enter');
  await settle(page);
  assert.equal((await address(page)).sort, 'calls:asc');
  const least = Number((await first(3)).replaceAll(',', ''));
  assert.ok(least < most, `${least} < ${most}`);
  const counts = shared.server.recording.threads.flatMap((thread) => thread.calls).reduce((map, { name }) => map.set(name, (map.get(name) ?? 0) + 1), new Map());
  assert.equal(most, Math.max(...counts.values()));
  assert.equal(least, Math.min(...counts.values()));
  await page.end();
});

test('rows are filtered, unfolded and copied', async () => {
  const page = await shared.open('#tab=waits');
  await page.getByPlaceholder('any text').fill('60.0 ms');
  assert.equal(await page.locator('tbody tr').count(), 1);
  assert.match(await page.locator('.caption').innerText(), /1 row\s+49 hidden by the filter/);
  await page.getByRole('button', { name: 'details' }).press('Enter');
  assert.match(await page.locator('.details-row').innerText(), /ledger::append\(Entry\) \(ledger\.c:7\)[\s\S]*held by[\s\S]*audit/);
  await page.getByRole('button', { name: 'copy CSV' }).click();
  await page.getByText('copied').waitFor();
  const csv = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(csv.replaceAll('\r', ''), 'start_ns,wait_ns,thread,lock,holder\n20000000,60000000,io-1,ledger.mutex,audit\n');
  await page.getByRole('button', { name: 'copy text' }).click();
  await page.waitForTimeout(200);
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /60\.0 ms\s+io-1/);
  await page.end();
});

test('rows that are left out are counted, and come with "more"', async () => {
  const page = await shared.open('#tab=points');
  assert.match(await page.locator('.panel').innerText(), /10 more rows are not here\./);
  await page.getByRole('button', { name: 'more', exact: true }).click();
  await settle(page);
  assert.equal(await page.locator('tbody tr').count(), 110);
  assert.doesNotMatch(await page.locator('.panel').innerText(), /more rows/);
  await page.end();
});

test('tables over a partition add up to the whole', async () => {
  const total = async (at) => {
    const page = await shared.open(`#tab=calls${at}`);
    const cells = await page.locator('tbody tr td:nth-child(4)').allInnerTexts();
    await page.end();
    return cells.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
  };
  const parts = [await total('&at=0-1234567890'), await total('&at=1234567890-3000000000'), await total('&at=3000000000-5000000000')];
  assert.equal(parts[0] + parts[1] + parts[2], await total(''));
  assert.ok(parts.every((part) => part > 0));
});

test('a function leads to its slowest call in the timeline', async () => {
  const page = await shared.open('#tab=calls');
  await page.locator('tbody tr', { hasText: 'memcpy' }).click();
  await page.getByRole('button', { name: 'show the slowest call' }).click();
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: 'memcpy' }).waitFor();
  const { names, threads } = shared.server.recording;
  const slowest = threads.flatMap((thread) => thread.calls).filter((call) => names.list[call.name] === 'memcpy').sort((a, b) => b.duration - a.duration)[0];
  const [t0, t1] = (await address(page)).view.split('-').map(Number);
  assert.ok(t0 <= slowest.start && slowest.start + slowest.duration <= t1);
  await page.end();
});

test('find: functions, threads, locks and points; n goes on', async () => {
  const page = await shared.open();
  await page.keyboard.press('/');
  await page.keyboard.type('json');
  const dialog = page.getByRole('dialog', { name: 'Find' });
  await dialog.getByText('3 found').waitFor();
  await page.keyboard.press('ArrowDown');
  const second = await dialog.locator('[aria-current] .name').innerText();
  await page.keyboard.press('Enter');
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: second }).waitFor();
  await page.keyboard.press('n');
  await page.waitForFunction((before) => document.querySelector('.details h2')?.textContent !== before, second);
  await page.keyboard.press('N');
  await details.getByRole('heading', { name: second }).waitFor();
  await page.keyboard.press('Control+f');
  await page.keyboard.type('audit');
  await dialog.getByText('1 found').waitFor();
  await page.keyboard.press('Enter');
  assert.equal((await address(page)).at, 't2');
  await page.keyboard.press('/');
  await page.keyboard.type('ledger.m');
  await dialog.getByText('1 found').waitFor();
  await page.keyboard.press('Enter');
  assert.equal((await address(page)).tab, 'locks');
  await page.end();
});

test('what stands out leads to its instant, its time in a thread, its table', async () => {
  const page = await shared.open('#hidden=1'), list = page.getByRole('list', { name: 'What stands out' }).getByRole('button');
  await list.first().waitFor();
  assert.match(await list.first().innerText(), /onerror/);
  await list.filter({ hasText: 'Peak memory' }).click();
  assert.deepEqual((({ tab, instant }) => ({ tab, instant }))(await address(page)), { tab: 'memory', instant: '2000000000' });
  await page.goBack();
  await list.filter({ hasText: 'Longest wait' }).click();
  await settle(page);
  const { start, duration } = shared.server.recording.threads[1].waits[0], { tab, view: seen, hidden } = await address(page);
  const [t0, t1] = seen.split('-').map(Number);
  assert.ok(tab === 'waits' && t0 <= start && t1 >= start + duration && t1 - t0 < 10 * duration, `${tab} ${seen}`);
  assert.equal(hidden, undefined, 'the thread is shown');
  assert.match(await page.getByRole('complementary', { name: 'Details' }).innerText(), /held by audit/);
  await page.goBack();
  await list.first().click();
  assert.equal((await address(page)).sort, 'total_ns:desc');
  await page.end();
});

test('on a phone nothing is wider than the screen, and a tap does what a click does', async () => {
  for (const hash of ['#tab=summary', '#tab=memory', '#tab=points&point=shop:order&spread=id', '#tab=flame&around=1', '#tab=source', '#tab=order', '#tab=points&point=shop:order&to=shop:done&keys=id%0Aid', '#tab=flame']) {
    const page = await shared.open(hash, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await page.locator('.panel').waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390, hash);
    if (hash === '#tab=memory') {
      await page.locator('canvas.chart').tap({ position: { x: 90, y: 60 } });
      assert.notEqual((await address(page)).instant, undefined);
    }
    if (hash === '#tab=flame') {
      await page.locator('canvas.flame').tap({ position: { x: 30, y: 27 } });
      assert.notEqual((await address(page)).zoom, undefined);
    }
    await page.end();
  }
});

test('what can be pressed or chosen has a name', async () => {
  for (const hash of ['#tab=summary', '#tab=memory', '#tab=points&point=shop:order&spread=id', '#tab=flame', '#tab=source', '#tab=points&point=shop:order&to=shop:done&keys=id%0Aid', '#tab=calls&at=t1']) {
    const page = await shared.open(hash);
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, input, canvas[tabindex]')].filter((one) =>
      !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.[0]?.textContent.trim() || one.title)).map((one) => one.outerHTML.slice(0, 120)));
    assert.deepEqual(nameless, [], hash);
    await page.end();
  }
});

test('locks that are taken in contradicting orders are a graph above their table', async () => {
  const page = await shared.open('#tab=order'), graph = page.getByRole('img', { name: /^Contradicting orders: / });
  await graph.waitFor();
  const said = await graph.getAttribute('aria-label');
  assert.match(said, /ledger\.mutex before cache 400 times; cache before <img.* 7 times; .*cache before ledger\.mutex 3 times/);
  assert.equal(await page.locator('.orders path.arrow').count(), 4, 'an order of two cycles is one arrow');
  assert.equal(await page.locator('.orders image, .orders img').count(), 0);
  const labels = await page.locator('.orders text.lock').evaluateAll((all) => all.map((one) => one.textContent));
  assert.deepEqual(labels, ['ledger.mutex', 'cache', EVIL]);
  // No name lies outside of the picture.
  const [whole, ...names] = await page.locator('.orders svg, .orders text.lock').evaluateAll((all) => all.map((one) => (({ left, right, top, bottom }) => ({ left, right, top, bottom }))(one.getBoundingClientRect())));
  for (const name of names) assert.ok(name.top >= whole.top - 1 && name.bottom <= whole.bottom + 1, JSON.stringify([whole, name]));
  await page.end();
});
