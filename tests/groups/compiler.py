# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for a compiler, as command: or server:, that says in groups.json what it made.

Usage: compiler.py HOW ONNXDBG SPEC [DIR]

Runs models with onnxdbg on SPEC. Each three nodes in the order of the file are a kernel, named by
name, by number and by what they make in turn. HOW it holds values of four dimensions, and what it
says wrong of them, is a row of HOLDS; of WRONG, what it writes instead.
"""
import json
import os
import subprocess
import sys

import numpy

how, program, spec = sys.argv[1:4]
BLOCK = 4


def run(directory, inputs, outputs):
    """Runs the model on SPEC; {name: array}."""
    saved = os.path.join(directory, 'saved')
    words = [program, 'run', os.path.join(directory, 'model.onnx'), '--target', spec,
             '--save', saved]
    for value in inputs:
        words += ['--input', value['name'] + '=' + os.path.join(directory, value['file'])]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return {value['name']: numpy.load(os.path.join(saved, value['name'].replace('/', '_') + '.npy'))
            for value in outputs}


def file_order(directory):
    """The model's nodes as they stand in its file: (name, what it makes)."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../share/python'))
    import onnxdbg_wire as wire
    node = {2: ('outputs', ['text']), 3: ('name', 'text')}
    with open(os.path.join(directory, 'model.onnx'), 'rb') as file:
        model = wire.decode({7: ('graph', {1: ('nodes', [node])})}, file.read())
    return [(n.name, n.outputs[0]) for n in model.graph.nodes]


def kernels(directory):
    found = []
    for at, (name, made) in enumerate(file_order(directory)):
        if at % 3 == 0:
            found.append({'kernel': f'fused_{at // 3}', 'nodes': [], 'pass': 'by-three'})
        says = [name, f'#{at}', made][at % 3]
        found[-1]['nodes'].append(says if says else f'#{at}')
    if how == 'unknown':
        found[0]['nodes'] += ['nobody', '#100000']
    return found


def blocked(array):
    n, c, h, w = array.shape
    more = -c % BLOCK
    array = numpy.pad(array, ((0, 0), (0, more), (0, 0), (0, 0)), constant_values=7)
    array = array.reshape(n, (c + more) // BLOCK, BLOCK, h, w).transpose(0, 1, 3, 4, 2)
    return array, {'layout': 'NCHWc', 'block': BLOCK, 'padding': more}


def last(array):
    return array.transpose(0, 2, 3, 1), {'layout': 'NHWC'}


def untold(array):
    return last(array)[0], None


def stored(array, dtype, most, zero_point):
    finite = numpy.abs(array[numpy.isfinite(array)].astype(numpy.float64))
    scale = float(finite.max(initial=0)) / most or 1.0
    codes = numpy.round(array.astype(numpy.float64) / scale) + zero_point
    ends = numpy.iinfo(dtype)
    codes = numpy.clip(numpy.nan_to_num(codes, nan=zero_point), ends.min, ends.max)
    return codes.astype(dtype), {'dtype': dtype, 'scale': scale, 'zero_point': zero_point}


def quantised(array):
    return stored(array, 'int32', 2**30, 3)


def int8(array):
    return stored(array, 'int8', 127, 0)


def of(store):
    """In blocks, each value stored so."""
    def held(array):
        codes, layout = store(array)
        codes, more = blocked(codes)
        return codes, {**layout, **more}
    return held


def lie(**said):
    return lambda array: (array, said)


def padded_wrongly(array):
    codes, layout = blocked(array)
    return codes, {**layout, 'padding': layout['padding'] + 1}


def doubled(array):  # the program itself is wrong
    return blocked(array * 2)


HOLDS = {'blocked': blocked, 'last': last, 'untold': untold, 'quantised': quantised,
         'int8': int8, 'both': of(quantised), 'both8': of(int8), 'doubled': doubled, 'not-blocked': lie(layout='NCHWc', block=BLOCK),
         'padding': padded_wrongly, 'dtype': lie(dtype='int8', scale=0.5),
         'layout': lie(layout='CHWN'), 'scale': lie(scale=0)}
WRONG = {'broken': '{"schema": 1,', 'schema': '{"schema": 2}', 'list': '[]',
         'nodes': '{"schema": 1, "groups": [{"kernel": "k", "nodes": "#1"}]}'}


def work(directory, inputs, outputs):
    """Runs, writes the outputs and groups.json."""
    values = {}
    for name, array in run(directory, inputs, outputs).items():
        if array.ndim == 4 and array.dtype == numpy.float32 and how in HOLDS:
            array, values[name] = HOLDS[how](array)
            values = {k: v for k, v in values.items() if v is not None}
        path = next(o['file'] for o in outputs if o['name'] == name)
        numpy.save(os.path.join(directory, path), array)
    if how != 'silent':
        told = {'schema': 1, 'groups': kernels(directory), 'values': values}
        with open(os.path.join(directory, 'groups.json'), 'w', encoding='utf-8') as file:
            file.write(WRONG.get(how) or json.dumps(told))


def serve():
    model = ''
    for line in sys.stdin:
        request = json.loads(line)
        if request['do'] == 'load':
            model = request['model']
        elif request['do'] == 'run':
            work(os.path.dirname(model), request['inputs'], request['outputs'])
        print(json.dumps({'ok': request['do'] in ('load', 'run')}), flush=True)


if len(sys.argv) > 4:
    with open(os.path.join(sys.argv[4], 'io.json'), encoding='utf-8') as file:
        io = json.load(file)
    work(sys.argv[4], io['inputs'], io['outputs'])
else:
    serve()
