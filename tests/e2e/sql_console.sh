#!/bin/bash
# SPDX-License-Identifier: MIT
# penna sql at a terminal: statements over several lines, completion, history, and an error that does not end it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need libedit2
sql_engine
cat >app.c <<'PROGRAM'
__attribute__((noipa)) void work(int i) { __asm__ volatile("" : : "r"(i)); }
int main(void) { for (int i = 0; i < 10; i++) work(i); }
PROGRAM
build_c app -finstrument-functions
penna record -q -k calls -o app.penna -- ./app
export XDG_STATE_HOME=$work/state TERM=xterm
cat >type.py <<'PYTHON'
"""Types what it is told, and waits for what shall come: type.py FILE WORD... takes turns of the two."""
import os, pty, re, select, subprocess, sys, termios, time
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1].split(), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                         preexec_fn=lambda: __import__('fcntl').ioctl(0, __import__('termios').TIOCSCTTY, 0))
os.close(slave)
seen = ''
def await_(regex):
    global seen
    for turn in range(600):  # a minute
        if found := re.search(regex, seen, re.DOTALL):
            seen = seen[found.end():]
            return
        ready, _, _ = select.select([master], [], [], 0.1)
        if not ready:
            continue
        try:
            seen += os.read(master, 65536).decode(errors='replace')
        except OSError:
            raise AssertionError(f'ended before {regex!r}: {seen!r}')
    raise AssertionError(f'never {regex!r} in {seen!r}')
def await_keys():
    """libedit prints its prompt before it takes single keys; a Ctrl-D typed in between is no end of file."""
    end = time.monotonic() + 60
    while termios.tcgetattr(master)[3] & termios.ICANON:
        assert time.monotonic() < end, f'takes no keys: {seen!r}'
        time.sleep(0.01)
for turn, text in enumerate(sys.argv[2:]):
    if turn % 2 == 0:
        await_(text)
    elif text:
        await_keys()
        os.write(master, text.encode().decode('unicode_escape').encode())
try:  # a terminal that nobody reads cannot be left
    while os.read(master, 65536):
        pass
except OSError:
    pass
sys.exit(child.wait(timeout=60))
PYTHON
console() { /usr/bin/python3 type.py "$PENNA sql app.penna --no-pager" "$@" || fail "the console"; }

console 'sql> ' 'SELECT count(*)\n' '\.\.\.> ' 'FROM call;\n' '\b11\b' 'SELECT cout FROM call;\n' 'Binder Error' '' 'sql> ' '\x04'
# Tab: DuckDB provides the table names.
console 'sql> ' 'SELECT count(*) FROM alloc\t' 'ation' ';\n' 'count_star.*\b0\b' '' 'sql> ' '\x04'
# Statements typed in one run are in the history of the next.
console 'sql> ' '\x1b[A' 'FROM allocation' '\n' 'count_star.*\b0\b' '' 'sql> ' '\x04'
expect_eq '600 700' "$(stat -c %a state/penna/sql_history state/penna | tr '\n' ' ' | sed 's/ $//')" "rights of the history"
echo PASS
