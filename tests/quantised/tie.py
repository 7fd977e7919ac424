#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A target that fuses a product with the quantiser behind it where the product is not read.

    tests/quantised/tie.py MODEL.onnx    writes a model of both

As a target, python:tests/quantised/tie.py:Fused: the fused kernel's product is a little larger than
the one that is read, by less than the tolerance allows, and one element comes so to the other side
of the middle between two steps. No node is wrong. The product of Wrong is larger by so
much that other elements come there as well.
"""
import sys

import numpy as np
from onnxdbg_numpy import Numpy


class Fused(Numpy):
    """NumPy's operators, and that kernel."""
    more = np.float32(1 + 6e-7)

    def execute(self, inputs, outputs):
        self.fuses = "h" not in outputs
        return super().execute(inputs, outputs)

    def run_node(self, node, values):
        if node.op_type == "QuantizeLinear" and self.fuses:
            values = dict(values, h=values["h"] * self.more)
        return super().run_node(node, values)


class Wrong(Fused):
    """One that is at fault."""
    more = np.float32(2.5)


def write(path):
    """x -> Mul -> QuantizeLinear -> DequantizeLinear -> Mul -> y; noisy runs tip no element."""
    import onnx
    from onnx import helper, numpy_helper
    third = np.float32(1 / 3)
    nodes = [helper.make_node("Mul", ["x", "w"], ["h"], "product"),
             helper.make_node("QuantizeLinear", ["h", "s"], ["q"], "quantiser"),
             helper.make_node("DequantizeLinear", ["q", "s"], ["d"], "back"),
             helper.make_node("Mul", ["d", "w"], ["y"], "last")]
    x = np.float32([1 - 4e-7, 2, 4, 0.5, 0.25, 2.1, 0.1, 4.2])
    weights = [numpy_helper.from_array(third, "w"), numpy_helper.from_array(third + third, "s"),
               numpy_helper.from_array(x, "x")]
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [8])
    graph = helper.make_graph(nodes, "tie", [], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


if __name__ == "__main__":
    write(sys.argv[1])
