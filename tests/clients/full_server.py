#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""full_server.py HOST:PORT ROOM: an HTTP proxy to a ClickHouse server that refuses INSERTs, in the words of a real one, until the file ROOM
exists: of a full disk while there is a file ROOM.disk, else of too many parts. Everything else passes. Prints its own port."""
import http.client
import http.server
import os
import sys

SERVER, ROOM = sys.argv[1:]
TOO_MANY = ('Code: 252, e.displayText() = DB::Exception: Too many parts (300). Merges are processing significantly slower than inserts., '
            'e.what() = DB::Exception\n')
NO_SPACE = ('Code: 243, e.displayText() = DB::Exception: Cannot reserve 1.00 MiB, not enough space., e.what() = DB::Exception\n')


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        if 'INSERT' in self.path and not os.path.exists(ROOM):
            status, answer = 500, (NO_SPACE if os.path.exists(ROOM + '.disk') else TOO_MANY).encode()
        else:
            connection = http.client.HTTPConnection(SERVER)
            connection.request('POST', self.path, body, {'Authorization': self.headers['Authorization']})
            reply = connection.getresponse()
            status, answer = reply.status, reply.read()
        self.send_response(status)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
