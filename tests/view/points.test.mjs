// SPDX-License-Identifier: MIT
// Points, one by one: rows with typed columns, conditions, histogram, curves, and the way from a row to its place in time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, settle, view, withBrowser } from './browser.mjs';
import { EVIL } from './made_up.mjs';

const shared = withBrowser();
const rows = (page) => page.locator('tbody tr');
const column = async (page, at) => rows(page).evaluateAll((all, at) => all.map((row) => row.cells[at].innerText), at);
const all = () => shared.server.recording.threads.flatMap((thread) => thread.points);

async function openHits(options) {
  const page = await shared.open('#tab=points', options);
  await page.getByLabel('Hits of').selectOption('shop:order');
  await rows(page).first().waitFor();
  await settle(page);
  return page;
}

test('the hits of a point have a column for each argument, and their text is text', async () => {
  const page = await openHits();
  assert.deepEqual(await page.locator('th').allInnerTexts().then((texts) => texts.slice(1)), ['TIME', 'THREAD', 'id', 'item']);
  assert.equal((await column(page, 4))[0], EVIL);
  assert.equal(await page.locator('td img').count(), 0);
  await page.getByText(`${all().length - 100} more rows are not here`).waitFor();
  await page.getByRole('button', { name: 'more' }).click();
  await page.waitForFunction((count) => document.querySelectorAll('tbody tr').length === count, all().length);
  assert.equal((await address(page)).point, 'shop:order');
  await page.end();
});

test('no more rows are asked for than the server gives', async () => {
  for (const more of ['', '&to=shop:done&keys=id%0Aid']) {
    const page = await shared.open(`#tab=points&point=shop:order&top=12500${more}`);
    await rows(page).first().waitFor();
    await page.end();
  }
});

test('a point that is found is shown without what was asked of another', async () => {
  const page = await shared.open('#tab=points&point=shop:other&to=shop:done&keys=id%0Aid&top=500&where=id > 3', { mayFail: true });
  await page.keyboard.press('/');
  await page.getByRole('dialog').getByRole('searchbox').fill('shop:order');
  await page.getByRole('dialog').getByText('1 found').waitFor();
  await page.keyboard.press('Enter');
  await rows(page).first().waitFor();
  const { tab, point, ...more } = await address(page);
  assert.deepEqual([tab, point, more], ['points', 'shop:order', {}]);
  await page.end();
});

test('numbers are sorted as numbers', async () => {
  const page = await openHits();
  await page.getByRole('button', { name: 'id', exact: true }).first().click();
  await settle(page);
  const ids = (await column(page, 3)).map(Number);
  assert.deepEqual(ids, [...ids].sort((a, b) => b - a));
  assert.equal(ids[0], Math.max(...all().map((one) => one.values.id)), 'of all hits, not of those that were here');
  await page.end();
});

test('a condition leaves the others out; a wrong one is told', async () => {
  const page = await openHits({ mayFail: true }), input = page.getByLabel('Only where');
  await input.fill('id >= 40');
  await page.keyboard.press('Enter');
  await settle(page);
  assert.ok((await column(page, 3)).every((id) => Number(id) >= 40));
  assert.equal(await rows(page).count(), all().filter((one) => one.values.id >= 40).length);
  assert.equal((await address(page)).where, 'id >= 40');
  await page.goBack();
  assert.equal((await address(page)).where, undefined, 'it is one step');
  await page.goForward();
  await input.fill('id is 40');
  await page.getByRole('button', { name: 'ask' }).click();
  await page.getByRole('alert').filter({ hasText: 'a condition is like' }).waitFor();
  assert.equal(await rows(page).count(), 0);
  await page.goBack();
  await rows(page).first().waitFor();
  assert.equal(await input.inputValue(), 'id >= 40');
  await page.end();
});

test('a histogram shows how numbers are spread, and its bars are conditions', async () => {
  const page = await openHits();
  await page.getByLabel('Histogram of').selectOption('id');
  const bars = page.getByRole('figure', { name: 'Histogram of id' }).getByRole('button');
  await bars.first().waitFor();
  const counts = await bars.evaluateAll((all) => all.map((one) => Number(one.title.split(': ')[1])));
  assert.equal(counts.reduce((a, b) => a + b), all().length);
  await bars.last().click();
  await settle(page);
  assert.match((await address(page)).where, /^id >= 45 && id <= 50$/);
  assert.equal(await rows(page).count(), counts.at(-1));
  await page.end();
});

test('from a row to its place in time', async () => {
  const page = await openHits(), name = 'show in the timeline';
  const row = rows(page).nth(7), id = await row.locator('td').nth(3).innerText(), thread = await row.locator('td').nth(2).innerText();
  await row.getByRole('button', { name }).click();
  await settle(page);
  const hit = shared.server.recording.threads.find((one) => one.name === thread).points[Number(id)], seen = await view(page);
  assert.ok(seen.t0 <= hit.time && hit.time < seen.t1 && seen.length < 1e9, JSON.stringify(seen));
  const details = page.getByRole('complementary', { name: 'Details' });
  assert.equal(await details.locator('h2').innerText(), 'shop:order');
  assert.match(await details.innerText(), new RegExp(`id\\s+${id}`));
  await page.end();
});

test('an argument is a curve of the timeline, until it is taken away', async () => {
  const page = await openHits();
  await page.locator('.point-tools').getByRole('button', { name: 'id' }).click();
  await page.locator('.curve-label', { hasText: 'shop:order id' }).waitFor();
  await settle(page);
  assert.equal((await address(page)).curve, 'shop:order\nid');
  assert.ok(shared.server.asked.some((one) => one.startsWith('api/curve?') && one.includes('argument=id')));
  await page.reload();
  await page.getByRole('button', { name: 'take away the curve of shop:order id' }).click();
  await settle(page);
  assert.equal((await address(page)).curve, undefined);
  assert.equal(await page.locator('.curve-label').count(), 3);
  await page.end();
});

test('a curve that an address asks for in vain is told and taken away', async () => {
  const page = await shared.open('#curve=shop:order%0Aprice', { mayFail: true });
  await page.getByText('shop:order has no numbers of price').waitFor();
  assert.equal((await address(page)).curve, undefined);
  await page.end();
});

test('the time from one point to another by an argument of both', async () => {
  const page = await openHits({ mayFail: true });
  await page.getByLabel('Time to').selectOption('shop:done');
  await page.getByRole('heading', { name: '20 from shop:order to shop:done' }).waitFor();
  assert.equal(await page.getByLabel('with the same').inputValue(), 'id', 'the argument that both have');
  assert.equal((await column(page, 2))[0], '20.0 ms');
  await page.getByText('30 hits of shop:order had no shop:done after them').waitFor();
  const bars = page.getByRole('figure').getByRole('button');
  assert.deepEqual(await bars.evaluateAll((every) => every.map((one) => one.title)), ['1.00 ms to 11.0 ms: 10', '11.0 ms to 20.0 ms: 10']);
  const { to, keys } = await address(page);
  assert.deepEqual([to, keys], ['shop:done', 'id\nid']);
  await rows(page).first().getByRole('button', { name: 'show in the timeline' }).click();
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: 'shop:order to shop:done' }).waitFor();
  assert.match(await details.innerText(), /latency\s+20\.0 ms/);
  await details.getByRole('button', { name: 'select its time' }).click();
  const { start, duration } = { start: shared.server.recording.threads[0].points[19].time, duration: 20e6 };
  assert.equal((await address(page)).at, `${start}-${start + duration}`);
  await page.getByLabel(/^as/).selectOption('code');
  await page.getByText('shop:done has no argument code').waitFor();
  await page.getByLabel('Time to').selectOption('');
  await page.getByRole('heading', { name: /hits of shop:order/ }).waitFor();
  await page.end();
});
