#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs every command in README.md and docs/, in page order, on its own recordings; the output shown there must resemble
# the current output (docs.py). docs.sh [PAGE...]: only these, e.g. README.md.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need 'python3.11-dbg|python3.13-dbg' sqlite3 babeltrace2 heaptrack uftrace valgrind graphviz golang-go
sql_engine
export XDG_CONFIG_HOME=$work/config # pages save queries

copy_of_pages
# If mounting is permitted, the tree is hidden: a page that uses files from it fails.
mkdir -p known/tests
cp "$PENNA_SOURCE/run" known
cp -r "$PENNA_SOURCE/tests/e2e" known/tests
tests() {
  /usr/bin/python3 known/tests/e2e/docs.py --self-test
  /usr/bin/python3 known/tests/e2e/docs.py known copy "$@"
}
export -f tests
if unshare -m mount -t tmpfs none "$PENNA_SOURCE" 2>/dev/null; then
  unshare -m bash -euc 'mount -t tmpfs none "$PENNA_SOURCE"; unset PENNA_SOURCE PENNA; tests "$@"' docs "$@"
else
  tests "$@"
fi
