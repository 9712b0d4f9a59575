// SPDX-License-Identifier: MIT
// The page of `penna record --view`, over tests/e2e/view_live.sh's program, which runs until its file is gone.
//
//   node tests/view/served_live.mjs ADDRESS FILE
//
// Why: growth and the switches are tested as a person uses them.
// Invariant: nothing is asserted about how long anything takes.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { withServed } from './served_page.mjs';

const [address, file] = process.argv.slice(2);

const described = (page) => page.locator('canvas.lanes').getAttribute('aria-label');
const changed = (page, read, before) => page.waitForFunction(
  ({ selector, attribute, was }) => {
    const one = document.querySelector(selector);
    return (attribute ? one?.getAttribute(attribute) : one?.textContent) !== was;
  }, { ...read, was: before });

await withServed(address, async (page) => {
  const bar = page.getByRole('region', { name: 'Recording' });
  await bar.getByText('● recording').waitFor();

  // It grows, and the end stays in view.
  const first = await described(page);
  await changed(page, { selector: 'canvas.lanes', attribute: 'aria-label' }, first);
  const events = await page.locator('header .what').innerText();
  await changed(page, { selector: 'header .what' }, events);
  assert.equal(await bar.getByRole('button', { name: 'follow' }).getAttribute('aria-pressed'), 'true');

  // So do the sentences.
  const sentence = page.getByRole('listitem').filter({ hasText: /^Points: 1 point passed/ });
  const said = await sentence.innerText();
  await page.waitForFunction((was) => ![...document.querySelectorAll('.sentences li')].some((one) => one.innerText === was), said);
  await sentence.waitFor();

  // Who looks elsewhere is not taken away from there.
  await page.locator('canvas.lanes').focus();
  for (let i = 0; i < 3; ++i) await page.keyboard.press('w');
  const follow = bar.getByRole('button', { name: 'follow', pressed: false });
  await follow.waitFor();
  await follow.click();
  await bar.getByRole('button', { name: 'follow', pressed: true }).waitFor();

  // A kind off, and on again.
  await bar.getByRole('button', { name: 'on and off' }).click();
  const kind = bar.getByRole('checkbox', { name: 'calls' });
  assert.equal(await kind.isChecked(), true);
  await kind.click();
  await bar.getByText('calls switched off').waitFor();
  await page.waitForFunction(() => document.querySelector('.switches input[type=checkbox]')?.checked === false);
  await kind.click();
  await bar.getByText('calls switched on').waitFor();

  // A point off, and on again.
  const point = bar.getByRole('checkbox', { name: 'steady:round' });
  assert.equal(await point.isChecked(), true);
  await point.click();
  await bar.getByText('1 of 1 switched off').waitFor();
  await page.waitForFunction(() => document.querySelector('.switches li input')?.checked === false);
  await point.click();
  await bar.getByText('1 of 1 switched on').waitFor();

  // A filter: a wrong one is refused in the recorder's words, a right one is listed, and removed.
  const field = bar.getByRole('combobox', { name: 'Filter', exact: true }), filters = bar.getByRole('list', { name: 'Filters' });
  await field.fill('ro');
  await page.locator('#filter-words option[value=round]').waitFor({ state: 'attached' });
  await field.fill('round >');
  await field.press('Enter');
  await bar.getByRole('alert').getByText('a number').waitFor();
  assert.equal(await filters.getByRole('listitem').count(), 0);
  await field.fill('round < 0');
  await bar.getByRole('button', { name: 'set' }).click();
  await filters.getByText('round < 0').waitFor();
  await bar.getByLabel('Kind of filter').selectOption('no-function');
  await field.fill('ste');
  await page.locator('#filter-words option[value=step]').waitFor({ state: 'attached' });
  await field.fill('step');
  await field.press('Enter');
  await filters.getByText('no calls of step').waitFor();
  assert.equal(await filters.getByRole('listitem').count(), 2);
  for (const text of ['round < 0', 'step']) await filters.getByRole('button', { name: `remove ${text}` }).click();
  await filters.getByRole('listitem').first().waitFor({ state: 'detached' });

  // A table is read again as the recording grows.
  await page.getByRole('tab', { name: 'Calls', exact: true }).click();
  const row = page.locator('tbody tr', { hasText: 'step' }).first();
  await row.waitFor();
  const before = await row.innerText();
  await page.waitForFunction((was) => ![...document.querySelectorAll('tbody tr')].some((one) => one.innerText === was), before);

  // The end: the bar goes, the numbers are whole.
  rmSync(file);
  await page.locator('section.live').waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
  await page.getByRole('tab', { name: 'Summary' }).click();
  await page.getByText('Nothing was lost.').waitFor();
}, { refused: 1 });
