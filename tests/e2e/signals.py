#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How a program sees signals from its starter, its terminal or its group: the same with penna as without.

    signals.py PENNA HEARD     HEARD: the program tests/programs/heard.c
Each case is run without and with `penna record`; the program's log, its exit and what its parent saw must be equal.
"""
import fcntl
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE = 60  # seconds until a case counts as hung


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f'waited in vain until {what}')
        time.sleep(0.005)


class Job:
    """A command as a shell starts it: in its own group, or as the leader of a session with a terminal."""

    def __init__(self, command, log, session=False, alarm=0):
        self.log = log
        self.master = -1
        slave = -1
        if session:
            self.master, slave = pty.openpty()
        self.pid = os.fork()
        if self.pid == 0:
            if session:
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                for fd in range(3):
                    os.dup2(slave, fd)
            else:
                os.setpgid(0, 0)
                os.dup2(os.open('/dev/null', os.O_RDWR), 2)
            os.closerange(3, 64)
            signal.setitimer(signal.ITIMER_REAL, alarm)
            os.execv(command[0], command)
        if slave >= 0:
            os.close(slave)
        wait_until(lambda: 'ready' in self.text(), 'the program is ready')

    def text(self):
        return self.log.read_text() if self.log.exists() else ''

    def has_heard(self, *numbers, times=1):
        def all_there():
            lines = [line.split()[1] for line in self.text().splitlines() if line.startswith('got')]
            return all(lines.count(str(int(number))) >= times for number in numbers)
        wait_until(all_there, f'the program has heard {numbers}')
        time.sleep(0.05)  # for one too many to be heard as well

    def end(self):
        """The wait status; closes the terminal."""
        status = []

        def ended():
            pid, how = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                status.append(how)
            return pid
        wait_until(ended, 'the command ends')
        if self.master >= 0:
            os.close(self.master)
        return status[0]

    def finish(self):
        os.kill(self.pid, signal.SIGTERM)
        return self.end()


def to_the_process(start):
    job = start()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
                   signal.SIGPIPE, signal.SIGWINCH, signal.SIGURG, signal.SIGCONT, signal.SIGIO, signal.SIGRTMIN + 3):
        os.kill(job.pid, number)
        job.has_heard(number)
    return job.finish()


def to_the_group(start):
    job = start()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM, signal.SIGWINCH,
                   signal.SIGCONT, signal.SIGRTMIN + 3):
        os.killpg(job.pid, number)
        job.has_heard(number)
    os.killpg(job.pid, signal.SIGTERM)
    return job.end()


def by_the_program_to_its_group(start):
    job = start('group')
    job.has_heard(signal.SIGUSR1)
    return job.finish()


def hang_up(start):
    job = start(session=True)
    os.close(job.master)
    job.master = -1
    job.has_heard(signal.SIGHUP, signal.SIGCONT)
    return job.finish()


def keys(start):
    job = start(session=True)
    for key, number in ((b'\x03', signal.SIGINT), (b'\x1c', signal.SIGQUIT), (b'\x1a', signal.SIGTSTP)):
        os.write(job.master, key)
        job.has_heard(number)
    return job.finish()


def end_of_the_leader(start):
    job = start('child', session=True)
    job.has_heard(signal.SIGHUP)
    os.killpg(job.pid, signal.SIGTERM)
    job.has_heard(signal.SIGTERM)
    return job.end()


def stop(start):
    job = start('stop')
    os.killpg(job.pid, signal.SIGTSTP)
    _, how = os.waitpid(job.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(how), how
    os.killpg(job.pid, signal.SIGCONT)
    job.has_heard(signal.SIGCONT)
    os.kill(job.pid, signal.SIGTSTP)
    _, again = os.waitpid(job.pid, os.WUNTRACED)
    os.kill(job.pid, signal.SIGCONT)
    job.has_heard(signal.SIGCONT, times=2)
    return [how, again, job.finish()]


def stop_that_is_ignored(start):
    job = start('ignore')
    os.killpg(job.pid, signal.SIGTSTP)
    os.killpg(job.pid, signal.SIGUSR1)
    job.has_heard(signal.SIGUSR1)
    stopped, _ = os.waitpid(job.pid, os.WUNTRACED | os.WNOHANG)
    return [stopped, job.finish()]


def alarm_from_before(start):
    job = start(alarm=1)
    job.has_heard(signal.SIGALRM)
    return job.finish()


CASES = (to_the_process, to_the_group, by_the_program_to_its_group, hang_up, keys, end_of_the_leader, stop,
         stop_that_is_ignored, alarm_from_before)


def outcome(case, directory, before):
    log = directory / 'log'
    if log.exists():
        log.unlink()
    how = case(lambda *args, **kinds: Job([*before, str(heard), str(log), *args], log, **kinds))
    return how, sorted(log.read_text().splitlines())


penna, heard = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
failed = 0
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for case in CASES:
        results = []
        recording = folder / f'{case.__name__}.penna'
        for before in ([], [str(penna), 'record', '-q', '-o', str(recording), '--']):
            try:
                results.append(outcome(case, folder, before))
            except (TimeoutError, AssertionError) as trouble:
                log = folder / 'log'
                results.append((repr(trouble), log.read_text() if log.exists() else ''))
        if results[0] != results[1] or 'TimeoutError' in str(results[0]):
            failed += 1
            print(f'FAIL: {case.__name__}: without {results[0]}, with {results[1]}')
        if subprocess.run([penna, 'info', recording], stdout=subprocess.DEVNULL, check=False).returncode != 0:
            failed += 1
            print(f'FAIL: {case.__name__}: the recording is not whole')
sys.exit(1 if failed else 0)
