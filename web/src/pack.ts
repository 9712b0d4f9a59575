// SPDX-License-Identifier: MIT
// The answers that `penna export html` writes into the page: base64 of a zlib stream of length, index and answers.
//
// Why: apart from what is made of them (packed.ts).
// Invariant: whatever the text is, unpack() gives answers that lie inside of it, or throws BadAnswer.
import { BadAnswer, decode, type Columns } from './columns.ts';

const DAMAGED = 'The recording in this file cannot be read: the file is damaged or was cut off.';

export class Pack {
  private readonly decoded = new Map<string, Columns>();

  constructor(readonly px: number, readonly note: string, private readonly answers: ReadonlyMap<string, Uint8Array>) {}

  has(question: string): boolean {
    return this.answers.has(question);
  }

  json<T>(question: string): T {
    try {
      return JSON.parse(new TextDecoder().decode(this.bytes(question))) as T;
    } catch (error) {
      throw error instanceof BadAnswer ? error : new BadAnswer(DAMAGED);
    }
  }

  columns(question: string): Columns {
    let columns = this.decoded.get(question);
    if (columns === undefined) this.decoded.set(question, (columns = decode(this.bytes(question).slice().buffer as ArrayBuffer)));
    return columns;
  }

  private bytes(question: string): Uint8Array {
    const found = this.answers.get(question);
    if (found === undefined) throw new BadAnswer(`this file has no answer to “${question}”`);
    return found;
  }
}

async function inflate(base64: string): Promise<Uint8Array> {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function read(bytes: Uint8Array): Pack {
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true), base = 4 + head;
  if (base > bytes.length) throw new BadAnswer(DAMAGED);
  const { answers, px, note } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, base))) as Record<string, unknown>;
  if (!Array.isArray(answers) || !isSize(px) || px === 0) throw new BadAnswer(DAMAGED);
  const found = new Map<string, Uint8Array>();
  for (const { question, offset, length } of answers as Record<string, unknown>[]) {
    if (typeof question !== 'string' || !isSize(offset) || !isSize(length) || base + offset + length > bytes.length) throw new BadAnswer(DAMAGED);
    found.set(question, bytes.subarray(base + offset, base + offset + length));
  }
  return new Pack(px, typeof note === 'string' ? note : '', found);
}

export async function unpack(base64: string): Promise<Pack> {
  try {
    return read(await inflate(base64));
  } catch {
    throw new BadAnswer(DAMAGED);
  }
}
