#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""models.py FOLDER: models that a dump may stumble over, each in FOLDER/NAME.onnx."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh


def save(name, nodes, inputs, outputs, weights=(), opset=13):
    graph = h.make_graph(nodes, name, inputs, outputs,
                         [nh.from_array(w, n) for n, w in weights])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)])
    model.ir_version = 8
    onnx.save(model, os.path.join(sys.argv[1], name + ".onnx"))


def value(name, kind=T.FLOAT, shape=None):
    return h.make_tensor_value_info(name, kind, shape)


# Names that no file can have, several outputs to a node, Constants, all kinds of
# inputs, two that are one as files, an empty tensor, NaN and Inf, a scalar.
wide, utf8 = "/w" * 100, "größe/" * 45
save("odd", [
    h.make_node("Split", ["a/b"], ["/split/first:0", "/split/second\\1", utf8], axis=1,
                name="/split"),
    h.make_node("Constant", [], ["two"], value=nh.from_array(np.float32(2))),
    h.make_node("Mul", ["/split/first:0", "two"], [wide], name="mul"),
    h.make_node("TopK", [utf8, "k"], ["values", "indices"], axis=1),
    h.make_node("Cast", ["a_b"], ["halves"], to=T.FLOAT16),
    h.make_node("ReduceSum", ["halves"], ["scalar"], keepdims=0),
    h.make_node("Slice", [wide, "zero", "zero"], ["empty"]),
    h.make_node("Div", [wide, "zerof"], ["inf"]),
    h.make_node("Sub", ["inf", "inf"], ["nan"]),
    h.make_node("Not", ["flags"], ["flipped"]),
    h.make_node("Identity", ["texts"], ["said"]),
    h.make_node("Cast", ["a/b"], ["double"], to=T.DOUBLE),
    h.make_node("Dropout", ["double"], ["kept"]),
], [value("a/b", T.FLOAT, [3, 6]), value("a_b", T.INT64, [2, 4]), value("flags", T.BOOL, [7]),
    value("half", T.FLOAT16, [5]), value("byte", T.UINT8, [9]), value("texts", T.STRING, [2])],
    [value("values"), value("indices", T.INT64), value("nan"), value("flipped", T.BOOL),
     value("said", T.STRING), value("scalar", T.FLOAT16), value("kept", T.DOUBLE)],
    [("k", np.array([2])), ("zero", np.array([0])), ("zerof", np.float32(0))])

# Names that are one as files, whatever is made of them, and an input that is an output's file.
save("clash", [h.make_node("Sum", ["a/b", "a_b", "a_b~1", "a\\b"], ["in.put"]),
               h.make_node("Add", ["in.put", "topoidx_00000__in.put"], ["c/d"]),
               h.make_node("Neg", ["c/d"], ["c_d"])],
     [value(n, T.FLOAT, [2, 3]) for n in ("a/b", "a_b", "a_b~1", "a\\b",
                                          "topoidx_00000__in.put")], [value("c_d")])
save("twins", [h.make_node("Sub", ["a_b", "a/b"], ["c"]), h.make_node("Div", ["c", "a\\b"], ["d"])],
     [value(n, T.FLOAT, [2, 3]) for n in ("a_b", "a/b", "a\\b")], [value("d")])
save("bfloat", [h.make_node("Neg", ["b"], ["c"])], [value("b", T.BFLOAT16, [2, 3])],
     [value("c", T.BFLOAT16)])

# A chain large enough for NumPy's order of summing to matter.
rng = np.random.RandomState(7)
save("sums", [h.make_node("MatMul", ["x", "w"], ["y"]), h.make_node("Tanh", ["y"], ["z"]),
              h.make_node("Softmax", ["z"], ["p"], axis=1)],
     [value("x", T.FLOAT, [120, 90])], [value("p")],
     [("w", rng.randn(90, 170).astype(np.float32))])

# A body.
body = h.make_graph([h.make_node("Add", ["carried", "x"], ["next"]),
                     h.make_node("Identity", ["go"], ["on"]),
                     h.make_node("Identity", ["next"], ["seen"])], "body",
                    [value("i", T.INT64, []), value("go", T.BOOL, []), value("carried")],
                    [value("on", T.BOOL, []), value("next"), value("seen")])
save("loop", [h.make_node("Relu", ["x"], ["start"]),
              h.make_node("Loop", ["n", "", "start"], ["last", "all"], body=body, name="turns"),
              h.make_node("Neg", ["last"], ["end"])],
     [value("x", T.FLOAT, [2, 3])], [value("end"), value("all")], [("n", np.array(4))])
