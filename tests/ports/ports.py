#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The unit tests of ring.h and clock.h, and the layouts of tests/abi, on another processor.

    ports.py PORT --build DIRECTORY     i386 (this machine runs it), aarch64, armv7 (under qemu-user)
The tests are the ones of tests/unit/core, GoogleTest is built from Debian's sources: nothing is written twice.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOGLETEST = pathlib.Path('/usr/src/googletest/googletest')
sys.path.insert(0, str(ROOT / 'tests' / 'abi'))

import check  # noqa: E402

# Prefix of the compilers; what runs their programs.
PORTS = {'i386': ('i686-linux-gnu-', []), 'aarch64': ('aarch64-linux-gnu-', ['qemu-aarch64']),
         'armv7': ('arm-linux-gnueabihf-', ['qemu-arm'])}
OPTIONS = ['-O2', '-static', '-DRING_STRESS_SHARE=100', f'-I{ROOT}/include']
WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Wno-sign-conversion', '-Werror']
SOURCES = ['ring_test.cc', 'ring_in_c.c', 'ring_stress_test.cc', 'clock_test.cc']


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'FAIL: {" ".join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}')
    return done.stdout


def compile_one(prefix, source, target, *options):
    """With ccache where there is one: GoogleTest takes most of the time."""
    compiler = [prefix + 'gcc', '-std=gnu11'] if source.suffix == '.c' else [prefix + 'g++', '-std=c++20']
    if shutil.which('ccache'):
        compiler.insert(0, 'ccache')
    run(*compiler, *OPTIONS, *options, '-c', source, '-o', target)
    return target


def unit_tests(prefix, emulator, build):
    include = f'-I{GOOGLETEST}/include'
    objects = [compile_one(prefix, GOOGLETEST / 'src' / f'gtest{part}.cc', build / f'gtest{part}.o', include,
                           f'-I{GOOGLETEST}') for part in ('-all', '_main')]
    objects += [compile_one(prefix, ROOT / 'tests' / 'unit' / 'core' / name, build / f'{name}.o', include, *WARNINGS)
                for name in SOURCES]
    run(prefix + 'g++', '-static', *objects, '-o', build / 'core_tests', '-pthread')
    return run(*emulator, build / 'core_tests').strip().splitlines()[-1].strip()


def layouts(prefix, emulator, build):
    """Sizes and offsets are those of layout.txt; alignments may differ (i386 aligns 64 bits to 4)."""
    def lines(text):
        return {line.split(' align ')[0] for line in text.splitlines()}
    kept = lines((ROOT / 'tests' / 'abi' / 'layout.txt').read_text())
    (build / 'layout.c').write_text(check.program())
    run(prefix + 'gcc', '-std=c11', *OPTIONS, build / 'layout.c', '-o', build / 'layout')
    here = lines(run(*emulator, build / 'layout'))
    if kept != here:
        sys.exit('FAIL: layouts differ from tests/abi/layout.txt:\n' + '\n'.join(sorted(kept ^ here)))
    return f'{len(kept)} lines of layout'


def main():
    parser = argparse.ArgumentParser(description='The core on another processor.')
    parser.add_argument('port', choices=PORTS)
    parser.add_argument('--build', required=True)
    arguments = parser.parse_args()
    prefix, emulator = PORTS[arguments.port]
    build = pathlib.Path(arguments.build) / arguments.port
    build.mkdir(parents=True, exist_ok=True)
    for part in (layouts, unit_tests):
        print(f'{arguments.port}: {part(prefix, emulator, build)}', flush=True)


main()
