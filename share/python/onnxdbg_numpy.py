# SPDX-License-Identifier: MIT
"""NumPy as a target of onnxdbg: the kind `numpy`. ONNX's operators as a textbook writes them down.

Floats are computed in float64 and rounded once, to the type that the operator gives. Nothing here
is fast, and nothing is shared with the reference or with any runtime: it is there to be asked for a
third opinion on one node. What it does not cover it says, and what ONNX leaves open (the order of
equal elements, integers beyond their type) it does not answer.
"""
import numpy as np

from onnxdbg_model import read_model
from onnxdbg_numpy_ops import OPERATORS, Call, widened
from onnxdbg_types import Refused, Unsupported

LATEST = 28  # opset of ai.onnx; what a later one means by an operator is not known here


class Numpy:
    """One model."""

    def init(self):
        """There is nothing to choose."""

    def load_model(self, path):
        """Reads the model; an operator without a row is refused."""
        self.model = read_model(path)
        opset = self.model.opsets.get("", 1)
        if opset > LATEST:
            raise Unsupported("opset %d is later than what is covered, %d" % (opset, LATEST))
        for node in self.model.graph.nodes:
            if node.domain or node.op_type not in OPERATORS:
                what = "%s::%s" % (node.domain, node.op_type) if node.domain else node.op_type
                raise Unsupported("there is no %s here (%s)" % (what, node))
            for name in node.attributes:
                if name not in OPERATORS[node.op_type].attributes:
                    raise Unsupported("its attribute %s is not covered (%s)" % (name, node))

    def execute(self, inputs, outputs):
        """One run, node by node."""
        values = dict(self.model.graph.initializers)
        values.update(inputs)
        for node in self.model.graph.nodes:
            results = self.run_node(node, values)
            values.update((name, result) for name, result in zip(node.outputs, results) if name)
        return {name: values.get(name) for name in outputs}

    def run_node(self, node, values):
        """The outputs of one node, in their types."""
        row = OPERATORS[node.op_type]
        given = [values.get(name) if name else None for name in node.inputs]
        if any(value is not None and not isinstance(value, np.ndarray) for value in given):
            raise Unsupported("only tensors are taken here (%s)" % node)
        try:
            with np.errstate(all="ignore"):
                call = Call(node, given, self.model.opsets.get("", 1))
                if row.real:
                    call.inputs = [value if value is None else widened(value) for value in given]
                results = row.function(call)
                results = results if isinstance(results, tuple) else (results,)
                return [call.fit(result, row.real) for result in results]
        except Refused as error:
            raise type(error)("%s: %s" % (node, error)) from error
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise Refused("%s: %s" % (node, text)) from error

    def describe(self):
        """Version."""
        return "NumPy %s, operators as in a textbook" % np.__version__
