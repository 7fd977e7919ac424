# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a model that runs as it is, and that ONNX Runtime refuses with fixed dimensions: a branch
that this run does not take cannot be inferred with them."""
import sys

from onnx import TensorProto, helper, save

X = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "t", 4])
Y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)


def number(name, values, dims, kind=TensorProto.INT64):
    """An initializer."""
    return helper.make_tensor(name, kind, dims, values)


def branch(name, nodes):
    """A branch of the If, whose last node makes its output."""
    out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [out])


alone = branch("alone", [helper.make_node("Squeeze", ["h", "zero"], ["a"], name="squeeze")])
many = branch("many", [helper.make_node("ReduceMax", ["h"], ["m"], name="max", axes=[0],
                                        keepdims=0)])
graph = helper.make_graph(
    [helper.make_node("LSTM", ["x", "w", "r"], ["", "hidden", ""], name="lstm", hidden_size=2),
     helper.make_node("Transpose", ["hidden"], ["h"], name="turn", perm=[1, 0, 2]),
     helper.make_node("Shape", ["h"], ["shape"], name="shape"),
     helper.make_node("Gather", ["shape", "zero"], ["size"], name="size"),
     helper.make_node("Equal", ["size", "one"], ["is_one"], name="is_one"),
     helper.make_node("If", ["is_one"], ["y"], name="choose", then_branch=alone,
                      else_branch=many)],
    "given", [X], [Y],
    [number("w", [0.1 * (i % 7 - 3) for i in range(32)], [1, 8, 4], TensorProto.FLOAT),
     number("r", [0.1 * (i % 5 - 2) for i in range(16)], [1, 8, 2], TensorProto.FLOAT),
     number("zero", [0], [1]), number("one", [1], [1])])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7),
     sys.argv[1])
