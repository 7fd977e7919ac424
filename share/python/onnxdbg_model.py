# SPDX-License-Identifier: MIT
"""ONNX models read with numpy alone, for executors that run them node by node.

    model = read_model("model.onnx")
    for node in model.graph.nodes:
        print(node.op_type, node.inputs, node.outputs, node.attributes)

Weights are views of the file where it holds them raw, inside or beside the model.
"""
import mmap
import os
import re

import numpy as np

from onnxdbg_types import (MAP, OPTIONAL, SEQUENCE, SPARSE, STRING, TENSOR, TYPES, Refused,
                           Unsupported, as_bits, from_bytes)
from onnxdbg_wire import decode, field, read_fields

ENTRY = {1: ("key", "text"), 2: ("value", "text")}
TENSOR_PROTO = {
    1: ("dims", ["int"]), 2: ("data_type", "int"), 4: ("float_data", ["float"]),
    5: ("int32_data", ["int"]), 6: ("string_data", ["bytes"]), 7: ("int64_data", ["int"]),
    8: ("name", "text"), 9: ("raw_data", "bytes"), 10: ("double_data", ["bytes"]),
    11: ("uint64_data", ["uint"]), 13: ("external_data", [ENTRY]), 14: ("data_location", "int")}
SPARSE_PROTO = {1: ("values", TENSOR_PROTO), 2: ("indices", TENSOR_PROTO), 3: ("dims", ["int"])}
DIMENSION = {1: ("value", "size"), 2: ("param", "text")}
TENSOR_TYPE = {1: ("elem_type", "int"), 2: ("shape", {1: ("dim", [DIMENSION])})}
TYPE_PROTO = {1: ("tensor", TENSOR_TYPE), 8: ("sparse", TENSOR_TYPE)}
TYPE_PROTO[4] = ("sequence", {1: ("elem", TYPE_PROTO)})
TYPE_PROTO[5] = ("map", {1: ("key", "int"), 2: ("elem", TYPE_PROTO)})
TYPE_PROTO[9] = ("optional", {1: ("elem", TYPE_PROTO)})
VALUE_INFO = {1: ("name", "text"), 2: ("type", TYPE_PROTO)}
GRAPH_PROTO = {2: ("name", "text"), 5: ("initializer", [TENSOR_PROTO]), 11: ("input", [VALUE_INFO]),
               12: ("output", [VALUE_INFO]), 15: ("sparse_initializer", [SPARSE_PROTO])}
ATTRIBUTE = {
    1: ("name", "text"), 2: ("f", "float"), 3: ("i", "int"), 4: ("s", "bytes"),
    5: ("t", TENSOR_PROTO), 6: ("g", GRAPH_PROTO), 7: ("floats", ["float"]), 8: ("ints", ["int"]),
    9: ("strings", ["bytes"]), 10: ("tensors", [TENSOR_PROTO]), 11: ("graphs", [GRAPH_PROTO]),
    20: ("type", "int"), 21: ("ref_attr_name", "text"), 22: ("sparse_tensor", SPARSE_PROTO)}
NODE_PROTO = {1: ("input", ["text"]), 2: ("output", ["text"]), 3: ("name", "text"),
              4: ("op_type", "text"), 5: ("attribute", [ATTRIBUTE]), 7: ("domain", "text")}
GRAPH_PROTO[1] = ("node", [NODE_PROTO])
FUNCTION_PROTO = {1: ("name", "text"), 4: ("input", ["text"]), 5: ("output", ["text"]),
                  7: ("node", [NODE_PROTO]), 10: ("domain", "text")}
MODEL_PROTO = {1: ("ir_version", "int"), 7: ("graph", GRAPH_PROTO),
               8: ("opset_import", [{1: ("domain", "text"), 2: ("version", "int")}]),
               25: ("functions", [FUNCTION_PROTO])}
# Enough of a model to know what it takes and gives.
OUTLINE = {7: ("graph", {5: ("initializer", [{8: ("name", "text")}]), 11: ("input", [VALUE_INFO]),
                         12: ("output", [VALUE_INFO])})}

# Fields of AttributeProto by its type.
ATTRIBUTE_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings",
                    9: "tensors", 10: "graphs", 11: "sparse_tensor"}


class Node:
    """An operator call: op_type, domain, name, inputs, outputs, attributes."""

    def __init__(self, proto, directory):
        self.op_type, self.domain, self.name = proto.op_type, proto.domain, proto.name
        if self.domain == "ai.onnx":
            self.domain = ""
        self.inputs, self.outputs = proto.input, proto.output
        self.attributes = {a.name: attribute_value(a, directory) for a in proto.attribute}

    def __str__(self):
        label = self.name or (self.outputs[0] if self.outputs else "")
        return "%s '%s'" % (self.op_type, label)


class Graph:
    """Nodes in order; names of inputs and outputs with their types; initializers by name."""

    def __init__(self, proto, directory):
        self.name = proto.name
        self.nodes = [Node(n, directory) for n in proto.node]
        self.initializers = {t.name: tensor_value(t, directory) for t in proto.initializer}
        if proto.sparse_initializer:
            raise Unsupported("sparse initializers are not read here")
        self.inputs = {v.name: type_of(v.type) for v in proto.input}
        self.outputs = {v.name: type_of(v.type) for v in proto.output}
        self.shapes = {v.name: shape_of(v.type) for v in [*proto.input, *proto.output]}


class Model:
    """A graph and the opset versions of its domains ("" is ONNX's own)."""

    def __init__(self, proto, directory):
        if proto.graph is None:
            raise Refused("the file holds no graph")
        self.graph = Graph(proto.graph, directory)
        self.opsets = {"" if o.domain == "ai.onnx" else o.domain: o.version
                       for o in proto.opset_import}
        self.functions = {(f.domain, f.name) for f in proto.functions}


def read_model(path):
    """The model in a file."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return Model(decode(MODEL_PROTO, data), os.path.dirname(os.path.abspath(path)))


def type_of(proto):
    """(kind, element type or type of the elements) of a value, None where it is not said."""
    if proto is None or proto.which is None:
        return None
    if proto.which in ("tensor", "sparse"):
        part = getattr(proto, proto.which)
        return (TENSOR if proto.which == "tensor" else SPARSE), part.elem_type
    kind = {"sequence": SEQUENCE, "map": MAP, "optional": OPTIONAL}[proto.which]
    return kind, type_of(getattr(proto, proto.which).elem)


def shape_of(proto):
    """A tensor's dimensions, None unless all of them are declared as numbers."""
    shape = proto.tensor.shape if proto and proto.which == "tensor" else None
    if shape is None or any(d.value is None for d in shape.dim):
        return None
    return [d.value for d in shape.dim]


def external_bytes(proto, directory):
    """The part of a file beside the model that holds a tensor's bytes."""
    entries = {e.key: e.value for e in proto.external_data}
    offset = int(entries.get("offset", 0))
    with open(os.path.join(directory, entries["location"]), "rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    end = offset + int(entries["length"]) if "length" in entries else len(whole)
    return memoryview(whole)[offset:end]


def tensor_value(proto, directory):
    """The array that a TensorProto holds."""
    dtype, dims = proto.data_type, proto.dims
    if dtype not in TYPES:
        raise Refused("the tensor '%s' is of type %d, which is none" % (proto.name, dtype))
    if dtype == STRING:
        array = np.empty(len(proto.string_data), object)
        array[:] = [str(s, "utf-8", "surrogateescape") for s in proto.string_data]
        return array.reshape(dims)
    if proto.data_location == 1:
        return from_bytes(dtype, dims, external_bytes(proto, directory))
    if len(proto.raw_data) > 0 or 0 in dims:
        return from_bytes(dtype, dims, proto.raw_data)
    return typed_value(proto)


def typed_value(proto):
    """The same where numbers stand in a field of their own type."""
    name, kind, bits, foreign = TYPES[proto.data_type]
    if bits < 8:
        return from_bytes(proto.data_type, proto.dims, bytes(i & 255 for i in proto.int32_data))
    if proto.data_type in (11, 15):
        raw = b"".join(proto.double_data)
        return np.frombuffer(raw, kind).reshape(proto.dims)
    if proto.data_type in (1, 14):
        flat = np.array(proto.float_data, np.float32).view(kind)
    elif proto.data_type == 7:
        flat = np.array(proto.int64_data, np.int64)
    elif proto.data_type in (12, 13):
        flat = np.array(proto.uint64_data, np.uint64).astype(kind)
    elif proto.data_type == 10 or foreign:
        flat = np.array(proto.int32_data, np.int32).astype("<u%d" % (bits // 8)).view(kind)
    else:
        flat = np.array(proto.int32_data, np.int32).astype(kind)
    array = flat.reshape(proto.dims)
    return as_bits(array, name) if foreign else array


def attribute_value(proto, directory):
    """An attribute as int, float, str, array, Graph, or a list of these."""
    if proto.ref_attr_name:
        raise Unsupported("attributes of functions are not read here")
    kind = proto.type or next((n for n, name in ATTRIBUTE_FIELDS.items() if getattr(proto, name)),
                              2)  # which the first files of ONNX leave to the reader
    if kind not in ATTRIBUTE_FIELDS:
        raise Unsupported("the attribute '%s' is of type %d" % (proto.name, kind))
    value = getattr(proto, ATTRIBUTE_FIELDS[kind])
    if value is None:
        raise Refused("the attribute '%s' has no value" % proto.name)
    if kind == 3:
        return str(value, "utf-8", "surrogateescape")
    if kind == 4:
        return tensor_value(value, directory)
    if kind == 5:
        return Graph(value, directory)
    if kind == 8:
        return [str(s, "utf-8", "surrogateescape") for s in value]
    if kind == 9:
        return [tensor_value(t, directory) for t in value]
    if kind in (10, 11):
        raise Unsupported("an attribute of graphs or a sparse tensor is not read here")
    return value


def outline(data):
    """What a model says of its ports without the rest of it being read: the types (see type_of) of
    its inputs and of its outputs by name, and the inputs that need no value."""
    graph = decode(OUTLINE, data).graph
    if graph is None:
        raise Refused("the file holds no graph")
    return ({v.name: type_of(v.type) for v in graph.input},
            {v.name: type_of(v.type) for v in graph.output}, {t.name for t in graph.initializer})


def external_files(data):
    """The files that a model's tensors lie in, as it names them."""
    if not re.search(b"location", data):
        return []
    found = []

    def look(message):
        for part in vars(message).values():
            for item in part if isinstance(part, list) else [part]:
                if getattr(item, "data_location", 0) == 1:
                    found.extend(e.value for e in item.external_data if e.key == "location")
                elif hasattr(item, "__dict__"):
                    look(item)

    look(decode(MODEL_PROTO, data))
    return sorted(set(found))


# --- writing -----------------------------------------------------------------------------------

def edit_graph(data, edit):
    """The model after edit() has made other pairs (number, bytes) of its graph's."""
    return b"".join(field(number, b"".join(field(*pair) for pair in edit(list(read_fields(value))))
                          if number == 7 else value) for number, value in read_fields(data))


def raw_name(name):
    """A name as it stands in a file."""
    return name.encode("utf-8", "surrogateescape")


def value_name(value):
    """The name in a ValueInfoProto."""
    return str(next(v for n, v in read_fields(value) if n == 1), "utf-8", "surrogateescape")


def node_bytes(name, op_type, inputs, output):
    """A node without attributes."""
    return b"".join([*(field(1, raw_name(i)) for i in inputs), field(2, raw_name(output)),
                     field(3, raw_name(name)), field(4, raw_name(op_type))])


def float_input(name, shape):
    """A ValueInfoProto of floats."""
    dims = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, raw_name(name)) + field(2, field(1, field(1, 1) + field(2, dims)))


def with_outputs(data, wanted):
    """The same model with Identity nodes behind some of its outputs as its only outputs; wanted is
    {output: the name of its node and value}."""
    def edit(fields):
        for number, value in fields:
            name = value_name(value) if number == 12 else None
            if number != 12:
                yield number, value
            elif name in wanted:
                new = wanted[name]
                yield 1, node_bytes(new, "Identity", [name], new)
                yield 12, field(1, raw_name(new)) + b"".join(
                    field(n, v) for n, v in read_fields(value) if n != 1)
    return edit_graph(data, edit)


def with_reshaped_inputs(data, wanted):
    """The same model with Reshape nodes before some of its float inputs; wanted is
    {input: (new name, its shape, the shape that nodes see)}."""
    def edit(fields):
        for name, (new, _, inner) in wanted.items():
            sizes = b"".join(int(d).to_bytes(8, "little") for d in inner)
            yield 5, b"".join([field(1, len(inner)), field(2, 7),
                               field(8, raw_name(new + "/shape")), field(9, sizes)])
            yield 1, node_bytes(new + "/reshape", "Reshape", [new, new + "/shape"], name)
        for number, value in fields:
            name = value_name(value) if number == 11 else None
            yield number, float_input(*wanted[name][:2]) if name in wanted else value
    return edit_graph(data, edit)


def with_weights(data, directory):
    """The same model with the initializers that lie in other files inside it."""
    def edit(fields):
        for number, value in fields:
            proto = decode(TENSOR_PROTO, value) if number == 5 else None
            if proto and proto.data_location == 1:
                value = field(9, external_bytes(proto, directory)) + b"".join(
                    field(n, v) for n, v in read_fields(value) if n not in (13, 14))
            yield number, value
    return edit_graph(data, edit)
