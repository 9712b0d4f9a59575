#!/bin/bash
# SPDX-License-Identifier: MIT
# Another user's file TRACE, in a shared directory or in that user's own: etrace reports its owner, and a program that
# would be traced is not, and prints nothing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$(readlink -f "$(dirname "$PENNA")/..")
etrace=$build/bin/etrace library=$build/lib/libpenna-etrace.so
trap 'status=$?; cd /; as_root rm -rf "$work"; exit $status' EXIT
nobody() { as_root setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chmod 711 "$work"
mkdir -m 1777 all
mkdir theirs
as_root chown 65534 theirs
echo 'void leaf(void) {} int main(void) { leaf(); }' >calls.c
gcc -O1 -finstrument-functions calls.c -o calls
# left WHERE STATE: both leave the existing file unchanged.
left() {
  local before
  before=$(stat -c '%u %F %s %i' "$1/TRACE")
  run bash -c "cd '$1' && timeout 60 '$etrace' '$work/calls'"
  expect_eq 125 "$status" "etrace with $2 in $1"
  expect_contains "$err" "etrace: TRACE belongs to another user here (uid 65534): start etrace in another directory"
  run bash -c "cd '$1' && LD_PRELOAD='$library' '$work/calls'"
  expect_eq "0  " "$status $out $err" "a program with $2 in $1"
  expect_eq "$before" "$(stat -c '%u %F %s %i' "$1/TRACE")" "$2 in $1"
  nobody rm "$1/TRACE"
}
for directory in all theirs; do
  nobody ln -s /nowhere/socket "$work/$directory/TRACE"
  left $directory "a link"
done
nobody touch "$work/all/TRACE"
nobody chmod 666 "$work/all/TRACE"
left all "an empty file"
penna record -q -k calls -o r.penna ./calls
chmod 644 r.penna
cp r.penna all/other && as_root chown 65534 all/other && as_root mv all/other all/TRACE
left all "a recording"

# The user's own file, in the same place.
touch all/TRACE
(cd all && LD_PRELOAD=$library ../calls)
expect_contains "$(cd all && "$etrace" ../calls)" "leaf"
