// SPDX-License-Identifier: MIT
// The built page with the fake server's answers inside, as `penna export html` writes it.
//
//   node tests/view/packed_page.mjs FILE      writes that page
//
// Why: the page is tested without a build of C++, against answers that are known.
// Invariant: the questions are spelt as the server gets them, parameters by name; every answer is of the whole run.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { answerTo } from './fake_server.mjs';
import { makeRecording } from './made_up.mjs';
import { tableNames } from './tables.mjs';

export const PX = 8192;
export const NOTE = 'Calls shorter than 610 µs are sums here.';
const WEIGHTS = ['time', 'calls'];

const SOURCES = ['sources', 'source?file=/src/shop/shop.c'];  // of two files, one is not in the page

export function questionsOf(of, extra = []) {
  const ofThread = (thread) => ['slices', 'waits', 'points'].map((kind) => `${kind}?px=${PX}&thread=${thread.id}`);
  return [...extra, 'summary', 'highlights', 'threads', 'tables', 'names?from=0', `counters?px=${PX}`, ...of.threads.flatMap(ofThread),
    ...tableNames().map(({ key }) => `table?name=${key}&top=500`),
    'point_names', 'blocks?top=1000', 'live_heap?by=function&px=200', 'hits?point=shop:order&top=500',
    ...WEIGHTS.flatMap((weight) => [`flame?weight=${weight}`, `flame?reverse=1&weight=${weight}`])];
}

const wholeRun = (question, of) => (/^(counters|slices|waits|points|live_heap|blocks)\?/.test(question) ? `${question}&t0=0&t1=${of.duration + 1}` : question);

// The text between the script's tags.
export function packedAnswers(of, { embedsSource = false } = {}) {
  const answers = questionsOf(of, embedsSource ? SOURCES : []).map((question) => ({ question, bytes: answerTo(wholeRun(question, of), of) }));
  let offset = 0;
  const described = answers.map(({ question, bytes: { length } }) => ({ question, offset: (offset += length) - length, length }));
  const index = Buffer.from(JSON.stringify({ answers: described, px: PX, note: NOTE })), size = Buffer.alloc(4);
  size.writeUInt32LE(index.length);
  return deflateSync(Buffer.concat([size, index, ...answers.map(({ bytes }) => bytes)])).toString('base64');
}

export function packedPage(text) {
  const page = readFileSync(fileURLToPath(new URL('../../web/dist/index.html', import.meta.url)), 'utf8'), end = page.lastIndexOf('</body>');
  return `${page.slice(0, end)}<script id="penna-data" type="application/octet-stream">${text}</script>\n${page.slice(end)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(process.argv[2], packedPage(packedAnswers(makeRecording())));
