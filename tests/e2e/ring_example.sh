#!/bin/bash
# SPDX-License-Identifier: MIT
# The ring in docs/embedding.md, as C and C++ users compile it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
doc_block embedding.md PENNA_RING_DEFINE >ring.c
for options in '-std=c11 -O2' '-std=c11 -O0'; do
  # shellcheck disable=SC2086
  gcc $options -Wall -Wextra -Werror -I"$PENNA_SOURCE/include" ring.c -o ring
  run ./ring
  expect_eq $'1: 42\n2: 43\n0 dropped' "$out" "output with $options"
done
