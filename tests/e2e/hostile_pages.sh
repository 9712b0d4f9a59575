#!/bin/bash
# SPDX-License-Identifier: MIT
# Another user's target that writes arbitrary data into all memory shared with root's recorder: the recorder passes on
# the target's exit status, and prints only proper sentences. PENNA_HOSTILE_RUNS: number of runs (40).
. "$(dirname "$0")/common.sh"
build_c hostile_pages
chmod 711 .
for seed in $(seq "${PENNA_HOSTILE_RUNS:-40}"); do
  run as_root "$PENNA" record -f -o hostile.penna -k alloc,locks,points -- ./hostile_pages 65534 "$seed" $((seed % 4 * 6000))
  expect_eq 7 "$status" "seed $seed: status"
  expect_match "$out" '^[1-9][0-9]* pages$'
  while read -r line; do
    [[ -z $line || $line == penna:* ]] || fail "seed $seed: no sentence of ours: $line"
  done <<<"$err"
  expect_missing "$err" ' -[0-9]'
  # Its data is in the recording: readers must cope with it, too.
  for verb in info "report -n 3 health" "report -n 3 alloc"; do
    # shellcheck disable=SC2086
    run as_root "$PENNA" $verb hostile.penna
    [ "$status" -lt 126 ] || fail "seed $seed: $verb died: $status"
    expect_missing "$out" ' -[0-9]'
  done
done
