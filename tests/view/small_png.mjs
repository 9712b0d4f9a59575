// SPDX-License-Identifier: MIT
// PNG files of few colours, for pictures that are kept: a quarter of the size of a browser's.
//
// Why: goldens are in the repository for good; nobody sees the difference, and the comparison has a tolerance far above it.
// Invariant: a colour differs from the original by at most STEP / 2 in each channel.
import { deflateSync } from 'node:zlib';

export const STEP = 17;  // 16 values a channel, black and white among them

// Node has one from version 20.15 on.
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const one of bytes) {
    crc ^= one;
    for (let bit = 0; bit < 8; ++bit) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

const rounded = (value) => Math.round(value / STEP) * STEP;

function chunk(type, data) {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

const most = (lines) => deflateSync(lines, { level: 9, memLevel: 9 });

// rgba: four bytes a pixel, as of a canvas.
export function smallPng(width, height, rgba) {
  const palette = new Map(), pixels = Buffer.alloc(width * height * 3), indices = Buffer.alloc(width * height);
  for (let at = 0; at < width * height; ++at) {
    const [r, g, b] = [0, 1, 2].map((channel) => rounded(rgba[4 * at + channel]));
    pixels.set([r, g, b], 3 * at);
    const key = (r << 16) | (g << 8) | b;
    if (!palette.has(key)) palette.set(key, palette.size);
    indices[at] = palette.get(key);
  }
  const isIndexed = palette.size <= 256, row = isIndexed ? width : 3 * width, source = isIndexed ? indices : pixels;
  const lines = Buffer.alloc(height * (row + 1));  // each begins with its filter: none
  for (let y = 0; y < height; ++y) source.copy(lines, y * (row + 1) + 1, y * row, (y + 1) * row);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, isIndexed ? 3 : 2], 8);
  const colors = Buffer.from([...palette.keys()].flatMap((key) => [key >> 16, (key >> 8) & 255, key & 255]));
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), ...(isIndexed ? [chunk('PLTE', colors)] : []),
    chunk('IDAT', most(lines)), chunk('IEND', Buffer.alloc(0))]);
}
