#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder removes what killed recorders left in /tmp. Files that another user leaves there under such a name cost no
# user a file, and recording works as usual.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset XDG_RUNTIME_DIR  # /tmp is the parent
made=()
trap 'status=$?; cd /; as_root rm -rf "$work" "${made[@]}"; exit $status' EXIT
nobody() { as_root setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# An unused name of the form we use.
free_name() {
  name=$(mktemp -u /tmp/penna-XXXXXX)
  made+=("$name")
}
# desert DIR: creates what a killed recorder leaves: a socket without a listener, an hour old.
desert() {
  /usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1/socket"
  touch -d '1 hour ago' "$1/socket"
}
kept() { ls -lAn --time-style=full-iso "$@"; }
recorded() {
  run penna record -q -f -o true.penna true
  expect_eq 0 "$status" "status of record, $1"
  expect_eq "" "$err" "what record says, $1"
}

# ---- Our own leftovers are removed ----------------------------------------------------------------------------------
free_name; ours=$name
mkdir -m 700 "$ours"
desert "$ours"
recorded "beside a deserted directory"
[ ! -e "$ours" ] || fail "a killed recorder left its directory"

# ---- Another user's link to a directory of ours that looks like a leftover; a link of our own is treated the same ----
for who in nobody ''; do
  mkdir -m 700 "private$who"
  desert "private$who"
  echo precious >"private$who/control"
  free_name
  $who ln -s "$work/private$who" "$name"
  before=$(kept "private$who")
  recorded "beside a link of '$who'"
  expect_eq "$before" "$(kept "private$who")" "our directory, behind a link of '$who'"
  [ -L "$name" ] || fail "the link of '$who' was removed"
done

# ---- Our directory with other kinds of files and names: only sockets are removed, and a non-empty directory stays ----
free_name; mixed=$name
mkdir -m 700 "$mixed"
echo precious >"$mixed/control"
echo precious >"$mixed/other"
desert "$mixed"  # last: recorders of other tests clear away what is deserted, too
recorded "beside a directory with other files"
expect_eq "control other" "$(cd "$mixed" && echo *)" "what stays of files that are no sockets"

# ---- A directory accessible to others: its contents may be anybody's ------------------------------------------------
free_name; open=$name
mkdir -m 755 "$open"
desert "$open"
before=$(kept "$open")
recorded "beside a directory that others may enter"
expect_eq "$before" "$(kept "$open")" "a directory that others may enter"

# ---- Another user's directory with links to our files, a pipe, a file, a dangling link, one to itself ---------------
echo precious >file
free_name; theirs=$name
nobody mkdir -m 777 "$theirs"
nobody ln -s "$work/file" "$theirs/control"
nobody /usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$theirs/socket"
nobody touch -d '1 hour ago' "$theirs/socket"
free_name; pipe=$name; nobody mkfifo -m 666 "$name"
free_name; nobody touch "$name"
free_name; nobody ln -s /nowhere/at/all "$name"
free_name; nobody ln -s "$name" "$name"
before=$(kept "$theirs")
SECONDS=0
recorded "beside all that another user may leave"
[ $SECONDS -lt 60 ] || fail "the recorder waits for a pipe of another user"
expect_eq "$before" "$(kept "$theirs")" "the directory of another user"
[ -p "$pipe" ] || fail "the pipe of another user was removed"
expect_eq precious "$(<file)" "our file"

# ---- $XDG_RUNTIME_DIR owned by another user, as after su: its owner could replace what we put there -----------------
mkdir -m 777 runtime
as_root chown 65534 runtime
chmod 711 "$work"
nobody test -w "$work/runtime" || fail "the other user cannot write to its directory"
XDG_RUNTIME_DIR=$work/runtime strace -f -e trace=bind -o calls.txt "$PENNA" record -q -f -o true.penna true
expect_contains "$(<calls.txt)" 'sun_path="/tmp/penna-'
