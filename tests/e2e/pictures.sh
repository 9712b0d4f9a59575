#!/bin/bash
# SPDX-License-Identifier: MIT
# The pictures in README.md: one of each view of the page, small enough to be loaded with the text, and made by this
# script: `pictures.sh keep` makes those in docs/pictures anew. Else it makes others, and looks whether the same are there.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need chromium fonts-dejavu-core
command -v node >/dev/null || need nodejs
npm_packages playwright-core@1.65.1

cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -O1 -g -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
penna record -q -o before.penna ./orders 40 >/dev/null
penna record -q -o orders.penna ./orders 60 >/dev/null
start view.log "$PENNA" view before.penna orders.penna --no-open
await view.log 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/'
mkdir made
address=$(grep -Eo 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/' view.log | head -n 1)
run env NODE_MODULES="$modules" node "$PENNA_SOURCE/tests/view/pictures.mjs" "$address" made
expect_eq 0 "$status" "exit status of the pictures: $err"
kept=$PENNA_SOURCE/docs/pictures
if [ "${1:-}" = keep ]; then
  mkdir -p "$kept"
  rm -f "$kept"/*.png
  cp made/*.png "$kept"
fi

names() { (cd "$1" && ls -- *.png); }
expect_eq "$(names made)" "$(names "$kept")" "pictures in docs/pictures; 'tests/e2e/pictures.sh keep' makes them"
for picture in $(names "$kept"); do
  # Of the size in which the page was looked at: bytes 16 to 23 of a PNG.
  expect_eq "$(od -An -tx1 -j16 -N8 "made/$picture")" "$(od -An -tx1 -j16 -N8 "$kept/$picture")" "width and height of $picture"
  bytes=$(stat -c %s "$kept/$picture")
  [ "$bytes" -le 150000 ] || fail "$picture has $bytes bytes"
  [ "$(tr -d '\0' <"made/$picture" | wc -c)" -gt 10000 ] || fail "$picture shows nothing"
  grep -qF "(docs/pictures/$picture)" "$PENNA_SOURCE/README.md" || fail "README.md has no $picture"
done
echo PASS
