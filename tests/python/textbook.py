# SPDX-License-Identifier: GPL-3.0-or-later
"""The textbook operators against the cases that ONNX has for each operator.

    textbook.py CASES...        folders of ONNX's backend tests (node, pytorch-operator, ...)

Prints "ok NAME (passed, refused)" or "not ok NAME" per operator of the table, and whoever is wrong
on standard error. A case of a model with more than one node counts for none, but must be right.
"""
import os
import sys

import numpy as np

from onnxdbg_model import TENSOR_PROTO, read_model, tensor_value
from onnxdbg_numpy import Numpy
from onnxdbg_numpy_ops import OPERATORS, widened
from onnxdbg_types import TENSOR, Refused, Unsupported, dtype_of
from onnxdbg_wire import WireError, decode

# Tanh of f16 and the like are rounded in between by ONNX's own arrays: (relative, absolute).
TOLERANCE = {1: (1e-4, 1e-6), 10: (2e-3, 1e-3), 11: (1e-6, 1e-8), 16: (2e-2, 1e-2)}
# Written down with four digits.
LOOSE = {"RoiAlign": (1e-3, 1e-4), "GridSample": (1e-3, 1e-4), "AveragePool": (1e-4, 6e-5)}


def read_tensor(path, directory):
    """The array in a .pb file."""
    with open(path, "rb") as file:
        return tensor_value(decode(TENSOR_PROTO, file.read()), directory)


def same(got, want, op):
    """Whether an output is what ONNX has."""
    if got is None or dtype_of(got) != dtype_of(want) or got.shape != want.shape:
        return False
    if want.dtype == object or dtype_of(want) not in TOLERANCE:
        return bool(np.array_equal(np.asarray(got), np.asarray(want)))
    relative, absolute = LOOSE.get(op, TOLERANCE[dtype_of(want)])
    got, want = widened(got), widened(want)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return False
    far = np.abs(got[finite] - want[finite]) > absolute + relative * np.abs(want[finite])
    return not far.any()


def run_case(folder):
    """(operators, "passed", "refused" or what is wrong) of a case."""
    path = os.path.join(folder, "model.onnx")
    data = os.path.join(folder, "test_data_set_0")
    model = read_model(path)
    nodes = model.graph.nodes
    ops = [node.op_type for node in nodes]
    target = Numpy()
    try:
        target.load_model(path)
        inputs = [name for name in model.graph.inputs if name not in model.graph.initializers]
        read = [read_tensor(os.path.join(data, "input_%d.pb" % i), data)
                for i in range(len(inputs))]
        got = target.execute(dict(zip(inputs, read)), list(model.graph.outputs))
        for i, name in enumerate(model.graph.outputs):
            want = read_tensor(os.path.join(data, "output_%d.pb" % i), data)
            if not same(got[name], want, ops[0]):
                return ops, "%s is another: %s for %s" % (name, shown(got[name]), shown(want))
    except Unsupported as error:
        return ops, "refused: %s" % error
    except Refused as error:
        return ops, "fails: %s" % error
    return ops, "passed"


def shown(array):
    """An array in a few words."""
    if array is None:
        return "nothing"
    flat = np.asarray(widened(array) if array.dtype != object else array).reshape(-1)
    return "%s%s %s" % (array.dtype, list(array.shape), flat[:6].tolist())


def readable(folder):
    """Models that are read here at all, which take and give tensors."""
    try:
        graph = read_model(os.path.join(folder, "model.onnx")).graph
    except (OSError, Refused, WireError, ValueError):
        return False
    ports = [*graph.inputs.values(), *graph.outputs.values()]
    return all(port is not None and port[0] == TENSOR for port in ports)


def main(folders):
    """All cases of all folders."""
    passed, refused, wrong, within = {}, {}, [], set()
    for top in folders:
        for name in sorted(os.listdir(top)):
            folder = os.path.join(top, name)
            if not readable(folder):
                continue
            ops, result = run_case(folder)
            op = ops[0] if len(ops) == 1 else None
            if result == "passed":
                passed[op] = passed.get(op, 0) + 1
                within.update(ops)
            elif result.startswith("refused"):
                refused[op] = refused.get(op, 0) + 1
            else:
                wrong.append((op, name))
                print("%s: %s" % (name, result), file=sys.stderr)
    for op in sorted(OPERATORS):
        fine = op in within and not any(of == op for of, _ in wrong)
        print("%s textbook %s (%d right, %d not answered)" % (
            "ok" if fine else "not ok", op, passed.get(op, 0), refused.get(op, 0)))
    rest = [name for of, name in wrong if of not in OPERATORS]
    print("%s textbook models of several nodes (%d right)" % ("not ok" if rest else "ok",
                                                              passed.get(None, 0)))


main(sys.argv[1:])
