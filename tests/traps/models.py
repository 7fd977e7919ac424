# SPDX-License-Identifier: GPL-3.0-or-later
"""Models in which searches go astray: models.py KIND OUT.onnx.

Each says in its docstring who looks guilty there, and who is.
"""
import os
import struct
import sys

import numpy as np

from onnxdbg_wire import field

FLOAT, INT64, BOOL = 1, 7, 9
TYPES = {"float32": FLOAT, "int64": INT64, "bool": BOOL}


def text(number, value):
    """A text field."""
    return field(number, value.encode())


def attribute(name, value):
    """An integer, a list of them, or a float."""
    if isinstance(value, float):
        return text(1, name) + struct.pack("<Bf", 2 << 3 | 5, value) + field(20, 1)
    if isinstance(value, int):
        return text(1, name) + field(3, value) + field(20, 2)
    return text(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def value_info(name, dtype, dims):
    """A typed value; a dimension is a number or a name."""
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else text(2, d)) for d in dims)
    return text(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


class Model:
    """A model that is written as it is told."""

    def __init__(self):
        self.graph = []

    def input(self, name, *dims, dtype=FLOAT):
        """A graph input."""
        self.graph.append(field(11, value_info(name, dtype, dims)))

    def output(self, name, *dims, dtype=FLOAT):
        """A graph output."""
        self.graph.append(field(12, value_info(name, dtype, dims)))

    def weight(self, name, value):
        """An initializer."""
        value = np.asarray(value)
        self.graph.append(field(5, b"".join(field(1, d) for d in value.shape) +
                                field(2, TYPES[value.dtype.name]) + text(8, name) +
                                field(9, value.tobytes())))

    def beside(self, name, dims, file, size):
        """An initializer of zeros in a file of its own, which takes no room on the disk."""
        with open(file, "wb") as out:
            out.truncate(size)
        place = text(1, "location") + text(2, os.path.basename(file))
        self.graph.append(field(5, b"".join(field(1, d) for d in dims) + field(2, FLOAT) +
                                text(8, name) + field(13, place) + field(14, 1)))

    def node(self, op_type, name, inputs, outputs, **attributes):
        """A node; its inputs and outputs are words of a text."""
        self.graph.append(field(1, b"".join(text(1, i) for i in inputs.split()) +
                                b"".join(text(2, o) for o in outputs.split()) + text(3, name) +
                                text(4, op_type) +
                                b"".join(field(5, attribute(*a)) for a in attributes.items())))

    def write(self, path, opset=17):
        """The file."""
        with open(path, "wb") as out:
            out.write(field(1, 8) + field(7, text(2, "trap") + b"".join(self.graph)) +
                      field(8, field(2, opset)))


def dip(model, _):
    """What "made" gives is cut off to ones on the way that most nodes lie on, so whatever it does
    is not seen there; "join" brings it back, and is the first bad node behind good ones."""
    model.input("x", 4, 16)
    model.weight("w", np.where(np.arange(16) % 2, 4, -5).astype("float32"))
    model.weight("one", np.float32(1))
    model.weight("minus", np.float32(-1))
    model.node("Mul", "made", "x w", "h")
    model.node("Clip", "cut", "h minus one", "c0")
    for i in range(12):
        model.node("Neg" if i % 2 else "Add", "way%d" % i, "c%d%s" % (i, "" if i % 2 else " one"),
                   "c%d" % (i + 1))
    model.node("Add", "join", "c12 h", "j")
    model.node("Mul", "last", "j w", "y")
    model.output("y", 4, 16)


def norm(model, _):
    """A small error of "small" drowns in what is added, and LayerNormalization, whose input has
    next to no variance, blows it up."""
    model.input("x", 4, 64)
    model.weight("w", np.linspace(0.5, 1.5, 64, dtype="float32"))
    model.weight("much", np.float32(30))
    model.weight("scale", np.ones(64, "float32"))
    model.weight("bias", np.zeros(64, "float32"))
    model.node("Mul", "small", "x w", "s")
    model.node("Add", "drown", "s much", "d")
    model.node("LayerNormalization", "norm", "d scale bias", "y")
    model.output("y", 4, 64)


def length(model, _):
    """The path of shapes decides nothing that a float shows: only integers are wrong."""
    model.input("x", 1, "length", 4)
    model.weight("axis", np.int64(1))
    model.weight("one", np.int64(1))
    model.weight("zero", np.int64(0))
    model.weight("nothing", np.float32(0))
    model.node("Shape", "shape", "x", "s")
    model.node("Gather", "pick", "s axis", "n")
    model.node("Sub", "last", "n one", "at")
    model.node("Greater", "some", "at zero", "mask")
    model.node("Where", "keep", "mask x nothing", "kept")
    model.node("Mul", "square", "kept kept", "y")
    model.output("y", 1, "length", 4)


def huge(model, path):
    """A table of 3 GB beside the model, of which a run reads two rows."""
    rows, columns = 3 << 20, 256
    model.input("rows", 2, dtype=INT64)
    model.beside("table", (rows, columns), path + ".table", rows * columns * 4)
    model.weight("bias", np.linspace(-1, 1, columns, dtype="float32"))
    model.weight("w", (np.arange(columns * 32) % 13 - 6).astype("float32").reshape(columns, 32))
    model.node("Gather", "look", "table rows", "v0")
    model.node("Add", "shift", "v0 bias", "v1")
    model.node("MatMul", "project", "v1 w", "v2")
    model.node("Tanh", "bend", "v2", "y")
    model.output("y", 2, 32)


if __name__ == "__main__":
    MADE = Model()
    {"dip": dip, "norm": norm, "length": length, "huge": huge}[sys.argv[1]](MADE, sys.argv[2])
    MADE.write(sys.argv[2])
