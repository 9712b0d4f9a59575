#!/bin/bash
# SPDX-License-Identifier: MIT
# A function that allocates in 40,000 places: each has a stack of its own, and all are kept.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >wide.c <<'C'
asm(".globl main\nmain:\n.cfi_startproc\nsub $8, %rsp\n.cfi_def_cfa_offset 16\n"
    ".rept 40000\nmov $24, %edi\ncall malloc@plt\n.endr\n"
    "add $8, %rsp\n.cfi_def_cfa_offset 8\nxor %eax, %eax\nret\n.cfi_endproc\n");
C
build_c wide
run penna record -q -k alloc -o wide.penna -- ./wide
expect_eq "0" "$status" "status"
run penna report health wide.penna -n 0
expect_match "$out" "^stack tree full +0 "
expect_contains "$out" "nothing lost"
penna export csv wide.penna >wide.csv
expect_eq 40000 "$(grep -c ',alloc,.*,24,.*main' wide.csv)" "stacks"
