#!/bin/bash
# SPDX-License-Identifier: MIT
# docs/screens.md: what two commands each show of a leak, a convoy and a slow function on a terminal of 80×24. `screens.sh --keep` makes the
# page show what is seen now.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need tmux less dpkg-dev libreadline-dev
copy_of_pages
cd copy
bash -euc "$(doc_block screens.md examples/tutorial/leak.cc)"
bash -euc "$(doc_block screens.md examples/build-program)"
/usr/bin/python3 "$PENNA_SOURCE/tests/e2e/screens.py" "$PENNA_SOURCE/docs/screens.md" "$PWD" "$@"
echo PASS
