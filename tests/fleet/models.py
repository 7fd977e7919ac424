# SPDX-License-Identifier: GPL-3.0-or-later
"""models.py FOLDER: small models for tests/fleet/target.py, each named after what is in it: s a slope,
c a ceiling, a an axis, r and g what is refused; none of these: clean."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAMES = ('clean0', 'clean1', 'clean2', 's0', 's1', 's2', 'c0', 'c1', 'a0', 'a1', 'sc0', 'r0', 'r1',
         'g0')
rng = np.random.default_rng(7)


def weight(name, *shape):
    return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)


def model(name):
    kinds, number = name.rstrip('0123456789'), int(name[-1])
    width = 6 + number
    weights = [weight('w', 4, width), weight('b', width)]
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['m'], name='/mix'),
             helper.make_node('Add', ['m', 'b'], ['v0'], name='/bias')]
    at = 0
    for kind in 'ttt' if kinds == 'clean' else kinds:
        one, next_one = 'v%d' % at, 'v%d' % (at + 1)
        if kind == 's':
            node = helper.make_node('LeakyRelu', [one], [next_one], name='/slope', alpha=0.3)
        elif kind == 'c':
            weights += [numpy_helper.from_array(np.float32(-9), 'low'),
                        numpy_helper.from_array(np.float32(0.25), 'high')]
            node = helper.make_node('Clip', [one, 'low', 'high'], [next_one], name='/ceiling')
        elif kind == 'a':
            node = helper.make_node('Softmax', [one], [next_one], name='/axis', axis=0)
        elif kind == 'r':
            nodes += [helper.make_node('ArgMax', [one], ['most'], name='/most', axis=1)]
            node = helper.make_node('Cast', ['most'], [next_one], name='/cast',
                                    to=TensorProto.FLOAT)
        elif kind == 'g':
            weights += [weight('gw', 1, 9, width), weight('gr', 1, 9, 3),
                        numpy_helper.from_array(np.int64([1]), 'front')]
            nodes += [helper.make_node('Unsqueeze', [one, 'front'], ['steps'], name='/steps')]
            node = helper.make_node('GRU', ['steps', 'gw', 'gr'], ['', next_one], name='/gru',
                                    hidden_size=3)
        else:
            node = helper.make_node('Tanh', [one], [next_one], name='/%s%d' % (kind, at))
        nodes.append(node)
        at += 1
    nodes.append(helper.make_node('Mul', ['v%d' % at, 'v%d' % at], ['y'], name='/square'))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info('x', TensorProto.FLOAT, [5, 4])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


for name in NAMES:
    folder = os.path.join(sys.argv[1], 'below' if name.endswith('0') else '.', name)
    os.makedirs(folder, exist_ok=True)
    onnx.save(model(name), os.path.join(folder, 'model.onnx'))
