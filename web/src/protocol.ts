// SPDX-License-Identifier: MIT
// The JSON answers of `penna view`, version 1 (docs/view-protocol.md).
//
// Why: the one place where the page says what it expects of the server.
// Invariant: times are nanoseconds since the recording's start.
import type { CellKind, CellValue } from './units.ts';

// Rows that the server gives at most: of a table, and of the hits of a point.
export const MOST_ROWS = 100_000, MOST_HITS = 10_000;

export interface Sentence { text: string; tab?: string; sort?: string }
// What stands out, and where it leads: an instant of memory, a time in a thread, or a table.
export interface Highlight extends Sentence { instant_ns?: number; thread?: number; start_ns?: number; duration_ns?: number }
export interface Summary {
  version: number;
  pending?: boolean;  // what only reading it can tell is not there yet: sentences and health
  growing?: boolean;  // it is still written
  recording: string;
  compared_with?: string;
  command: string[];
  pid: number;
  start_utc_ns: string;
  duration_ns: number;
  threads: number;
  processes: number;
  events: { calls: number; allocations: number; locks: number; points: number };
  lost: number;
  kinds: string[];
  sentences: Sentence[];
  health: { warnings: string[]; counters: { name: string; count: number }[] };
  missing: { kind: string; how: string }[];
}

export interface Thread {
  id: number;
  tid: number;
  pid: number;
  name: string;
  process?: string;
  begin_ns: number;
  end_ns: number;
  calls: number;
  allocations: number;
  waits: number;
  points: number;
  depth: number;
}

export interface TableName { key: string; title: string }
export interface Detail { text: string; where: string }
export interface Row { cells: CellValue[]; details?: Detail[]; other_title?: string; other_details?: Detail[]; thread?: number; quiet?: boolean; stack?: string; life?: number }
export interface Column { key: string; title: string; kind: CellKind }
export interface Table { key: string; title: string; columns: Column[]; rows: Row[]; rows_left_out: number }
export interface Report { head: string[]; tables: Table[]; tail: string[]; warnings: string[] }

export interface PointName { name: string; hits: number; arguments: string[] }
export interface Histogram { column: string; edges: number[]; counts: number[]; others: number }
export interface Hits extends Report { histogram?: Histogram }

// Of a block: allocated, moved by realloc, freed. stack_id: as Row.stack.
export interface BlockPlace { what: 'allocated' | 'moved' | 'freed'; time_ns: number; thread: number; bytes: number; address: string; function?: string; stack?: Detail[]; stack_id?: string }
export interface Life { places: BlockPlace[]; moves_left_out: number; end: 'freed' | 'live' | 'unknown' }
export interface Blocks extends Report { lives: Life[] }

// What a line cost: calls of the function that begins there, and what was allocated, waited and hit in stacks through it.
export interface LineCost {
  calls: number;
  total_ns: number;
  self_ns: number;
  bytes: number;
  allocations: number;
  live_bytes: number;
  waits: number;
  wait_ns: number;
  hits: number;
}
export interface SourceFile extends LineCost { file: string }  // the cost is that of its most expensive line
export interface Source { file: string; path?: string; problem?: string; lines: string[]; costs: (LineCost & { line: number })[] }

export interface Match { kind: 'function' | 'thread' | 'lock' | 'point'; name: string; id: number; count: number; total_ns?: number; at_least?: boolean }
export interface Found { matches: Match[]; left_out: number }
export interface Instance { thread?: number; start_ns?: number; duration_ns?: number; depth?: number }
