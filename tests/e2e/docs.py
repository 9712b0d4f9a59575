#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of README.md and docs/, or of some pages: docs.py SOURCE COPY [PAGE...], with penna in PATH. COPY
contains README.md, docs and examples; each page runs in its own copy, PAGE/, where it builds all the programs that it
is about. Anything that several pages build or record by the same command is made once. SOURCE is used to check ./run
and the scripts here.

Fenced blocks: "$ COMMAND" followed by the lines of its output, or lines that begin with penna, a compiler, mkdir or
./run. Commands are run by a shell and must exit with 0; those of ./run must name an existing verb, because they take
minutes. A block whose first line runs a script of examples/ must be run by another script here (doc_block in
common.sh). A block that names a file of examples/ after its language ("```c examples/x.c") must equal that file, except
for its license. A page must have the source of everything it builds: such a block, or a link to the file.
docs.py --shown PAGE WORD FILE: the page's block that contains WORD shows lines of FILE.
Every shown line must be one that the command prints, except for numbers, units and the width of columns; for a
command with a pipe, one that goes into it. A page with "<!-- terminal: N columns -->" shows the output for that
width, where the words of a sentence may be on other lines. Tables: the verbs and options in their first column must
exist. If the last column is Penna's, beside those of other tools, its commands are run.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

NUMBER = re.compile(r'0x[0-9a-f]+|(?<![A-Za-z_])\d[\d,]*(\.\d+)?( (ns|us|ms|s|min|h|B|kB|MB|GB|%)(?![A-Za-z]))?')
COMPILER = re.compile(r'(gcc|g\+\+|cc|c\+\+|clang|clang\+\+) ')
COLUMNS = re.compile(r'^<!-- terminal: (\d+) columns -->$', re.MULTILINE)
SENTENCE = re.compile(r'[A-Za-z0-9][^ ]*( [^ ]+)+$')
NARROW_BOXES = re.compile(r'(?<=\])\|+|\|+(?=\[)')


def shape(line):
    """A line without what varies between runs: numbers with their units ("all of it" is one), singular or plural of
    what they count, their width, and flame graph boxes that are too narrow for a name."""
    line = line.replace(', all of it ', ', 100 % of it ').replace('__clone3 ', 'clone3 ')  # as glibc 2.41 calls it
    words = ['N' if word == '-' else word for word in NARROW_BOXES.sub('', NUMBER.sub('N', line)).split()]
    return ' '.join(word.removesuffix('s') if before == 'N' and word[-2:] != 'ss' else word for before, word in zip([''] + words, words))


def without_numbers(line):
    """A table's row, without its module: wide numbers leave room for other columns."""
    return [word for word in shape(re.sub(r' \[[^]]*\]$', '', line.rstrip())).split() if word != 'N']


def blocks(text):
    """(number of the first line, language and file, lines) of each fenced block."""
    fenced, start, about, inside = [], 0, '', None
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith('```'):
            if inside is None:
                start, about, inside = number + 1, line.strip().removeprefix('```'), []
            else:
                fenced.append((start, about, inside))
                inside = None
        elif inside is not None:
            inside.append(line)
    return fenced


def example_of(lines):
    """The program of examples/ that a block contains, runs or builds at its beginning; else None."""
    found = re.search(r'(?:^|[ (])(examples/\S+)', lines[0]) if lines else None
    return found.group(1) if found and not COMPILER.match(lines[0].removeprefix('$ ')) else None


def untested_examples(page, text, scripts):
    return [f'{example}: no script runs this block: doc_block {page} {example}' for _, about, lines in blocks(text)
            if about != 'screen' and (example := example_of(lines)) and f'doc_block {page} {example}' not in scripts]


def wrong_sources(text, read):
    """Blocks that differ from the file that they name, and programs without a source."""
    wrong = []
    for start, about, lines in blocks(text):
        if file := re.search(r' (examples/\S+)$', about):
            source = [line for line in read(file[1]).splitlines() if 'SPDX-License-Identifier' not in line]
            if lines != source:
                wrong += [f'{start}: this is not {file[1]}, which begins with\n    ' + '\n    '.join(source[:60])]
    for number, command, _ in commands(text):
        if COMPILER.match(command):
            wrong += [f'{number}: the page neither shows {file} nor links to it' for file in re.findall(r' (examples/\S+)', command)
                      if not re.search(rf'^```\w+ {re.escape(file)}$|\]\((\.\./)?{re.escape(file)}\)', text, re.MULTILINE)]
    return wrong


def commands_of_tables(text):
    """(line number, command, no output) of the last column of tables in which that is Penna's. PID is a sleeping
    process."""
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        inside = line.startswith('|') and (inside or line.endswith('| Penna |'))
        if inside:
            for command in re.findall(r'`(penna [^`]+)`', line.rsplit('|', 2)[1]):
                if re.search(r'\bPID\b', command):
                    command = re.sub(r'\bPID\b', '$!', f'sleep 60 & sleep 0.1; {command}; status=$?; kill PID; exit $status')
                found.append((number, command, []))
    return found


def commands(text):
    """(line number, command, lines of output that are shown) of all blocks and tables."""
    found = []
    for start, about, lines in blocks(text):
        if example_of(lines) or about not in ('', 'sh'):
            continue
        lines = [line.replace('\0', '') for line in '\n'.join(lines).replace('\\\n', '\0').split('\n')]
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
                if re.match(r'(penna|\./run|mkdir)\b', line) or COMPILER.match(line):
                    found.append((number, line.split('  #')[0].strip(), []))
    return sorted(found + commands_of_tables(text), key=lambda one: one[0])


def late_result(text, most=24):
    """Of README.md: whether what a command prints is to be seen on the first screen."""
    first = next((number for number, command, shown in commands(text) if command.startswith('penna') and shown), None)
    return [] if first is not None and first <= most else [f'README.md: the first result is in line {first}, not in the first {most}']


class Printed:
    """What a command prints. broken: sentences may be broken into lines elsewhere than on the page."""

    def __init__(self, output, broken):
        lines = output.splitlines()
        self.shapes = {shape(line) for line in lines}
        self.words = f' {shape(" ".join(output.split()))} ' if broken else None
        # Columns that have no room here are named; a page may show them, and not others.
        self.missing = set(re.findall(r'[A-Z0-9]+', ' '.join(re.findall(r'^no room for ([A-Z0-9, ]+)', output, re.MULTILINE))))
        self.rows = [without_numbers(line) for line in lines] if self.missing else []

    def has(self, line):
        if shape(line) in self.shapes or self.words and SENTENCE.match(line) and f' {shape(line)} ' in self.words:
            return True
        words = without_numbers(line)
        if words and all(re.fullmatch('[A-Z][A-Z0-9]+', word) for word in words):
            return any(words[-1:] == row[-1:] and set(words) <= {*row, *self.missing} for row in self.rows)
        return words != [] and words in self.rows


class Runner:
    """Runs a page's commands in its directory: (status, output, what a first command wrote into a pipe)."""

    def __init__(self):
        self.made = {}  # by command: what it made, and what it said
        self.enter(pathlib.Path(), None)

    def enter(self, directory, columns):
        self.directory = directory
        self.environment = dict(os.environ, COLUMNS=columns) if columns else None

    def once(self, command, given=None):
        return subprocess.run(['bash', '-o', 'pipefail', '-c', command], input=given, capture_output=True, text=True, timeout=100,
                              cwd=self.directory, env=self.environment)

    def __call__(self, command):
        making = re.match(r'penna record .*?-o (\S+)', command) or COMPILER.match(command) and re.search(r' -o (\S+)', command)
        if making and command in self.made:
            made, said = self.made[command]
            shutil.copy(made, self.directory / making[1])  # the newest recording now
            return 0, said, said
        first, _, rest = command.partition(' | ')
        done = self.once(first)
        status, output, piped = done.returncode, done.stdout + done.stderr, done.stdout
        if rest and status == 0:
            done = self.once(rest, piped)
            status, output = done.returncode, done.stdout + done.stderr
        if making and status == 0:
            self.made[command] = self.directory / making[1], output
        return status, output, piped if rest else output


def wrong_with(command, shown, verbs, runner, broken=False):
    """What is wrong with one command, as a list of sentences."""
    words = command.split()
    if words[0] == './run':
        return [] if len(words) > 1 and words[1] in verbs else [f'{command}: ./run has no such verb']
    status, said, output = runner(command)
    if status != 0:
        return [f'{command}: ends with {status}: {said[-500:]}']
    printed = Printed(output, broken)
    return [f'{command}: prints no line like\n    {line}\n  but\n' + ''.join(f'    {each}\n' for each in output.splitlines()[:60])
            for line in shown if not printed.has(line)][:1]


def wrong_tables(text, runner):
    """Verbs and options of tables whose first column begins with `penna VERB."""
    wrong = []
    for row in re.findall(r'^\| `penna ([a-z]+)\b(.*)$', text, re.MULTILINE):
        status, usage, _ = runner(f'penna help {row[0]} --all')
        if status != 0:
            wrong.append(f'penna {row[0]}: {usage}')
        for option in re.findall(r'(?<![\w-])--?[a-z][a-z0-9-]*', row[1]):
            if not re.search(rf'(?<![\w-]){option}\b', usage):
                wrong.append(f'penna {row[0]} has no option {option}')
    return wrong


def check(source, copy, names):
    runner = Runner()
    verbs = set(re.findall(r'^  ([a-z]+)', runner(f'{source}/run help')[1], re.MULTILINE))
    assert 'test' in verbs and 'demo' in verbs, verbs
    probes = runner('penna list /usr/bin/python3')[1].split()  # Python 3.13 has no more of some
    count, wrong = 0, []
    scripts = ''.join(path.read_text() for path in (source / 'tests' / 'e2e').glob('*.sh'))
    for page in [copy / 'README.md', *sorted((copy / 'docs').rglob('*.md'))]:
        if names and page.name not in names:
            continue
        text = page.read_text()
        columns = COLUMNS.search(text)
        if commands(text):
            shutil.copytree(copy, page.stem, copy_function=os.link)
            runner.enter(pathlib.Path(page.stem), columns and columns[1])
        wrong += [f'{page.name}: {each}' for each in wrong_tables(text, runner)]
        wrong += [f'{page.name}:{each}' for each in wrong_sources(text, lambda file: (copy / file).read_text())]
        wrong += [f'{page.name}: {each}' for each in untested_examples(page.name, text, scripts)]
        wrong += late_result(text) if page == copy / 'README.md' else []
        for number, command, shown in commands(text):
            count += 1
            shown = [line for line in shown if not re.search(r'\bpython:\w+', line) or re.search(r'\bpython:\w+', line)[0] in probes]
            wrong += [f'{page.name}:{number}: {each}' for each in wrong_with(command, shown, verbs, runner, columns)]
    print(f'{count} commands')
    if count < 3:
        wrong.append('hardly any command was found')
    return wrong


def not_printed(page, word, output):
    """Lines of the page's blocks that contain a word, and that match none of the output; without such a block, the
    word."""
    shown = [line for _, _, lines in blocks(page) if word in '\n'.join(lines) for line in lines if line.strip()]
    printed = {shape(line) for line in output.splitlines()}
    return [line for line in shown if shape(line) not in printed] if shown else [word]


def self_test():
    page = 'x\n```\n$ penna a | head\n 12 us  main() [app]\n\n$ penna b\n```\n```\n./run test   # all\ndrawing\n```\n| `penna c [X]` | does; `--opt` |\n'
    assert commands(page) == [(3, 'penna a | head', [' 12 us  main() [app]']), (6, 'penna b', []), (9, './run test', [])]
    beside = '| x | Penna |\n|---|---|\n| `penna no` | `penna a` or `penna b`, `-c` |\n| `x -p PID` | `penna record -p PID` |\n\n| x | y |\n| | `penna d` |\n'
    assert [(number, command) for number, command, _ in commands(beside)] == [(3, 'penna a'), (3, 'penna b'), (
        4, 'sleep 60 & sleep 0.1; penna record -p $!; status=$?; kill $!; exit $status')]
    page_of_examples = '```sh\nexamples/a/run\npenna a\n```\n'
    assert not commands(page_of_examples) and not untested_examples('p', page_of_examples, 'doc_block p examples/a/run')
    assert untested_examples('p', page_of_examples, 'doc_block q examples/a/run')
    assert example_of(['examples/a/run']) == 'examples/a/run' and not example_of(['$ cc examples/a.c']) and not example_of([])
    page_of_source = '```c examples/a.c\nint main;\n```\n```c\npenna x\n```\n```sh\ngcc examples/a.c\n```\n'
    assert wrong_sources('```\ngcc examples/a.c\n```\n', None) == ['2: the page neither shows examples/a.c nor links to it']
    assert not wrong_sources('[a](../examples/a.c)\n```\ngcc examples/a.c\n```\n', None)
    assert commands('```\n$ penna \\\n  a\nb\n```\n') == [(2, 'penna   a', ['b'])]
    assert not wrong_sources(page_of_source, lambda _: '// SPDX-License-Identifier: MIT\nint main;\n')
    assert len(wrong_sources(page_of_source, lambda _: 'int man;')) == 1
    assert [command for _, command, _ in commands(page_of_source)] == ['gcc examples/a.c'] and not untested_examples('p', page_of_source, '')
    assert not_printed(page, '12 us', ' 9 ms main() [app]\npenna b\n$ penna a | head\n$ penna b') == []
    assert not_printed(page, '12 us', 'main') == ['$ penna a | head', ' 12 us  main() [app]', '$ penna b']
    assert not_printed(page, 'no such word', '') == ['no such word']
    assert shape('  1.5 ms  -  3  f(int) (a.c:12) [app]') == shape('12 ns 4,000 17 f(int) (a.c:1) [app]')
    assert shape('[all 9 ms][f() 9 % ]||') == shape('|[all 12 ms][f() 99.9 %     ]') != shape('[all 9 ms][g() 9 % ]|')
    assert shape('4,000  -  db:bytes') == shape('4,000  17  db:bytes')
    assert shape('1 process') != shape('2 processes') and shape('BYTES  COUNT') == shape('BYTES COUNT')
    assert not wrong_with('penna a', ['12 B  main'], set(), lambda _: (0, 'x\n5 kB main\n', 'x\n5 kB main\n'))
    assert wrong_with('penna a', ['12 B  other'], set(), lambda _: (0, 'x\n5 kB main\n', 'x\n5 kB main\n'))
    sentence = '2 threads lost 9 ms of', 'their 12 ms'
    assert not wrong_with('penna a', sentence, set(), lambda _: (0, 'x\n2 threads lost 800\nus of their 1.2\nms y\n', 'x\n2 threads lost 800\nus of their 1.2\nms y\n'), True)
    assert wrong_with('penna a', sentence, set(), lambda _: (0, 'x\n2 threads lost 800\nus of their 1.2\nms y\n', 'x\n2 threads lost 800\nus of their 1.2\nms y\n'))
    assert wrong_with('penna a', ['12 B  main'], set(), lambda _: (0, 'x 5 B main\n', 'x 5 B main\n'), True)
    assert wrong_with('penna a', [], set(), lambda _: (125, '', ''))
    table = ' CALLS TOTAL AVG FUNCTION', '   10 1 ms 9 us main() (a.c:1) [app]'
    narrow = 'CALLS TOTAL MAX P99 FUNCTION\n9 123 ms 99 us 9 us main() (a.c:1)\n'
    assert wrong_with('penna a', table, set(), lambda _: (0, narrow, narrow))
    narrow += 'no room for AVG: --wide shows all\n'
    assert not wrong_with('penna a', table, set(), lambda _: (0, narrow, narrow))
    assert wrong_with('penna a', ['10 1 ms other() (a.c:1)'], set(), lambda _: (0, narrow, narrow))
    assert wrong_with('penna a', ['12 9 ms'], set(), lambda _: (0, narrow, narrow + '\n'))
    assert wrong_with('penna a', [' CALLS TOTAL P50 FUNCTION'], set(), lambda _: (0, narrow, narrow))
    assert not late_result('```\n$ penna a\n$ penna b\n 12 us\n```\n') and late_result(30 * '\n' + '```\n$ penna b\n 12 us\n```\n')
    assert late_result('```\n$ penna a\n```\n')
    assert wrong_with('./run nothing', [], {'test'}, None) and not wrong_with('./run test', [], {'test'}, None)
    assert wrong_tables(page, lambda _: (0, 'no such thing --option', 'no such thing --option')) == ['penna c has no option --opt']
    assert not wrong_tables(page, lambda _: (0, '-x,--opt', '-x,--opt'))


if sys.argv[1:] == ['--self-test']:
    self_test()
elif sys.argv[1] == '--none':
    pass  # another script uses what is here
elif sys.argv[1] == '--shown':
    page, word, output = pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
    problems = not_printed(page.read_text(), word, output.read_text())
    print(''.join(f'{page.name}: not printed: {line}\n' for line in problems), end='', file=sys.stderr)
    sys.exit(1 if problems else 0)
else:
    problems = check(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)
