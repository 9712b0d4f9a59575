#!/bin/bash
# SPDX-License-Identifier: MIT
# What people read out of a report: views, limits and sentences, on small programs whose numbers are known.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# libstdc++ allocates before main, called by ld.so: its stacks end in _dl_start_user, which has no unwind information
# and no caller. Nothing is short, and nothing says so.
cat >early.cc <<'PROGRAM'
#include <string>
static std::string *text = new std::string(100, 'x');
int main() { return text->size() == 100 ? 0 : 1; }
PROGRAM
build_c early
penna record -q -o early.penna -- ./early
for command in 'report early.penna' 'report early.penna alloc' 'report early.penna health' 'info early.penna' 'replay early.penna'; do
  # shellcheck disable=SC2086
  run penna $command
  expect_eq 0 "$status" "status of penna $command"
  expect_missing "$out" "end short"
  expect_missing "$out" "ends short"
done
run penna report early.penna alloc
expect_missing "$out" "no unwind information"
