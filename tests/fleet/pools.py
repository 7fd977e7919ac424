# SPDX-License-Identifier: GPL-3.0-or-later
"""pools.py FILE: two MaxPools whose last window is not full, and a Conv with padding between them, so that
a target that drops such windows makes other shapes from there on, up to an average of all."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(3)
POOL = {'kernel_shape': [3, 3], 'strides': [2, 2], 'ceil_mode': 1}
NODES = [('Relu', ['x'], 'v0', '/before', {}),
         ('MaxPool', ['v0'], 'v1', '/first', POOL),
         ('Conv', ['v1', 'w'], 'v2', '/conv', {'kernel_shape': [3, 3], 'pads': [1, 1, 1, 1]}),
         ('Tanh', ['v2'], 'v3', '/between', {}),
         ('MaxPool', ['v3'], 'v4', '/second', POOL),
         ('Sigmoid', ['v4'], 'v5', '/after', {}),
         ('GlobalAveragePool', ['v5'], 'y', '/mean', {})]
weight = numpy_helper.from_array(rng.standard_normal((4, 2, 3, 3)).astype(np.float32), 'w')
graph = helper.make_graph(
    [helper.make_node(op, read, [made], name=name, **attributes)
     for op, read, made, name, attributes in NODES], 'pools',
    [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 2, 22, 24])],
    [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 4, 1, 1])], [weight])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
model.ir_version = 8
onnx.checker.check_model(model)
onnx.save(model, sys.argv[1])
