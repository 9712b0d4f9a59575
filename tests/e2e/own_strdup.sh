#!/bin/bash
# SPDX-License-Identifier: MIT
# An allocator in the program that includes strdup and arena functions: their blocks are recorded, too, and every free
# finds its block.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c own_strdup -rdynamic
./own_strdup || fail "the program is broken"
run penna record -q -k alloc -o own.penna -- ./own_strdup
expect_eq 0 "$status" "status of ./own_strdup"
count() { penna report alloc own.penna --stack use --size "$1" | sed -n '1s/ allocations\? of.*//p'; }
expect_eq 100 "$(count 6)" "blocks of strdup"
expect_eq 100 "$(count 3)" "blocks of strndup"
expect_eq 100 "$(count 100)" "blocks of moz_arena_malloc"
expect_eq 100 "$(count 200)" "blocks of moz_arena_realloc"
expect_eq 100 "$(count 30)" "blocks of moz_arena_calloc"
expect_eq 100 "$(count 640)" "blocks of moz_arena_memalign"
run penna report leaks own.penna --stack use
expect_match "$out" '^60 B in 10 blocks not freed at the end'
run penna report alloc own.penna
expect_missing "$out" "unmatched"
