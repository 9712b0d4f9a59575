#!/bin/bash
# SPDX-License-Identifier: MIT
# penna sql --save NAME: saved queries are found by name, listed, replaced, and are the user's alone; a table's name is none for a query.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export XDG_CONFIG_HOME=$work/config
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
penna record -q -o a.penna ./orders 100 >/dev/null
sql_engine
run penna sql --saved
expect_eq "0 " "$status $out" "no saved queries"
run penna sql --save slowest 'SELECT function FROM call GROUP BY function ORDER BY max(duration) DESC LIMIT 1'
expect_eq "0 penna: slowest is saved: penna sql slowest" "$status $err"
expect_eq 600 "$(stat -c %a config/penna/sql/slowest.sql)" "rights"
expect_eq "$(penna sql a.penna --format csv -f config/penna/sql/slowest.sql)" "$(penna sql slowest a.penna --format csv)" "by name"
expect_eq "$(penna sql a.penna --format csv -f config/penna/sql/slowest.sql)" "$(penna sql slowest --format csv)" "of the newest recording"
run penna sql --save slowest -f <(sleep 0.3; printf 'SELECT 42 AS answer;\n')
expect_eq 0 "$status" "$err"
expect_contains "$(penna sql --format csv slowest a.penna)" 42
penna sql --save other $'SELECT 1,\n  2' 2>/dev/null
expect_eq 'other slowest' "$(penna sql --saved | awk '{print $1}' | paste -sd ' ')" "saved queries"
expect_match "$(penna sql --saved)" '^other +SELECT 1, +2$'
for wrong in call CALL ../up 'two words' '' -x; do
  run penna sql "--save=$wrong" 'SELECT 1'
  [ -z "$wrong" ] || expect_eq 125 "$status" "status of the name '$wrong'"
done
run penna sql --save call 'SELECT 1'
expect_contains "$err" 'call is a table, and cannot be the name of a query: choose another'
run penna sql --save empty
expect_contains "$err" "there is no query to save: penna sql --save empty 'SELECT ...'"
run penna sql nowhere a.penna
expect_eq 125 "$status" "a name that was not saved"
expect_contains "$err" nowhere
echo PASS
