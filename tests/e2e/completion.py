#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types into bash, zsh and fish: completion.py SHELL DIRECTORY, with penna in PATH; DIRECTORY contains share/ as
installed.

bash and zsh run in a terminal; penna is a function there that prints its words, so that a completed line shows its
result. fish lists the possible completions of a line.
"""
import os
import pty
import select
import subprocess
import sys
import time

START = {
    'bash': ['bash', '--norc', '--noprofile', '-i'],
    'zsh': ['zsh', '-f', '-i'],
}
PREPARE = {
    'bash': ''' PS1='> '; bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'; bind 'set page-completions off'
 bind 'set completion-query-items 1000'; . /usr/share/bash-completion/bash_completion
 . {share}/bash-completion/completions/penna
 penna() {{ printf '<%s>' "$@"; echo; }}; echo rea''dy
''',
    'zsh': ''' PS1='> '; unsetopt prompt_cr prompt_sp; setopt interactive_comments; LISTMAX=1000
 fpath=({share}/zsh/vendor-completions $fpath); autoload -U compinit; compinit -u -D
 penna() {{ printf '<%s>' "$@"; echo; }}; echo rea''dy
''',
}


class Terminal:
    def __init__(self, shell, share):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM='dumb', COLUMNS='200', LINES='200', HOME=os.getcwd())
            os.execvp(START[shell][0], START[shell])
        self.seen = ''
        self.send(PREPARE[shell].format(share=share))
        self.await_text('\nready')

    def send(self, text):
        self.seen = ''
        os.write(self.fd, text.encode())

    def await_text(self, *texts):
        limit = time.monotonic() + 30
        while not all(text in self.seen for text in texts):
            if not select.select([self.fd], [], [], limit - time.monotonic())[0]:
                sys.exit(f'never saw {texts} in:\n{self.seen}')
            self.seen += os.read(self.fd, 65536).decode(errors='replace').replace('\r', '')

    def becomes(self, line, words, behind=''):
        """TAB behind `line`, in front of `behind`, makes the line these words."""
        self.send(line + behind + '\x02' * len(behind) + '\t\n')
        self.await_text('\n' + ''.join(f'<{word}>' for word in words) + '\n')

    def lists(self, line, words):
        self.send(line + '\t')
        self.await_text(*words)
        self.send('\x15\n')
        self.await_text('> ')


class Fish:
    def __init__(self, share):
        self.script = f'{share}/fish/vendor_completions.d/penna.fish'

    def candidates(self, line):
        done = subprocess.run(['fish', '--no-config', '-c', f'source {self.script}; complete -C "$argv[1]"', line], capture_output=True,
                              text=True, timeout=60, env=dict(os.environ, HOME=os.getcwd()))
        return [each.split('\t')[0] for each in done.stdout.splitlines()]

    def becomes(self, line, words, behind=''):
        """Only this candidate; what fish does with the rest of a line it does not tell."""
        if behind:
            return
        found = self.candidates(line)
        if found != [words[-1]]:
            sys.exit(f'{line}: {found}, not {words[-1]}')

    def lists(self, line, words):
        found = self.candidates(line)
        if missing := [word for word in words if word not in found]:
            sys.exit(f'{line}: {missing} is not among {found}')


def main():
    shell, share = sys.argv[1], sys.argv[2] + '/share'
    typed = Fish(share) if shell == 'fish' else Terminal(shell, share)
    typed.becomes('penna rec', ['record'])
    typed.becomes('penna report --demangle fu', ['report', '--demangle', 'full'])
    typed.becomes('penna report --format=js', ['report', '--format=json'])
    typed.becomes('penna record -k calls,al', ['record', '-k', 'calls,alloc'])
    typed.becomes('penna export perf', ['export', 'perfetto'])
    typed.becomes('penna info oth', ['info', 'other.penna'])
    typed.becomes('penna graph shop::pay_', ['graph', 'shop::pay_all'])
    typed.becomes('penna record -F shop::pay_', ['record', '-F', 'shop::pay_all', '--', './shop'], ' -- ./shop')
    typed.becomes('penna record -q -- ./shop notes', ['record', '-q', '--', './shop', 'notes.txt'])
    typed.lists('penna report --', ['--format', '--where', '--no-suppressions'])
    typed.lists('penna record -k ', ['calls', 'alloc', 'locks', 'points'])
    typed.lists('penna report other.penna l', ['leaks', 'lifetimes', 'locks'])
    print(f'{shell}: PASS')


if __name__ == '__main__':
    main()
