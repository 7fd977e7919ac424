# SPDX-License-Identifier: GPL-3.0-or-later
"""hidden.py FILE: a Softmax that sees nothing but NaN where the Clip before it has no upper bound, so that
a fault of the one hides what is wrong with the other (tests/fleet/target.py has both)."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def number(name, value):
    return numpy_helper.from_array(np.float32(value), name)


NODES = [('Clip', ['x', 'low', 'high'], 'v0', '/ceiling', {}),
         ('Mul', ['v0', 'steep'], 'v1', '/steep', {}),
         ('Exp', ['v1'], 'v2', '/exp', {}),
         ('Mul', ['v2', 'zero'], 'v3', '/nothing', {}),  # NaN of Inf, where there is no bound
         ('ReduceSum', ['v3'], 'v4', '/everywhere', {'keepdims': 1}),
         ('Add', ['x', 'v4'], 'v5', '/mixed', {}),
         ('Softmax', ['v5'], 'y', '/axis', {'axis': 0})]
float_of = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 6]) for name in ('x', 'y')]
graph = helper.make_graph(
    [helper.make_node(op, read, [made], name=name, **attributes)
     for op, read, made, name, attributes in NODES], 'hidden', float_of[:1], float_of[1:],
    [number('low', -9), number('high', 0.25), number('steep', 300), number('zero', 0)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
model.ir_version = 8
onnx.checker.check_model(model)
onnx.save(model, sys.argv[1])
