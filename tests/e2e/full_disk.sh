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
need babeltrace2
penna export ctf busy.penna -o busy.ctf
discarded=$(babeltrace2 busy.ctf 2>&1 >/dev/null | awk 'match($0, /discarded [0-9]+ event/) {sum += substr($0, RSTART + 10)} END {print sum}')
expect_eq "${lost//[!0-9]/}" "$discarded" "discarded events of the CTF trace"

# ---- Copies and exports, which have the limit themselves: a sentence, no half file, and what was there stays -----------------------
penna record -q -k alloc -o whole.penna ./busy || true
penna record -q -k alloc -o before.penna -- true
{ penna export rtrace --no-progress whole.penna - 2>/dev/null || true; } | head -n 40000 >whole.rtrace
# limited ARGS...: penna with files of at most 20 KiB
limited() { run bash -c 'ulimit -Sf 20; exec "$@"' limited "$PENNA" "$@"; }
for what in 'trim -r 0s- whole.penna' 'merge whole.penna whole.penna' 'pack whole.penna' 'import rtrace whole.rtrace'; do
  # shellcheck disable=SC2086
  limited $what -o new.penna
  expect_eq 125 "$status" "status of $what"
  expect_match "$err" '^penna( pack)?: cannot write new.penna: File too large; nothing is left of it$'
  [ ! -e new.penna ] || fail "$what leaves half a recording"
  cp before.penna old.penna
  # shellcheck disable=SC2086
  limited $what -f -o old.penna
  expect_match "$err" '^penna( pack)?: cannot write old.penna: File too large; what was there is as it was$'
  cmp before.penna old.penna || fail "$what -f destroys what was there"
done
for format in csv chrome rtrace; do
  limited export $format whole.penna -o new.$format
  expect_eq 125 "$status" "status of export $format"
  expect_contains "$err" "cannot write new.$format: File too large" "export $format"
done
expect_eq '' "$(find . -name '.*penna*')" "files left behind"
# The limit ends what is recorded as it does alone.
run bash -c 'ulimit -Sf 20; exec "$@"' limited "$PENNA" record -q -k points -f -o true.penna -- bash -c 'trap - XFSZ; head -c 100000 /dev/zero >large'
expect_eq 153 "$status" "status of a program that writes too much"
