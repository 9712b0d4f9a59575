// SPDX-License-Identifier: MIT
// A real browser with the built page over a made-up recording, for the tests beside this file.
//
// Why: each test acts as a person would, with mouse and keys, and looks at what a person would see.
// Invariant: a test fails when the page says an error, breaks its CSP, or asks anybody but its own server.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before } from 'node:test';
import { serve } from './fake_server.mjs';

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');
export const BROWSER = process.env.PENNA_CHROMIUM ?? '/usr/bin/chromium';

// For a file of tests: open(hash, options) gives a page that is ready.
export function withBrowser(recording = {}) {
  const shared = {};
  before(async () => {
    shared.server = await serve(recording);
    shared.browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
  });
  after(async () => {
    await shared.browser?.close();
    shared.server?.close();
  });
  shared.open = async (hash = '', { mayFail = false, query = '', ...options } = {}) => {
    const context = await shared.browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ['clipboard-read', 'clipboard-write'], ...options });
    const page = await context.newPage(), said = [];
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => said.push(String(error)));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(message.text()));
    page.on('request', (request) => request.url().startsWith(shared.server.url) || request.url().startsWith('data:') || said.push(`asks ${request.url()}`));
    await page.goto(`${shared.server.url}${query}${hash}`);
    await page.locator('canvas.lanes').waitFor();
    await settle(page);
    page.end = async () => {
      if (!mayFail) {
        assert.deepEqual(said, []);
        assert.equal(await page.locator('.error').isVisible(), false, await page.locator('.error').innerText());
      }
      await context.close();
    };
    return page;
  };
  return shared;
}

// Until nothing is asked any more.
export async function settle(page) {
  await page.waitForTimeout(180);
  await page.waitForLoadState('networkidle').catch(() => {});
  await page.waitForTimeout(120);
}

// The part of the address behind the #, by key; it follows the view after a moment.
export async function address(page) {
  await page.waitForTimeout(350);
  return Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
}

export async function view(page) {
  const { view: text } = await address(page);
  const [t0, t1] = (text ?? '0-5000000000').split('-').map(Number);
  return { t0, t1, length: t1 - t0 };
}

export async function lanes(page) {
  const box = await page.locator('canvas.lanes').boundingBox();
  return { ...box, at: (share, y) => [box.x + share * box.width, box.y + y] };
}

// Where a lane's row of calls at a depth is, from the canvas's top. As in layout.ts: head 20 + 3 × 26, flags 11, rows 15.
export const ROW = (lane, depth) => 98 + lane + 2 + 11 + depth * 15 + 7;
