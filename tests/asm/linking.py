#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Points in two translation units, linked in every way that users link: they link without a warning, run without an agent,
and the table has every site that was kept and none that was not."""
import re
import struct

from matrix import HERE, SITE_BYTES, Workspace, expect, finish, run, sdt_notes

KEPT = {'in_inline', 'in_lambda', 'in_template', 'in_main'}
WAYS = {
    'plain': [],
    'no optimisation': ['-O0'],
    'link-time optimisation': ['-flto'],
    'gc-sections': ['-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections'],
    'gc-sections, start-stop-gc': ['-ffunction-sections', '-Wl,--gc-sections', '-Wl,-z,start-stop-gc'],
    'gc-sections, lto': ['-ffunction-sections', '-Wl,--gc-sections', '-flto'],
    'gold, gc-sections': ['-fuse-ld=gold', '-ffunction-sections', '-Wl,--gc-sections'],
    'lld, gc-sections': ['-fuse-ld=lld', '-ffunction-sections', '-Wl,--gc-sections'],
    'static': ['-static'],
    'static pie': ['-static-pie'],
    'no pie': ['-fno-pie', '-no-pie'],
    'control-flow protection': ['-fcf-protection=full'],
    'stack protector': ['-fstack-protector-all'],
    'no red zone': ['-mno-red-zone'],
    'address sanitizer': ['-fsanitize=address'],
    'thread sanitizer': ['-fsanitize=thread'],
    'undefined sanitizer': ['-fsanitize=undefined'],
    'instrumented functions': ['-finstrument-functions'],
    'nop10': ['-DPENNA_POINT_NOP10'],
}
DROPS_UNCALLED = {'gc-sections, start-stop-gc', 'lld, gc-sections'}


def site_names(binary):
    """The names in the site table, one for each copy."""
    image = binary.read_bytes()
    table = re.search(r'penna_sites\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)', run('readelf', '-SW', binary))
    address, offset, size = (int(word, 16) for word in table.groups())
    segments = [tuple(int(word, 16) for word in match) for match in re.findall(
        r'LOAD\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)', run('readelf', '-lW', binary))]
    names = []
    for at in range(0, size, SITE_BYTES):
        text, = struct.unpack_from('<i', image, offset + at + 8)
        text += address + at + 8
        start = next(o + text - a for o, a, s in segments if a <= text < a + s)
        names.append(image[start:start + 200].split(b'\0')[1].decode())
    return names


def check(label, way, binary):
    run(binary)
    notes = [note for note in sdt_notes(binary) if note.provider == 'link']
    for what, names in (('sites', site_names(binary)), ('notes', [note.name for note in notes])):
        expect(KEPT <= set(names), f'{label}: {what} miss {KEPT - set(names)}')
        expect(set(names) <= KEPT | {'never_called'}, f'{label}: {what} have {set(names) - KEPT}')
        if way in DROPS_UNCALLED:
            expect('never_called' not in names, f'{label}: {what} of a function that was dropped')
    expect(all(note.base != 0 for note in notes), f'{label}: .stapsdt.base was dropped')
    expect(len(re.findall(r'Penna\s+0x00000010', run('readelf', '-n', binary))) == 1, f'{label}: not one module note')


def check_control(space, family):
    """penna/control.h in two units, neither of which uses it."""
    for optimisation in ('-O0', '-O2'):
        for code, link in ((['-fno-pie'], ['-no-pie']), (['-fPIE'], ['-pie'])):
            parts = [space.build(family, 'cc', [optimisation, *code, define, '-c'], f'{define}.o', [HERE / 'control_unit.cc'])
                     for define in ('-DUNIT_ONE', '-DUNIT_TWO')]
            run(space.build(family, 'cc', [optimisation, *link, '-Wl,--fatal-warnings'], 'program', parts))


def main():
    source = HERE / 'other_unit.cc'
    with Workspace() as space:
        for family in ('gcc', 'clang'):
            check_control(space, family)
            for way, options in WAYS.items():
                parts = []
                for define in ('-DUNIT_ONE', '-DUNIT_TWO'):
                    compiling = [o for o in options if not o.startswith(('-Wl,', '-fuse-ld', '-static', '-no-pie'))]
                    parts.append(space.build(family, 'cc', ['-O2', *compiling, define, '-c'], f'{define}.o', [source]))
                binary = space.build(family, 'cc', ['-O2', *options, '-Wl,--fatal-warnings'], 'program', parts)
                check(f'{family} {way}', way, binary)
    finish()


main()
