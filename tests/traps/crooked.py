# SPDX-License-Identifier: GPL-3.0-or-later
"""A target that computes with numpy, and adds to one node's output under a condition."""
import numpy as np

from onnxdbg_model import read_model

OPERATORS = {"Shape": lambda x: np.array(x.shape, "int64"), "Gather": lambda x, at: x[at],
             "Sub": np.subtract, "Greater": np.greater, "Where": np.where, "Mul": np.multiply}


class Crooked:
    """node=NAME is off by one where the longest axis that it saw so far is over `beyond`."""

    def init(self, node="", beyond="0"):
        """Options."""
        self.node, self.beyond = node, int(beyond)

    def load_model(self, path):
        """Reads it."""
        self.graph = read_model(path).graph

    def execute(self, inputs, outputs):
        """Runs it."""
        values = {**self.graph.initializers, **inputs}
        for node in self.graph.nodes:
            given = [values[name] for name in node.inputs]
            result = np.asarray(OPERATORS[node.op_type](*given))
            if node.name == self.node and np.max(given[0]) > self.beyond:
                result = result + result.dtype.type(1)
            values[node.outputs[0]] = result
        return {name: values[name] for name in outputs}
