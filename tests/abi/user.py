#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The public headers in a user's program: no warning, one sentence where they cannot work, no name taken twice.

    user.py warnings    user/ uses every macro and function of every public header; silent under the strictest warnings
    user.py refusals    an old language, and too many arguments, say in one sentence what is wrong
    user.py names       user/ leaves nothing out; no macro has the name of a function or struct
"""
import itertools
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
USER = HERE / 'user'
FEATHER = ['feather_trace.h', 'feather_userspace.h', 'feather_buffer.h', 'ft_event.h', 'ft_userspace.h', 'gcc-helper.h']
COMPAT = [ROOT / 'compat', ROOT / 'compat/feather-trace']
INCLUDES = [f'-I{path}' for path in [ROOT / 'include', *COMPAT]]
WARNINGS = '-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wdouble-promotion -Werror'.split()
C = (['gcc', 'clang'], ['c11', 'c17', 'gnu17'], [])
CXX = (['g++', 'clang++'], ['c++17', 'c++20', 'c++2b'], ['-Wold-style-cast'])


def compile_file(command):
    done = subprocess.run([*command, *INCLUDES, '-c', '-o', '/dev/null'], capture_output=True, text=True)
    return done.stderr


def check_warnings():
    troubles, builds = [], 0
    for language, source, options in [(C, 'all.c', []), (C, 'all.c', ['-DUSE_FOLLY_SPELLING']),
                                      (C, 'firmware.c', ['-mgeneral-regs-only']),
                                      (CXX, 'all.cc', []), (CXX, 'firmware.c', ['-mgeneral-regs-only', '-x', 'c++']),
                                      (C, 'all.c', ['-DPENNA_DISABLE_POINTS']), (CXX, 'all.cc', ['-DPENNA_DISABLE_POINTS'])]:
        compilers, standards, more = language
        for compiler, standard, level in itertools.product(compilers, standards, ['-O0', '-O2']):
            # What the options change, and what an unoptimised build warns of, is the same in all standards.
            if standard != standards[0] and (level == '-O0' or options and options[0].startswith('-D')):
                continue
            if options and options[0].startswith('-D') and level == '-O0':
                continue
            command = [compiler, f'-std={standard}', level, *WARNINGS, *more, *options, str(USER / source)]
            said = compile_file(command)
            builds += 1
            troubles += [f'{" ".join(command)}:\n{said}'] if said else []
    print(*troubles, sep='\n')
    print(f'user: {builds} builds, {len(troubles)} with something to say')
    return 1 if troubles else 0


def errors_of(compiler, standard, text):
    language = 'c++' if '++' in compiler else 'c'
    done = subprocess.run([compiler, f'-std={standard}', '-fsyntax-only', '-x', language, *INCLUDES, '-'], input=text,
                          capture_output=True, text=True)
    return re.findall(r'error: (.*)', done.stderr)


def check_refusals():
    wrong, cases = [], 0
    headers = [f'penna/{h.name}' for h in sorted((ROOT / 'include/penna').glob('*.h')) if h.name != 'version.h']
    headers += ['feather_trace.h', 'ft_event.h', 'folly/tracing/StaticTracepoint.h']
    old_c = 'Penna needs C11 or newer: compile with -std=c11'
    old_cxx = 'Penna needs C++17 or newer: compile with -std=c++17'
    old = [('gcc', 'c99', old_c), ('clang', 'c99', old_c), ('g++', 'c++14', old_cxx), ('clang++', 'c++14', old_cxx)]
    for (compiler, standard, sentence), header in itertools.product(old, headers):
        said = errors_of(compiler, standard, f'#include "{header}"\n')
        cases += 1
        # The second one stops the compiler, and says the same.
        if len(said) != 2 or sentence not in said[0] or 'stop: Penna needs' not in said[1]:
            wrong.append(f'{compiler} -std={standard}, {header}: {said[:5]}')
    sites = ['PENNA_EVENT(a, b, {})', 'PENNA_EVENT_LAZY(a, b, {})', 'PENNA_SPAN(a, b, {})', 'PENNA_SDT(a, b, {})',
             'PENNA_SDT_WITH_SEMAPHORE(a, b, {})', 'FOLLY_SDT(a, b, {})', 'FOLLY_SDT_WITH_SEMAPHORE(a, b, {})']
    for compiler, standard in [('gcc', 'c11'), ('clang', 'c11'), ('g++', 'c++17'), ('clang++', 'c++17')]:
        text = ('#include "penna/point.h"\n#include "penna/folly.h"\n#include "penna/trigger.h"\n'
                'void f(void);\nvoid f(void) {{ {}; }}\n')
        calls = [(site.format(', '.join(['1'] * count)), 'at most 12 arguments') for site in sites for count in (13, 24)]
        calls += [('PENNA_EVENT(a)', 'a provider and a name')]
        if compiler in ('gcc', 'clang'):  # in C++ a trigger takes any number
            calls += [('PENNA_TRIGGER(a, b, f, ' + ', '.join(['1'] * 13) + ')', 'at most 12 arguments')]
        for call, sentence in calls:
            said = errors_of(compiler, standard, text.format(call))
            cases += 1
            if len(said) != 1 or sentence not in said[0]:
                wrong.append(f'{compiler} -std={standard}, {call}: {said[:5]}')
    print(*wrong, sep='\n')
    print(f'user: {cases} refusals, {len(wrong)} unclear')
    return 1 if wrong else 0


def strip(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', ' ', text, flags=re.DOTALL)


def check_names():
    """Of a public header, what stands before its implementation is for users."""
    used = ''.join(strip(path.read_text()) for path in USER.iterdir())
    public = sorted((ROOT / 'include/penna').glob('*.h')) + [ROOT / 'compat/feather-trace' / name for name in FEATHER]
    macros, others, missing = set(), set(), []
    for path in (ROOT / 'include').rglob('*.h'):
        text = strip(path.read_text())
        macros |= set(re.findall(r'^\s*#\s*define (\w+)', text, re.MULTILINE))
        code = re.sub(r'^\s*#.*?[^\\]$', '', text, flags=re.MULTILINE | re.DOTALL)
        others |= set(re.findall(r'\b(?:struct|enum|union|class)\s+(penna_\w+)', code))
        others |= set(re.findall(r'\b(penna_\w+)\s*\(', code))
    for path in public:
        text = re.split(r'/\* -+ Implementation', path.read_text())[0]
        functions = re.findall(r'^(?:static inline|PENNA_API|uint32_t|int)\b[^;{=#(]*?\b(\w+)\(', strip(text), re.MULTILINE)
        wanted = set(re.findall(r'^#\s*define ((?:PENNA|FOLLY|ft|INIT)_\w+[^_\W])\(', text, re.MULTILINE)) | set(functions)
        # A list (.inc) takes away the macro that it was included for.
        gone = text + ''.join(part.read_text() for part in path.parent.glob('*.inc'))
        wanted -= INTERNAL | set(re.findall(r'^#\s*undef (\w+)', gone, re.MULTILINE))
        missing += [f'{path.name}: user/ does not use {name}' for name in sorted(wanted)
                    if not re.search(rf'\b{name}\b', used)]
    # penna_word_long_double is penna_word_float on processors that have no long double: meant.
    clashes = sorted((macros & others) - {'penna_word_long_double'})
    print(*missing, *(f'{name}: a macro, and a function or struct' for name in clashes), sep='\n')
    print(f'user: {len(macros)} macros, {len(missing)} unused, {len(clashes)} clashes')
    return 1 if missing or clashes else 0


# In public headers, but not for users: parts of the macros and functions above them.
INTERNAL = set('''
    penna_count_enabled penna_list_site penna_print_number with_pattern penna_firmware_put
    penna_firmware_site_count penna_firmware_table PENNA_FOLLY_COUNTED PENNA_FOLLY_SEMAPHORE PENNA_DEFAULT
    PENNA_RING_STEP PENNA_STATIC_ASSERT penna_ring_close_before penna_ring_copy penna_ring_pass
    penna_ring_slot penna_ring_try_reserve penna_slot_stays_closed penna_slot_word penna_ticket_is_before
    penna_ticket_plus penna_ticket_since penna_tickets_drawn penna_tickets_passed penna_stream_copy
    ft_flush_thread ft_patience ft_place_ring ft_ring_room ft_ticket_of ft_write_all
'''.split())

if __name__ == '__main__':
    CHECKS = {'warnings': check_warnings, 'refusals': check_refusals, 'names': check_names}
    if sys.argv[1:2] == [] or sys.argv[1] not in CHECKS:
        sys.exit(f'usage: user.py {" | ".join(CHECKS)}')
    sys.exit(CHECKS[sys.argv[1]]())
