# SPDX-License-Identifier: MIT
"""gdb as a consumer of our points: lists them, breaks on them, and prints arguments of every type with extreme values.
Asked by notes.py of each program that it builds."""
import re

from matrix import environment, expect, run

WANTED = {
    'integers': ['-128', '255', '-32768', '65535', '-2147483648', '4294967295', '-9223372036854775808',
                 '18446744073709551615', '1'],
    'constants': ['-1', '255', '-2', '65535', '-1', '4294967295', '5'],
    'twelve': [str(i) for i in range(1, 13)],
}
# The last one's lowest bit: gdb 16 makes 255 of a negative register that is cast to a byte.
OTHERS = [('(char*)$_probe_arg0', '"hello"'), ('(char*)$_probe_arg1', '"array"'), ('(char*)$_probe_arg2', '"literal"'),
          ('/x $_probe_arg3', '0xbff8000000000000'), ('/x $_probe_arg4', '0x40200000'),
          ('*(int*)$_probe_arg5', '-2147483648'), ('(int)$_probe_arg6', '120'), ('$_probe_arg7 & 1', '1')]


def script():
    lines = ['set pagination off', 'set width 0', 'set breakpoint pending on']
    names = ('integers', 'constants', 'others', 'twelve')
    lines += [f'break -probe-stap values:{name}' for name in names] + ['run']
    for name in names:
        if name == 'others':
            lines += [f'print {expression}' for expression, _ in OTHERS]
        else:
            lines += [f'print $_probe_arg{i}' for i in range(len(WANTED[name]))]
        lines += ['info probes stap values', 'continue'] if name == 'integers' else ['continue']
    return '\n'.join(lines) + '\n'


def check_debugger(space, label, program):
    commands = space.path / 'commands'
    commands.write_text(script())
    wanted = WANTED['integers'] + WANTED['constants'] + [value for _, value in OTHERS] + WANTED['twelve']
    said = run('gdb', '-nx', '-batch', '-x', commands, program, env=environment(DEBUGINFOD_URLS=''))
    values = re.findall(r'^\$\d+ = (?:0x[0-9a-f]+ (?:<\w+> )?)?(\S+)$', said, re.M)
    expect(values == wanted, f'{label}: gdb printed {values}, not {wanted}')
    for name in ('integers', 'constants', 'others', 'twelve'):
        expect(re.search(rf'values\s+{name}\s', said), f'{label}: info probes does not show {name}')
