// SPDX-License-Identifier: MIT
// A source file with the cost of each line, and the list of files.
//
// Why: a line is where a fix goes. Which files may be read is decided by the server (penna view --source-dir).
// Invariant: the text of a file is shown as text. Costs are shown without the text, too, with the reason for its absence.
import { useEffect, useRef } from 'preact/hooks';
import { useAnswer } from '../answers.ts';
import type { LineCost, Source, SourceFile } from '../protocol.ts';
import { nearCosts, shownCosts, shownLines, type CostColumn } from '../sources.ts';
import { store, useStore } from '../store.ts';
import { amountText, countText } from '../units.ts';
import { WholeRun } from './whole_run.tsx';

const baseName = (path: string): string => path.replace(/^.*\//s, '');

function Line({ number, text, cost, columns, share, isChosen }: {
  number: number; text: string; cost: LineCost | undefined; columns: readonly CostColumn[]; share: number; isChosen: boolean;
}) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'center' });
  }, [isChosen]);
  return (
    <tr ref={row} aria-current={isChosen ? 'true' : undefined}>
      {columns.map(({ key, unit }) => <td key={key} class="number">{cost && cost[key] > 0 ? amountText(cost[key], unit) : ''}</td>)}
      <td class="number line"><button class="link" aria-label={`line ${number}`} onClick={() => store.change({ line: number }, true)}>{number}</button></td>
      <td class="code" style={share > 0 ? { '--share': `${Math.max(1, 100 * share)}%` } : undefined}>{text}</td>
    </tr>
  );
}

function Text({ source }: { source: Source }) {
  const { state } = useStore();
  const columns = shownCosts(source.costs), main = columns[0]?.key, near = nearCosts(source, state.line);
  const byLine = new Map(source.costs.map((cost) => [cost.line, cost]));
  const most = Math.max(1, ...source.costs.map((cost) => (main ? cost[main] : 0)));
  const lines = shownLines(source, near.line);
  const go = (line: number): void => store.change({ line }, true);
  return (
    <>
      <p class="source-tools">
        <button disabled={near.before === undefined} onClick={() => go(near.before!)}>previous line with a cost</button>
        <button disabled={near.after === undefined} onClick={() => go(near.after!)}>next</button>
        <button disabled={near.most === undefined} onClick={() => go(near.most!)}>most expensive</button>
        {source.path && <span class="hint">{source.path}</span>}
      </p>
      {source.problem && <p class="bad">{source.problem}</p>}
      <div class="scroll">
        <table class="source" aria-label={`Source of ${source.file}`}>
          <thead><tr>
            {columns.map(({ key, title }) => <th key={key} class="number"><span>{title}</span></th>)}
            <th class="number"><span>LINE</span></th><th><span>{baseName(source.file)}</span></th>
          </tr></thead>
          <tbody>
            {lines.map(({ number, text }) => (
              <Line key={number} number={number} text={text} cost={byLine.get(number)} columns={columns}
                share={main ? (byLine.get(number)?.[main] ?? 0) / most : 0} isChosen={number === near.line} />
            ))}
          </tbody>
        </table>
      </div>
      {lines.length < source.lines.length && <p class="hint">{countText(lines.length)} of {countText(source.lines.length)} lines are shown.</p>}
    </>
  );
}

export function SourceView() {
  const { state } = useStore();
  const { answer, error, isLoading } = useAnswer<{ files: SourceFile[]; left_out: number }>('sources');
  const file = state.file || answer?.files[0]?.file || '';
  const source = useAnswer<Source>(file === '' ? '' : 'source', { file });
  if (error !== undefined) return <p class="bad" role="alert">{error}</p>;
  if (answer === undefined) return <p class="hint">…</p>;
  if (answer.files.length === 0) return <p class="hint">Nothing in the selection has a known line: build the program with -g.</p>;
  const isListed = answer.files.some((one) => one.file === file);
  return (
    <div class={isLoading || source.isLoading ? 'busy' : ''} aria-busy={isLoading || source.isLoading}>
      <WholeRun />
      <label class="filter">File <select value={file} onChange={(event) => store.change({ file: event.currentTarget.value, line: 0 }, true)}>
        {!isListed && <option value={file}>{file}</option>}
        {answer.files.map((one) => <option key={one.file} value={one.file}>{one.file}</option>)}
      </select></label>
      <span class="hint"> most expensive first{answer.left_out > 0 && `, ${countText(answer.left_out)} are not listed`}</span>
      {source.error !== undefined && <p class="bad" role="alert">{source.error}</p>}
      {source.answer && source.answer.file === file && <Text source={source.answer} />}
    </div>
  );
}
