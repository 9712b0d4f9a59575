#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A disabled point is a slot (a test whose result nobody looks at) and a nop. Each function of points.h is compared with its
reference, in which the point is a nop that names the same operands (all that an SDT note asks for): apart from slots and nops the
same instructions must remain. A lazy point is a slot and a test of its semaphore; a trigger is a slot. The end of a span in C tests
a variable that is 0 while the point is off. Optimisers see that; gcc 14 -Os does not, and clears it (xor, jmp) and tests it (test,
je)."""
from collections import Counter

from matrix import COMPILERS, Workspace, disassemble, expect, finish

FUNCTIONS = ('none', 'two', 'three_live', 'vectors', 'loop', 'red_zone', 'constant', 'span', 'lazy', 'trigger')


def reachable(code, function):
    """The instructions that a disabled point leaves reachable: nothing jumps to a cold block but the armed slot, or what looks at
    the variable of a span, the only one that shape_span tests."""
    at = {line[0]: index for index, line in enumerate(code)}
    seen, work = set(), [0]
    while work:
        index = work.pop()
        if index in seen or index >= len(code):
            continue
        seen.add(index)
        mnemonic, operands = code[index][2], code[index][3]
        by_semaphore = mnemonic == 'jne' and code[index - 1][2] == 'cmpw'
        of_span = function == 'span' and code[index - 1][2] == 'test'
        by_span = of_span and mnemonic == 'jne'
        if mnemonic.startswith('j') and not by_semaphore and not by_span:
            target = operands.split()[0]
            if not target.startswith('*') and int(target, 16) in at:
                work.append(at[int(target, 16)])
        if not mnemonic.startswith(('ret', 'jmp', 'ud2')) and not (of_span and mnemonic == 'je'):
            work.append(index + 1)
    return [code[index] for index in sorted(seen)]


def is_slot(code):
    return code[0] == 0xa9 and len(code) == 5  # test $distance, %eax


def is_nop(mnemonic, operands):
    return any(word.startswith('nop') for word in (mnemonic, *operands.split())) or (mnemonic, operands) == ('xchg', '%ax,%ax')


def working(code, function):
    return [line[2] for line in reachable(code, function) if not is_slot(line[1]) and not is_nop(line[2], line[3])]


def slack(family, optimisation, function):
    """How many instructions the compiler may choose differently. gcc -Os leaves the cold block in line, and jumps over it;
    clang makes `lea` an `add` and a `mov` when the operand has a use in the cold block, too."""
    return int(family == 'clang' or optimisation == '-Os') + (function in ('loop', 'span'))


def check_slot(label, code):
    expect(any(is_slot(line[1]) for line in code), f'{label}: no slot')
    if not label.endswith('trigger'):
        expect(any(line[1] == b'\x90' for line in code), f'{label}: no probe nop')


def check_hot_path(label, function, with_point, reference, allowed):
    mine = working(with_point, function)
    theirs = working(reference, function)
    if function == 'lazy':  # its price: the semaphore is looked at
        expect('cmpw jne' in ' '.join(mine), f'{label}: no test of the semaphore: {mine}')
        mine = [mnemonic for mnemonic in mine if mnemonic not in ('cmpw', 'jne')]
    if function == 'span' and 'test' in mine:  # its variable is kept
        allowed += 2
    extra = len(mine) - len(theirs)
    expect(extra <= allowed, f'{label}: {extra} instructions more than the reference: {mine} against {theirs}')
    saved = {'push', 'pop', 'call', 'sub', 'idiv'} & set(Counter(mine) - Counter(theirs))
    expect(not saved, f'{label}: the point costs {sorted(saved)}')
    nops = sum(is_slot(line[1]) or is_nop(line[2], line[3]) for line in reachable(with_point, function))
    # The slot and the probe; loops are aligned by the compiler, too; spans have two slots.
    expect(nops <= 2 + 2 * (function == 'loop') + (function == 'span'), f'{label}: {nops} nops')


def main():
    with Workspace() as space:
        for family, language in COMPILERS:
            for optimisation in ('-O2', '-Os', '-O3'):
                options = [optimisation, '-c', '-fno-unroll-loops', '-DLIBRARY']
                with_points = space.build(family, language, options, 'with.o')
                reference = space.build(family, language, options + ['-DREFERENCE'], 'reference.o')
                for function in FUNCTIONS:
                    label = ' '.join((family, language, optimisation, f'shape_{function}'))
                    code = disassemble(with_points, f'shape_{function}')
                    check_slot(label, code)
                    check_hot_path(label, function, code, disassemble(reference, f'shape_{function}'),
                                   slack(family, optimisation, function))
    finish()


main()
