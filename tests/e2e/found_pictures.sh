#!/bin/bash
# SPDX-License-Identifier: MIT
# The pictures in docs/see-*.md: a convoy, a leak and a slow function are found in the page as these pages say.
# `found_pictures.sh keep` makes the pictures in docs/pictures/found anew. Else it makes others, and looks whether the same are there.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need chromium fonts-dejavu-core
command -v node >/dev/null || need nodejs
npm_packages playwright-core@1.65.1

cp "$PENNA_SOURCE"/examples/tutorial/* .
g++ -O2 -g -pthread convoy.cc -o convoy
g++ -O2 -g leak.cc -o leak
gcc -O2 -g slow.c -o slow
penna record -q -k locks -o convoy.penna ./convoy
penna record -q -k alloc -o leak.penna ./leak >/dev/null
penna record -q --all-functions -k calls -o slow.penna ./slow >/dev/null
mkdir made
for which in convoy leak slow; do
  start $which.log "$PENNA" view $which.penna --no-open
  await $which.log 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/'
  run env NODE_MODULES="$modules" node "$PENNA_SOURCE/tests/view/found_pictures.mjs" $which "$(head -n 1 $which.log)" made
  expect_eq 0 "$status" "exit status of the pictures of $which: $err"
done
kept=$PENNA_SOURCE/docs/pictures/found
if [ "${1:-}" = keep ]; then
  mkdir -p "$kept"
  rm -f "$kept"/*.png
  cp made/*.png "$kept"
fi

names() { (cd "$1" && ls -- *.png); }
expect_eq "$(names made)" "$(names "$kept")" "pictures in docs/pictures/found; 'tests/e2e/found_pictures.sh keep' makes them"
for picture in $(names "$kept"); do
  # Of the size in which the page was looked at: bytes 16 to 23 of a PNG.
  expect_eq "$(od -An -tx1 -j16 -N8 "made/$picture")" "$(od -An -tx1 -j16 -N8 "$kept/$picture")" "width and height of $picture"
  bytes=$(stat -c %s "$kept/$picture")
  [ "$bytes" -le 100000 ] || fail "$picture has $bytes bytes"
  grep -qF "(pictures/found/$picture)" "$PENNA_SOURCE"/docs/see-*.md || fail "no page has $picture"
done
echo PASS
