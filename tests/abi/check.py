#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The layout of everything that two programs share, as each compiler sees it.

    check.py layout            sizes and offsets of every field of every struct in include/penna: gcc, g++, clang and clang++
                               must agree with each other and with layout.txt
    check.py headers           each header of include/penna compiles alone, as C11 and as C++17, without a warning
    check.py layout --rebase   accepts the layout as it is; then also bump the header's version constant
Why from the headers' text: a list kept by hand would miss the field that somebody forgets.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / 'include'
COMPILERS = {'gcc': ('c', '-std=c11'), 'g++': ('cc', '-std=c++17'), 'clang': ('c', '-std=c11'), 'clang++': ('cc', '-std=c++17')}
WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Werror']
STRUCT = re.compile(r'^struct (penna_\w+) \{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
VERSIONS = ('PENNA_ABI_VERSION', 'PENNA_POINT_ABI_VERSION')


def headers():
    return sorted((INCLUDE / 'penna').glob('*.h'))  # arch/ and detail/ come through these


def fields_of(body):
    """Names of the fields declared in a struct's body: `type a, b[3] __attribute__((...));`"""
    if 'penna/health.inc' in body:
        fields = re.findall(r'^PENNA_HEALTH_TARGET\(\d+, (\w+),', (INCLUDE / 'penna/health.inc').read_text(), re.MULTILINE)
        body = re.sub(r'^#.*\n', '', body, flags=re.MULTILINE) + ''.join(f'uint64_t {field};\n' for field in fields)
    body = re.sub(r'/\*.*?\*/|//[^\n]*', '', body, flags=re.DOTALL)
    body = re.sub(r'union \{|\}', '', body)  # one without a name: its fields are the struct's
    body = re.sub(r'__attribute__\s*\(\(.*?\)\)(?=[;,\s])', '', body)
    for declaration in filter(None, (part.strip() for part in body.split(';'))):
        names = re.sub(r'\[[^\]]*\]', '', declaration).split(',')
        names[0] = names[0].split()[-1]
        yield from (name.strip().lstrip('*') for name in names)


def program():
    """A program, C and C++ alike, that prints the layout."""
    lines = [f'#include "{h.relative_to(INCLUDE)}"' for h in headers()] + ['#include <stddef.h>', '#include <stdio.h>',
                                                                         'int main(void) {']
    lines += [f'  printf("{name} %d\\n", (int){name});' for name in VERSIONS]
    for header in headers():
        for struct, body in STRUCT.findall(header.read_text()):
            lines.append(f'  printf("{struct} size %zu align %zu\\n", sizeof(struct {struct}), __alignof__(struct {struct}));')
            lines += [f'  printf("{struct}.{field} at %zu, %zu bytes\\n", offsetof(struct {struct}, {field}), '
                      f'sizeof(((struct {struct}*)0)->{field}));' for field in fields_of(body)]
    return '\n'.join(lines + ['}', ''])


def compile_text(compiler, text, target, *options):
    suffix, standard = COMPILERS[compiler]
    source = target.with_suffix('.' + suffix)
    source.write_text(text)
    done = subprocess.run([compiler, standard, *options, f'-I{INCLUDE}', str(source), '-o', str(target)],
                          capture_output=True, text=True)
    return done.stderr if done.returncode else ''


def check_layout(rebase):
    kept, wrong, seen = HERE / 'layout.txt', [], {}
    with tempfile.TemporaryDirectory() as directory:
        for compiler in COMPILERS:
            target = pathlib.Path(directory) / f'layout-{compiler}'
            trouble = compile_text(compiler, program(), target)
            if trouble:
                sys.exit(f'{compiler}: {trouble}')
            seen[compiler] = subprocess.run([str(target)], check=True, capture_output=True, text=True).stdout
    if rebase:
        kept.write_text(seen['gcc'])
    for compiler, layout in seen.items():
        mine, theirs = set(layout.splitlines()), set(kept.read_text().splitlines())
        wrong += [f'{compiler} has     {line}' for line in sorted(mine - theirs)]
        wrong += [f'{compiler} has not {line}' for line in sorted(theirs - mine)]
    print(*wrong, sep='\n')
    structs = sum(' size ' in line for line in seen['gcc'].splitlines())
    print(f'abi: {structs} structs, {len(seen["gcc"].splitlines())} lines, {len(wrong)} differences from layout.txt'
          + ('; if meant: tests/abi/check.py layout --rebase, and bump the version constant' if wrong else ''))
    return 1 if wrong else 0


def check_headers():
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        for compiler in COMPILERS:
            for header in headers():
                trouble = compile_text(compiler, f'#include "{header.relative_to(INCLUDE)}"\n',
                                       pathlib.Path(directory) / 'alone', '-c', *WARNINGS)
                if trouble:
                    wrong.append(f'{header.relative_to(INCLUDE)} with {compiler}:\n{trouble}')
    print(*wrong, sep='\n')
    print(f'abi: {len(headers())} headers, {len(COMPILERS)} compilers, {len(wrong)} troubles')
    return 1 if wrong else 0


if __name__ == '__main__':
    if sys.argv[1:2] == ['headers']:
        sys.exit(check_headers())
    if sys.argv[1:2] != ['layout']:
        sys.exit('usage: check.py layout [--rebase] | headers')
    sys.exit(check_layout('--rebase' in sys.argv))
