#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals to the recorder, to its group and from its terminal reach the program as often as without us; the recording is whole.
. "$(dirname "$0")/common.sh"
need python3
build_c heard
run python3 "$PENNA_SOURCE/tests/e2e/signals.py" "$PENNA" ./heard
expect_eq 0 "$status" "signals.py"
