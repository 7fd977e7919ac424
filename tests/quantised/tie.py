#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A target that fuses a product with the quantisers around it where nothing between them is read.

    tests/quantised/tie.py MODEL.onnx X.npy    writes a model of both, and its input

As a target, python:tests/quantised/tie.py:Fused: the fused kernel's product is a little larger than
the one that is read, by less than the tolerance allows, and one element comes so to the other side
of the middle between two steps. No node is wrong. The product of Wrong is larger by so much that
other elements come there as well. Step is wrong by one step, as Fused is, in an element that is
near no middle; and it says that it fuses nothing.
"""
import sys

import numpy as np
from onnxdbg_numpy import Numpy


class Fused(Numpy):
    """NumPy's operators, and that kernel."""
    more = np.float32(1 + 6e-7)

    def execute(self, inputs, outputs):
        self.fuses = not {"b", "h"} & set(outputs)
        return super().execute(inputs, outputs)

    def run_node(self, node, values):
        if node.name == "quantiser" and self.fuses:
            values = dict(values, h=values["h"] * self.more)
        return super().run_node(node, values)


class Wrong(Fused):
    """One that is at fault."""
    more = np.float32(2.5)


class Step(Fused):
    """One that is at fault as little as can be."""
    more = np.float32([1, 1, 1, 1, 1, 2, 1, 1])

    def groups(self):
        """Each node by itself."""
        count = len(self.model.graph.nodes)
        return [{"kernel": "one", "nodes": ["#%d" % n]} for n in range(count)]


def write(path, path_of_x):
    """x and Mul between pairs of quantisers, then Mul; noisy runs tip no element."""
    import onnx
    from onnx import helper, numpy_helper
    third = np.float32(1 / 3)
    nodes = [helper.make_node("QuantizeLinear", ["x", "r"], ["p"], "first"),
             helper.make_node("DequantizeLinear", ["p", "r"], ["b"], "behind"),
             helper.make_node("Mul", ["b", "w"], ["h"], "product"),
             helper.make_node("QuantizeLinear", ["h", "s"], ["q"], "quantiser"),
             helper.make_node("DequantizeLinear", ["q", "s"], ["d"], "back"),
             helper.make_node("Mul", ["d", "w"], ["y"], "last")]
    step = np.float32(0.25 - 1e-7)  # four steps make a little less than 1, the middle
    weights = [numpy_helper.from_array(third, "w"), numpy_helper.from_array(third + third, "s"),
               numpy_helper.from_array(step, "r")]
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [8]) for name in "xy")
    graph = helper.make_graph(nodes, "tie", [x], [y], weights)
    np.save(path_of_x, step * np.float32([4, 8, 16, 2, 1, 9, 0, 17]))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


if __name__ == "__main__":
    write(*sys.argv[1:])
