# SPDX-License-Identifier: MIT
"""Checks of a recording from outside, through penna's own commands."""
import json
import re
import subprocess

# Counters of `penna report health` that must be zero whatever the program did, if there was enough room and no damage.
MUST_BE_ZERO = {'lost calls', 'lost alloc', 'lost locks', 'lost points', 'damaged chunks', 'unknown records', 'refused processes',
                'unannounced processes', 'events not written', 'missing chunks', 'unreadable chunks', 'damaged blocks',
                'damaged bytes', 'malformed points', 'points without site', 'replaced blocks'}
# And these, if all calls were left in ways that are reported: by exits, exceptions, jumps, the end of their thread.
BALANCED = {'stray exits', 'unwound calls', 'calls too deep'}
NOUNS = {'calls': 'calls?', 'alloc': 'allocation events?', 'locks': 'lock events?', 'points': 'points?'}


def ask(penna, *words):
    """The JSON that a command prints, or a sentence about what it did instead."""
    done = subprocess.run([str(penna), *map(str, words), '--format', 'json'], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return f'penna {words[0]} {words[-1]} ends with {done.returncode}: {done.stderr}'
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        return f'penna {words[0]} {words[-1]} prints no JSON: {error}: {done.stdout[:300]}'


def problems(penna, path, kinds, balanced):
    """What is wrong with the recording at `path`; `kinds`: it must contain events of these; `balanced`: all calls
    end."""
    if not path.exists():
        return [f'there is no recording at {path.name}']
    info, health = ask(penna, 'info', path), ask(penna, 'report', path, 'health')
    wrong = [answer for answer in (info, health) if isinstance(answer, str)]
    if wrong:
        return wrong
    facts = {row['field']: row['value'] for row in info['recording']}
    if facts.get('state') != 'complete':
        wrong.append(f'the recording is {facts.get("state")}')
    counters = {row['counter']: row['value'] for row in health['counters']}
    zero = MUST_BE_ZERO | (BALANCED if balanced else set())
    missing = zero - counters.keys()
    wrong += [f'health says nothing about {name}' for name in sorted(missing)]
    wrong += [f'health: {name} {counters[name]}' for name in sorted(zero - missing) if counters[name] != 0]
    for each in kinds:
        if not re.search(rf'\b[1-9][0-9,]* {NOUNS[each]}', str(facts.get('events'))):
            wrong.append(f'no {each} recorded: {facts.get("events")}')
    return wrong
