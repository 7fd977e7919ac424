# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the networks of published bugs: the pattern that a backend gets wrong, with ordinary layers
before and behind it, and weights that are the same each time.

    networks.py FOLDER [NAME…]     writes FOLDER/NAME/model.onnx, of all networks or of these"""
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

KINDS = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE,
         "float16": TensorProto.FLOAT16, "int64": TensorProto.INT64, "int32": TensorProto.INT32,
         "uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "bool": TensorProto.BOOL,
         "uint32": TensorProto.UINT32}
INT4, FLOAT8E4M3FN = 22, 17  # TensorProto's numbers, which an older onnx does not name
NETWORKS = {}


def network(make):
    """Registers a function that returns a Net; the network has its name."""
    NETWORKS[make.__name__] = make
    return make


class Net:
    """A model that grows. Every method that adds a layer returns the name of its value."""

    def __init__(self, opset=17, seed=1, prefix="w", **domains):
        self.nodes, self.weights, self.inputs, self.outputs, self.feeds = [], [], [], [], []
        self.opsets = [helper.make_opsetid("", opset)]
        self.opsets += [helper.make_opsetid(d.replace("_", "."), v) for d, v in domains.items()]
        self.ir = 8 if opset < 19 else 10
        self.prefix = prefix
        self.random = np.random.RandomState(seed)

    def input(self, name, shape, kind="float32", feed=None):
        """An input; feed: what the case is run with, where generated numbers do not show it."""
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], shape))
        self.feeds.append(feed)
        return name

    def constant(self, array, name=None):
        """An initializer."""
        array = np.asarray(array)
        name = name or "%s%d" % (self.prefix, len(self.weights))
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def raw(self, kind, dims, data):
        """An initializer of a type that NumPy lacks, from its bytes."""
        name = "%s%d" % (self.prefix, len(self.weights))
        self.weights.append(TensorProto(name=name, data_type=kind, dims=dims,
                                        raw_data=bytes(data)))
        return name

    def draw(self, *shape, scale=1.0):
        """Normal numbers in float32."""
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def op(self, kind, inputs, outputs=1, name=None, domain="", **attributes):
        """A node; inputs may be names or arrays. outputs > 1: a list of names."""
        name = name or "/%s_%d" % (kind.lower(), len(self.nodes))
        inputs = [self.constant(i) if isinstance(i, np.ndarray) else i for i in inputs]
        made = [name + ("_out" if outputs == 1 else "_out%d" % k) for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, made, name=name, domain=domain,
                                           **attributes))
        return made[0] if outputs == 1 else made

    def output(self, value, kind="float32", shape=None, rank=None):
        """An output of the model; without a shape, its rank is declared, or nothing."""
        shape = [None] * rank if shape is None and rank else shape
        self.outputs.append(helper.make_tensor_value_info(value, KINDS[kind], shape))
        return value

    # --- ordinary layers --------------------------------------------------------------------------

    def conv(self, value, channels_in, channels, size=3, **attributes):
        """A Conv that keeps the image's size, and a Relu."""
        weight = self.draw(channels, channels_in, size, size,
                           scale=(2.0 / (channels_in * size * size)) ** 0.5)
        pads = [size // 2] * 4
        value = self.op("Conv", [value, weight, self.draw(channels, scale=0.1)],
                        kernel_shape=[size, size], pads=pads, **attributes)
        return self.op("Relu", [value])

    def dense(self, value, width_in, width, act="Relu"):
        """MatMul, Add and an activation."""
        value = self.op("MatMul", [value, self.draw(width_in, width, scale=width_in ** -0.5)])
        value = self.op("Add", [value, self.draw(width, scale=0.1)])
        return self.op(act, [value]) if act else value

    def head(self, value, channels, classes=10):
        """From an image to probabilities."""
        value = self.op("GlobalAveragePool", [value])
        value = self.op("Flatten", [value], axis=1)
        value = self.dense(value, channels, classes, act=None)
        return self.output(self.op("Softmax", [value], axis=1), shape=[1, classes])

    def graph(self, name):
        """What there is as a graph: of the model, or the body of a node."""
        return helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)

    def model(self, name):
        """The model, complete."""
        return helper.make_model(self.graph(name), opset_imports=self.opsets, ir_version=self.ir,
                                 producer_name="onnxdbg-realbugs")


def write(name, folder):
    """Writes a network, with a test_data_set_0 where it is fed what it needs; returns its folder."""
    net, place = NETWORKS[name](), os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    save(net.model(name), os.path.join(place, "model.onnx"))
    if any(feed is not None for feed in net.feeds):
        data = os.path.join(place, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        for k, (value, feed) in enumerate(zip(net.inputs, net.feeds)):
            with open(os.path.join(data, "input_%d.pb" % k), "wb") as file:
                file.write(numpy_helper.from_array(feed, value.name).SerializeToString())
    return place


def make(name, folder):
    """The same, by the name in a table."""
    load()
    return write(name, folder)


def load():
    """Knows all networks from then on."""
    import forests
    import fusions
    import operators
    import others
    import recent
    import refused
    import states
    assert forests and fusions and operators and others and recent and refused and states


if __name__ == "__main__":
    sys.modules["networks"] = sys.modules["__main__"]
    load()
    for wanted in sys.argv[2:] or sorted(NETWORKS):
        print(write(wanted, sys.argv[1]))
