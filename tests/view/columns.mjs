// SPDX-License-Identifier: MIT
// Writes the container of column answers: what web/src/columns.ts reads.
//
// Why: tests of the page must not depend on a build of the server.
// Invariant: each column begins at a multiple of 8; the header tells where.
const MAKERS = { f64: Float64Array, u32: Uint32Array, i32: Int32Array, u8: Uint8Array };
const up = (size) => Math.ceil(size / 8) * 8;

// columns: name → [type, values]
export function pack(header, columns) {
  const arrays = Object.entries(columns).map(([name, [type, values]]) => ({ name, type, values: MAKERS[type].from(values) }));
  // Offsets depend on the header's length, which depends on their digits: room for all of them first.
  const describe = (base) => {
    let offset = base;
    const described = arrays.map(({ name, type, values }) => {
      const one = { name, type, count: values.length, offset };
      offset = up(offset + values.byteLength);
      return one;
    });
    return { text: new TextEncoder().encode(JSON.stringify({ ...header, columns: described })), end: offset, described };
  };
  const base = up(8 + describe(0).text.length + 16 * arrays.length), { text, end, described } = describe(base);
  const padded = new Uint8Array(base - 8).fill(0x20);
  padded.set(text);
  const bytes = new Uint8Array(end);
  bytes.set([0x50, 0x4e, 0x56, 0x31]);
  new DataView(bytes.buffer).setUint32(4, padded.length, true);
  bytes.set(padded, 8);
  arrays.forEach(({ values }, at) => bytes.set(new Uint8Array(values.buffer), described[at].offset));
  return bytes;
}
