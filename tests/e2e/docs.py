#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of README.md and docs/: docs.py SOURCE PENNA, in a directory with the programs they are about.

Fenced blocks: "$ COMMAND" and the lines of its output behind it, or lines that begin with penna or ./run. Commands of
penna are run by a shell and must end with 0; those of ./run must name a verb that it has, because they take minutes. A block
whose first line names a program of examples/ must be what another script here runs (doc_block in common.sh).
docs.py --shown PAGE WORD FILE: the block of a page that holds WORD shows such lines of FILE.
Every shown line must be one of those that the command prints, but for numbers, units and the width of columns; of a
command with a pipe, one of those that go into it. Tables: the verbs and options in their first column must exist.
"""
import os
import pathlib
import re
import subprocess
import sys

NUMBER = re.compile(r'0x[0-9a-f]+|(?<![A-Za-z_])\d[\d,]*(\.\d+)?( (ns|us|ms|s|min|h|B|kB|MB|GB|%)(?![A-Za-z]))?')
NARROW_BOXES = re.compile(r'(?<=\])\|+|\|+(?=\[)')


def shape(line):
    """A line without what differs from run to run: numbers with their units ("all of it" is one), whether what they count is one or
    several, how much room they take, and boxes of a flame graph that are too narrow for a name."""
    line = line.replace(', all of it ', ', 100 % of it ').replace('__clone3 ', 'clone3 ')  # as glibc 2.41 calls it
    words = NARROW_BOXES.sub('', NUMBER.sub('N', line)).split()
    return ' '.join('N' if word == '-' else word.removesuffix('s') if before == 'N' and word[-2:] != 'ss' else word
                    for before, word in zip([''] + words, words))


def blocks(text):
    """(number of the first line, lines) of each fenced block."""
    fenced, start, inside = [], 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith('```'):
            if inside is None:
                start, inside = number + 1, []
            else:
                fenced.append((start, inside))
                inside = None
        elif inside is not None:
            inside.append(line)
    return fenced


def example_of(lines):
    """The program of examples/ that a block begins with, runs or builds it; else None."""
    found = re.search(r'(?:^|[ (])(examples/\S+)', lines[0]) if lines else None
    return found.group(1) if found else None


def untested_examples(page, text, scripts):
    return [f'{example}: no script runs this block: doc_block {page} {example}' for _, lines in blocks(text)
            if (example := example_of(lines)) and f'doc_block {page} {example}' not in scripts]


def commands(text):
    """(line number, command, lines of output that are shown) of all blocks."""
    found = []
    for start, lines in blocks(text):
        if example_of(lines):
            continue
        if any(line.startswith('$ ') for line in lines):
            for number, line in enumerate(lines, start):
                if line.startswith('$ '):
                    found.append((number, line[2:], []))
                elif found and line.strip():
                    found[-1][2].append(line)
        elif any(line.startswith('examples/') for line in lines):
            continue  # an example and what reads its output: the example's own test runs them
        else:
            for number, line in enumerate(lines, start):
                if re.match(r'(penna|\./run)\b', line):
                    found.append((number, line.split('  #')[0].strip(), []))
    return found


def run(command, environment=None):
    done = subprocess.run(['bash', '-o', 'pipefail', '-c', command], capture_output=True, text=True, timeout=100, env=environment)
    return done.returncode, done.stdout + done.stderr


def wrong_with(command, shown, verbs, runner):
    """What is wrong with one command, as a list of sentences."""
    words = command.split()
    if words[0] == './run':
        return [] if len(words) > 1 and words[1] in verbs else [f'{command}: ./run has no such verb']
    status, output = runner(command)
    if status != 0:
        return [f'{command}: ends with {status}: {output[-500:]}']
    if ' | ' in command:
        output = runner(command.split(' | ')[0])[1]
    printed = {shape(line) for line in output.splitlines()}
    return [f'{command}: prints no line like\n    {line}\n  but\n' + ''.join(f'    {each}\n' for each in output.splitlines()[:60])
            for line in shown if shape(line) not in printed][:1]


def wrong_tables(text, penna, runner):
    """Verbs and options of tables whose first column begins with `penna VERB."""
    wrong = []
    for row in re.findall(r'^\| `penna ([a-z]+)\b(.*)$', text, re.MULTILINE):
        status, usage = runner(f'penna help {row[0]} --all')
        if status != 0:
            wrong.append(f'penna {row[0]}: {usage}')
        for option in re.findall(r'(?<![\w-])--?[a-z][a-z0-9-]*', row[1]):
            if not re.search(rf'(?<![\w-]){option}\b', usage):
                wrong.append(f'penna {row[0]} has no option {option}')
    return wrong


def check(source, penna):
    environment = dict(os.environ, PATH=f'{pathlib.Path(penna).parent}:{os.environ["PATH"]}')

    def runner(command):
        return run(command, environment)

    verbs = set(re.findall(r'^  ([a-z]+)', run(f'{source}/run help')[1], re.MULTILINE))
    assert 'test' in verbs and 'demo' in verbs, verbs
    probes = runner('penna list /usr/bin/python3')[1].split()  # Python 3.13 has no more of some
    count, wrong = 0, []
    scripts = ''.join(path.read_text() for path in (source / 'tests' / 'e2e').glob('*.sh'))
    for page in [source / 'README.md', *sorted((source / 'docs').rglob('*.md'))]:
        text = page.read_text()
        wrong += [f'{page.name}: {each}' for each in wrong_tables(text, penna, runner)]
        wrong += [f'{page.name}: {each}' for each in untested_examples(page.name, text, scripts)]
        for number, command, shown in commands(text):
            count += 1
            shown = [line for line in shown if not re.search(r'\bpython:\w+', line) or re.search(r'\bpython:\w+', line)[0] in probes]
            wrong += [f'{page.name}:{number}: {each}' for each in wrong_with(command, shown, verbs, runner)]
    print(f'{count} commands')
    if count < 6:
        wrong.append('hardly any command was found')
    return wrong


def not_printed(page, word, output):
    """Lines of the page's blocks that hold a word, that are like none of the output; without such a block, the word."""
    shown = [line for _, lines in blocks(page) if word in '\n'.join(lines) for line in lines if line.strip()]
    printed = {shape(line) for line in output.splitlines()}
    return [line for line in shown if shape(line) not in printed] if shown else [word]


def self_test():
    page = 'x\n```\n$ penna a | head\n 12 us  main() [app]\n\n$ penna b\n```\n```\n./run test   # all\ndrawing\n```\n| `penna c [X]` | does; `--opt` |\n'
    assert commands(page) == [(3, 'penna a | head', [' 12 us  main() [app]']), (6, 'penna b', []), (9, './run test', [])]
    page_of_examples = '```sh\nexamples/a/run\npenna a\n```\n'
    assert not commands(page_of_examples) and not untested_examples('p', page_of_examples, 'doc_block p examples/a/run')
    assert untested_examples('p', page_of_examples, 'doc_block q examples/a/run')
    assert not_printed(page, '12 us', ' 9 ms main() [app]\npenna b\n$ penna a | head\n$ penna b') == []
    assert not_printed(page, '12 us', 'main') == ['$ penna a | head', ' 12 us  main() [app]', '$ penna b']
    assert not_printed(page, 'no such word', '') == ['no such word']
    assert shape('  1.5 ms  -  3  f(int) (a.c:12) [app]') == shape('12 ns 4,000 17 f(int) (a.c:1) [app]')
    assert shape('[all 9 ms][f() 9 % ]||') == shape('|[all 12 ms][f() 99.9 %     ]') != shape('[all 9 ms][g() 9 % ]|')
    assert shape('1 process') != shape('2 processes') and shape('BYTES  COUNT') == shape('BYTES COUNT')
    assert not wrong_with('penna a', ['12 B  main'], set(), lambda _: (0, 'x\n5 kB main\n'))
    assert wrong_with('penna a', ['12 B  other'], set(), lambda _: (0, 'x\n5 kB main\n'))
    assert wrong_with('penna a', [], set(), lambda _: (125, ''))
    assert wrong_with('./run nothing', [], {'test'}, None) and not wrong_with('./run test', [], {'test'}, None)
    assert wrong_tables(page, 'penna', lambda _: (0, 'no such thing --option')) == ['penna c has no option --opt']
    assert not wrong_tables(page, 'penna', lambda _: (0, '-x,--opt'))


if sys.argv[1:] == ['--self-test']:
    self_test()
elif sys.argv[1] == '--shown':
    page, word, output = pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
    problems = not_printed(page.read_text(), word, output.read_text())
    print(''.join(f'{page.name}: not printed: {line}\n' for line in problems), end='', file=sys.stderr)
    sys.exit(1 if problems else 0)
else:
    problems = check(pathlib.Path(sys.argv[1]), sys.argv[2])
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)
