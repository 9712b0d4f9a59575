// SPDX-License-Identifier: MIT
// Every view as it looked when its picture in tests/view/goldens was made: on a wide screen and on a phone, light and dark.
//
//   node --test tests/view/goldens.test.mjs            compares
//   KEEP=1 node --test tests/view/goldens.test.mjs     makes the pictures anew: look at them before they are committed
//
// Why a tolerance: browsers of different versions smooth edges differently; a part that moved, vanished or changed its
// colour differs in far more pixels. Pictures have half the resolution and few colours, which keeps them small.
// Invariant: what is shown comes from the made-up recording, and the font is the one that the test names.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { settle, withBrowser } from './browser.mjs';
import { smallPng } from './small_png.mjs';

const FOLDER = new URL('./goldens/', import.meta.url);
const VIEWS = {
  summary: '#tab=summary', timeline: '#tab=waits&view=0-200000000&at=t1&path=1', calls: '#tab=calls', flame: '#tab=flame',
  sandwich: '#tab=flame&around=1', memory: '#tab=memory', blocks: '#tab=blocks', points: '#tab=points&point=shop:order&spread=id&curve=shop%3Aorder%0Aid',
  latency: '#tab=points&point=shop:order&to=shop:done&keys=id%0Aid', source: '#tab=source', order: '#tab=order', diff: '#tab=diff',
};
const SIZES = {
  wide: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const SCREENS = Object.fromEntries(Object.entries(SIZES).flatMap(([size, options]) =>
  ['light', 'dark'].map((colorScheme) => [`${size}-${colorScheme}`, { ...options, colorScheme }])));
const LARGE = 40;       // of 255: a channel that differs by more is another colour
const MOST = 0.02;      // of all pixels may differ
const MOST_BYTES = 2_000_000;  // of all pictures together
const FONT = '* { font-family: "DejaVu Sans" !important } code, td, .frames, .thread .name { font-family: "DejaVu Sans Mono" !important }';

const shared = withBrowser({ before: 'before.penna' });

// The browser can read pictures.
const pixelsOf = async (page, png) => {
  const { width, height, rgba } = await page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const { width, height } = image, context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
    context.drawImage(image, 0, 0);
    let bytes = '';
    for (const one of context.getImageData(0, 0, width, height).data) bytes += String.fromCharCode(one);
    return { width, height, rgba: btoa(bytes) };
  }, png.toString('base64'));
  return { width, height, rgba: Buffer.from(rgba, 'base64') };
};

// The share of pixels that differ.
async function difference(page, one, other) {
  const [a, b] = [await pixelsOf(page, one), await pixelsOf(page, other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differ = 0;
  for (let at = 0; at < a.rgba.length; at += 4)
    if ([0, 1, 2].some((channel) => Math.abs(a.rgba[at + channel] - b.rgba[at + channel]) > LARGE)) ++differ;
  return differ / (a.rgba.length / 4);
}

async function picture(view, screen) {
  const page = await shared.open(VIEWS[view], { ...SCREENS[screen], deviceScaleFactor: 0.5 });
  await page.addStyleTag({ content: FONT });
  await page.mouse.move(1, 1);
  await page.evaluate(() => dispatchEvent(new Event('resize')));
  await settle(page);
  return { page, png: await page.screenshot({ animations: 'disabled', caret: 'hide' }) };
}

async function keep(page, png, file) {
  const { width, height, rgba } = await pixelsOf(page, png);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, smallPng(width, height, rgba));
}

const nameOf = (view, screen) => `${view}.${screen}.png`;
const all = Object.keys(VIEWS).flatMap((view) => Object.keys(SCREENS).map((screen) => [view, screen]));

test('there is a picture of each view, and none of anything else', { skip: process.env.KEEP === '1' }, () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), all.map((one) => nameOf(...one)).sort());
  const bytes = readdirSync(FOLDER).reduce((sum, name) => sum + statSync(new URL(name, FOLDER)).size, 0);
  assert.ok(bytes <= MOST_BYTES, `the pictures take ${bytes} bytes`);
});

test('a picture that was changed is found', async () => {
  const { page, png } = await picture('summary', 'wide-light'), dark = await picture('summary', 'wide-dark');
  const { width, height, rgba } = await pixelsOf(page, png);
  assert.equal(await difference(page, png, png), 0);
  assert.equal(await difference(page, png, smallPng(width, height, rgba)), 0, 'few colours are as good as all');
  assert.ok(await difference(page, png, dark.png) > 0.5);
  await page.evaluate(() => document.querySelector('.highlights').remove());
  const less = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  assert.ok(await difference(page, png, less) > MOST);
  await page.end();
  await dark.page.end();
});

for (const one of all) {
  test(`${one.join(', ')} looks as before`, async () => {
    const { page, png } = await picture(...one), file = new URL(nameOf(...one), FOLDER);
    if (process.env.KEEP === '1') {
      await keep(page, png, file);
    } else {
      const share = await difference(page, png, readFileSync(file));
      assert.ok(share <= MOST, `${(100 * share).toFixed(1)} % of the pixels differ from ${nameOf(...one)}`);
    }
    await page.end();
  });
}
