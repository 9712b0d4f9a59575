#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""PENNA_SDT and folly's names for it, built in every way that users build: the notes and their semaphores, as readelf, gdb
and another process see them. What folly's own tests ask for, and what they do not: signs, strings, linkers, strip."""
import re
import shutil
import subprocess

from matrix import COMPILERS, HERE, Workspace, environment, expect, finish, run, sdt_notes, sections

C_WAYS = {
    'O0': ['-O0'], 'O3': ['-O3'], 'lto': ['-O2', '-flto'], 'static, gc': ['-O1', '-static', '-ffunction-sections',
                                                                         '-Wl,--gc-sections'],
}
CXX_WAYS = C_WAYS | {
    'no pie': ['-O2', '-fno-pie', '-no-pie'], 'pic': ['-O2', '-fPIC'], 'lto, gc': ['-O2', '-flto', '-Wl,--gc-sections'],
    'gold, gc': ['-O2', '-fuse-ld=gold', '-ffunction-sections', '-Wl,--gc-sections'],
    'lld, gc': ['-O2', '-fuse-ld=lld', '-ffunction-sections', '-Wl,--gc-sections'],
    'operands in memory': ['-O2', '-DFOLLY_SDT_ARG_CONSTRAINT="nor"'],
}
SIZES = {
    'empty': [], 'array': [8, 8], 'pointers': [8, 8, 8, None], 'whole': [24, -4], 'once': [-4], 'branch_then': [-4],
    'branch_else': [-4], 'inlined': [-4], 'guarded': [-4], '1000': [-4],
    # In C, a character constant and a comparison are int.
    'mixed': [-4, 4, -1, 1, -2, -8, 4, 8, -4, -4, None, None],
}
CXX_SIZES = {'in_template': [[-4], [8]], 'in_lambda': [[-4, 8], [8, 8]], 'in_inline': [[1]]}


def sizes_of(note):
    return [int(argument.split('@')[0]) for argument in note.arguments]


def matches(sizes, wanted):
    return len(sizes) == len(wanted) and all(w in (None, s) for w, s in zip(wanted, sizes))


def check_notes(label, language, binary):
    notes = [note for note in sdt_notes(binary) if note.provider in ('sdt', '7')]
    wanted = {name: [sizes] for name, sizes in SIZES.items()} | (CXX_SIZES if language == 'cc' else {})
    for name, all_sizes in wanted.items():
        found = [sizes_of(note) for note in notes if note.name == name]
        expect(found, f'{label}: no note for {name}')
        expect(all(any(matches(sizes, w) for w in all_sizes) for sizes in found), f'{label}: {name} has sizes {found}')
        expect(all(any(matches(sizes, w) for sizes in found) for w in all_sizes), f'{label}: {name} has only {found}')
    base = sections(binary)['.stapsdt.base'][0]
    expect(all(note.base == base != 0 for note in notes), f'{label}: a base that is not {base:#x}')
    semaphores = {note.name: note.semaphore for note in notes if note.semaphore != 0}
    expect(set(semaphores) == {'guarded'}, f'{label}: semaphores {semaphores}')
    return semaphores.get('guarded', 0)


def poke(pid, address, value):
    with open(f'/proc/{pid}/mem', 'r+b', buffering=0) as memory:
        memory.seek(address)
        memory.write(value.to_bytes(2, 'little'))


def check_semaphore(label, program, noted):
    """Another process raises it, as tools do; the program must see it, and it must lie where the note says."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        expect(process.stdout.readline() == 'evaluated 1\n', f'{label}: an argument was not evaluated once')

        def ask():
            process.stdin.write('?')
            process.stdin.flush()
            return process.stdout.readline().strip()

        at, marker = (int(word, 16) for word in
                    re.match(r'semaphore (\S+) marker (\S+)', process.stdout.readline()).groups())
        bias = marker - int(re.search(r'^([0-9a-f]+) [bBV] marker(\.lto_priv\S*)?$', run('nm', program), re.M).group(1), 16)
        expect(noted + bias == at, f'{label}: the note says {noted + bias:#x}, the semaphore is at {at:#x}')
        answers = [ask()]
        for value in (1, 3, 0):
            poke(process.pid, at, value)
            answers.append(ask())
        expect(answers == ['off', 'on', 'on', 'off'], f'{label}: semaphore {answers}')
        process.stdin.close()


def build(space, family, language, options, output='program'):
    source = HERE / f'sdt.{language}'
    compiling = [o for o in options if not o.startswith(('-Wl,', '-fuse-ld', '-static', '-no-pie', '-T'))]
    parts = [space.build(family, language, [*compiling, '-c', define], f'{define}.o', [source])
             for define in ('-DUNIT_ONE', '-DUNIT_TWO')]
    return space.build(family, language, [*options, '-Wl,--fatal-warnings'], output, parts)


def check_builds(space):
    for family, language in COMPILERS:
        for way, options in (CXX_WAYS if language == 'cc' else C_WAYS).items():
            label = f'{family} {language} {way}'
            program = build(space, family, language, options)
            check_semaphore(label, program, check_notes(label, language, program))


def check_strip_and_script(space):
    """A linker script that names none of our sections, and strip: nothing is lost."""
    script = space.path / 'script.ld'
    script.write_text(run('ld', '--verbose').split('=' * 50)[1])
    program = build(space, 'gcc', 'cc', ['-O2', '-no-pie', '-fno-pie', '-ffunction-sections', '-Wl,--gc-sections',
                                         f'-Wl,-T,{script}'])
    check_semaphore('linker script', program, check_notes('linker script', 'cc', program))
    before = sdt_notes(program)
    shutil.copy(program, space.path / 'stripped')
    run('strip', space.path / 'stripped')
    expect(sdt_notes(space.path / 'stripped') == before, 'strip changes the notes')


def check_gdb(space):
    """gdb raises the semaphore by itself, so the guarded probe is passed."""
    program = build(space, 'gcc', 'cc', ['-O2'])
    (space.path / 'input').write_text('A')
    commands = ['set pagination off', 'set breakpoint pending on', 'break -probe-stap sdt:mixed',
                'break -probe-stap sdt:guarded', f'run < {space.path}/input > /dev/null']
    commands += [f'print $_probe_arg{i}' for i in range(10)] + ['continue', 'print $_probe_arg0', 'continue']
    (space.path / 'commands').write_text('\n'.join(commands) + '\n')
    said = run('gdb', '-nx', '-batch', '-x', space.path / 'commands', program, env=environment(DEBUGINFOD_URLS=''))
    values = re.findall(r'^\$\d+ = (\S+)', said, re.M)
    wanted = ['1', '4294967295', '99', '255', '1', '-1', str(0x3fc00000), str(0xc004000000000000), '2', '-3', str(ord('A'))]
    expect(values == wanted, f'gdb printed {values}, not {wanted}')


def check_off(space):
    """Without points: the arguments are still evaluated, and nothing is left in the binary."""
    for family, language in COMPILERS:
        for option in ('-DPENNA_DISABLE_POINTS', '-DFOLLY_DISABLE_SDT'):
            program = build(space, family, language, ['-O2', option])
            said = run(program, input='??')
            expect(said == 'evaluated 1\noff\noff\n', f'{family} {language} {option}: said {said!r}')
            left = {'.note.stapsdt', '.stapsdt.base', '.probes', 'penna_sites'} & set(sections(program))
            expect(not left and not [n for n in sdt_notes(program) if n.provider == 'sdt'], f'{option}: {left} is left')


def main():
    with Workspace() as space:
        check_builds(space)
        check_strip_and_script(space)
        check_gdb(space)
        check_off(space)
    finish()


main()
