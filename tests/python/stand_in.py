# SPDX-License-Identifier: GPL-3.0-or-later
"""A compiler that is none, to test onnxdbg_compiler.py with: what it makes is the model with its
weights inside and a list of operators, and it writes a line for every model that it compiles."""
import os

from conform import OPERATORS
from onnxdbg_compiler import Compiler
from onnxdbg_model import read_model, with_weights

OPERATORS["Sub"] = lambda a, b: a - b
OPERATORS["Transpose"] = lambda x, perm: x.transpose(perm)


class StandIn(Compiler):
    """Compiles to nothing much, runs with numpy."""

    def init(self, level="1", log="", **common):
        """A line per compilation goes to log."""
        super().init(**common)
        self.level, self.log = level, log

    def key(self):
        return "level " + self.level

    def compile(self, path, out):
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(self.level + "\n")
        with open(path, "rb") as file:
            data = with_weights(file.read(), os.path.dirname(path))
        with open(os.path.join(out, "model.bin"), "wb") as file:
            file.write(data)
        graph = read_model(path).graph
        if self.level == "fail":
            raise RuntimeError("level fail fails")
        with open(os.path.join(out, "ir.txt"), "w", encoding="utf-8") as file:
            file.writelines("%s\n" % node for node in graph.nodes)

    def load(self, artifact):
        self.graph = read_model(os.path.join(artifact, "model.bin")).graph

    def run(self, artifact, inputs, outputs):
        values = {**self.graph.initializers, **inputs}
        for node in self.graph.nodes:
            given = (values[name] for name in node.inputs)
            values[node.outputs[0]] = OPERATORS[node.op_type](*given, **node.attributes)
        return {name: values[name] for name in outputs}

    def text(self, artifact):
        with open(os.path.join(artifact, "ir.txt"), encoding="utf-8") as file:
            return file.read()
