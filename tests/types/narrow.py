# SPDX-License-Identifier: GPL-3.0-or-later
"""A target without int64, double and bool: it has int32, float and 0 and 1 in their place."""
import numpy as np

from onnxdbg_numpy import Numpy

HELD = {"int64": np.int32, "float64": np.float32, "bool": np.float32}


def held(value):
    """What it has in the value's place; an int64 that int32 has no room for wraps."""
    return value.astype(HELD[value.dtype.name]) if value.dtype.name in HELD else value


class Narrow(Numpy):
    """Operators as in a textbook, whose results it holds so."""

    def init(self, says=""):
        """says: what it tells of its types, as in a spec; nothing: it keeps that to itself."""
        self.says = says

    def capabilities(self):
        """What it can do."""
        return {"types": self.says} if self.says else {}

    def run_node(self, node, values):
        """The outputs of one node, which the next ones read as they are held."""
        return [value if value is None else held(value).astype(value.dtype)
                for value in super().run_node(node, values)]

    def execute(self, inputs, outputs):
        """One run."""
        return {name: held(value) for name, value in super().execute(inputs, outputs).items()}
