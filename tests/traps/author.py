# SPDX-License-Identifier: MIT
"""A target that somebody else has written, with what goes wrong in such ones: nothing here knows of
onnxdbg's own faults. Which it is, an option says; `at` and `by` name values.
"""
import os
import random

from onnxdbg_numpy import Numpy
from onnxdbg_types import Unsupported


class Author(Numpy):
    """Correct, but for one thing."""

    def init(self, what, at="", by="", nodes=0):
        self.what, self.at, self.by, self.nodes = what, at, by, int(nodes)

    def load_model(self, path):
        super().load_model(path)
        self.runs = 0

    def run_node(self, node, values):
        """Off where `at` is made, and what was asked for is the case."""
        results = super().run_node(node, values)
        wrong = {
            "whole": len(self.model.graph.nodes) >= self.nodes,  # an optimiser that sees all of it
            "race": random.SystemRandom().random() < 1 / 3,
            "first": self.runs == 1,
            "later": self.runs > 1,
        }.get(self.what, False)
        if self.at in node.outputs and wrong:
            results = [(result * 1.5 + 0.25).astype(result.dtype) for result in results]
        return results

    def execute(self, inputs, outputs):
        """One run."""
        self.runs += 1
        if self.runs > 1 and self.what == "dies":
            os.abort()
        if self.runs > 1 and self.what == "refuses":
            raise Unsupported("one run is all there is")
        if self.runs > 1 and self.what == "raises":
            raise RuntimeError("one run is all there is")
        given = super().execute(inputs, [*outputs, *(n for n in (self.at, self.by) if n)])
        made = list(self.model.graph.outputs)
        if self.what == "exchanged" and {made[0], made[-1]} <= set(outputs):
            given[made[0]], given[made[-1]] = given[made[-1]], given[made[0]]
        if self.what == "overwritten" and given[self.by] is not None:  # its memory was used again
            given[self.at] = given[self.by]
        return {name: given[name] for name in outputs}
