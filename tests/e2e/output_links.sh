#!/bin/bash
# SPDX-License-Identifier: MIT
# Overwriting: -f replaces the user's own file, never the target of a link; and another user's files in a shared
# directory (/tmp) are neither followed nor written, by anything that writes.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$(readlink -f "$(dirname "$PENNA")/..")
trap 'status=$?; cd /; as_root rm -rf "$work"; exit $status' EXIT
nobody() { as_root setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chmod 711 "$work"
mkdir -m 1777 all
as_root mkdir private
as_root chown "$(id -u)" private
all=$work/all
penna record -q -k alloc -o r.penna ls >/dev/null
penna export rtrace r.penna -o t.rtrace.txt
state() { stat -c '%A %u %s %i' "$1"; cat "$1"; }
# refused WHAT WORDS CMD...: it fails with one sentence that contains the words, and our file is unchanged.
refused() {
  local what=$1 words=$2
  shift 2
  run "$@"
  expect_match "$status" '^(1|2|125)$'
  expect_eq 1 "$(wc -l <<<"$err")" "lines of the refusal: $what"
  expect_contains "$err" "$words"
  expect_eq "$before" "$(state private/file)" "our file: $what"
}
echo precious >private/file
chmod 644 private/file
before=$(state private/file)

# ---- Recordings: no link at all, regardless of owner and target -----------------------------------------------------
ln -s "$work/private/file" own
ln -s "$work/private/new" dangling
ln -s own chain
ln -s "$work/private/file" all/own
nobody ln -s "$work/private/file" all/theirs
nobody ln -s "$work/private/new" all/dangling
nobody ln -s "$work/private" all/directory
for write in 'record -q' 'import rtrace t.rtrace.txt'; do
  command() { if [[ $write == record* ]]; then penna record -q "$@" true; else penna import rtrace t.rtrace.txt "$@"; fi; }
  for link in own dangling chain all/own "$work/own" private/../own; do
    refused "$write, $link" "$link is a link, and the target of a link is never replaced: name the file itself, or remove the link" \
      command -f -o "$link"
  done
  for link in all/theirs all/dangling "$all/theirs" all/directory/file all/directory/new; do
    refused "$write, $link" "$link goes through a link that another user (uid 65534) created: choose another name" \
      command -f -o "$link"
  done
  for link in own dangling; do
    refused "$write without -f, $link" "$link" command -o "$link"
  done
  [ ! -e private/new ] || fail "$write wrote where a dangling link leads"
done

# ---- Another user's files in a shared directory are never written: files, pipes, and our links to them --------------
nobody touch all/file
nobody chmod 666 all/file
nobody mkfifo -m 666 all/pipe
ln -s "$work/all/file" to_file
for name in all/file all/pipe; do
  refused "record to $name" "belongs to another user (uid 65534), in a world-writable directory: choose another name" \
    penna record -q -f -o $name true
done
for name in all/file all/pipe to_file; do
  refused "export to $name" "belongs to another user (uid 65534), in a world-writable directory: choose another name" \
    timeout 60 "$PENNA" export csv r.penna -o $name
done
expect_eq "65534 0" "$(stat -c '%u %s' all/file)" "the other user's file"
for name in all/theirs all/dangling all/directory/file; do
  refused "export to $name" "goes through a link that another user (uid 65534) created: choose another name" \
    penna export csv r.penna -o $name
done
[ ! -e private/new ] || fail "export wrote where another user's link leads"

# ---- A hard link to our file, as any user may create where the kernel permits it ------------------------------------
ln private/file all/hard
before=$(state private/file)
refused "record to a hard link" "all/hard has another hard link, which anybody may have created: remove it, or choose another name" \
  penna record -q -f -o all/hard true
refused "export to a hard link" "all/hard has another hard link" penna export csv r.penna -o all/hard
rm all/hard
before=$(state private/file)

# ---- File names that we choose ourselves are predictable: existing files are skipped --------------------------------
nobody ln -s "$work/private/file" "$all/leaks.0.map"
run penna export libleaks r.penna -o all/leaks
expect_eq 0 "$status" "export libleaks beside a link"
expect_eq "$before" "$(state private/file)" "our file, behind a name of libleaks"
[ -f all/leaks.1.map ] || fail "export libleaks did not choose the next name"

# ---- Directories of exports: not another user's, nor through another user's link ------------------------------------
nobody mkdir -m 777 all/theirs_too
nobody ln -s "$work/private" all/to_private
for format in ctf uftrace; do
  refused "$format into another user's directory" "all/theirs_too belongs to another user (uid 65534), in a world-writable directory" \
    penna export $format r.penna all/theirs_too
  refused "$format behind another user's link" "all/to_private goes through a link that another user (uid 65534) created" \
    penna export $format r.penna all/to_private
  refused "$format behind another user's link" "all/to_private/new goes through a link that another user (uid 65534) created" \
    penna export $format r.penna all/to_private/new
done
expect_eq "" "$(ls all/theirs_too)" "what was written into another user's directory"
mkdir own_directory
ln -s own_directory to_own_directory
for directory in new_directory all/mine to_own_directory/; do
  run penna export ctf r.penna $directory
  expect_eq "0 events metadata" "$status $(ls $directory | xargs)" "export into $directory"
done
rm -r all/mine

# ---- What has always worked: our own files, links to them for exports, descriptors, pipes; recordings are private ----
penna export csv r.penna >want.csv
echo old >old.csv
ln -s old.csv link.csv
ln -s new.csv link_new.csv
for name in old.csv link.csv link_new.csv all/mine.csv all/mine.csv; do
  penna export csv r.penna -o $name
  cmp -s want.csv $name || fail "export to $name"
done
[ -L link.csv ] || fail "the link to our own file was removed"
penna export csv r.penna -o /dev/stdout >stdout.csv
penna export csv r.penna -o /dev/stdout | cmp - want.csv || fail "export to /dev/stdout, a pipe"
penna export csv r.penna -o /dev/fd/3 3>fd.csv
penna export csv r.penna -o /dev/null
mkfifo pipe
penna export csv r.penna -o pipe &
cat pipe >piped.csv
wait $!
penna export csv r.penna -o >(cat >substituted.csv; touch over)
for _ in $(seq 600); do [ ! -e over ] || break; sleep 0.1; done
for name in stdout fd piped substituted; do cmp -s want.csv $name.csv || fail "export to $name"; done
for name in all/mine.penna fresh.penna; do
  for mask in 000 022; do
    (umask $mask && penna record -q -f -o $name true)
    expect_eq 600 "$(stat -c %a $name)" "mode of $name, umask $mask"
  done
done
chmod 666 fresh.penna
penna record -q -f -o fresh.penna true
expect_eq 600 "$(stat -c %a fresh.penna)" "mode of a recording that replaces a file"
mkdir deep
ln -s deep way
penna record -q -o way/r.penna true
[ -f deep/r.penna ] || fail "a link of our own to a directory was not followed"
refused "no such directory" "cannot write none/r.penna: No such file or directory" penna record -q -o none/r.penna true
refused "a directory" "cannot write deep: Is a directory" penna record -q -f -o deep true
refused "an empty directory name" "cannot write deep/: Is a directory" penna record -q -f -o deep/ true

# ---- etrace, and functracer, whose program turns the names it is about to write into links --------------------------
refused "etrace" "own is a link, and the target of a link is never replaced" timeout 60 "$build/bin/etrace" -o own
cat >told.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char name[100];
  for (int i = 0; i + 1 < argc; ++i) {
    snprintf(name, sizeof name, "dumps/%d-%d.rtrace.txt", getpid(), i);
    if (symlink(argv[i + 1], name) != 0) return 2;
  }
  raise(SIGUSR1);
  void* volatile kept = malloc(1000);
  raise(SIGUSR1);
  return kept == NULL;
}
C
build_c told
mkdir dumps
run "$build/bin/functracer" -o dumps ./told "$work/private/file" "$work/private/new"
expect_eq 0 "$status" "status of functracer"
expect_eq "$before" "$(state private/file)" "our file, behind a name of functracer"
[ ! -e private/new ] || fail "functracer wrote where a dangling link leads"
expect_match "$(ls dumps)" "^[0-9]+-2.rtrace.txt$"
