#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The unit tests of ring.h and clock.h, the layouts of tests/abi, and points, on another processor.

    ports.py PORT --build DIRECTORY     i386 (under qemu-user where the kernel refuses it), aarch64, armv7 (under qemu-user)
The tests are the ones of tests/unit/core, GoogleTest is built from Debian's sources: nothing is written twice.
"""
import argparse
import errno
import pathlib
import re
import shutil
import subprocess
import sys
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GOOGLETEST = pathlib.Path('/usr/src/googletest/googletest')
sys.path.insert(0, str(ROOT / 'tests' / 'abi'))

import check  # noqa: E402


class Port(typing.NamedTuple):
    name: str
    prefix: str     # of the compilers
    emulator: list  # what runs their programs
    target: str     # clang's name for the same


PORTS = {port.name: port for port in (
    Port('i386', 'i686-linux-gnu-', ['qemu-i386', '-L', '/usr/i686-linux-gnu'], 'i686-linux-gnu'),
    Port('aarch64', 'aarch64-linux-gnu-', ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu'], 'aarch64-linux-gnu'),
    Port('armv7', 'arm-linux-gnueabihf-', ['qemu-arm', '-L', '/usr/arm-linux-gnueabihf'], 'armv7a-linux-gnueabihf'))}
OPTIONS = ['-O2', '-static', '-DRING_STRESS_SHARE=100', f'-I{ROOT}/include']
WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Wno-sign-conversion', '-Werror']
SOURCES = ['ring_test.cc', 'ring_in_c.c', 'ring_stress_test.cc', 'clock_test.cc']
SWITCHED = ['triggers_test.cc', 'triggers_in_c.c', 'site_requests_test.cc']  # where there are points


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f'FAIL: status {done.returncode} of {" ".join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}')
    return done.stdout


def as_here(port, build):
    """The port without its emulator where the kernel runs its programs itself: of x86-64's, not all run those of i386."""
    if port.name != 'i386':
        return port
    program = build / 'nothing'
    program.with_suffix('.c').write_text('int main(void) { return 0; }\n')
    run(port.prefix + 'gcc', '-static', program.with_suffix('.c'), '-o', program)
    try:
        subprocess.run([program], check=True)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return port
    return port._replace(emulator=[])


def compile_one(prefix, source, target, *options):
    """With ccache where there is one: GoogleTest takes most of the time."""
    compiler = [prefix + 'gcc', '-std=gnu11'] if source.suffix == '.c' else [prefix + 'g++', '-std=c++20']
    if shutil.which('ccache'):
        compiler.insert(0, 'ccache')
    run(*compiler, *OPTIONS, *options, '-c', source, '-o', target)
    return target


def unit_tests(port, build):
    prefix = port.prefix
    include = f'-I{GOOGLETEST}/include'
    objects = [compile_one(prefix, GOOGLETEST / 'src' / f'gtest{part}.cc', build / f'gtest{part}.o', include,
                           f'-I{GOOGLETEST}', '-O0') for part in ('-all', '_main')]
    objects += [compile_one(prefix, ROOT / 'tests' / 'unit' / 'core' / name, build / f'{name}.o', include, f'-I{ROOT}/tests/unit', *WARNINGS)
                for name in SOURCES + (SWITCHED if port.name != 'armv7' else [])]
    run(prefix + 'g++', '-static', *objects, '-o', build / 'core_tests', '-pthread')
    return run(*port.emulator, build / 'core_tests').strip().splitlines()[-1].strip()


def layouts(port, build):
    """Sizes and offsets are those of layout.txt; alignments may differ (i386 aligns 64 bits to 4)."""
    def lines(text):
        return {line.split(' align ')[0] for line in text.splitlines()}
    kept = lines((ROOT / 'tests' / 'abi' / 'layout.txt').read_text())
    (build / 'layout.c').write_text(check.program())
    run(port.prefix + 'gcc', '-std=c11', *OPTIONS, build / 'layout.c', '-o', build / 'layout')
    here = lines(run(*port.emulator, build / 'layout'))
    if kept != here:
        sys.exit('FAIL: layouts differ from tests/abi/layout.txt:\n' + '\n'.join(sorted(kept ^ here)))
    return f'{len(kept)} lines of layout'


# What readelf may show of an argument: a register or constant, or a place on the stack.
OPERANDS = {'i386': r'-?\d*\(%e[a-z]{2}\)', 'aarch64': r'x\d+|-?\d+', 'armv7': r'\[(?:sp|fp|lr|r\d+)(?:, #-?\d+)?\]'}
# Sizes in the notes of points.c; P is that of an address.
NOTES = {'mixture': [-4, 8], 'integers': [-1, 1, -2, 2, -4, 4, -8, 8], 'others': [1, (-1, 1), 4, 'P', 'P'],
         'twelve': [-4] * 12, 'nothing': [], 'span': [-4], 'lazy': [-4]}
NOTE = re.compile(r'Name: (\S+)\s+Location: (\S+), Base: (\S+), Semaphore: (\S+)\s+Arguments: ?(.*)')


def check_notes(port, label, program, names):
    """The SDT notes, as readelf shows them: all points, right sizes and signs, operands that tools read."""
    found = NOTE.findall(run('readelf', '-n', program))
    if {name for name, *_ in found} != names:
        sys.exit(f'FAIL: {label}: notes of {sorted({name for name, *_ in found})}')
    for name, _, base, _, text in found:
        arguments = re.findall(r'(-?\d)@(\[[^]]*\]|\S+)', text)
        sizes = [[4 if port != 'aarch64' else 8] if size == 'P' else size if isinstance(size, tuple) else [size]
                 for size in NOTES[name]]
        good = len(arguments) == len(sizes) and all(int(a[0]) in size for a, size in zip(arguments, sizes))
        if not good or (program.suffix != '.o' and int(base, 16) == 0) or not all(re.fullmatch(OPERANDS[port], a[1]) for a in arguments):
            sys.exit(f'FAIL: {label}: the note of {name} says {text}')


ARRAY = re.compile(r'\.(?:init|fini)_array.* (\d+)$', re.MULTILINE)


def check_arrays(port, label, part):
    """Zeros between two entries of these would be called."""
    alignments = set(ARRAY.findall(run('readelf', '-SW', part)))
    if alignments != {'8' if port == 'aarch64' else '4'}:
        sys.exit(f'FAIL: {label}: arrays of constructors are aligned to {alignments}')


def points(port, build):
    """points.c by both compilers, as C and C++, in every kind of program that can have points."""
    source, recorder, program = HERE / 'points.c', HERE / 'recorder.c', build / 'points'
    recorded = noted = 0
    for family in ('gcc', 'clang'):
        cross = {'gcc': [[port.prefix + 'gcc'], [port.prefix + 'g++']],
                 'clang': [['clang', f'--target={port.target}'], ['clang++', f'--target={port.target}']]}[family]
        ways = [['-O0', '-fno-pie', '-static'], ['-O2', '-fno-pie', '-static'], ['-O2', '-fPIE', '-pie'],
                ['-O1', '-fno-pie', '-static', '-ffunction-sections', '-Wl,--gc-sections']]
        if port.name == 'aarch64':
            ways += [['-O2', '-fPIE', '-pie', '-mbranch-protection=standard'], ['-O3', '-march=armv8.1-a']]
        for language, compiler in zip(('-std=gnu11', '-std=c++17'), cross):
            for way in ways:
                label = f'{port.name}: {" ".join([*compiler, *way])}'
                only_notes = port.name == 'armv7' or (port.name == 'i386' and family == 'clang' and '-pie' in way)
                options = [language, *way, *WARNINGS, f'-I{ROOT}/include', '-ffreestanding',
                           '-DPENNA_POINT_BY_VALUES=1']
                options += ['-DPENNA_RING_TICKET_BITS=16'] if port.name == 'i386' else []
                options += ['-Wno-unused-command-line-argument'] if family == 'clang' else []
                options += ['-x', 'c++'] if language == '-std=c++17' else ['-x', 'c']
                parts = [build / 'points.o']
                run(*compiler, *options, '-c', source, '-o', parts[0])
                if only_notes:
                    check_notes(port.name, label, parts[0], set(NOTES) - {'lazy'})
                    noted += 1
                    continue
                check_arrays(port.name, label, parts[0])
                parts.append(build / 'recorder.o')
                run(*compiler, *options, '-mgeneral-regs-only', '-c', recorder, '-o', parts[1])
                run(*compiler, *way, *parts, '-o', program)
                said = run(*port.emulator, program)
                if said != 'ok\n':
                    sys.exit(f'FAIL: {label}: {said}')
                check_notes(port.name, label, program, set(NOTES))
                recorded += 1
    return f'{recorded} programs with points, {noted} with SDT notes alone'


def bare_clock(prefix, build):
    """The counter of ARMv7, which qemu-user has not."""
    image = build / 'bare_clock.elf'
    run(prefix + 'gcc', '-std=gnu11', '-O2', '-marm', '-mcpu=cortex-a15', '-mgeneral-regs-only', '-mfloat-abi=soft',
        '-ffreestanding', '-nostdlib', '-static', '-fno-pie', *WARNINGS, f'-I{ROOT}/include', '-Wl,-Ttext=0x40010000',
        '-Wl,--build-id=none,-e,_start', HERE / 'bare_clock.c', '-o', image)
    said = run('timeout', '60', 'qemu-system-arm', '-M', 'virt', '-cpu', 'cortex-a15', '-m', '64', '-nodefaults', '-display',
               'none', '-serial', 'stdio', '-kernel', image)
    if said != 'grows\nrate 0062500000\n':
        sys.exit(f'FAIL: the counter on a bare machine: {said}')
    return 'the counter grows'


def main():
    parser = argparse.ArgumentParser(description='The core on another processor.')
    parser.add_argument('port', choices=PORTS)
    parser.add_argument('--build', required=True)
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.build) / arguments.port
    build.mkdir(parents=True, exist_ok=True)
    port = as_here(PORTS[arguments.port], build)
    print(f'{port.name}: {layouts(port, build)}', flush=True)
    print(f'{port.name}: {points(port, build)}', flush=True)
    if port.name == 'armv7':
        print(f'armv7: {bare_clock(port.prefix, build)}', flush=True)
    print(f'{port.name}: {unit_tests(port, build)}', flush=True)


main()
