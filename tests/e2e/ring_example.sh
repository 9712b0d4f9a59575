#!/bin/bash
# SPDX-License-Identifier: MIT
# The ring in examples/ring.c, as users compile it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
for options in '-std=c11 -O2' '-std=c11 -O0'; do
  # shellcheck disable=SC2086
  gcc $options -Wall -Wextra -Werror -I"$PENNA_SOURCE/include" "$PENNA_SOURCE/examples/ring.c" -o ring
  run ./ring
  expect_eq $'1: 42\n2: 43\n0 dropped' "$out" "output with $options"
done
