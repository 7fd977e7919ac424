#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants faults in the groups of quantised models and has each searched through ONNX Runtime.

sweep.py [-n FAULTS] [-m MODES] [-v] PROGRAM RUNTIME BROKEN MODEL… [-- OPTION…]

Each model has FAULTS planted, of all kinds in turn and in groups spread over the model. A search is
right if what it names first is the group: its operator, or a node of it that is wrong by itself, and
no node outside. A fault that no output shows is counted apart. Ends with a line of sums; the status
is 1 where a search was wrong.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import onnx

import spoil

TARGETS = ('Conv', 'Gemm', 'MatMul', 'ConvTranspose', 'Add', 'Mul', 'AveragePool', 'GlobalAveragePool')


def groups_of(path, mode):
    """What the operators of whole groups make."""
    model = onnx.load(path)
    g = spoil.Graph(model)
    return [n.output[0] for n in model.graph.node
            if n.op_type in TARGETS + tuple(spoil.SLOTS) and spoil.find(g, n.output[0], mode).found]


def changes(path, kind, mode, value):
    data = open(path, 'rb').read()
    return spoil.spoil(data, kind, mode, value) != data


def members(path, value):
    """The group's nodes by what they make."""
    return spoil.find(spoil.Graph(onnx.load(path)), value, 'always').names()


def search(args, path, extra, edit):
    env = dict(os.environ, ONNXDBG_PYTHON='none', ONNXDBG_ORT=args.runtime)
    if edit:
        env.update(ONNXDBG_ORT=os.path.abspath(args.broken), BROKEN_ORT=os.path.abspath(args.runtime),
                   BROKEN_ORT_EDIT=f'{sys.executable} {os.path.abspath(spoil.__file__)} {edit}')
    out = '/tmp/sweep-%d.json' % os.getpid()
    start = time.time()
    done = subprocess.run([args.program, 'bisect', path, '--target', 'ort', '--json', out, *extra],
                          env=env, capture_output=True, text=True, check=False)
    report = json.load(open(out)) if os.path.exists(out) else None
    if report is not None:
        os.remove(out)
    return done, report, time.time() - start


def judge(report, names, path):
    """What the search came to, in a word; who it was; and how many nodes outside are accused with
    high confidence."""
    if report is None:
        return 'no report', '', 0
    if not report['culprits']:
        return ('not shown' if not report['outputs_diverge'] else 'not found'), '', 0
    makes = {}
    model = onnx.load(path, load_external_data=False)
    for n in model.graph.node:
        makes[n.name] = set(n.output)
    values = {v['name']: v['node'] for v in report['values']}
    own = {values[n] for n in names if n in values}
    first = report['culprits'][0]
    whole = set(first.get('group') or range(first['segment'][0], first['segment'][1] + 1))
    innocent = sum(c['confidence'] == 'high' and c['index'] not in own for c in report['culprits'])
    who = f"#{first['index']} {first['op_type']} {first['kind']} of {len(whole)} {first['confidence']}"
    if first['index'] in own and len(whole) <= 8:
        return 'right', who, innocent
    if whole & own and len(whole) <= 8:
        return 'near', who, innocent
    return 'wrong', who, innocent


def dims(path):
    """Options that bind what is symbolic in the inputs."""
    out = []
    model = onnx.load(path, load_external_data=False)
    weights = {t.name for t in model.graph.initializer}
    for v in model.graph.input:
        for d in v.type.tensor_type.shape.dim if v.name not in weights else []:
            if d.dim_param and ('--dim', f'{d.dim_param}=1') not in out:
                out.append(('--dim', f'{d.dim_param}=1'))
    return [w for pair in out for w in pair]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int, default=10)
    parser.add_argument('-m', default='pairs')
    parser.add_argument('-v', action='store_true')
    for name in ('program', 'runtime', 'broken'):
        parser.add_argument(name)
    parser.add_argument('models', nargs='+')
    args, extra = parser.parse_known_args()
    sums, innocents, loads, seconds = {}, 0, [], []
    for path in args.models:
        name = os.path.basename(os.path.dirname(path)) or path
        data = os.path.join(os.path.dirname(path), 'test_data_set_0')
        options = ['--inputs-from', data] if os.path.isdir(data) else dims(path)
        options = options + extra
        done, clean, took = search(args, path, options, None)
        say = 'no report' if clean is None else f"{len(clean['culprits'])} culprits"
        print(f"{name}: clean: {say}, {took:.1f} s, {clean and clean['target_loads']} loads", flush=True)
        if clean and clean['culprits']:
            # Without dot products of bytes in the processor ONNX Runtime's sums of two products
            # saturate at 16 bits: a fault that is planted would be one of several.
            print(f'  {name} is left out: this processor\'s runtime is off there by itself', flush=True)
            continue
        for mode in args.m.split(','):
            groups = groups_of(path, mode)
            plans, at = [], 0
            kinds = list(spoil.KINDS)
            while groups and len(plans) < args.n and at < 8 * args.n:
                kind = kinds[at % len(kinds)]
                value = groups[(at * 7919) % len(groups)]
                at += 1
                if (kind, value) not in plans and changes(path, kind, mode, value):
                    plans.append((kind, value))
            for kind, value in plans:
                done, report, took = search(args, path, options, f'{kind} {mode} {value}')
                word, who, innocent = judge(report, members(path, value), path)
                sums[word] = sums.get(word, 0) + 1
                innocents += innocent
                if report and word != 'not shown':
                    loads.append(report['target_loads'])
                    seconds.append(took)
                if args.v or word not in ('right', 'not shown') or innocent:
                    print(f"  {word}: {name} {kind} {mode} {value}: {who} innocents {innocent} "
                          f"{took:.1f} s {report and report['target_loads']} loads {done.stderr[-200:]}",
                          flush=True)
    shown = sum(n for w, n in sums.items() if w != 'not shown')
    print(f"{sums}; innocents with confidence high: {innocents}; right: "
          f"{100 * sums.get('right', 0) / max(shown, 1):.1f} % of {shown}; "
          f"loads {sum(loads) / max(len(loads), 1):.1f}, seconds {sum(seconds) / max(len(seconds), 1):.2f}")
    sys.exit(not shown or shown != sums.get('right', 0))


if __name__ == '__main__':
    main()
