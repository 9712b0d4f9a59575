// SPDX-License-Identifier: MIT
// How far the page of `penna record --view` is behind the program, and how much slower the program is for it.
//
//   node bench/page_lag.mjs [BUILD [ROUNDS [ITERATIONS]]]
//
// Needs the target bench_viewed of BUILD (default build/release). Each round runs the program recorded without a page, with one
// that nobody has opened, and with one in a browser, which takes processors of its own; it prints medians of the rounds. How far behind: the age of the newest point in
// the page, looked at every 20 ms: right before an answer it is oldest.
// Invariant: ages are by one clock, the machine's; a run that lost events, or failed, is an error.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { chromium } = createRequire(new URL('../web/package.json', import.meta.url))('playwright-core');
const [build = 'build/release', rounds = '5', iterations = '150000'] = process.argv.slice(2);
const LOOK = 20;  // ms
const folder = mkdtempSync(join(tmpdir(), 'penna-lag-'));

const at = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];
const median = (values) => at(values, 0.5);

// The recorder, with its output so far, and its exit status.
function record(options) {
  const child = spawn(join(build, 'bin/penna'), ['record', '-f', '-o', join(folder, 'lag.penna'), '-k', 'calls,alloc,points', ...options, '--',
    join(build, 'bench/programs/viewed'), iterations, '1'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const seen = { child, out: '', err: '' };
  child.stdout.on('data', (text) => (seen.out += text));
  child.stderr.on('data', (text) => (seen.err += text));
  seen.ended = new Promise((done) => child.on('exit', done));
  return seen;
}

async function until(seen, what) {
  for (;;) {
    const found = what();
    if (found) return found;
    assert.equal(seen.child.exitCode, null, `the recorder has ended: ${seen.err}`);
    await sleep(LOOK);
  }
}

const facts = (text) => Object.fromEntries([...text.matchAll(/\b(\w+)=([-0-9.]+)/g)].map(([, key, value]) => [key, Number(value)]));

function newestOf(answer) {
  const length = answer.readUInt32LE(4), { columns } = JSON.parse(answer.subarray(8, 8 + length)), { count, offset } = columns.find(({ name }) => name === 'time');
  let newest = 0;
  for (let i = 0; i < count; ++i) newest = Math.max(newest, answer.readDoubleLE(offset + 8 * i));
  return newest;
}

async function startViewed() {
  const seen = record(['--view', '--no-open']);
  return { seen, address: (await until(seen, () => /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(seen.err)))[0] };
}

async function endViewed(seen) {
  await until(seen, () => seen.err.includes('the page shows the recording until Ctrl-C'));
  seen.child.kill('SIGINT');
  assert.equal(await seen.ended, 0, seen.err);
  return { ...facts(seen.out), err: seen.err };
}

async function withPage(browser) {
  const { seen, address } = await startViewed();
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage(), ages = [];
  let newest = 0;  // ns since the recording's start
  page.on('response', (response) => {
    if (!response.url().includes('/api/points?')) return;
    response.body().then((body) => (newest = Math.max(newest, newestOf(body))), () => {});
  });
  await page.goto(address);
  await until(seen, () => newest > 0);
  await sleep(1000);  // the page has been built, and the recording's clock is known
  const { start_utc_ns: start } = await (await page.request.get(`${address}api/summary?now=1`)).json(), startMs = Number(BigInt(start) / 1000n) / 1000;
  await until(seen, () => seen.out.includes('ns=') || (ages.push(Date.now() - startMs - newest / 1e6), false));
  await page.context().close();
  return { ...(await endViewed(seen)), ages };
}

async function withoutPage() {
  const seen = record([]);
  assert.equal(await seen.ended, 0, seen.err);
  return { ...facts(seen.out), err: seen.err };
}

const browser = await chromium.launch({ executablePath: process.env.PENNA_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const alone = [], unopened = [], viewed = [];
  for (let round = 0; round < Number(rounds); ++round) {
    alone.push(await withoutPage());
    unopened.push(await endViewed((await startViewed()).seen));
    viewed.push(await withPage(browser));
  }
  for (const { err } of [...alone, ...unopened, ...viewed]) assert.doesNotMatch(err, /lost [1-9]/, err);
  const ages = viewed.flatMap((one) => one.ages), more = (runs, key) => `${median(runs.map((one, i) => 100 * (one[key] / alone[i][key] - 1))).toFixed(1)} %`;
  console.log(`behind: ${at(ages, 0.5).toFixed(0)} ms (median), ${at(ages, 0.95).toFixed(0)} ms (1 in 20 is more), ${at(ages, 1).toFixed(0)} ms at most`);
  console.log(`an operation takes ${median(alone.map((one) => one.ns)).toFixed(0)} ns without --view`);
  for (const [runs, what] of [[unopened, '--view, not opened'], [viewed, '--view, in a browser']])
    console.log(`${what}: ${more(runs, 'ns')} more by the clock, ${more(runs, 'cpu_ns')} more of the program's own processor time`);
  console.log(`load ${loadavg()[0].toFixed(1)}, ${rounds} rounds`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
