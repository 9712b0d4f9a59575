#!/bin/bash
# SPDX-License-Identifier: MIT
# The manual pages: one for each verb, each with every option of its help; mandoc and man report no errors in them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need mandoc man-db
pages=$(readlink -f "$(dirname "$PENNA")/../share/man")
verbs=$(penna help | sed -n 's/^  penna \([a-z]*\) .*/\1/p' | sort -u)
expect_eq "$(printf 'penna-%s.1\n' $verbs; echo penna.1)" "$(ls "$pages/man1")" "pages"

for page in "$pages"/man?/*; do
  run mandoc -Tlint -W warning "$page"
  expect_eq "0 " "$status $out$err" "mandoc -Tlint $page"
  LC_ALL=C.UTF-8 MANWIDTH=120 run man --warnings -l "$page"
  expect_eq "0 " "$status $err" "man --warnings $page"
done

for verb in $verbs; do
  LC_ALL=C.UTF-8 MANWIDTH=500 man -l "$pages/man1/penna-$verb.1" >page.txt 2>&1
  for option in $(penna "$verb" --help --all | grep -Eo '^  (-[A-Za-z])?(,?--[a-z][a-z0-9-]+)*' | tr ',' ' '); do
    grep -Eq -- "(^|[ ,])$option( |,|$)" page.txt || fail "penna-$verb(1) lacks $option"
  done
done
man -l "$pages/man5/penna-format.5" >page.txt
grep -q 'AB 50 65 6E 6E 61 0D 0A' page.txt || fail "penna-format(5) does not tell how a recording begins"
man -l "$pages/man3/penna-point.3" >page.txt
grep -q 'PENNA_EVENT' page.txt || fail "penna-point(3) does not tell of PENNA_EVENT"
echo PASS
