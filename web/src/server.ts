// SPDX-License-Identifier: MIT
// Questions: one function for JSON, one for columns, and the names that columns refer to. Here as `penna view` answers them.
//
// Why: what a newer question replaces is aborted here, so that no panel has to think of it; nor need one know who answers.
// Invariant: an answer reaches the caller only while no newer question of the same slot was asked; names are text, never markup.
import { BadAnswer, decode, type Columns } from './columns.ts';

export type Parameters = Record<string, string | number | undefined>;

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// What is special about a page that has its answers with it (packed.ts).
export interface Packed {
  note: string;     // what was left behind when it was made
  pixel: number;    // ns: calls shorter than this are sums
  hasSources: boolean;
  hasWeight(weight: string): boolean;
}

// How far the index of a large recording is.
export interface Making { events: number; of: number; ready: boolean }

export interface Server {
  readonly packed: Packed | undefined;
  // slot: what a later question replaces; none: the question stands alone.
  json<T>(question: string, parameters?: Parameters, slot?: string): Promise<T>;
  columns(question: string, parameters: Parameters, slot?: string): Promise<Columns>;
  abort(slot: string): void;
  // The recording is another one from now on, perhaps without an index.
  renew(): void;
  // Asks the recorder for something to be done: what came of it.
  act(what: string, parameters: Parameters): Promise<string>;
  name(id: number): string;
}

// The browser tells of a server that is gone by a TypeError.
function reach<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    throw error instanceof TypeError ? new Error('the server does not answer: has penna view ended?') : error;
  });
}

const PAUSE = 200;  // ms

// The server closes a connection that rests for a second, perhaps just as a question is sent on it: so it is asked twice.
async function fetchTwice(address: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(address, { signal });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    return reach(fetch(address, { signal }));
  }
}

// Of tracks: the server answers these when their index is made. Until then they would take all connections of a browser.
const OF_TRACKS = new Set(['threads', 'find', 'instance', 'slices', 'waits', 'points', 'counters']);
const INDEX_AGAIN = 500;  // ms

function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) if (value !== undefined) query.set(key, String(value));
  return query;
}

export class AskedServer implements Server {
  readonly packed = undefined;
  private readonly running = new Map<string, AbortController>();
  private readonly nameList: string[] = ['?'];
  private fetchingNames: Promise<void> | undefined;
  private namesNeeded = 1;

  private indexed: Promise<void> | undefined;

  // tell: how far the index is.
  constructor(private readonly base = 'api/', private readonly tell: (making: Making) => void = () => {}) {}

  async json<T>(question: string, parameters: Parameters = {}, slot?: string): Promise<T> {
    const response = await this.ask(question, parameters, slot);
    return reach(response.json() as Promise<T>);
  }

  async columns(question: string, parameters: Parameters, slot?: string): Promise<Columns> {
    const response = await this.ask(question, parameters, slot);
    const answer = decode(await reach(response.arrayBuffer()));
    if (typeof answer.header.names === 'number') await this.needNames(answer.header.names);
    return answer;
  }

  abort(slot: string): void {
    this.running.get(slot)?.abort();
    this.running.delete(slot);
  }

  renew(): void {
    this.indexed = undefined;
  }

  name(id: number): string {
    return this.nameList[id] ?? '?';
  }

  async act(what: string, parameters: Parameters): Promise<string> {
    const response = await reach(fetch(`${this.base}../act/${what}?${queryOf(parameters)}`, { method: 'POST' }));
    if (!response.ok) throw new Error(await errorOf(response));
    return String(((await reach(response.json())) as { done?: unknown }).done ?? '');
  }

  private async ask(question: string, parameters: Parameters, slot: string | undefined): Promise<Response> {
    const controller = new AbortController();
    if (slot !== undefined) {
      this.abort(slot);
      this.running.set(slot, controller);
    }
    if (OF_TRACKS.has(question)) await (this.indexed ??= this.awaitIndex());
    controller.signal.throwIfAborted();
    const response = await fetchTwice(`${this.base}${question}?${queryOf(parameters)}`, controller.signal);
    if (response.ok) return response;
    throw new Error(await errorOf(response));
  }

  private async awaitIndex(): Promise<void> {
    try {
      for (;;) {
        const making = await this.json<Making>('index');
        this.tell(making);
        if (making.ready) return;
        await new Promise((resolve) => setTimeout(resolve, INDEX_AGAIN));
      }
    } catch (error) {
      this.renew();  // the next question asks again
      throw error;
    }
  }

  // Several answers may arrive at once: one question for names at a time, until there are enough.
  private async needNames(next: number): Promise<void> {
    this.namesNeeded = Math.max(this.namesNeeded, next);
    while (this.nameList.length < next) {
      this.fetchingNames ??= this.fetchNames().finally(() => (this.fetchingNames = undefined));
      await this.fetchingNames;
    }
  }

  private async fetchNames(): Promise<void> {
    const from = this.nameList.length;
    const { names } = await this.json<{ names: string[] }>('names', { from });
    if (!Array.isArray(names) || names.length === 0) throw new BadAnswer('the server does not tell all names');
    if (this.nameList.length === from) for (const name of names) this.nameList.push(String(name));
  }
}

async function errorOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // Not the server's own words: the status has to do.
  }
  return `the server answers with status ${response.status}`;
}
