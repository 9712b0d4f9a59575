#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""recorder.py AGENT: the agent's code behind a point touches no vector register and calls nothing outside: the function
that was left for it may keep values there, and makes no provision for a call."""
import re
import sys

from matrix import disassemble, expect, finish

VECTOR = re.compile(r'%[xyz]mm|%st|%k[0-7]\b|%mm\d')
MAY_CALL = {'penna_point_preserving', 'penna_point_values'}


def main():
    for symbol in ('penna_point_reserve_entry', 'penna_point_values_entry', 'penna_point_values'):
        code = disassemble(sys.argv[1], symbol)
        expect(len(code) > 20, f'{symbol} is not there')
        for address, _, mnemonic, operands in code:
            expect(not VECTOR.search(operands), f'{symbol}: {address:#x} {mnemonic} {operands}')
            if mnemonic == 'call' or (mnemonic == 'jmp' and '<' in operands):
                target = operands.split('<')[-1].split('>')[0].split('+')[0]
                expect(target in MAY_CALL | {symbol}, f'{symbol} calls {operands}')
    finish()


main()
