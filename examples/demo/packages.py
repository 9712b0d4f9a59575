# SPDX-License-Identifier: MIT
"""Reads dpkg's own database: which package depends on which, as JSON and back. A typical small script."""
import collections
import json
import re

FIELD = re.compile(r'^([A-Z][A-Za-z-]*): *(.*)$')
NAME = re.compile(r'\s*([a-z0-9][a-z0-9+.-]+)')


def paragraphs(text):
    for block in text.split('\n\n'):
        fields = {}
        for line in block.splitlines():
            match = FIELD.match(line)
            if match:
                fields[match.group(1)] = match.group(2)
        if 'Package' in fields:
            yield fields


def depends(fields):
    return [match.group(1) for part in fields.get('Depends', '').split(',') if (match := NAME.match(part))]


with open('/var/lib/dpkg/status', encoding='utf-8') as file:
    packages = list(paragraphs(file.read()))
wanted = collections.Counter(name for fields in packages for name in depends(fields))
text = json.dumps(packages, indent=1)
again = json.loads(text)
print(len(packages), 'packages,', len(text) // 1000, 'kB as JSON; needed most:', wanted.most_common(1)[0][0])
assert again == packages
