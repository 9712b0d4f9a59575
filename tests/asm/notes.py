#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The SDT notes, as readelf shows them, in every kind of build: names, sizes and signs, and only operands that gdb, perf
and bpftrace understand; and the site table that the agent reads."""
import re
import struct

from matrix import Workspace, expect, finish, run, sdt_notes

SIZES = {
    ('values', 'integers'): [-1, 1, -2, 2, -4, 4, -8, 8, -4],
    ('values', 'constants'): [-1, 1, -2, 4, -4, 4, -4],
    ('values', 'others'): [8, 8, 8, 8, 4, 8, None, None],  # in C 'x' and a comparison are int
    ('values', 'twelve'): [-4] * 12,
    ('shape', 'none'): [],
    ('shape', 'two'): [-4, -8],
}
OPERAND = re.compile(r'(-?[1248])@(?:%r[a-z0-9]+|\$-?\d+)$')


def sections(binary):
    found = {}
    for line in run('readelf', '-SW', binary).splitlines():
        match = re.match(r'\s*\[\s*\d+\]\s+(\S+)\s+(\S+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)', line)
        if match:
            found[match.group(1)] = tuple(int(match.group(i), 16) for i in (3, 4, 5))  # address, offset, size
    return found


def check_notes(label, binary):
    notes = sdt_notes(binary)
    for key, sizes in SIZES.items():
        found = [note for note in notes if note[:2] == key]
        expect(found, f'{label}: no note for {key}')
        for *_, arguments in found:
            parsed = [OPERAND.match(argument) for argument in arguments]
            expect(all(parsed), f'{label}: {key} has operands that tools cannot read: {arguments}')
            if all(parsed):
                got = [int(match.group(1)) for match in parsed]
                expect(len(got) == len(sizes) and all(w in (None, g) for w, g in zip(sizes, got)),
                       f'{label}: {key} has sizes {got}, not {sizes}')
    base = sections(binary)['.stapsdt.base'][0]
    for provider, name, location, note_base, _ in notes:
        if provider in ('shape', 'values'):
            expect(note_base == base != 0, f'{label}: {name} has base {note_base:#x}, not {base:#x}')
    return notes


def check_sites(label, binary, notes):
    """Every record's slot is in the code, and a probe's nop not far behind; the texts are where the record says."""
    table = sections(binary)
    address, offset, size = table['penna_sites']
    image = binary.read_bytes()
    text_address, text_offset, text_size = table['.text']
    probes = sorted(note[2] for note in notes)
    reach = 4000 if '-O0' in label else 400  # unoptimised, the cold block stands in between
    expect(size % 32 == 0 and size // 32 >= len(SIZES), f'{label}: {size} bytes of sites')
    for at in range(0, size, 32):
        slot, cold, text, _, line, count, kind, length, _ = struct.unpack_from('<4iIBBHQ', image, offset + at)
        slot += address + at
        cold += address + at + 4
        code = image[slot - text_address + text_offset:][:5]
        expect(code == bytes.fromhex('0f1f440050'), f'{label}: no slot at {slot:#x}: {code.hex()}')
        expect(slot % 8 <= 3, f'{label}: slot at {slot:#x} crosses an aligned word')
        expect(text_address <= cold < text_address + text_size, f'{label}: cold block at {cold:#x}')
        expect(any(slot + 5 <= probe <= slot + reach for probe in probes), f'{label}: no probe behind {slot:#x}')
        strings_at = text + address + at + 8
        strings = image[file_offset(binary, strings_at):][:length].split(b'\0')
        expect(len(strings) == 3 + count + 1 and strings[0] in (b'shape', b'values'), f'{label}: strings {strings}')
        expect(kind == 1 and line > 0, f'{label}: kind {kind}, line {line}')


def file_offset(binary, address):
    for start, offset, size in sections(binary).values():
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
    finish()


main()
