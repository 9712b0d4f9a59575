#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""cutting_proxy.py HOST:PORT LOG: an HTTP proxy to a server that loses answers, for tests of who must not lose rows by that.
Prints its own port. Of the INSERTs that come, in turn: one passes; one is done, and its answer cut; one is cut and never done; one is
cut, and done a second later, when whoever sent it has asked and sent it again. Everything else passes. LOG gets a word for each INSERT."""
import http.client
import http.server
import sys
import threading
import time

SERVER, LOG = sys.argv[1], open(sys.argv[2], 'a', buffering=1)
WAYS = ['pass', 'answer-cut', 'never', 'late']
lock = threading.Lock()
count = 0


def forward(path, headers, body):
    connection = http.client.HTTPConnection(SERVER)
    connection.request('POST', path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers['Content-Length']))
        headers = {'Authorization': self.headers['Authorization']}
        way = 'pass'
        if 'INSERT' in self.path and 'void_block' not in self.path:
            with lock:
                way = WAYS[count % len(WAYS)]
                count += 1
                LOG.write(way + '\n')
        if way == 'late':
            threading.Thread(target=lambda: (time.sleep(1), forward(self.path, headers, body), LOG.write('came late\n'))).start()
        if way in ('pass', 'answer-cut'):
            status, text = forward(self.path, headers, body)
        if way != 'pass':
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):
            pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
