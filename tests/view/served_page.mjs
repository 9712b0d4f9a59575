// SPDX-License-Identifier: MIT
// A real browser at the page that `penna view` serves.
//
// Why: each test of a real recording begins and ends the same. Invariant: the test fails when the page says an error, or asks
// anybody but its own server.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const { chromium } = createRequire(`${process.env.NODE_MODULES ?? new URL('../../web/node_modules', import.meta.url).pathname}/x.js`)('playwright-core');

// refused: how many requests the server is to refuse, of which the browser says so.
export async function withServed(address, use, { refused = 0 } = {}) {
  const browser = await chromium.launch({ executablePath: process.env.PENNA_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage(), said = [];
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => said.push(String(error)));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(message.text()));
    page.on('request', (request) => /^data:/.test(request.url()) || request.url().startsWith(address) || said.push(`asks ${request.url()}`));
    await page.goto(address);
    await page.locator('canvas.lanes').waitFor();
    await use(page).catch(async (error) => {
      console.error(`the page shows:\n${await page.locator('body').innerText()}\nand has said: ${said.join('\n')}`);
      throw error;
    });
    const isRefusal = (text) => /status of 400/.test(text);
    const isAskedAgain = (text) => /net::ERR_SOCKET_NOT_CONNECTED/.test(text);  // .error shows if that was in vain, too
    assert.deepEqual(said.filter((text) => !isRefusal(text) && !isAskedAgain(text)), []);
    assert.equal(said.filter(isRefusal).length, refused);
    assert.equal(await page.locator('.error').isVisible(), false, await page.locator('.error').innerText());
  } finally {
    await browser.close();
  }
}
