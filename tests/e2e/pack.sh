#!/bin/bash
# SPDX-License-Identifier: MIT
# penna pack: a packed recording is smaller and says the same, in its place or as another file. It stays the same recording: its identity,
# its time, what was lost of it. What is incomplete, or still being written, is left as it is.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cp "$PENNA_SOURCE/examples/demo/orders.cc" .
build_c orders -finstrument-functions -finstrument-functions-exclude-file-list=/usr/
penna record -q --compress=fast -o orders.penna ./orders 4000 >/dev/null
cp -p orders.penna original.penna
touch -d '2020-02-02 02:02:02' orders.penna

# identity REC
identity() { od -A n -t x1 -j 16 -N 24 "$1"; }

# ---- as another file, and in its place ---------------------------------------------------------------------------------------------
run penna pack original.penna -o small.penna
expect_eq 0 "$status" "penna pack -o: $err"
expect_match "$err" '^penna: small.penna: [0-9.]+ [kM]B of [0-9.]+ [kM]B$'
(($(stat -c %s small.penna) < $(stat -c %s original.penna))) || fail "it is not smaller: $(ls -l ./*.penna)"
run penna pack orders.penna
expect_eq 0 "$status" "penna pack: $err"
cmp orders.penna small.penna || fail "the two differ"
expect_eq "$(identity original.penna)" "$(identity orders.penna)" "the time of its making, and its identity"
expect_eq 2020-02-02 "$(date -r orders.penna +%F)" "the file's time"
expect_eq 600 "$(stat -c %a orders.penna)" "the file's mode"
expect_eq 0 "$(find . -name '.*penna*' | wc -l)" "files left beside it"
for what in "export csv" "report calls" "report alloc" "report locks" "report points" "report health"; do
  # shellcheck disable=SC2086
  expect_eq "$(penna $what original.penna | sed 's/original.penna//' | md5sum)" "$(penna $what orders.penna | sed 's/orders.penna//' | md5sum)" "penna $what"
done
expect_match "$(penna info orders.penna)" 'state +complete'
run penna pack orders.penna
expect_eq 0 "$status"
expect_match "$err" ', and gets no smaller$'
cmp orders.penna small.penna || fail "packing it again changed it"
# The newest one here; several.
cp original.penna newest.penna
run penna pack
expect_match "$err" '^penna: newest.penna: '
cp original.penna a.penna
cp original.penna b.penna
run penna pack a.penna none.penna b.penna
[ "$status" != 0 ] || fail "penna pack of a file that is not there works"
expect_match "$err" '^penna: a.penna: '
expect_match "$err" '^penna: b.penna: '
expect_contains "$err" none.penna

# ---- what stays as it is -----------------------------------------------------------------------------------------------------------
# refused SENTENCE FILE ARGS...: one line, and the file does not change
refused() {
  local before
  before=$(md5sum "$2")
  run penna pack "${@:2}"
  [ "$status" != 0 ] || fail "penna pack ${*:2} works"
  expect_contains "$err" "$1"
  expect_eq 1 "$(wc -l <err.txt)" "lines of penna pack ${*:2}"
  expect_eq "$before" "$(md5sum "$2")" "$2 after penna pack ${*:2}"
}
head -c 60000 original.penna >cut.penna
refused "is cut off, which a packed one would not show" cut.penna
cp original.penna damaged.penna
printf 'XXXXXXXX' | dd of=damaged.penna bs=1 seek=20000 conv=notrunc status=none
refused "is damaged, which a packed one would not show" damaged.penna
head -c 1000 /dev/urandom >junk.penna
refused "junk.penna" junk.penna
refused "exists already" original.penna -o small.penna
refused "-o names the recording itself" original.penna -f -o original.penna
refused "pack several recordings in their places" original.penna small.penna -o new.penna
refused "a recording cannot go to standard output" original.penna -o -
cat >waits.sh <<'SCRIPT'
until [ -e end ]; do sleep 0.02; done
SCRIPT
start recorder.txt "$PENNA" record -f -o growing.penna -- sh waits.sh
until_true "it is being recorded" test -s growing.penna
run penna pack growing.penna
[ "$status" != 0 ] || fail "penna pack of a recording that grows works"
expect_contains "$err" "is still being recorded: pack it later"
touch end
wait "$pid"
penna pack growing.penna 2>/dev/null || fail "penna pack of one that has ended"

# A full disk: the recording stays.
if [ "$(id -u)" = 0 ]; then
  mkdir full
  mount -t tmpfs -o size=$(($(stat -c %s original.penna) + 20000)) tmpfs full
  cp original.penna full/
  run penna pack full/original.penna
  left=$(ls -A full) same=$(cmp full/original.penna original.penna && echo yes)
  umount full
  [ "$status" != 0 ] || fail "penna pack on a full disk works: $err"
  expect_eq 1 "$(wc -l <err.txt)" "lines about a full disk: $err"
  expect_eq original.penna "$left" "files on the full disk"
  expect_eq yes "$same" "the recording on the full disk"
fi
echo PASS
