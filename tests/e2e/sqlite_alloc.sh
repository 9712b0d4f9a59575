#!/bin/bash
# SPDX-License-Identifier: MIT
# Debian's own sqlite3, optimised and without symbols of its internal functions: its library's public functions are in
# the stacks, and every stack is complete.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need sqlite3
sql='create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
insert into t select i, hex(i) from n; create index x on t(b); select count(*) from t where b > 5;'
run /usr/bin/sqlite3 :memory: "$sql"
plain=$out
run penna record -o s.penna --alloc -- /usr/bin/sqlite3 :memory: "$sql"
expect_eq 0 "$status" "exit status"
expect_eq "$plain" "$out" "output"
run penna report s.penna alloc
expect_match "$out" 'sqlite3_(step|exec|prepare_v2|malloc|open)'
expect_contains "$out" "main"
run penna report s.penna health
expect_eq 0 "$status" "status of penna report health"
