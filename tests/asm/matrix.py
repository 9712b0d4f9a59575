# SPDX-License-Identifier: MIT
"""What the scripts of this folder share: how a program with points is built in every way, and looked into."""
import collections
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
        standard = '-std=c11' if language == 'c' else '-std=c++17'
        run(compiler, standard, *STRICT, f'-I{INCLUDE}', *options, *sources, '-o', path)
        return path

    def build_matrix(self, optimisations=('-O0', '-O2'), links=tuple(LINKS), source=HERE / 'points', options=()):
        """Yields (label, binary, program): the binary that holds the points of source.c or .cc, and what to run."""
        for family, language in COMPILERS:
            for optimisation in optimisations:
                for link in links:
                    label = f'{family} {language} {optimisation} {link}'
                    binary = self.build(family, language, [optimisation, '-g', *LINKS[link], *options],
                                        'libpoints.so' if link == 'shared' else 'program',
                                        [source.with_suffix(f'.{language}')])
                    program = binary
                    if link == 'shared':
                        program = self.path / 'caller'
                        run('gcc', HERE / 'caller.c', '-o', program, f'-L{self.path}', '-lpoints',
                            f'-Wl,-rpath,{self.path}')
                    yield label, binary, program


SITE_BYTES = 40

NOTE = re.compile(r'Provider: (\S+)\s+Name: (\S+)\s+Location: (\S+), Base: (\S+), Semaphore: (\S+)\s+Arguments: ?(.*)')


Note = collections.namedtuple('Note', 'provider name location base semaphore arguments')


def sdt_notes(binary):
    """All notes, as readelf sees them; arguments as a list of words."""
    return [Note(provider, name, int(location, 16), int(base, 16), int(semaphore, 16), arguments.split())
            for provider, name, location, base, semaphore, arguments in NOTE.findall(run('readelf', '-n', binary))]


def sections(binary):
    """{name: (address, offset, size)}"""
    found = {}
    for line in run('readelf', '-SW', binary).splitlines():
        match = re.match(r'\s*\[\s*\d+\]\s+(\S+)\s+(\S+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)', line)
        if match:
            found[match.group(1)] = tuple(int(match.group(i), 16) for i in (3, 4, 5))
    return found


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
