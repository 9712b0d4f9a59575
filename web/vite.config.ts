// SPDX-License-Identifier: MIT
// Builds the page: one file with everything inside, and a mark that says from which sources.
//
// Why: penna embeds the built page without npm; tools/check-web compares the mark with the sources.
// Invariant: the page loads nothing.
import { spawnSync } from 'node:child_process';
import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

function sourcesHash(): string {
  const { status, stdout, stderr } = spawnSync('python3', ['../tools/check-web', '--hash'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tools/check-web --hash: ${stderr}`);
  return stdout.trim();
}

const mark = {
  name: 'mark',
  enforce: 'post' as const,
  generateBundle(_options: unknown, bundle: Record<string, { type: string; source?: unknown }>): void {
    const page = bundle['index.html'];
    if (page?.type !== 'asset') throw new Error('there is no page to mark');
    page.source = `${String(page.source).trimEnd()}\n<!-- sources ${sourcesHash()} -->\n`;
  },
};

export default defineConfig({
  base: './',
  // Elements by h(tag, properties, ...children): without the word `children` in each of them, 4 kB less.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
    jsxInject: "import { h, Fragment } from 'preact'",
  },
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), mark],
  build: { target: 'es2022', outDir: 'dist', emptyOutDir: true, reportCompressedSize: false },
});
