#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""calls.py AGENT: the ways into functions and out of them leave every register as it was, but for flags and rsp.

Checked of each: no vector, x87 or mask register is changed; what is written was saved below the stack pointer first, within the
128 bytes that signal handlers leave alone, and is loaded again from there before the code leaves; calls go to
penna_point_preserving only, with the registers that it may change pushed before and popped in reverse behind."""
import re
import subprocess
import sys
import tempfile

from matrix import disassemble, expect, finish

VECTOR = re.compile(r'%[xyz]mm|%st|%k[0-7]\b|%mm\d')
WIDE = {'eax': 'rax', 'ecx': 'rcx', 'edx': 'rdx', 'esi': 'rsi', 'edi': 'rdi', 'al': 'rax', 'dl': 'rdx', 'cl': 'rcx'}
SAVED = {'rax': -16, 'rcx': -24, 'rdx': -32, 'rsi': -40, 'rdi': -48}
POPPED = ['0x8(%rsp)', '%r10']  # what a function inside of a function has pushed, and would pop next
READS_ONLY = ('cmp', 'test', 'push', 'call', 'jmp', 'j', 'nop', 'endbr64', 'ret', 'cs', 'notrack', 'ud2', 'int3')


def number(text):
    return int(text, 16) if text not in ('', '-') else 0


def operands_of(text):
    """Split at commas outside of brackets, without comments."""
    return [part.strip() for part in re.split(r',(?![^(]*\))', text.split('#')[0].split('<')[0]) if part.strip()]


def wrong_in(symbol, code):
    """Sentences about what should not be."""
    wrong, saved, pushed = [], set(), []

    def expect(condition, message):
        if not condition:
            wrong.append(message)
    expect(len(code) > 10, f'{symbol} is not there')
    for address, _, mnemonic, text in code:
        where = f'{symbol}: {address:#x} {mnemonic} {text}'
        operands = operands_of(text)
        while mnemonic in ('cs', 'notrack', 'xadd', 'bnd') and operands and ' ' in operands[0]:
            mnemonic, operands[0] = operands[0].rsplit(' ', 1)
        stores = mnemonic == 'movq' and re.fullmatch(r'%xmm\d', operands[0]) and operands[-1].endswith('(%rsp)')
        expect(stores or not VECTOR.search(text), f'{where} touches the vector state')
        below = re.fullmatch(r'(-?0x[0-9a-f]+)?\(%rsp\)', operands[-1]) if operands else None
        if mnemonic == 'mov' and below and operands[0].startswith('%'):
            offset, register = number(below.group(1) or ''), operands[0][1:]
            expect(-128 <= offset <= 8, f'{where} writes outside of the red zone')
            if SAVED.get(register) == offset:
                saved.add(register)
            continue
        if (symbol, mnemonic, operands) == ('__fentry__', 'mov', POPPED):
            continue
        if mnemonic == 'push':
            pushed.append(operands[0][1:])
        if mnemonic == 'pop':
            expect(pushed and pushed.pop() == operands[0][1:], f'{where} is not what was pushed last')
            continue
        if mnemonic == 'call':
            expect('<penna_point_preserving>' in text, f'{where} calls something else')
            expect(pushed == ['r8', 'r9', 'r10', 'r11'], f'{where} with {pushed} pushed')
        writes = set() if mnemonic.startswith(READS_ONLY) or not operands else {operands[-1]}
        if mnemonic == 'rdtsc':
            writes = {'%rax', '%rdx'}
        if mnemonic == 'xadd':
            writes = {operands[0]}
        for written in writes:
            register = WIDE.get(written[1:], written[1:])
            if written.startswith('%') and register != 'rsp':
                expect(register in saved, f'{where} writes {register}, which is not saved')
    expect(not pushed, f'{symbol}: {pushed} stay pushed')
    return wrong


def check_ends(symbol, code):
    """Whatever leaves takes all five registers back, unless nothing was saved on that way."""
    for index, (address, _, mnemonic, text) in enumerate(code):
        leaves = mnemonic == 'ret' or (mnemonic in ('jmp', 'notrack') and '*' in text)
        if not leaves:
            continue
        loaded = {f'%{register}' for _, _, before, words in code[max(0, index - 9):index] for register in SAVED
                  if before == 'mov' and words.split('#')[0].strip() == f'{SAVED[register]:#x}(%rsp),%{register}'}
        jumped_to = any(re.match(f'{address:x} ', line[3]) and line[2].startswith('j') for line in code)
        expect(len(loaded) == 5 or jumped_to, f'{symbol}: {address:#x} {mnemonic} leaves with {sorted(loaded)} taken back')


def self_test():
    """What would be wrong is found."""
    bad = {'vector': 'movaps %xmm0, -24(%rsp)', 'unsaved': 'mov $1, %r9', 'kept': 'mov $1, %rcx', 'far': 'mov %rax, -136(%rsp)',
           'call': 'call other', 'popped': 'push %r8\n pop %r9'}
    for name, line in bad.items():
        with tempfile.TemporaryDirectory() as folder:
            text = '.globl f\n.type f,@function\nf:\n' + 'nop\n' * 12 + line + '\nret\n.size f,.-f\n'
            subprocess.run(['gcc', '-c', '-x', 'assembler', '-', '-o', f'{folder}/f.o'], input=text.encode(), check=True)
            expect(wrong_in('f', disassemble(f'{folder}/f.o', 'f')), f'self-test: {name} was not noticed')


def main():
    self_test()
    for symbol in ('__fentry__', 'mcount', 'penna_return_trampolines'):
        code = disassemble(sys.argv[1], symbol)
        if symbol == 'penna_return_trampolines':  # only where all of them jump to: `call`, `jmp WAY_BACK`
            way_back = int(code[1][3].split()[0], 16)
            code = [line for line in code if line[0] >= way_back]
        for sentence in wrong_in(symbol, code):
            expect(False, sentence)
        check_ends(symbol, code)
    finish()


main()
