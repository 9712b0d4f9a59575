#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The core needs nobody: every header compiles for every processor without a hosted library, in C and in C++, and what ring.h,
clock.h, event.h and stream.h do refers to no function of a library, not even of the compiler's."""
import pathlib
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / 'include'
FREESTANDING = ['-ffreestanding', '-nostdlib', '-O2', '-Wall', '-Wextra', '-Werror', f'-I{INCLUDE}']
# -mno-outline-atomics: else gcc and clang choose at run time between two kinds of atomics, by functions of their library.
COMPILERS = [
    ['gcc'], ['clang'], ['i686-linux-gnu-gcc'], ['clang', '--target=i686-linux-gnu'],
    ['aarch64-linux-gnu-gcc', '-mno-outline-atomics'], ['clang', '--target=aarch64-linux-gnu', '-mno-outline-atomics'],
    ['arm-linux-gnueabihf-gcc'], ['arm-linux-gnueabihf-gcc', '-marm'], ['clang', '--target=armv7a-linux-gnueabihf'],
    # A Cortex-M3 has no 64-bit atomics and no counter: 16-bit tickets, and a clock of the platform's.
    ['arm-linux-gnueabihf-gcc', '-mcpu=cortex-m3', '-mfloat-abi=soft', '-DPENNA_CLOCK=platform_ticks', '-DPENNA_CLOCK_RATE=1000'],
]
LANGUAGES = {'c': ['-x', 'c', '-std=c11'], 'c++': ['-x', 'c++', '-std=c++17', '-fno-exceptions', '-fno-rtti']}
PROGRAM = '''
#include <stdint.h>
#ifdef PENNA_CLOCK
static uint64_t platform_ticks(void) { return 7; }
#endif
#include "penna/channel.h"
#include "penna/clock.h"
#include "penna/event.h"
#include "penna/ring.h"
#include "penna/stream.h"

struct record { uint64_t header, value; };
PENNA_RING_DEFINE(ring, 8, sizeof(struct record));

int put(uint64_t value) {
  uint32_t ticket;
  struct record* record = (struct record*)penna_ring_reserve(ring, &ticket);
  if (!record) return 0;
  record->header = penna_full_header(PENNA_KIND_POINT, 2, penna_now());
  record->value = value;
  penna_ring_commit(ring, ticket);
  return 1;
}

uint64_t get(struct record* records) {
  uint32_t got = penna_ring_read_many(ring, records, 4);
  if (got == 0) return (uint64_t)penna_ring_abandon(ring) + penna_ring_abandoned(ring) + penna_ring_dropped(ring);
  return penna_header_time(records->header, penna_now()) + penna_ticks_per_second();
}

uint32_t describe(struct penna_stream_header* header, uint64_t* unit, const char* text) {
  penna_stream_begin(header, text, 1, 2);
  penna_unit_site(unit, 1, PENNA_SITE_EVENT, 2, 3, text, 40, 2, PENNA_ARG_INT | PENNA_ARG_STRING << 4);
  penna_unit_thread(unit, 4, text);
  penna_unit_lost_points(unit, 5);
  penna_unit_end(unit, penna_unit_put_string(penna_unit_put_word(penna_unit_point(unit, 4, 1), 7), text, 24));
  return penna_unit_bytes(unit);
}
'''


def compile_text(compiler, language, text, target):
    command = [*compiler, *LANGUAGES[language], *FREESTANDING, '-c', '-', '-o', str(target)]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return f'{" ".join(command)}:\n{done.stderr}' if done.returncode else ''


def main():
    troubles = []
    with tempfile.TemporaryDirectory() as directory:
        target = pathlib.Path(directory) / 'program.o'
        for compiler in COMPILERS:
            for language in LANGUAGES:
                trouble = compile_text(compiler, language, PROGRAM, target)
                if not trouble:
                    undefined = subprocess.run(['nm', '-u', str(target)], check=True, capture_output=True, text=True).stdout.split()
                    needs = [name for name in undefined if name not in ('U', '_GLOBAL_OFFSET_TABLE_')]
                    trouble = f'{" ".join(compiler)}, {language}: needs {" ".join(needs)}' if needs else ''
                troubles += [trouble] if trouble else []
    print(*troubles, sep='\n')
    print(f'freestanding: {len(COMPILERS) * len(LANGUAGES)} builds, {len(troubles)} troubles')
    return 1 if troubles else 0


sys.exit(main())
