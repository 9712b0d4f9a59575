# SPDX-License-Identifier: MIT
"""Asks `penna view` questions, as the page does (docs/view-protocol.md).

    from view_client import Client; ask = Client(address).ask; ask('slices?thread=0&px=10')['start']

Why: several tests examine answers without a browser. Invariant: a refused answer is a test error.
"""
import json
import struct
import urllib.error
import urllib.request

TYPES = {'f64': 'd', 'u32': 'I', 'i32': 'i', 'u8': 'B'}


def columns_of(body):
    """The header of an answer in columns, with each column by its name."""
    length = struct.unpack_from('<I', body, 4)[0]
    header = json.loads(body[8:8 + length])
    for column in header.pop('columns'):
        assert column['offset'] % 8 == 0
        header[column['name']] = struct.unpack_from(f'<{column["count"]}{TYPES[column["type"]]}', body, column['offset'])
    return header


class Client:
    def __init__(self, address):
        self.address = address

    def get(self, path, method='GET', host=None, base=None):
        """Status, body and headers of any request."""
        request = urllib.request.Request((base or self.address) + path, method=method, headers={'Host': host} if host else {})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers

    def ask(self, question):
        status, body, _ = self.get('api/' + question)
        assert status == 200, (question, status, body[:300])
        return columns_of(body) if body[:4] == b'PNV1' else json.loads(body)

    def refused(self, question):
        """The sentence of an error."""
        status, body, _ = self.get('api/' + question)
        assert status == 400, (question, status, body[:300])
        return json.loads(body)['error']
