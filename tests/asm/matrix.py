# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: how a program with points is built in every way, and looked into."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
STRICT = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Wno-sign-conversion', '-Wpedantic', '-Werror']
COMPILERS = {('gcc', 'c'): 'gcc', ('gcc', 'cc'): 'g++', ('clang', 'c'): 'clang', ('clang', 'cc'): 'clang++'}
LINKS = {'pie': ['-fPIE', '-pie'], 'no-pie': ['-fno-pie', '-no-pie'], 'static': ['-static'],
         'shared': ['-fPIC', '-shared', '-DLIBRARY']}

failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print(f'FAIL: {message}')


def finish():
    """Ends the script: with status 1 when anything failed."""
    sys.exit(1 if failures else 0)


def run(*command, **options):
    """Its standard output; a command that fails ends the script with what it said."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f'FAIL: {" ".join(map(str, command))}\n{done.stdout}{done.stderr}')
    return done.stdout


class Workspace:
    """A directory of its own, removed at the end."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix='penna-asm-'))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def build(self, family, language, options, output='program', sources=None):
        """Compiles points.c or points.cc, without a warning, into `output`."""
        compiler = COMPILERS[family, language]
        path = self.path / output
        sources = sources or [HERE / f'points.{language}']
        standard = '-std=c11' if language == 'c' else '-std=c++20'
        run(compiler, standard, *STRICT, f'-I{INCLUDE}', *options, *sources, '-o', path)
        return path

    def build_matrix(self, optimisations=('-O0', '-O2'), links=tuple(LINKS)):
        """Yields (label, binary, program): the binary that holds the points, and what to run."""
        for family, language in COMPILERS:
            for optimisation in optimisations:
                for link in links:
                    label = f'{family} {language} {optimisation} {link}'
                    binary = self.build(family, language, [optimisation, '-g', *LINKS[link]],
                                        'libpoints.so' if link == 'shared' else 'program')
                    program = binary
                    if link == 'shared':
                        program = self.path / 'caller'
                        run('gcc', HERE / 'caller.c', '-o', program, f'-L{self.path}', '-lpoints',
                            f'-Wl,-rpath,{self.path}')
                    yield label, binary, program


NOTE = re.compile(r'Provider: (\S+)\s+Name: (\S+)\s+Location: (\S+), Base: (\S+), Semaphore: (\S+)\s+Arguments: ?(.*)')


def sdt_notes(binary):
    """[(provider, name, location, base, [arguments])] as readelf sees them."""
    notes = []
    for provider, name, location, base, _, arguments in NOTE.findall(run('readelf', '-n', binary)):
        notes.append((provider, name, int(location, 16), int(base, 16), arguments.split()))
    return notes


def disassemble(binary, symbol):
    """[(address, bytes, mnemonic, operands)] of a function."""
    text = run('objdump', '-d', '--insn-width=16', f'--disassemble={symbol}', binary)
    found = []
    for line in text.splitlines():
        match = re.match(r'\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(.*)', line)
        if match:
            words = match.group(3).split('#')[0].split(None, 1)
            code = bytes.fromhex(match.group(2).replace(' ', ''))
            found.append((int(match.group(1), 16), code, words[0], words[1].strip() if len(words) > 1 else ''))
    return found


def environment(**more):
    return {**os.environ, 'LC_ALL': 'C', **more}
