# SPDX-License-Identifier: GPL-3.0-or-later
"""alone.py MODEL FOLDER TYPE JSON OPTION…: each node of a sensitivity's JSON against a model in which
that node alone stands between Casts to the type, run by `onnxdbg run`, which knows nothing of
sensitivities. Prints how many there are, and each that is otherwise."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

path, folder, to, report = sys.argv[1:5]
options = sys.argv[5:]
TYPE = {'f16': TensorProto.FLOAT16, 'bf16': TensorProto.BFLOAT16}[to]
model = onnx.load(path)
named = {node.name: i for i, node in enumerate(model.graph.node)}


def run(model, name):
    file = os.path.join(folder, name + '.onnx')
    onnx.save(model, file)
    out = os.path.join(folder, name)
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([os.environ['ONNXDBG'], 'run', file, '--target', 'cpu', '--save', out, *options],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {file: np.load(os.path.join(out, file)) for file in sorted(os.listdir(out))}




def casts(at):
    """The model with node number at between Casts."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = list(copy.graph.node)
    node = nodes[at]
    before, after = [], []
    for i, name in enumerate(node.input):
        if name and kinds.get(name) == TensorProto.FLOAT:
            before.append(helper.make_node('Cast', [name], ['narrow_%d' % i], to=TYPE))
            node.input[i] = 'narrow_%d' % i
    for i, name in enumerate(node.output):
        if name and kinds.get(name) == TensorProto.FLOAT:
            node.output[i] = 'wide_%d' % i
            after.append(helper.make_node('Cast', ['wide_%d' % i], [name], to=TensorProto.FLOAT))
    del copy.graph.node[:]
    copy.graph.node.extend(nodes[:at] + before + [node] + after + nodes[at + 1:])
    del copy.graph.value_info[:]
    return copy


inferred = onnx.shape_inference.infer_shapes(model).graph
kinds = {v.name: v.type.tensor_type.elem_type
         for v in [*inferred.value_info, *inferred.input, *inferred.output]}
kinds.update({init.name: init.data_type for init in model.graph.initializer})
base = run(model, 'base')
checked = 0
for about in json.load(open(report))['nodes']:
    if about['name'] not in named or about['known'] != 'measured':
        continue
    node = model.graph.node[named[about['name']]]
    if not all(kinds.get(name) for name in [*node.input, *node.output] if name):
        continue  # what cannot be inferred cannot be cast
    off = run(casts(named[about['name']]), 'alone')
    most = max(np.linalg.norm((off[k].astype(float) - base[k]).ravel())
               / np.linalg.norm(base[k].astype(float).ravel()) for k in base)
    told = float(about['contribution']['error'])
    checked += 1
    # Below, what the reference rounds itself is all there is.
    if abs(most - told) > max(0.01 * told, 2e-7):
        print('%s: %.4g, told %.4g' % (about['name'], most, told))
print(checked)
