// SPDX-License-Identifier: MIT
// The page as `penna view` serves it, over a recording of a real program.
//
//   node tests/view/served.mjs ADDRESS CALLS.csv      CALLS.csv: what `penna report calls --format csv` says of that recording
//
// Why: a made-up server speaks the protocol as the page's developers understood it; this is the one that counts.
// Invariant: every tab opens without an error, and the page's numbers are those of the report.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { withServed } from './served_page.mjs';

const [address, report] = process.argv.slice(2);

// Rows of a CSV as objects; quotes as in RFC 4180.
function rowsOf(csv) {
  const [head, ...lines] = csv.trim().split(/\r?\n/).map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain));
  return lines.map((cells) => Object.fromEntries(head.map((key, at) => [key, cells[at]])));
}

async function tabs(page) {
  for (const tab of await page.getByRole('tab').all()) {
    const name = await tab.innerText();
    await tab.click();
    await page.waitForFunction(() => document.querySelector('.panel [aria-busy=true], .panel .hint')?.textContent !== '…');
    await page.waitForLoadState('networkidle');
    assert.equal(await page.getByRole('alert').filter({ visible: true }).count(), 0, `${name}: ${await page.getByRole('alert').allInnerTexts()}`);
  }
}

async function numbers(page, wanted) {
  await page.getByRole('tab', { name: 'Calls', exact: true }).click();
  await page.getByRole('button', { name: 'copy CSV' }).click();
  await page.getByText('copied').waitFor();
  const seen = rowsOf(await page.evaluate(() => navigator.clipboard.readText()));
  const key = ({ function: name, calls, total_ns, self_ns }) => `${name} ${calls} ${total_ns} ${self_ns}`;
  assert.ok(wanted.length > 0);
  assert.deepEqual(seen.map(key).sort(), wanted.map(key).sort());
}

// From a function to its slowest call, whose duration is the greatest that the report tells of.
async function slowest(page, wanted) {
  const row = wanted.toSorted((a, b) => Number(b.calls) - Number(a.calls))[0];
  await page.locator('tbody tr', { hasText: row.function }).first().click();
  await page.getByRole('button', { name: 'show the slowest call' }).first().click();
  const details = page.getByRole('complementary', { name: 'Details' });
  await details.getByRole('heading', { name: row.function }).waitFor();
  await details.getByRole('button', { name: 'select its time' }).click();
  const at = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('at');
  const [t0, t1] = at.split('-').map(Number);
  // In the timeline, begin and end are whole nanoseconds each, by the clock of that moment; the report takes the mean clock
  // of the whole recording, which differs by less than a millionth.
  assert.ok(Math.abs(t1 - t0 - Number(row.max_ns)) <= 1 + Number(row.max_ns) / 1e6, `the slowest ${row.function}: ${t1 - t0} ns, ${row.max_ns} in the report`);
}

await withServed(address, async (page) => {
  const wanted = rowsOf(readFileSync(report, 'utf8'));
  await tabs(page);
  await numbers(page, wanted);
  await slowest(page, wanted);
});
