#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command that README.md and docs/ show is run, in the order of each page, on what it records itself; what they
# show as its output has to look like what it prints now (docs.py). docs.sh [PAGE...]: only these, as README.md.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need 'python3.11-dbg|python3.13-dbg' sqlite3 babeltrace2 heaptrack uftrace valgrind graphviz golang-go
sql_engine

copy_of_pages
# Where mounting is allowed, the tree is covered: a page that takes something from it fails.
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
