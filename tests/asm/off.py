#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Where points are not supported everything compiles without a warning, nothing is left in the binary, and arguments are
evaluated as the headers say. Beside it the same program with points, so that the expectations mean something."""
from matrix import COMPILERS, HERE, Workspace, expect, finish, run, sections, sdt_notes

OFF = '''event 1 span 1 sdt 1 lazy 0 trigger 0 called 0
enabled 0 0 on 0 listed 0 0 disabled 0
have 0 semaphores 0
'''
OURS = {'.note.penna', '.note.stapsdt', '.stapsdt.base', '.probes', 'penna_sites'}


def main():
    with Workspace() as space:
        for family, language in COMPILERS:
            for optimisation in ('-O0', '-O2'):
                label = f'{family} {language} {optimisation}'
                program = space.build(family, language, [optimisation, '-DPENNA_DISABLE_POINTS'],
                                      sources=[HERE / f'off.{language}'])
                said = run(program)
                expect(said == OFF, f'{label}: said {said!r}')
                left = OURS & set(sections(program))
                expect(not left and not [n for n in sdt_notes(program) if n.provider == 'off'], f'{label}: {left} is left')
                program = space.build(family, language, [optimisation], sources=[HERE / f'off.{language}'])
                said = run(program)
                expect('have 1' in said and 'enabled 0' not in said, f'{label}: with points, said {said!r}')
                expect(OURS <= set(sections(program)), f'{label}: with points, there is only {set(sections(program))}')
    finish()


main()
