#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""traps.py PENNA: what penna lint says of traps in SDT notes is true: a program for each trap, shown to gdb, bpftrace and
perf. Each tool that lint names does not get the values, and each that it does not name gets them."""
import json
import re
import subprocess
import sys

from clients import HERE, PROVIDER, Perf, Workspace, as_root, environment, expect, finish, need_uprobes, run

PENNA = sys.argv[1]
PROGRAM = '''
#include "sdt_note.inc"
.text
.globl main
main:
movl $3, %ebx
again:
movl $11, %edi
movl $22, %esi
movl $33, %edx
leaq numbers(%rip), %rcx
movl $2, %r8d
movl $0x55, %r9d
movl $0x4466, %eax
PROBES
decl %ebx
jnz again
xorl %eax, %eax
ret
BASE
.data
value: .8byte 77
numbers: .4byte 0, 1, 2, 3
.section .note.GNU-stack,"",@progbits
'''
# (name, an argument between two good ones, its value, lint's word for it)
OPERANDS = [
    ('low', '1@%al', 0x66, None), ('half', '2@%r9w', 0x55, None), ('memory', '-4@12(%rcx)', 3, None), ('sil', '1@%sil', 22, None),
    ('float', '8f@%xmm0', None, 'float-marker'), ('far', '-8@value(%rip)', 77, 'symbol-operand'),
    ('address', '8@$value', None, 'symbol-operand'), ('byte', '1@%r9b', 0x55, 'byte-register'),
    ('high', '1@%ah', 0x44, 'high-byte-register'), ('sum', '-4@(%rcx,%r8,4)', 2, 'index-operand'),
    ('wide', '16@%rdx', 33, 'argument-size'), ('absolute', '8@4096', None, 'unknown-operand'),
]


class Case:
    """A program with the given probes; what each tool reads of the first hit of one of them, [] when it cannot."""

    def __init__(self, space, name, *probes, without=None):
        self.name, self.space = name, space
        self.path = space.path / f'program_{name}'
        source = space.path / f'{name}.S'
        source.write_text(PROGRAM.replace('PROBES', '\n'.join(probes)))
        run('gcc', '-no-pie', f'-DPROVIDER_TEXT="{PROVIDER}"', f'-I{HERE.parent / "programs"}', source, '-o', self.path)
        if without:
            run('objcopy', '-R', without, self.path)

    def lint(self):
        """{trap: {tool: what happens}}"""
        done = subprocess.run([PENNA, 'lint', '--json', self.path], capture_output=True, text=True)
        return {found['trap']: found['breaks'] for found in json.loads(done.stdout)['findings']}

    def gdb(self, probe):
        commands = [f'break -probe-stap {PROVIDER}:{probe}', 'run', *[f'print $_probe_arg{i}' for i in range(3)]]
        said = subprocess.run(['gdb', '-nx', '-batch', *[word for line in commands for word in ('-ex', line)], self.path],
                              capture_output=True, text=True, env=environment(DEBUGINFOD_URLS=''), stdin=subprocess.DEVNULL)
        return [int(number) for number in re.findall(r'^\$\d+ = (-?\d+)', said.stdout, re.M)]

    def bpftrace(self, probe):
        script = f'usdt:{self.path}:{PROVIDER}:{probe} {{ printf("got %d %d %d\\n", arg0, arg1, arg2); }}'
        said = subprocess.run(as_root('bpftrace', '-q', '-e', script, '-c', self.path), capture_output=True, text=True).stdout
        hits = [list(map(int, numbers)) for numbers in re.findall(r'^got (-?\d+) (-?\d+) (-?\d+)$', said, re.M)]
        return hits[0] if len(hits) == 3 else []

    def perf(self, probe):
        perf = Perf(self.space)
        with perf.probes(self.path, [probe]) as definitions:
            try:
                hits = perf.hits(self.path) if definitions else []
            except SystemExit:  # perf refuses to record it
                hits = []
        return [int(hits[0][1].get(f'arg{i + 1}', 0)) for i in range(3)] if len(hits) == 3 else []

    def read_all(self, probe):
        return {'gdb': self.gdb(probe), 'bpftrace': self.bpftrace(probe), 'perf': self.perf(probe)}


def operands(space):
    for name, operand, value, trap in OPERANDS:
        case = Case(space, name, f'PROBE {name}, 0, "-4@%edi {operand} -4@%esi"')
        breaks = case.lint()
        expect(list(breaks) == ([trap] if trap else []), f'{operand}: penna lint finds {list(breaks)}, not {trap}')
        for tool, values in case.read_all(name).items():
            reads = values == [11, value, 22]
            named = tool in breaks.get(trap, {})
            expect(reads != named, f'{operand}: {tool} reads {values}; penna lint says {breaks.get(trap, {}).get(tool)}')


def whole_files(space):
    """Traps that break more than their own probe, or that are in no operand."""
    good = 'PROBE good, 0, "-4@%edi 8@%rdx -4@%esi"'
    right = [11, 33, 22]
    clean = Case(space, 'clean', good)
    expect(not clean.lint(), f'penna lint finds {clean.lint()} in a clean program')
    expect(all(values == right for values in clean.read_all('good').values()), f'clean: {clean.read_all("good")}')

    large = Case(space, 'large', good, 'PROBE large, 0, "16@%rdx"')
    read = large.read_all('good')
    expect('every event of the file' in large.lint()['argument-size']['perf'] and read['perf'] == [],
           f'beside an argument of 16 bytes: {read}')
    expect(read['gdb'] == read['bpftrace'] == right, f'beside an argument of 16 bytes: {read}')

    bare = Case(space, 'bare', good, without='.stapsdt.base')
    read = bare.read_all('good')
    expect(set(bare.lint()['discarded-base']) == {tool for tool, values in read.items() if values != right},
           f'without .stapsdt.base: {read}, penna lint says {bare.lint()}')

    moved = Case(space, 'moved', good, '1: nop', 'NOTE 1b, 0, moved, 0, "-4@%edi 8@%rdx -4@%esi"')
    read = moved.read_all('moved')
    expect('wrong-base' in moved.lint() and read['gdb'] != right and read['perf'] != right, f'base of 0: {read}')

    twice = Case(space, 'twice', good, 'NOTE .Lprobe_good, _.stapsdt.base, good, 0, "-4@%edi 8@%rdx -4@%esi"')
    read = twice.read_all('good')
    expect('duplicate-site' in twice.lint() and read['perf'] == [] and read['bpftrace'] == right, f'two notes: {read}')

    nowhere = Case(space, 'nowhere', good, 'NOTE 0, _.stapsdt.base, gone, 0, "-4@%edi 8@%rdx -4@%esi"')
    read = nowhere.read_all('gone')
    expect('outside-code' in nowhere.lint() and right not in read.values(), f'a note of nowhere: {read}')


def semaphores(space):
    """A program that tests a semaphore which its note does not name, or which cannot be written, never passes the probe."""
    test = 'cmpw $0, {0}(%rip)\nje 1f\nPROBE tested, {1}, "-4@%edi 8@%rdx -4@%esi"\n1:'
    data = '.pushsection {0}\n.globl {1}\n{1}: .2byte 0\n.popsection'
    name = f'{PROVIDER}_tested_semaphore'
    probes = '.probes, "aw", @progbits'
    for label, section, noted, trap in (('named', probes, name, None), ('forgotten', probes, '0', 'missing-semaphore'),
                                        ('fixed', '.rodata', name, 'unwritable-semaphore'),
                                        ('elsewhere', '.data', name, 'misplaced-semaphore')):
        case = Case(space, label, data.format(section, name), test.format(name, noted))
        breaks = case.lint()
        expect(list(breaks) == ([trap] if trap else []), f'{label}: penna lint finds {breaks}, not {trap}')
        read = case.read_all('tested')
        blind = [tool for tool, values in read.items() if values != [11, 33, 22]]
        expect(blind == ([] if not trap else ['bpftrace', 'perf'] if noted != '0' else ['gdb', 'bpftrace', 'perf']),
               f'{label}: {read}')


def main():
    need_uprobes()
    with Workspace() as space:
        operands(space)
        whole_files(space)
        semaphores(space)
    finish()


main()
