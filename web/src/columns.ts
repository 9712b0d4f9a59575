// SPDX-License-Identifier: MIT
// The container of column answers: "PNV1", length of a JSON header, the header, padding, little-endian columns.
//
// Why: a screen of a timeline is some ten thousand numbers; as typed arrays over the answer's own bytes they cost nothing to read.
// Invariant: whatever the bytes are, decode() returns columns that lie inside the answer, or throws BadAnswer.

export class BadAnswer extends Error {}

export type Column = Float64Array | Uint32Array | Int32Array | Uint8Array;
export interface Columns {
  header: Record<string, unknown>;
  columns: Map<string, Column>;
}

const MAGIC = 0x31564e50;  // "PNV1" as a little-endian word
const MAX_COLUMNS = 64;
const MAKERS = {
  f64: Float64Array,
  u32: Uint32Array,
  i32: Int32Array,
  u8: Uint8Array,
} as const;

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function columnAt(bytes: ArrayBuffer, described: unknown): [string, Column] {
  const { name, type, count, offset } = (described ?? {}) as Record<string, unknown>;
  const make = Object.hasOwn(MAKERS, String(type)) ? MAKERS[type as keyof typeof MAKERS] : undefined;
  if (typeof name !== 'string' || make === undefined || !isSize(count) || !isSize(offset) || offset % 8 !== 0)
    throw new BadAnswer('a column of the answer is described wrongly');
  if (offset + count * make.BYTES_PER_ELEMENT > bytes.byteLength) throw new BadAnswer(`column ${name} ends beyond the answer`);
  return [name, new make(bytes, offset, count)];
}

export function decode(bytes: ArrayBuffer): Columns {
  const view = new DataView(bytes);
  if (bytes.byteLength < 8 || view.getUint32(0, true) !== MAGIC) throw new BadAnswer('the answer has no columns');
  const length = view.getUint32(4, true);
  if (8 + length > bytes.byteLength) throw new BadAnswer('the answer is cut off');
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  } catch {
    throw new BadAnswer('the header of the answer is no JSON');
  }
  const described = header?.columns;
  if (!Array.isArray(described) || described.length > MAX_COLUMNS) throw new BadAnswer('the answer does not list its columns');
  return { header, columns: new Map(described.map((one) => columnAt(bytes, one))) };
}

type Kinds = { f64: Float64Array; u32: Uint32Array; i32: Int32Array; u8: Uint8Array };

// A group of columns by name, all there, of their types and of one length: what can be indexed without looking again.
export function group<T extends Record<string, keyof Kinds>>(from: Columns, wanted: T): { [K in keyof T]: Kinds[T[K]] } {
  const found: Record<string, Column> = {};
  let length = -1;
  for (const [name, type] of Object.entries(wanted)) {
    const column = from.columns.get(name);
    if (!(column instanceof MAKERS[type])) throw new BadAnswer(`the answer lacks the column ${name}`);
    if (length >= 0 && column.length !== length) throw new BadAnswer(`column ${name} is not as long as its neighbours`);
    length = column.length;
    found[name] = column;
  }
  return found as { [K in keyof T]: Kinds[T[K]] };
}
