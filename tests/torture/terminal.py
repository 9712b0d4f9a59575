# SPDX-License-Identifier: MIT
"""Runs a program on a new terminal (80 x 24) and types into it."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time


def run(words, env, script, timeout):
    """(status as from subprocess, all output). `script` is (text to wait for, text to type) pairs; each text is
    searched for after the previous one."""
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            os.chdir('/')
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
            os.execvpe(words[0], words, env)
        finally:
            os._exit(97)
    out, searched, steps = b'', 0, list(script)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if steps:
            at = out.find(steps[0][0].encode(), searched)
            if at >= 0:
                searched = at + len(steps[0][0]) if len(steps) > 1 and steps[0][0] != steps[1][0] else searched
                # A program that has printed its prompt may not be reading yet.
                time.sleep(0.1)
                os.write(terminal, steps.pop(0)[1].encode())
                continue
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # nobody has the other side open any more
            piece = b''
        if not piece:
            break
        out += piece
    else:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)
        return f'did not end within {timeout} s, waiting for {steps[:1]}', out
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), out
