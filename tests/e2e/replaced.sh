#!/bin/bash
# SPDX-License-Identifier: MIT
# Replacing a file leaves the old one intact for its readers; the new one has the old one's owner and mode, and no
# temporary file remains. If it cannot be written, the old one stays.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
penna record -q -k alloc -o r.penna ls >/dev/null
cp r.penna ls.penna
penna export csv r.penna >want.csv
# replaces FILE CMD...: while another process has it open.
replaces() {
  local file=$1 before
  shift
  cp "$file" before
  exec 5<"$file"
  before=$(stat -Lc %i "$file")
  run "$@"
  expect_eq 0 "$status" "$*"
  cmp -s before - <&5 || fail "an open descriptor of $file does not see all of it: $*"
  exec 5<&-
  [ "$before" != "$(stat -Lc %i "$file")" ] || fail "$* wrote over $file"
  ! cmp -s before "$file" || fail "$* replaced nothing"
  expect_eq "" "$(find . -name '.*' -type f)" "what $* left beside"
}

head -c 300000 /dev/zero >f.csv
chmod 640 f.csv
ln -s f.csv link.csv
replaces f.csv penna export csv r.penna -o f.csv
cmp -s want.csv f.csv || fail "the new file is not the export"
expect_eq 640 "$(stat -c %a f.csv)" "mode"
echo old >f.csv
replaces f.csv penna export csv r.penna -o link.csv
[ -L link.csv ] || fail "the link was removed"
cmp -s want.csv f.csv || fail "wrong file behind a link"
replaces r.penna penna record -f -q -k alloc -o r.penna -- sh -c :
expect_eq 600 "$(stat -c %a r.penna)" "mode of a recording"
run penna info r.penna
expect_match "$out" '^state +complete$'

# One that is being written by another recorder is not replaced.
mkfifo hold
"$PENNA" record -f -q -k alloc -o r.penna -- cat hold >/dev/null &
for _ in $(seq 600); do penna info r.penna 2>/dev/null | grep -q 'cat' && break; sleep 0.1; done
run penna record -f -q -k alloc -o r.penna -- true
expect_contains "$err" "r.penna is being written by another recorder: choose another name with -o"
echo >hold
wait $!

# A full disk.
echo old >f.csv
run bash -c "trap '' XFSZ; ulimit -f 1; exec '$PENNA' export csv ls.penna -o f.csv"
expect_eq 125 "$status" "status without room"
expect_contains "$err" "cannot write f.csv: File too large; what was there is as it was"
expect_eq old "$(<f.csv)" "a file that could not be replaced"
expect_eq "" "$(find . -name '.*' -type f)" "what is left beside it"

# Another user's file, and one in a directory without permission to create files.
chmod 755 .
mkdir closed p p/bin
cp "$PENNA" p/bin
cp want.csv r.penna closed
chmod 644 closed/r.penna
as_root chown 65534:65534 f.csv closed/want.csv
as_root chown root:root closed
as_root chmod 755 closed
run as_root "$PENNA" export csv r.penna -o f.csv
expect_eq "65534:65534" "$(stat -c %u:%g f.csv)" "whose file it is"
run as_root setpriv --reuid=65534 --regid=65534 --clear-groups p/bin/penna export folded --weight allocs closed/r.penna -o closed/want.csv
expect_eq 0 "$status" "a file in a directory of others"
expect_missing "$(<closed/want.csv)" time_ns
