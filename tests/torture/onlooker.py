# SPDX-License-Identifier: MIT
"""A client of the page of `penna record --view`: looks on while the program runs, and then ends penna, as Ctrl-C does.

Why: that somebody looks must change nothing about the program.
Invariant: nothing is sent to penna before the recording has ended: until then, signals are the program's.
"""
import json
import os
import pathlib
import re
import signal
import threading
import time
import urllib.error
import urllib.request

ADDRESS = re.compile(rb'http://127\.0\.0\.1:\d+/[0-9a-f]{32}/')
ENDED = b'the page shows the recording until Ctrl-C'
PATIENCE = 300  # seconds, for each step


class Onlooker(threading.Thread):
    """Of the recorder with this Popen, whose standard error goes to the file `err`."""

    def __init__(self, recorder, err):
        super().__init__(daemon=True)
        self.recorder, self.err = recorder, pathlib.Path(err)
        self.trouble = None  # a sentence
        self.answers = 0

    def run(self):
        try:
            self.look(self.wait_for(ADDRESS).decode())
            self.wait_for(re.compile(ENDED))
        except (OSError, ValueError, TimeoutError) as error:  # among these: HTTPError, URLError
            self.trouble = f'the page: {error}'
        if self.recorder.poll() is None:
            os.kill(self.recorder.pid, signal.SIGINT)

    def wait_for(self, pattern):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.recorder.poll() is None:
            if found := pattern.search(self.err.read_bytes()):
                return found.group(0)
            time.sleep(0.01)
        raise TimeoutError(f'penna does not say {pattern.pattern!r}')

    def ask(self, address, question):
        with urllib.request.urlopen(f'{address}api/{question}', timeout=PATIENCE) as answer:
            self.answers += 1
            return answer.read()

    def look(self, address):
        """Asks as the page does whenever it is told that the recording has grown."""
        self.look_once(address)
        try:
            with urllib.request.urlopen(f'{address}events', timeout=PATIENCE) as events:
                for line in events:
                    if not line.startswith(b'data: '):
                        continue
                    if json.loads(line[6:])['growing'] is False:
                        break
                    self.look_once(address)
        except urllib.error.HTTPError as error:
            if error.code != 404:  # the recording had ended before penna view began: nothing grows
                raise
        self.look_once(address)

    def look_once(self, address):
        self.ask(address, 'summary?now=1')
        self.ask(address, 'counters?px=500')
        for thread in json.loads(self.ask(address, 'threads'))['threads'][:4]:
            for kind in ('slices', 'waits', 'points'):
                self.ask(address, f'{kind}?px=500&thread={thread["id"]}')
