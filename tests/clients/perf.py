#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""perf as a consumer of our points: buildid-cache finds them, probe makes events of them with the types of the arguments,
record and script show each hit with its values. (perf script 6.1 prints signed integers of 8 and 16 bits without their sign,
whoever made the event.)"""
from clients import HERE, PROVIDER, Perf, Workspace, expect, finish, need_uprobes

TYPES = {
    'none': [],
    'narrow': ['s8', 'u8', 's16', 'u16'],
    'wide': ['s32', 'u32', 's64', 'u64'],
    'others': ['u64', 'u64', 'u32', 's32', None, 'u64'],  # a comparison is int in C and bool in C++
    'twelve': ['s32'] * 12,
    'plain': ['s8', 'u64', 'u64'],
    'counted': ['s16'],
    'lazy': ['s32'],
    'scope': ['s32'],
}
VALUES = [
    {'none': [], 'narrow': [-128 % 2**8, 0, -32768 % 2**16, 0], 'wide': [-2**31, 0, -2**63, 0],
     'others': [None, 0xbff8000000000000, 0xbfc00000, -2**31, 0, None], 'twelve': list(range(0, 12)),
     'plain': [-128 % 2**8, 0, None], 'counted': [-32768 % 2**16], 'lazy': [-2**31], 'scope': [0]},
    {'none': [], 'narrow': [127, 255, 32767, 65535], 'wide': [2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1],
     'others': [None, 0x7fefffffffffffff, 0x7f7fffff, 2**31 - 1, 1, None], 'twelve': list(range(1, 13)),
     'plain': [127, 2**64 - 1, None], 'counted': [32767], 'lazy': [2**31 - 1], 'scope': [1]},
]


def same(got, wanted):
    return len(got) == len(wanted) and all(w is None or g == w for g, w in zip(got, wanted))


def check_types(label, definitions):
    for name, wanted in TYPES.items():
        got = [word.rsplit(':', 1)[1] for word in definitions.get(name, '').split()[1:]]
        expect(same(got, wanted), f'{label}: perf takes the arguments of {name} for {got}')


def check_hits(label, hits):
    expect(len(hits) == 2 * len(TYPES), f'{label}: perf has {len(hits)} hits')
    for at, values in enumerate(VALUES):
        for name, wanted in values.items():
            seen = [arguments for hit, arguments in hits if hit == name]
            got = [int(seen[at][f'arg{i + 1}']) for i in range(len(seen[at]))] if at < len(seen) else None
            expect(got is not None and same(got, wanted), f'{label}: perf shows {name} {got}, not {wanted}')


def main():
    need_uprobes()
    with Workspace() as space:
        perf = Perf(space)
        for label, binary, program in space.build_matrix(['-O2'], source=HERE / 'values', options=[f'-DPROVIDER={PROVIDER}']):
            with perf.probes(binary, TYPES) as definitions:
                check_types(label, definitions)
                check_hits(label, perf.hits(program))
    finish()


main()
