#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""gdb as a consumer of our points of every kind: it lists them, stops at each, prints every argument, and raises the
semaphore of those that are passed only while somebody listens. (Points that are recorded: tests/asm/debugger.py.)"""
import re

from clients import HERE, PROVIDER, Workspace, environment, expect, finish, run

# In the order of the program, for the smallest and for the greatest values; the text by what is printed of it.
WANTED = [
    ['none'], ['narrow', '-128', '0', '-32768', '0'], ['wide', '-2147483648', '0', '-9223372036854775808', '0'],
    ['others', '""', '13832806255468478464', '3217031168', '-2147483648', '0', '-2147483648'],
    ['twelve', *map(str, range(0, 12))], ['plain', '-128', '0', '""'], ['counted', '-32768'], ['lazy', '-2147483648'],
    ['scope', '0'],
    ['none'], ['narrow', '127', '255', '32767', '65535'],
    ['wide', '2147483647', '4294967295', '9223372036854775807', '18446744073709551615'],
    ['others', '"some text"', '9218868437227405311', '2139095039', '2147483647', '1', '2147483647'],
    ['twelve', *map(str, range(1, 13))], ['plain', '127', '18446744073709551615', '"some text"'], ['counted', '32767'],
    ['lazy', '2147483647'], ['scope', '1'],
]
EXPRESSIONS = {('others', 0): '(char*)$_probe_arg0', ('others', 4): '(int)$_probe_arg4', ('others', 5): '*(int*)$_probe_arg5',
               ('plain', 2): '(char*)$_probe_arg2'}


def script():
    names = [hit[0] for hit in WANTED[:len(WANTED) // 2]]
    lines = ['set pagination off', 'set width 0', 'set breakpoint pending on']
    lines += [f'break -probe-stap {PROVIDER}:{name}' for name in names] + ['run', f'info probes stap {PROVIDER}']
    for name, *values in WANTED:
        lines += [f'echo hit {name}\\n']
        lines += ['print ' + EXPRESSIONS.get((name, i), f'$_probe_arg{i}') for i in range(len(values))] + ['continue']
    return names, '\n'.join(lines) + '\n'


def main():
    names, commands = script()
    with Workspace() as space:
        path = space.path / 'commands'
        path.write_text(commands)
        for optimisations, links in ((['-O2'], ('pie', 'no-pie', 'static', 'shared')), (['-O0'], ('pie',))):
            for label, _, program in space.build_matrix(optimisations, links, HERE / 'values', [f'-DPROVIDER={PROVIDER}']):
                said = run('gdb', '-nx', '-batch', '-x', path, program, env=environment(DEBUGINFOD_URLS=''))
                hits = []
                for hit, value in re.findall(r'^(?:hit (\w+)|\$\d+ = (?:0x[0-9a-f]+ (?:<\S+> )?)?(.*))$', said, re.M):
                    hits.append([hit]) if hit else hits[-1].append(value)
                expect(hits == WANTED, f'{label}: gdb printed {hits}')
                for name in names:
                    expect(re.search(rf'^stap\s+{PROVIDER}\s+{name}\s', said, re.M), f'{label}: info probes misses {name}')
    finish()


main()
