#!/bin/bash
# SPDX-License-Identifier: MIT
# An incomplete recording is reported as such wherever a complete one would be, to people and to programs: truncated at
# the end, anywhere in between, and between two blocks.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >small.c <<'C'
__attribute__((noipa)) void leaf(void) {}
int main(void) { leaf(); }
C
build_c small -finstrument-functions
penna record -q -k calls -o whole.penna -- ./small
run penna info whole.penna
expect_match "$out" '^state +complete$'
expect_match "$out" '^lost +nothing$'

size=$(stat -c %s whole.penna)
sizes=$(seq 256 $((size / 40)) $((size - 1)); seq $((size - 33)) $((size - 1)))
/usr/bin/python3 - >blocks.txt <<'PYTHON'
import struct
data = open('whole.penna', 'rb').read()
magic, at = data[256:264], 256
while at < len(data) and data[at:at + 8] == magic:
    print(at)
    at += 48 + struct.unpack_from('<H', data, at + 10)[0] + struct.unpack_from('<I', data, at + 20)[0]
print(at)
PYTHON
[ "$(wc -l <blocks.txt)" -gt 5 ] || fail "the blocks of the recording were not found"
for cut in $sizes $(<blocks.txt); do
  head -c "$cut" whole.penna >cut.penna
  run penna info cut.penna
  expect_match "$out" "^state +cut off: $cut of its $size bytes are there$"
  expect_match "$out" '^lost +.*according to the file$'
done
run penna info cut.penna --format json
expect_contains "$out" "cut off: $cut of its $size bytes are there"
expect_missing "$out" '"complete"'

# For programs: identifiers and numbers in each report, beside the sentences.
json_of() { python3 -c 'import json, sys; print(eval("json.load(sys.stdin)" + sys.argv[1]))' "$1"; }
for view in info "report" "report calls" "report health"; do
  # shellcheck disable=SC2086
  set -- $view
  expect_eq "complete" "$(penna "$1" whole.penna "${@:2}" --json | json_of '["state"]')" "state in $view"
  expect_eq "cut" "$(penna "$1" cut.penna "${@:2}" --json | json_of '["state"]')" "state in $view of one that is cut"
  expect_eq "0 0 0 0" "$(penna "$1" whole.penna "${@:2}" --json | json_of '["loss"]' | python3 -c '
loss = eval(input())
print(loss["calls"], loss["for_room_calls"], loss["unwritten_locks"], loss["torn"])')" "loss in $view"
done
expect_eq "exited 0" "$(penna info whole.penna --json | json_of '["processes"][0]["end_kind"] + " 0"')"
expect_eq 0 "$(penna info whole.penna --json | json_of '["processes"][0]["end_code"]')"
