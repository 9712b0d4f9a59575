// SPDX-License-Identifier: MIT
// Every view as it looked when its picture in tests/view/goldens was made: on a wide screen, light, and on a phone, dark.
//
//   node --test tests/view/goldens.test.mjs            compares
//   KEEP=1 node --test tests/view/goldens.test.mjs     makes the pictures anew: look at them before they are committed
//
// Why a tolerance: browsers of different versions smooth edges differently; a part that moved, vanished or changed its
// colour differs in far more pixels. Pictures have half the resolution, which keeps them small.
// Invariant: what is shown comes from the made-up recording, and the font is the one that the test names.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { settle, withBrowser } from './browser.mjs';

const FOLDER = new URL('./goldens/', import.meta.url);
const VIEWS = {
  summary: '#tab=summary', timeline: '#tab=waits&view=0-200000000&at=t1&path=1', calls: '#tab=calls', flame: '#tab=flame',
  sandwich: '#tab=flame&around=1', memory: '#tab=memory', points: '#tab=points&point=shop:order&spread=id&curve=shop%3Aorder%0Aid',
  latency: '#tab=points&point=shop:order&to=shop:done&keys=id%0Aid', source: '#tab=source', order: '#tab=order', diff: '#tab=diff',
};
const SCREENS = {
  wide: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true, hasTouch: true },
};
const LARGE = 40;       // of 255: a channel that differs by more is another colour
const MOST = 0.02;      // of all pixels may differ
const FONT = '* { font-family: "DejaVu Sans" !important } code, td, .frames, .thread .name { font-family: "DejaVu Sans Mono" !important }';

const shared = withBrowser({ before: 'before.penna' });

// The share of pixels that differ, counted by the browser, which can read pictures.
const difference = (page, one, other) => page.evaluate(async ([one, other, large]) => {
  const pixels = async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return { width: image.width, height: image.height, data: context.getImageData(0, 0, image.width, image.height).data };
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differ = 0;
  for (let at = 0; at < a.data.length; at += 4)
    if ([0, 1, 2].some((channel) => Math.abs(a.data[at + channel] - b.data[at + channel]) > large)) ++differ;
  return differ / (a.data.length / 4);
}, [one, other, LARGE]);

async function picture(view, screen, other = {}) {
  const page = await shared.open(VIEWS[view], { ...SCREENS[screen], deviceScaleFactor: 0.5, ...other });
  await page.addStyleTag({ content: FONT });
  await page.mouse.move(1, 1);
  await page.evaluate(() => dispatchEvent(new Event('resize')));
  await settle(page);
  return { page, png: await page.screenshot({ animations: 'disabled', caret: 'hide' }) };
}

const nameOf = (view, screen) => `${view}.${screen}.png`;
const all = Object.keys(VIEWS).flatMap((view) => Object.keys(SCREENS).map((screen) => [view, screen]));

test('there is a picture of each view, and none of anything else', { skip: process.env.KEEP === '1' }, () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), all.map((one) => nameOf(...one)).sort());
});

test('a picture that was changed is found', async () => {
  const { page, png } = await picture('summary', 'wide'), dark = await picture('summary', 'wide', { colorScheme: 'dark' });
  assert.equal(await difference(page, png.toString('base64'), png.toString('base64')), 0);
  assert.ok(await difference(page, png.toString('base64'), dark.png.toString('base64')) > 0.5);
  await page.evaluate(() => document.querySelector('.highlights').remove());
  const less = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  assert.ok(await difference(page, png.toString('base64'), less.toString('base64')) > MOST);
  await page.end();
  await dark.page.end();
});

for (const one of all) {
  test(`${one.join(', ')} looks as before`, async () => {
    const { page, png } = await picture(...one), file = new URL(nameOf(...one), FOLDER);
    if (process.env.KEEP === '1') {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, png);
    } else {
      const share = await difference(page, png.toString('base64'), readFileSync(file).toString('base64'));
      assert.ok(share <= MOST, `${(100 * share).toFixed(1)} % of the pixels differ from ${nameOf(...one)}`);
    }
    await page.end();
  });
}
