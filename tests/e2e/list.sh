#!/bin/bash
# SPDX-License-Identifier: MIT
# penna list: points with the names and types of their arguments and their source lines, of programs and of recordings.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include "penna/point.h"
template <typename T> void note(T value) { PENNA_EVENT(app, note, value); }
static inline void both(int rows, const char* table) { PENNA_EVENT(db, query, rows, table); }
int main(int argc, char** argv) {
  note(1.5f);
  note(argc);
  both(argc, argv[0]);
  if (argc > 1) both(2, "x");
}
PROGRAM
build_c app -O2

run penna list ./app
expect_match "$out" '^app:note +value float .*app.cc:2$'
expect_match "$out" '^app:note +value int .*app.cc:2$'
expect_match "$out" '^db:query +rows int, table string .*app.cc:3$'
expect_match "$out" '^calls +no: '
expect_match "$out" '^kind +dynamic, '
# readelf sees the same points.
expect_eq "$(readelf -n app | sed -n 's/ *Provider: //p' | sort -u | tr '\n' ' ')" "app db " "providers that readelf sees"
penna list ./app --format json | /usr/bin/python3 -c 'import json, sys
points = json.load(sys.stdin)["points"]; assert {p["point"] for p in points} == {"app:note", "db:query"}, points'

penna record -q -o app.penna -- ./app
run penna list app.penna
expect_match "$out" '^db:query +rows int, table string .*app.cc:3$'
expect_match "$out" '/app$'

build_c app -finstrument-functions
run penna list ./app
expect_match "$out" '^calls +yes'

# Programs of others, by name; points that are only SDT notes; scripts; what is none.
run penna list sh
expect_eq 0 "$status" "status of penna list sh"
library=$(ldd app | sed -nE 's/.* => ([^ ]*libstdc\+\+\.so\.6).*/\1/p')
run penna list "$library"
expect_match "$out" '^libstdcxx:throw +'
expect_contains "$out" "shared library"
printf '#!/bin/sh\n' >script && chmod +x script
run penna list ./script
expect_contains "$out" "(a script)"
run penna list /etc/passwd
expect_eq 125 "$status" "status for a text file"
