#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types the commands of a page's screens at a terminal of 80 columns and 24 lines (tmux), and compares what is seen with what the page shows.

    screens.py PAGE DIRECTORY [--keep]      in that directory; penna in PATH. --keep: the page shows it from now on

A screen is a block "```screen". Its lines that begin with "$ " are typed, one when the one before has ended. Numbers, units and the width of
columns may differ, and where a sentence is broken; names of functions by the parts that a compiler made of them.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import time

sys.argv, arguments = ['docs.py', '--none'], sys.argv[1:]
spec = importlib.util.spec_from_file_location('docs', pathlib.Path(__file__).with_name('docs.py'))
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)
SCREEN = re.compile(r'^```screen\n(.*?)^```$', re.MULTILINE | re.DOTALL)


os.environ['LC_ALL'] = 'C.UTF-8'  # tmux wants one of these


class Terminal:
    def __init__(self, directory):
        # Each has a server of its own: one that is just ending takes no session.
        self.tmux = ['tmux', '-L', f'penna-screens-{os.getpid()}-{time.monotonic_ns()}', '-f', '/dev/null']
        environment = {name: value for name, value in os.environ.items() if name not in ('COLUMNS', 'LINES', 'TMUX', 'NO_COLOR', 'PAGER')}
        subprocess.run([*self.tmux, 'new-session', '-d', '-x', '80', '-y', '24', '-c', directory,
                        "env PS1='$ ' LESS=FRX bash --norc --noprofile"], check=True, env=environment)
        self.wait_for(lambda lines: lines == ['$'])

    def lines(self):
        shown = subprocess.run([*self.tmux, 'capture-pane', '-p'], check=True, capture_output=True, text=True).stdout
        return [line.rstrip() for line in shown.rstrip().split('\n')]

    def wait_for(self, seen):
        for _ in range(1200):
            lines = self.lines()
            if seen(lines):
                return lines
            time.sleep(0.1)
        sys.exit('the prompt never came back:\n' + '\n'.join(lines))

    def type(self, command):
        subprocess.run([*self.tmux, 'send-keys', '-l', command], check=True)
        self.wait_for(lambda lines: command in ''.join(lines))
        subprocess.run([*self.tmux, 'send-keys', 'Enter'], check=True)
        return self.wait_for(lambda lines: lines[-1] == '$' and len(lines) > 1)

    def close(self):
        subprocess.run([*self.tmux, 'kill-server'], check=False)


def screen_of(commands, directory):
    terminal = Terminal(directory)
    try:
        for command in commands:
            lines = terminal.type(command)
        return lines[:-1]  # without the last prompt
    finally:
        terminal.close()


def shape(line):
    return docs.shape(re.sub(r'\.(part|constprop|isra)\.\d+', '', line))


def differences(shown, seen):
    """Lines of the page that are not on the screen, and the other way round."""
    def missing(lines, among):
        shapes, words = {shape(line) for line in among}, f' {shape(" ".join(" ".join(among).split()))} '
        return [line for line in lines if line and shape(line) not in shapes and
                not (docs.SENTENCE.match(line) and f' {shape(line)} ' in words)]
    return [f'not on the screen: {line}' for line in missing(shown, seen)] + [f'not on the page: {line}' for line in missing(seen, shown)]


def without_cost(lines):
    """Without the sentence about what recording has cost, which depends on the machine."""
    begin = next((i for i, line in enumerate(lines) if line.startswith('recording made the program about')), None)
    if begin is None:
        return lines
    end = next((i for i, line in enumerate(lines[begin:], begin) if line.endswith('the cost')), begin)
    return lines[:begin] + lines[end + 1:]


def self_test():
    assert without_cost(['a', 'recording made the program about 2.0 times', 'slower, subtracts the cost', 'b']) == ['a', 'b']
    shown = ['$ penna a', '2 threads lost 9 ms of', 'their 12 ms', '', ' 5 kB  f.part.0 (a.c:1)']
    assert not differences(shown, ['$ penna a', '2 threads lost 800 us of their', '1.2 ms', '', '15 MB  f (a.c:7)'])
    assert differences(shown, shown[:-1]) == ['not on the screen:  5 kB  f.part.0 (a.c:1)']
    assert differences(shown[:-1], shown) == ['not on the page:  5 kB  f.part.0 (a.c:1)']


def main(page, directory, keep=None):
    self_test()
    text, problems = page.read_text(), []
    screens = [match[1].splitlines() for match in SCREEN.finditer(text)]
    if not screens:
        sys.exit(f'{page.name} has no screen')
    for shown in screens:
        commands = [line[2:] for line in shown if line.startswith('$ ')]
        seen = screen_of(commands, directory)
        if seen[0] != f'$ {commands[0]}':
            problems.append(f'{commands[0]}: more than a screen')
        if keep:
            text = text.replace('```screen\n' + '\n'.join(shown) + '\n```', '```screen\n' + '\n'.join(seen) + '\n```')
        else:
            problems += [f'{commands[-1]}: {one}' for one in differences(without_cost(shown), without_cost(seen))]
    if keep:
        page.write_text(text)
    print('\n'.join(problems), file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(pathlib.Path(arguments[0]), arguments[1], *arguments[2:]))
