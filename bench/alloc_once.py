# SPDX-License-Identifier: MIT
"""Tools that answer the same questions about allocations and are tens or hundreds of times slower: run once each, on
little work.

Invariant: a tool that does not work here gives a reason, and no number.
"""
import os
import pathlib
import select
import signal
import subprocess
import time

from peers import Heaptrack, Peer, need
from runner import PAUSES, Candidate, Failed, run
from tables import markdown, number, ratio

DEMO = pathlib.Path(__file__).resolve().parent.parent / 'examples' / 'demo'


class Ours(Peer):
    name = 'penna'

    def run(self, program, arguments):
        return self.bench.record([program, *arguments], 'alloc', environment=PAUSES)[0]


class Ltrace(Peer):
    """Stops the program at each library call; takes no stacks."""
    name = 'ltrace'

    def run(self, program, arguments):
        need('ltrace')
        return run(['ltrace', '-f', '-e', 'malloc@*+free@*+realloc@*', '-o', self.fresh('ltrace'), program, *arguments])


class Massif(Peer):
    """Runs the program on a simulated processor; keeps sums."""
    name = 'valgrind --tool=massif'

    def run(self, program, arguments):
        need('valgrind')
        return run(['valgrind', '--tool=massif', '--massif-out-file=' + self.fresh('massif'), program, *arguments])


class Memleak(Peer):
    """bcc's: uprobes on libc, frame-pointer stacks, sums in the kernel. Needs root, and kernel headers."""
    name = 'bcc memleak'

    def headers(self):
        """Those of the running kernel if bcc finds them (None), else those of another one, assembled from Debian's
        two folders: memleak uses nothing in them that differs."""
        if pathlib.Path('/lib/modules', os.uname().release, 'build').exists():
            return None
        common = sorted(pathlib.Path('/usr/src').glob('linux-headers-*-common'))
        if not common:
            raise Failed('there are no kernel headers')
        whole = self.bench.data / 'headers'
        if not whole.exists():
            whole.mkdir()
            for folder in (str(common[-1]), str(common[-1]).replace('-common', '-amd64')):
                run(['cp', '-rsf', f'{folder}/.', str(whole)])
        return str(whole)

    def attach(self, process, environment):
        """Returns the tool once it has installed its probes, as shown by its first report."""
        tool = subprocess.Popen(['memleak-bpfcc', '-p', str(process), '1'], env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seen, end = b'', time.monotonic() + 30
        while b'outstanding' not in seen:
            ready, _, _ = select.select([tool.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(tool.stdout.fileno(), 65536) if ready else b''
            if not piece:
                tool.kill()
                tool.wait()
                raise Failed(f'memleak does not attach: {(seen.decode(errors="replace").strip().splitlines() or ["no word"])[-1][:120]}')
            seen += piece
        return tool

    def run(self, program, arguments):
        need('memleak-bpfcc')
        headers = self.headers()
        environment = {**os.environ, 'PYTHONUNBUFFERED': '1', **({'BCC_KERNEL_SOURCE': headers} if headers else {})}
        # The probes must be installed before the program starts, or it ends first.
        target = subprocess.Popen(['sh', '-c', 'kill -STOP $$; exec "$@"', 'sh', program, *arguments], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tool = None
        try:
            tool = self.attach(target.pid, environment)
            started = time.perf_counter()
            os.kill(target.pid, signal.SIGCONT)
            text = target.communicate(timeout=120)[0]
            self.took = (time.perf_counter() - started) * 1e3
            tool.send_signal(signal.SIGINT)
            tool.communicate(timeout=30)
            return text
        except subprocess.TimeoutExpired:
            raise Failed('the program beside memleak, or memleak itself, does not end') from None
        finally:
            for process in (target, tool):
                if process is not None:
                    process.kill()
                    process.wait()


TOOLS = ((Ours, 1_000_000), (Heaptrack, 300_000), (Memleak, 100_000), (Massif, 300_000), (Ltrace, 10_000))


def small_program(bench):
    """A whole program, so short that even the slowest tool finishes."""
    text = (DEMO / 'stock.sql').read_text().replace('i < 100000', 'i < 10000')
    path = bench.data / 'small.sql'
    path.write_text(text)
    return '/usr/bin/sqlite3', [':memory:', f'.read {path}']


def milliseconds(tool, program, arguments):
    started = time.perf_counter()
    tool.run(program, arguments)
    return getattr(tool, 'took', None) or (time.perf_counter() - started) * 1e3


def table(bench, only):
    if only not in 'slow tools of allocations':
        return ''
    loop, (program, arguments) = bench.program('alloc'), small_program(bench)
    plain = Peer(bench)
    plain.run = lambda program, arguments: run([program, *arguments])
    alone = (bench.result(plain.run(loop, ['1000000', '1']), 'ns')[0], milliseconds(plain, program, arguments))
    rows, notes, ours = [], [], (None, None)
    for make, iterations in TOOLS:
        tool = make(bench)
        ways = (Candidate('loop', lambda: bench.result(tool.run(loop, [str(bench.iterations(iterations)), '1']), 'ns')[0] - alone[0]),
                Candidate('program', lambda: milliseconds(tool, program, arguments)))
        for way in ways:
            way.run()
            if way.reason and f'{tool.name}: {way.reason}' not in notes:
                notes.append(f'{tool.name}: {way.reason}')
        above, took = (way.median for way in ways)
        ours = ours if rows else (above, took)
        rows.append([tool.name, number(above), ratio(above, ours[0]), number(took), ratio(took, alone[1])])
        print('  '.join(rows[-1]), flush=True)
    return markdown('Slow tools, allocations', ['<tool', 'ns a pair', '/ penna', 'sqlite3 ms', '/ alone'], rows, [
        'Once each, in wall time. *ns a pair*: malloc and free, 1 frame, above untraced; sqlite3: 10,000 rows, alone '
        f'{alone[1]:.0f} ms. ltrace takes',
        'no stacks; memleak takes those of frame pointers, and is attached before the program starts, as it must be here; massif runs '
        'a processor', 'of its own making.', *notes])
