# SPDX-License-Identifier: GPL-3.0-or-later
"""A target for t_conformance.c: the operators that it asks for, with numpy."""
import numpy as np

from onnxdbg_model import read_model

OPERATORS = {"Identity": lambda x: x, "Neg": np.negative, "Abs": np.abs, "Add": np.add,
             "Mul": np.multiply, "MatMul": np.matmul, "Relu": lambda x: np.maximum(x, 0)}


class Conform:
    """What the manual's example is, and it says what it did."""

    def load_model(self, path):
        """Reads it."""
        self.graph = read_model(path).graph
        for node in self.graph.nodes:
            if node.op_type not in OPERATORS:
                raise NotImplementedError("no operator %s (%s)" % (node.op_type, node.name))

    def execute(self, inputs, outputs):
        """Runs it."""
        values = {**self.graph.initializers, **inputs}
        for node in self.graph.nodes:
            values[node.outputs[0]] = OPERATORS[node.op_type](*(values[i] for i in node.inputs))
        return {name: values[name] for name in outputs}

    def account(self):
        """Everything ran here."""
        return {"text": "\n".join(map(str, self.graph.nodes)),
                "placements": [(n.name, n.op_type, "numpy") for n in self.graph.nodes],
                "notes": ["numpy %s" % np.__version__]}
