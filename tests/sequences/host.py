#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that runs a decoder of nets.py step by step and records each, as hosts do: it keeps the
cache and counts positions itself, and knows nothing of plans. It may do so wrongly.

    host.py ONNXDBG MODEL FOLDER EXECUTOR STEPS [WHAT=N …]

writes FOLDER/step_00000, … ; WHAT begins in step N: positions (one too many), stale (the cache of
the step before the last), zeros, swapped (keys for values), once (stale in that step alone), bare
(outputs and inputs alone are recorded); wrong=N,SPEC: another executor.
"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np

program, model, folder, executor, steps = sys.argv[1:6]
ways = dict(way.split('=', 1) for way in sys.argv[6:])
PREFILL = 4
rng = np.random.default_rng(7)
NAMES = ['past_key_values.%d.%s' % (layer, part) for layer in range(2) for part in ('key', 'value')]


def since(what, step):
    return what in ways and step >= int(ways[what].split(',')[0])


def run(step, feeds):
    where = os.path.join(folder, 'step_%05d' % step)
    fed = os.path.join(folder, 'fed')
    os.makedirs(fed, exist_ok=True)
    spec = ways['wrong'].split(',', 1)[1] if since('wrong', step) else executor
    command = [program, 'dump', 'full', model, '-f', spec, '--root-dir', where]
    for name, value in feeds.items():
        path = os.path.join(fed, name + '.npy')
        np.save(path, value)
        command += ['-i', '%s:%s' % (name, path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.rmtree(fed)
    given = {}
    files = sorted(os.listdir(os.path.join(where, 'outputs')))
    for file in files:
        name = file.split('__', 1)[1][:-4]
        path = os.path.join(where, 'outputs', file)
        given[name] = np.load(path)
        if 'bare' in ways and name != 'logits' and not name.startswith('present.'):
            os.remove(path)
    if 'bare' in ways:
        os.remove(os.path.join(where, 'dump_info.json'))
    return given


def main():
    past, caches = 0, [{name: np.zeros((1, 2, 0, 8), np.float32) for name in NAMES}]
    for step in range(int(steps)):
        n = PREFILL if step == 0 else 1
        cache = dict(caches[-1])
        if since('stale', step) or ('once' in ways and step == int(ways['once'])):
            cache = dict(caches[-2])
        for name in NAMES if since('zeros', step) else []:
            cache[name] = np.zeros_like(cache[name])
        if since('swapped', step):
            cache[NAMES[0]], cache[NAMES[1]] = cache[NAMES[1]], cache[NAMES[0]]
        given = run(step, {
            'input_ids': rng.integers(0, 50, (1, n)),
            'position_ids': np.arange(past, past + n)[None] + since('positions', step),
            **cache})
        caches.append({name: given[name.replace('past_key_values', 'present')] for name in NAMES})
        past += n


if __name__ == '__main__':
    main()
