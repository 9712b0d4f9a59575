#!/bin/bash
# SPDX-License-Identifier: MIT
# A full file system during recording: the program notices nothing, and every view of the recording reports what is
# missing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >busy.c <<'PROGRAM'
#include <stdlib.h>
int main(void) {
  static void* volatile kept[1000];
  srand(1);
  for (int i = 0; i < 300000; ++i) {
    void* volatile* at = &kept[rand() % 1000];
    free(*at);
    *at = malloc((size_t)rand() % 10000);
  }
  return 4;
}
PROGRAM
build_c busy
# The recorder has a file size limit, the program does not.
cat >limited.sh <<'SCRIPT'
ulimit -Sf 200
exec "$@"
SCRIPT
run bash limited.sh "$PENNA" record -k alloc -o busy.penna -- bash -c 'ulimit -Sf unlimited; exec ./busy'
expect_eq 4 "$status" "status of ./busy"
lost=$(grep -oE '[0-9,]+ LOST' <<<"$err") || fail "record does not say that events are lost"
run penna info busy.penna
expect_eq 0 "$status" "status of info"
expect_match "$out" "^lost +${lost% LOST} allocation events, for which there was no room in the file"
expect_match "$out" '^state +(complete|unfinished: its end could not be written)$'
for command in info 'report alloc' 'report health' 'check --max-leak 1G'; do
  # shellcheck disable=SC2086
  run penna $command busy.penna
  expect_contains "$out" "${lost% LOST} allocation events could not be written to the file (File too large): make room" "$command"
  expect_missing "$out" "was killed or is still at work"
done
expect_eq 2 "$status" "status of check"

# ---- Exports, which have the limit themselves: a sentence ---------------------------------------------------------------------------
penna record -q -k alloc -o whole.penna ./busy || true
# limited ARGS...: penna with files of at most 20 KiB
limited() { run bash -c 'ulimit -Sf 20; exec "$@"' limited "$PENNA" "$@"; }
for format in csv chrome rtrace; do
  limited export $format whole.penna -o new.$format
  expect_eq 125 "$status" "status of export $format"
  expect_contains "$err" "cannot write new.$format: File too large" "export $format"
done
expect_eq '' "$(find . -name '.*penna*')" "files left behind"
# The limit ends what is recorded as it does alone.
run bash -c 'ulimit -Sf 20; exec "$@"' limited "$PENNA" record -q -k points -f -o true.penna -- bash -c 'trap - XFSZ; head -c 100000 /dev/zero >large'
expect_eq 153 "$status" "status of a program that writes too much"
