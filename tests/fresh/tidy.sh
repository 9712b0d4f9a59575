#!/bin/bash
# SPDX-License-Identifier: MIT
# What ./run fresh keeps: layers of lists as they are, the newest of each download, what runs that go on have; and nothing else.
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
PENNA_FRESH_STORE=$(mktemp -d "${TMPDIR:-/tmp}/penna-tidy.XXXXXX")
trap 'rm -rf "$PENNA_FRESH_STORE"' EXIT
. "$root/tests/fresh/root.sh"
cd "$store"
build=$(named_group build) test=$(named_group test)

kept=("suite" "suite+user" "suite+user.log" "suite+$build" "suite+$build.log" "suite+$build+$test" "suite+build-11111111+$test" "run.$$.aaaaaa")
mkdir -p archives-suite "${kept[@]}" "suite+build-00000000" "suite+build-00000000+$test" "suite+$build+test-00000000.part" "suite+gone-00000000"
touch "suite+build-00000000.log"
touch -d '2 hours ago' suite* && touch "suite+build-11111111+$test" # the last one is in use: another tree's
sleep 0 & ended=$!
wait $ended
mkdir "run.$ended.aaaaaa" "short.$ended.bbbbbb"
touch archives-suite/{g++_4%3a12.2.0-3_amd64.deb,g++_4%3a14.2.0-1_amd64.deb,one_1.9-1_all.deb,one_1.10-1_all.deb,two_1_amd64.deb}
made=$(scratch run)
[ "${made#"$store"/run.$$.}" != "$made" ] || { echo "FAIL: a run's folder is $made" >&2; exit 1; }
rmdir "$made"

tidy
found=$(ls -d -- *)
want=$(printf '%s\n' archives-suite "${kept[@]}" | sort)
[ "$(sort <<<"$found")" = "$want" ] || { diff <(echo "$want") <(sort <<<"$found"); echo "FAIL: what is kept" >&2; exit 1; }
found=$(ls archives-suite | paste -sd ' ')
[ "$found" = 'g++_4%3a14.2.0-1_amd64.deb one_1.10-1_all.deb two_1_amd64.deb' ] || { echo "FAIL: downloads that are kept: $found" >&2; exit 1; }
echo PASS
