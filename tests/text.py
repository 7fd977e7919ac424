# SPDX-License-Identifier: GPL-3.0-or-later
"""Does ONNX's parser read back what `onnxdbg print --weights` writes, as the very same model?

    text.py PROGRAM FOLDER [MODEL]       prints "ok WORDS", "skip WORDS" or "not ok WORDS"

Without a MODEL, one is made that holds every kind of attribute and of tensor. The parser of onnx
1.12 knows no quoted names, no names of nodes and no half types; so values, dimensions and bodies of a
MODEL are called v0, v1, … first, and what that parser cannot say is skipped: it has no escapes in
strings either, which t_text.c holds.
"""
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper, parser

PLAIN = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.INT16,
         TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.UINT16,
         TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL, TensorProto.STRING}


class Beyond(Exception):
    """The parser's grammar lacks it."""


def check_tensor(t):
    if t.data_type not in PLAIN:
        raise Beyond(f"tensors of type {t.data_type}")
    array = numpy_helper.to_array(t)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise Beyond("NaN or Inf")
    if array.dtype.kind == "f" and (np.abs(array[array != 0]) < np.finfo(array.dtype).tiny).any():
        raise Beyond("subnormal numbers")


class Renamer:
    """Names that are identifiers; nothing else changes."""

    def __init__(self):
        self.names = {"": ""}

    def __call__(self, name):
        return self.names.setdefault(name, f"v{len(self.names)}")

    def type(self, type_):
        if type_.HasField("tensor_type"):
            for dim in type_.tensor_type.shape.dim:
                if dim.HasField("dim_param"):
                    dim.dim_param = self(dim.dim_param)
                dim.ClearField("denotation")
        elif type_.WhichOneof("value"):
            raise Beyond("values that are no tensors")
        type_.ClearField("denotation")

    def attribute(self, a):
        kinds = AttributeProto
        if a.type not in (kinds.INT, kinds.FLOAT, kinds.STRING, kinds.INTS, kinds.FLOATS,
                          kinds.STRINGS, kinds.TENSOR, kinds.GRAPH) or a.ref_attr_name:
            raise Beyond("an attribute's type")
        if a.type in (kinds.INTS, kinds.FLOATS, kinds.STRINGS) and not (
                a.ints or a.floats or a.strings):
            raise Beyond("empty lists")
        if not np.isfinite([a.f] + list(a.floats)).all():
            raise Beyond("NaN or Inf")
        if any(c in s for s in [a.s] + list(a.strings) for c in (b'"', b"\\")):
            raise Beyond("escapes")
        a.ClearField("doc_string")
        if a.type == kinds.TENSOR:
            check_tensor(a.t)
        if a.type == kinds.GRAPH:
            self.graph(a.g)

    def graph(self, g):
        if g.sparse_initializer:
            raise Beyond("sparse weights")
        g.name = self(g.name or "g")
        g.ClearField("doc_string")
        g.ClearField("quantization_annotation")
        weights = {t.name for t in g.initializer}
        made = {name for n in g.node for name in n.output}
        kept = [v for v in g.value_info if v.name in made and v.name not in
                {o.name for o in g.output} and v.type.WhichOneof("value")]
        del g.value_info[:]
        g.value_info.extend(kept)
        for t in g.initializer:
            check_tensor(t)
            t.name = self(t.name)
        for v in list(g.input) + list(g.output) + list(g.value_info):
            if v.name in weights and v.type.tensor_type.shape.dim:
                t = next(t for t in g.initializer if t.name == self(v.name))
                v.CopyFrom(helper.make_tensor_value_info(v.name, t.data_type, t.dims))
            self.type(v.type)
            v.ClearField("doc_string")
            v.name = self(v.name)
        for n in g.node:
            n.ClearField("name")
            n.ClearField("doc_string")
            if not n.op_type.isidentifier():
                raise Beyond("an operator's name")
            n.input[:] = [self(name) for name in n.input]
            n.output[:] = [self(name) for name in n.output]
            if "" in n.input or "" in n.output:
                raise Beyond("inputs left out")
            for a in n.attribute:
                self.attribute(a)


def made_up():
    """All that the old parser can say."""
    rng = np.random.default_rng(3)
    tensors = [numpy_helper.from_array(np.asarray(value), f"w{i}") for i, value in enumerate([
        rng.standard_normal((2, 3)).astype(np.float32), np.float64(1) / 3, np.int8([-128, 127]),
        np.int16([-5]), np.int32([[1], [-2]]), np.int64([-2**63, 2**63 - 1]), np.uint8([255]),
        np.uint16([65535]), np.uint32([2**32 - 1]), np.uint64([2**64 - 1]), np.bool_([True, False]),
        np.array(["a word", "\x1b[2J\nnext", "ünï"], dtype=object),
        np.float32([1e-30, 3.4028235e38, -0.0, 16777216.0, 0.1]), np.zeros((0, 2), np.float32)])]
    then = helper.make_graph([helper.make_node("Neg", ["x"], ["a"])], "then_part", [],
                             [helper.make_tensor_value_info("a", TensorProto.FLOAT, [2, 3])])
    other = helper.make_graph([helper.make_node("Add", ["x", "k"], ["b"])], "else_part", [],
                              [helper.make_tensor_value_info("b", TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor("k", TensorProto.FLOAT, [], [0.5])])
    nodes = [
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
        helper.make_node("Odd", ["y"] + [t.name for t in tensors], ["z"], domain="my.domain",
                         i=-3, f=0.1, whole=2.0, s="a b \n\x07", ints=[1, -2**63],
                         floats=[1.0, 2.5, 1e-5, -3e38], strings=["x", "", "y z"],
                         t=numpy_helper.from_array(np.float32([[1, 2], [3, -0.0]]))),
        helper.make_node("Twice", ["z"], ["out"], domain="my.domain"),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3]),
                     helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)], tensors,
        value_info=[helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])])
    function = helper.make_function(
        "my.domain", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)], [])
    model = helper.make_model(graph, functions=[function], opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)], producer_name="it is")
    model.ir_version = 8
    model.doc_string = "two\nlines"
    model.model_version = 7
    helper.set_model_props(model, {"key": "a b", "other": ""})
    return model


def shown(text):
    """As print has it: what acts on a terminal is an escape, which is read back as one, its
    backslash twice by parsers that know no escapes."""
    text = text.replace(b"\\\\x", b"\\x")
    return re.sub(rb"[\x00-\x09\x0b-\x1f\x7f]", lambda c: b"\\x%02x" % ord(c[0]), text)


def tensor_key(t):
    array = numpy_helper.to_array(t)
    data = [shown(x if isinstance(x, bytes) else str(x).encode()) for x in array.ravel()] \
        if array.dtype == object else array.tobytes()
    return t.data_type, tuple(t.dims), data


def attribute_key(a):
    value = {AttributeProto.TENSOR: lambda: tensor_key(a.t), AttributeProto.GRAPH: lambda: graph_key(a.g),
             AttributeProto.FLOAT: lambda: np.float32(a.f).tobytes(),
             AttributeProto.FLOATS: lambda: np.float32(a.floats).tobytes()}.get(a.type)
    return a.name, a.type, value() if value else (a.i, shown(a.s), tuple(a.ints), tuple(a.strings))


def node_key(n):
    return (n.domain, n.op_type, tuple(n.input), tuple(n.output),
            sorted((attribute_key(a) for a in n.attribute), key=lambda key: key[0]))


def graph_key(g):
    return {"name": g.name, "inputs": [v.SerializeToString() for v in g.input],
            "outputs": [v.SerializeToString() for v in g.output],
            "types": sorted(v.SerializeToString() for v in g.value_info),
            "weights": sorted((t.name,) + tensor_key(t) for t in g.initializer),
            "nodes": sorted(map(repr, map(node_key, g.node)))}


def model_key(m):
    key = graph_key(m.graph)
    key["head"] = (m.ir_version, m.producer_name, m.producer_version, m.domain, m.model_version,
                   m.doc_string, [(o.domain, o.version) for o in m.opset_import],
                   [(p.key, p.value) for p in m.metadata_props])
    key["functions"] = [(f.domain, f.name, list(f.input), list(f.output), list(f.attribute),
                         [repr(node_key(n)) for n in f.node]) for f in m.functions]
    return key


def main(program, folder, path=None):
    if path:
        model = onnx.load(path)
        model.DiscardUnknownFields()  # metadata, which the text does not hold
        if model.functions:
            raise Beyond("functions of a real model")
        Renamer().graph(model.graph)
    else:
        model = made_up()
    onnx.save(model, f"{folder}/plain.onnx")
    done = subprocess.run([program, "print", f"{folder}/plain.onnx", "--weights"],
                          capture_output=True)
    if done.returncode:
        return "not ok print: " + done.stderr.decode()
    try:
        again = parser.parse_model(done.stdout.decode())
    except Exception as why:
        return "not ok the parser: " + str(why)[:300]
    is_, was = model_key(again), model_key(model)
    for part, value in was.items():
        if is_[part] != value:
            return f"not ok {part} differ: {str(value)[:300]} | {str(is_[part])[:300]}"
    return f"ok {len(model.graph.node)} nodes, {len(done.stdout)} bytes of text"


try:
    print(main(*sys.argv[1:]))
except Beyond as beyond:
    print(f"skip {beyond}")
