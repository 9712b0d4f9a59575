#!/bin/bash
# SPDX-License-Identifier: MIT
# penna/alloc.h: blocks of pools are recorded by pool, in C and C++, by gcc and clang; nothing without a recorder, also
# in static programs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source=$PENNA_SOURCE/examples/pools.c
due='pool requests: allocate(16)
pool texts: allocate(6)
pool requests: allocate(16)
pool texts: allocate(10)
pool texts: free
pool requests: free'
for compiler in "gcc -std=c11" "clang -std=c11"; do
  for level in -O0 -O2; do
    # shellcheck disable=SC2086
    $compiler $level -g -Wall -Wextra -Wshadow -Werror -D_GNU_SOURCE -I"$PENNA_SOURCE/include" "$source" -o pools
    run ./pools
    expect_eq "GET /leak stays" "$out" "without a recorder"
    run penna record -f -o p.penna -k alloc -- ./pools
    expect_eq "GET /leak stays" "$out" "$compiler $level"
    expect_eq "$due" "$(penna replay p.penna | sed -nE 's/.*(pool [a-z]+: [a-z]+(\([0-9]+\))?).*/\1/p')" "$compiler $level"
  done
done
run penna replay p.penna
expect_match "$out" 'pool requests: allocate\(16\) = 0x[0-9a-f]+ in take_request'
penna export csv p.penna >p.csv
expect_match "$(<p.csv)" ',pool_alloc,pool:requests,0x[0-9a-f]+,16,.*main;take_request'
# A free in a pool matches the block of that pool.
[ "$(grep -c ',pool_free,' p.csv)" = 2 ] || fail "frees: $(<p.csv)"
run penna record -f -o p.penna -k points -- ./pools
expect_missing "$(penna replay p.penna)" "pool requests"

gcc -O2 -static -I"$PENNA_SOURCE/include" "$source" -o static
run ./static
expect_eq "GET /leak stays" "$out" "static"

# In C++, in a function that is inlined twice, with stacks of frees; names of any length; excess pools are counted, not
# mixed up.
cat >many.cc <<'CXX'
#include <penna/alloc.h>
#include <cstdio>
#include <string>
static inline void both(const char* pool, void* block) { PENNA_POOL_ALLOC(pool, block, 7); PENNA_POOL_FREE(pool, block); }
int main() {
  char memory[2];
  both("one", memory);
  both(std::string(200, 'x').c_str(), memory + 1);
  for (int i = 0; i < 300; ++i) both(("pool " + std::to_string(i)).c_str(), memory);
  PENNA_POOL_ALLOC("null", nullptr, 1);
  puts("done");
}
CXX
build_c many -Wall -Wextra -Wshadow -Werror -O2
run penna record -o m.penna -k alloc --free-stacks -- ./many
expect_eq done "$out" "many"
expect_match "$err" '[0-9]+ LOST'
expect_match "$err" 'lost: [0-9]+ allocation events, as they were in more memory pools than can be distinguished'
penna export csv m.penna >m.csv
[ "$(grep -c ',pool_alloc,' m.csv)" = 256 ] || fail "pools: $(grep -c ',pool_alloc,' m.csv)"
[ "$(grep -c ',pool_free,.*main' m.csv)" = 256 ] || fail "frees of pools with stacks: $(grep -c ',pool_free,' m.csv)"
expect_match "$(<m.csv)" ',pool_alloc,pool:x{55},'
run penna list ./many
expect_contains "$out" "pool"
