# SPDX-License-Identifier: MIT
"""Other tools for the same purpose, as packaged by Debian. Each is used as its documentation says, at its fastest.

A peer is a class with `start()`, `run(program, arguments)` returning the program's output, and `stop()`, which
raises Failed if the tool lost something. `program` is a path from Bench.program().
"""
import glob
import os
import shutil
import subprocess
import time

from runner import Failed, run


def need(tool):
    if shutil.which(tool) is None:
        raise Failed(f'{tool} is not installed')


class Peer:
    name = ''

    def __init__(self, bench, options=()):
        self.bench, self.options = bench, options

    def start(self):
        pass

    def run(self, program, arguments):
        raise NotImplementedError

    def stop(self):
        pass

    def fresh(self, name):
        path = self.bench.data / name
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True) if path.is_file() else None
        return str(path)


class Uftrace(Peer):
    """Function tracer; the whole trace to disk. `options`: how it finds functions."""
    name = 'uftrace'

    def start(self):
        need('uftrace')

    def command(self, program):
        """The words before the program's arguments, and the environment."""
        return ['uftrace', 'record', '-d', self.fresh('uftrace'), *self.options, program], None

    def run(self, program, arguments):
        return run([*self.command(program)[0], *arguments])


class XRay(Peer):
    """The tracer that clang links into programs. `options`: "basic", all calls to disk; "fdr", the last ones, in memory until
    the end. Both would leave out calls shorter than 5 microseconds."""

    def __init__(self, bench, options):
        super().__init__(bench, options)
        self.name = f'XRay {options}'

    def command(self, program):
        short = 'func_duration_threshold_us=0'
        log = self.bench.data / 'xray-log.'
        for file in glob.glob(f'{log}*'):
            os.unlink(file)
        return [program], {
            **os.environ, 'XRAY_OPTIONS': f'patch_premain=true xray_mode=xray-{self.options} xray_logfile_base={log}',
            'XRAY_BASIC_OPTIONS': short, 'XRAY_FDR_OPTIONS': short}

    def run(self, program, arguments):
        command, environment = self.command(program)
        text = run([*command, *arguments], environment)
        files = glob.glob(f"{self.bench.data / 'xray-log.'}*")
        size = sum(os.path.getsize(file) for file in files)
        for file in files:
            os.unlink(file)
        if size < 1 << 16:
            why = 'it cannot determine the frequency of the clock' if 'CPU frequency' in text else 'there is no log'
            raise Failed(f'XRay recorded nothing: {why}')
        return text


class Heaptrack(Peer):
    """Allocation tracer. -r: its fastest mode, interpreted later."""
    name = 'heaptrack'

    def start(self):
        need('heaptrack')

    def run(self, program, arguments):
        output = self.fresh('heaptrack')
        text = run(['heaptrack', '-r', '-o', output, program, *arguments])
        for file in glob.glob(output + '*'):
            os.unlink(file)
        return text


class Lttng(Peer):
    """LTTng-UST: per-CPU buffers, to disk. `options`: event pattern, and a library of LTTng's to preload."""
    name = 'LTTng-UST'
    daemon = None
    session = 'penna-bench'

    @classmethod
    def start_daemon(cls, bench):
        """LTTng's daemon, ours unless one is running. It lives until stop_daemon()."""
        need('lttng')
        if cls.daemon is not None:
            return
        if subprocess.run(['lttng', '--no-sessiond', 'list'], capture_output=True).returncode == 0:
            return
        cls.daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            if subprocess.run(['lttng', '--no-sessiond', 'list'], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise Failed('lttng-sessiond does not answer')

    @classmethod
    def stop_daemon(cls):
        if cls.daemon is not None:
            cls.daemon.terminate()
            cls.daemon.wait(30)
            cls.daemon = None

    def start(self):
        self.start_daemon(self.bench)
        events, library = self.options
        self.environment = dict(os.environ)
        if library:
            found = glob.glob(f'/usr/lib/*/{library}')
            if not found:
                raise Failed(f'{library} is not installed')
            self.environment['LD_PRELOAD'] = found[0]
        session = self.session
        subprocess.run(['lttng', 'destroy', session], capture_output=True)  # of a run that was interrupted
        run(['lttng', 'create', session, '-o', self.fresh('lttng')])
        run(['lttng', 'enable-channel', '-s', session, '-u', 'channel', '--buffers-uid', '--subbuf-size=4M',
             '--num-subbuf=16'])
        run(['lttng', 'enable-event', '-s', session, '-u', '-c', 'channel', events])
        run(['lttng', 'start', session])

    def run(self, program, arguments):
        return run([program, *arguments], self.environment)

    def stop(self):
        stopped = run(['lttng', 'stop', self.session])
        subprocess.run(['lttng', 'destroy', self.session], capture_output=True)
        size = sum(file.stat().st_size for file in (self.bench.data / 'lttng').rglob('*') if file.is_file())
        shutil.rmtree(self.bench.data / 'lttng', ignore_errors=True)
        if 'discarded' in stopped:
            line = next(line for line in stopped.splitlines() if 'discarded' in line)
            raise Failed(f'LTTng: {line.strip()[:100]}')
        if size < 1 << 20:
            raise Failed('LTTng recorded nothing')


class Preloaded(Peer):
    """A library of bench/programs, preloaded. `options`: its name in the table, and its file's."""

    def __init__(self, bench, options):
        super().__init__(bench)
        self.name, self.library = options

    def run(self, program, arguments):
        return run([program, *arguments], {**os.environ, 'LD_PRELOAD': self.bench.program(self.library)})


class Compiled(Peer):
    """A point that is compiled in, without a listener. `options`: its name."""

    def __init__(self, bench, options):
        super().__init__(bench)
        self.name = options

    def run(self, program, arguments):
        return run([program, *arguments])


def versions():
    """Name and version of each peer that is installed."""
    found = []
    for package in ('lttng-tools', 'liblttng-ust1', 'systemtap-sdt-dev', 'uftrace', 'heaptrack', 'ltrace', 'valgrind', 'bpfcc-tools'):
        done = subprocess.run(['dpkg-query', '-W', '-f', '${Package} ${Version}', package], capture_output=True, text=True)
        found.append(done.stdout if done.returncode == 0 and done.stdout.split()[1:] else f'{package} not installed')
    return found
