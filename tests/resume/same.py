# SPDX-License-Identifier: GPL-3.0-or-later
"""same.py PROGRAM MODEL OPTION…: a search, the same killed and interrupted in the middle and gone on
with, and its session opened again: what their reports do not have in common, a line for each key.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

# What goes by time, and what was asked this time alone.
VARIES = {'phases', 'seconds', 'reference_seconds', 'golden_seconds', 'noise_seconds',
          'processor_seconds', 'target_seconds', 'target_load_seconds', 'forecast',
          'loads', 'runs', 'target_models', 'target_loads', 'target_runs'}
GOES_ON = 'goes on from a search that did not end'


def differ(one, two, varies, path=''):
    if path.rpartition('/')[2] in varies:
        return
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(one.keys() | two.keys()):
            yield from differ(one.get(key, 'no key'), two.get(key, 'no key'), varies,
                              f'{path}/{key}')
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for i, pair in enumerate(zip(one, two)):
            yield from differ(*pair, varies, f'{path}/{i}')
    elif one != two:
        yield f'{path}: {str(one)[:80]} is {str(two)[:80]}'


def read(path):
    with open(path) as file:
        report = json.load(file)
    report['notes'] = [note for note in report['notes'] if not note.startswith(GOES_ON)]
    return report


program, model, *options = sys.argv[1:]
folder = tempfile.TemporaryDirectory()


def search(name, stop=None, after=None):
    """Into NAME.json and NAME.odb. A signal stops it after so many seconds."""
    path = f'{folder.name}/{name}'
    child = subprocess.Popen([program, 'bisect', model, *options, '--repeat', '2', '--retry',
                              '--session', f'{path}.odb', '--json', f'{path}.json'],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(after)
    except subprocess.TimeoutExpired:
        child.send_signal(stop)
        child.wait()
    return path


began = time.monotonic()
live = search('live')
took = time.monotonic() - began
again = f'{live}-again.json'
subprocess.run([program, 'report', f'{live}.odb', '-o', again], check=True)
found = {f'opened again: {line}' for line in differ(read(f'{live}.json'), read(again), ())}
for i, share in enumerate((0.3, 0.45, 0.6, 0.75, 0.9)):
    name, stop = f'stopped{i}', signal.SIGINT if i % 2 else signal.SIGKILL
    search(name, stop, share * took)
    path = search(name)
    found |= {f'{stop.name} after {share} of it: {line}'
              for line in differ(read(f'{live}.json'), read(f'{path}.json'), VARIES)}
print('\n'.join(sorted(found)), end='')
