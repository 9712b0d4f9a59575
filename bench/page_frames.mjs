// SPDX-License-Identifier: MIT
// How fluent the page of `penna view` is, and how much memory browser and server take: frame times while panning and zooming.
//
//   node bench/page_frames.mjs ADDRESS [SERVER_PID [FRAMES]]
//
// ADDRESS is what `penna view REC --no-open` prints; REC may be made by bench/make_recording. Prints medians and the
// worst of 20 frames, of the browser without a graphics card: with the whole run on the screen, and with a hundredth, a
// 10,000th and a millionth of it, each at another place.
// Invariant: frames are those that the browser drew while each one moved the wheel; nothing is left out. How long after
// them the last slices came from the server is said, too.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { chromium } = createRequire(new URL('../web/package.json', import.meta.url))('playwright-core');
const [address, server, frames = '240'] = process.argv.slice(2);

// Memory in MB; each process has its share of what several have in common.
function residentOf(pid) {
  const kb = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  return kb / 1000;
}
function childrenOf(pid) {
  const all = readdirSync('/proc').filter((one) => /^\d+$/.test(one)).map((one) => {
    try {
      return { pid: one, parent: /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] };
    } catch {
      return { pid: one };
    }
  });
  const found = [String(pid)];
  for (let at = 0; at < found.length; ++at) found.push(...all.filter(({ parent }) => parent === found[at]).map((one) => one.pid));
  return found;
}

const gaps = (page, kind, count) => page.evaluate(([kind, count]) => new Promise((done) => {
  const canvas = document.querySelector('canvas.lanes'), gaps = [];
  let before = performance.now();
  const frame = (now) => {
    gaps.push(now - before);
    before = now;
    const way = gaps.length % 80 < 40 ? 1 : -1;
    canvas.dispatchEvent(new WheelEvent('wheel', { [kind]: way * 12, bubbles: true, cancelable: true, clientX: 600, clientY: 250 }));
    if (gaps.length < count) requestAnimationFrame(frame);
    else done(gaps.slice(1));
  };
  requestAnimationFrame(frame);
}), [kind, count]);
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);

const browser = await chromium.launchServer({ executablePath: process.env.PENNA_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const page = await (await (await chromium.connect(browser.wsEndpoint())).newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.setDefaultTimeout(300_000);
  const asked = new Set();
  let last = 0;
  page.on('request', (request) => asked.add(request));
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => { if (asked.delete(request)) last = Date.now(); });
  // Milliseconds until the last slices have come; the page asks for them a few frames after it moved. The summary may take longer.
  const answered = async () => {
    const since = Date.now();
    for (let quiet = 0; quiet < 10; ++quiet) {
      await page.waitForTimeout(20);
      if ([...asked].some((request) => !/summary|events|index/.test(request.url()))) quiet = 0;
    }
    return Math.max(0, last - since);
  };
  const began = Date.now();
  await page.goto(address);
  await page.locator('canvas.lanes').waitFor();
  console.log(`opened in ${Date.now() - began} ms`);
  const whole = await page.evaluate(() => fetch('api/summary?now=1').then((answer) => answer.json()).then((summary) => summary.duration_ns));
  for (const [part, place] of [[1, 0], [1e-2, 0.31], [1e-4, 0.62], [1e-6, 0.87]]) {
    await page.evaluate((hash) => { location.hash = hash; }, `view=${Math.floor(whole * place)}-${Math.ceil(whole * (place + part))}`);
    await answered();
    for (const [name, kind] of [['panning', 'deltaX'], ['zooming', 'deltaY']]) {
      const times = (await gaps(page, kind, Number(frames))).sort((a, b) => a - b);
      const settled = await answered();
      console.log(`${name} over ${part} of the run: frames of ${at(times, 0.5)} ms (median), ${at(times, 0.95)} ms (1 in 20 is longer), ` +
        `${at(times, 1)} ms at most; complete after ${settled} ms`);
    }
  }
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  console.log(`the page's heap: ${(heap / 1e6).toFixed(0)} MB; the browser: ${childrenOf(browser.process().pid).reduce((sum, pid) => sum + residentOf(pid), 0).toFixed(0)} MB`);
  if (server) console.log(`the server: ${residentOf(server).toFixed(0)} MB`);
} finally {
  await browser.close();
}
