#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The SDT notes, as readelf shows them, in every kind of build: names, sizes and signs, and only operands that gdb, perf
and bpftrace understand; the site table that the agent reads; and what gdb makes of them (debugger.py)."""
import re
import struct

from debugger import check_debugger
from matrix import SITE_BYTES, Workspace, expect, finish, run, sdt_notes, sections

SIZES = {
    ('values', 'integers'): [-1, 1, -2, 2, -4, 4, -8, 8, -4],
    ('values', 'constants'): [-1, 1, -2, 4, -4, 4, -4],
    ('values', 'others'): [8, 8, 8, 8, 4, 8, None, None],  # in C 'x' and a comparison are int
    ('values', 'twelve'): [-4] * 12,
    ('shape', 'none'): [],
    ('shape', 'two'): [-4, -8],
    ('shape', 'span'): [-8],
    ('shape', 'lazy'): [-8],
}
EVENT, SPAN, SPAN_END, TRIGGER = 1, 2, 3, 4
KINDS = {'span': SPAN, 'trigger': TRIGGER}
OPERAND = re.compile(r'(-?[1248])@(?:%r[a-z0-9]+|\$-?\d+)$')


def check_notes(label, binary):
    notes = sdt_notes(binary)
    for key, sizes in SIZES.items():
        found = [note for note in notes if note[:2] == key]
        expect(found, f'{label}: no note for {key}')
        for note in found:
            parsed = [OPERAND.match(argument) for argument in note.arguments]
            expect(all(parsed), f'{label}: {key} has operands that tools cannot read: {note.arguments}')
            if all(parsed):
                got = [int(match.group(1)) for match in parsed]
                expect(len(got) == len(sizes) and all(w in (None, g) for w, g in zip(sizes, got)),
                       f'{label}: {key} has sizes {got}, not {sizes}')
    base = sections(binary)['.stapsdt.base'][0]
    for note in notes:
        if note.provider in ('shape', 'values'):
            expect(note.base == base != 0, f'{label}: {note.name} has base {note.base:#x}, not {base:#x}')
    return notes


def check_sites(label, binary, notes):
    """Every record's slot is in the code, and a probe's nop not far behind; the texts are where the record says."""
    table = sections(binary)
    address, offset, size = table['penna_sites']
    image = binary.read_bytes()
    text_address, text_offset, text_size = table['.text']
    probes = sorted(note.location for note in notes)
    reach = 4000 if '-O0' in label else 400  # unoptimised, the cold block stands in between
    expect(size % SITE_BYTES == 0 and size // SITE_BYTES >= len(SIZES), f'{label}: {size} bytes of sites')
    for at in range(0, size, SITE_BYTES):
        slot, cold, text, _, layout, line, number, count, kind, length, _ = struct.unpack_from(
            '<5iIIBBHQ', image, offset + at)
        strings = image[file_offset(table, text + address + at + 8):][:length].split(b'\0')
        name = strings[1].decode()
        written = strings[-2].startswith(b'\1')  # provider, name and arguments once more, as they stand in the source
        expect(strings[0] in (b'shape', b'values') and len(strings) - 4 - written == count and (written or kind == TRIGGER)
               or kind == SPAN_END, f'{label}: strings {strings}')
        expect(kind == KINDS.get(name, EVENT) or (name == 'span' and kind == SPAN_END), f'{label}: {name} is of kind {kind}')
        expect(line > 0 and layout == 0 and number == 0xffffffff, f'{label}: line {line}, layout {layout}, number {number}')
        if kind == SPAN_END and slot == 0:
            continue  # in C, it has no code of its own
        slot += address + at
        cold += address + at + 4
        code = image[slot - text_address + text_offset:][:5]
        expect(code == b'\xa9' + struct.pack('<i', cold - slot - 5), f'{label}: no slot at {slot:#x}: {code.hex()}')
        expect(text_address <= cold < text_address + text_size, f'{label}: cold block at {cold:#x}')
        if kind in (EVENT, SPAN) and name != 'lazy':
            expect(any(slot + 5 <= probe <= slot + reach for probe in probes), f'{label}: no probe behind {slot:#x}')


def file_offset(table, address):
    for start, offset, size in table.values():
        if start != 0 and start <= address < start + size:
            return address - start + offset
    return 0


def main():
    with Workspace() as space:
        for label, binary, program in space.build_matrix():
            run(program)
            check_sites(label, binary, check_notes(label, binary))
            relocated = run('readelf', '-rW', binary)
            expect('penna_sites' not in relocated, f'{label}: the site table needs relocations')
            check_debugger(space, label, program)
    finish()


main()
