#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""bpftrace.py PENNA: bpftrace as a consumer of our points: it attaches to all of them in every kind of program, and reads arguments of every
type with the smallest and the greatest values. (bpftrace 0.17 has no names for arguments behind the sixth.)"""
import sys

from clients import HERE, PROVIDER, Workspace, expect, finish, lines_of_library, lines_of_program, need_uprobes

SCRIPT = '''
usdt:BINARY:PROVIDER:none { printf("none\\n"); }
usdt:BINARY:PROVIDER:narrow { printf("narrow %d %d %d %d\\n", arg0, arg1, arg2, arg3); }
usdt:BINARY:PROVIDER:wide { printf("wide %d %u %lld %llu\\n", arg0, arg1, arg2, arg3); }
usdt:BINARY:PROVIDER:others { printf("others [%s] %llx %x %d %d %d\\n", str(arg0), arg1, arg2, arg3, arg4, *(int32*)arg5); }
usdt:BINARY:PROVIDER:twelve { printf("twelve %d %d %d %d %d %d\\n", arg0, arg1, arg2, arg3, arg4, arg5); }
usdt:BINARY:PROVIDER:plain { printf("plain %d %llu [%s]\\n", arg0, arg1, str(arg2)); }
usdt:BINARY:PROVIDER:counted { printf("counted %d\\n", arg0); }
usdt:BINARY:PROVIDER:lazy { printf("lazy %d\\n", arg0); }
usdt:BINARY:PROVIDER:scope { printf("scope %d\\n", arg0); }
'''
WANTED = sorted('''none
none
narrow -128 0 -32768 0
narrow 127 255 32767 65535
wide -2147483648 0 -9223372036854775808 0
wide 2147483647 4294967295 9223372036854775807 18446744073709551615
others [] bff8000000000000 bfc00000 -2147483648 0 -2147483648
others [some text] 7fefffffffffffff 7f7fffff 2147483647 1 2147483647
twelve 0 1 2 3 4 5
twelve 1 2 3 4 5 6
plain -128 0 []
plain 127 18446744073709551615 [some text]
counted -32768
counted 32767
lazy -2147483648
lazy 2147483647
scope 0
scope 1'''.splitlines())


def main():
    need_uprobes()
    with Workspace() as space:
        for optimisations, links in ((['-O2'], ('pie', 'no-pie', 'static', 'shared')), (['-O0'], ('pie',))):
            for label, binary, program in space.build_matrix(optimisations, links, HERE / 'values',
                                                             [f'-DPROVIDER={PROVIDER}']):
                script = SCRIPT.replace('BINARY', str(binary)).replace('PROVIDER', PROVIDER)
                if binary == program:
                    lines = lines_of_program(script, program)
                else:
                    lines = lines_of_library(sys.argv[1], script, binary, program, len(WANTED))
                lines.sort()  # processors do not keep the order of lines
                expect(lines == WANTED, f'{label}: bpftrace printed {lines}')
    finish()


main()
