# SPDX-License-Identifier: GPL-3.0-or-later
"""Small networks with operators and attributes that few real models have.

    tests/explain/nets.py DIR [N]

Weights are random, sizes mostly prime and all different, so that no symmetry hides a mutation. Each
is written N times, with other weights and inputs, in the layout of ONNX's backend tests:
DIR/NAME-1/model.onnx and test_data_set_0/input_0.pb.
"""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import ort

MAKERS = []


class Net:
    """Nodes one by one; a call of the net adds a node and gives the name of its output."""

    def __init__(self, name, opset, seed):
        self.name, self.opset = name, opset
        self.random = numpy.random.RandomState(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], {}, []

    def input(self, array):
        name = "x%d" % len(self.inputs)
        self.inputs[name] = array
        return name

    def normal(self, *shape, scale=1.0, shift=0.0):
        return (self.random.normal(shift, scale, shape)).astype(numpy.float32)

    def weight(self, array):
        name = "w%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(array), name))
        return name

    def __call__(self, op, *inputs, count=1, **attributes):
        names = [i if isinstance(i, str) else self.weight(numpy.asarray(i)) for i in inputs]
        made = ["v%d_%d" % (len(self.nodes), i) for i in range(count)]
        self.nodes.append(helper.make_node(op, names, made, name="%s_%d" % (op, len(self.nodes)),
                                           **attributes))
        return made[0] if count == 1 else made

    def out(self, *names):
        self.outputs += names

    def write(self, folder):
        inputs = [helper.make_tensor_value_info(n, ort.NUMBERS[a.dtype.name], a.shape)
                  for n, a in self.inputs.items()]
        graph = helper.make_graph(self.nodes, self.name, inputs,
                                  [onnx.ValueInfoProto(name=n) for n in self.outputs], self.weights)
        model = helper.make_model(graph, ir_version=8,
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        typed_outputs(model, self.inputs)
        data = os.path.join(folder, self.name, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        onnx.save(model, os.path.join(folder, self.name, "model.onnx"))
        for i, (name, array) in enumerate(self.inputs.items()):
            with open(os.path.join(data, "input_%d.pb" % i), "wb") as f:
                f.write(numpy_helper.from_array(array, name).SerializeToString())


def typed_outputs(model, inputs):
    """The outputs with the types and shapes that they have for these inputs."""
    names = [o.name for o in model.graph.output]
    made = ort.Session(model.SerializeToString()).run(inputs, names)
    del model.graph.output[:]
    model.graph.output.extend(helper.make_tensor_value_info(n, ort.NUMBERS[a.dtype.name], a.shape)
                              for n, a in zip(names, made))


def net(opset, seed):
    def register(make):
        MAKERS.append((make, opset, seed))
        return make
    return register


@net(13, 1)
def windows(n):
    x = n.input(n.normal(1, 6, 19, 23))
    a = n("Conv", x, n.normal(8, 6, 3, 3, scale=0.2), n.normal(8), dilations=[2, 2], pads=[2, 2, 2, 2])
    b = n("LeakyRelu", a, alpha=0.1)
    c = n("Conv", b, n.normal(12, 8, 3, 3, scale=0.2), n.normal(12), dilations=[3, 1],
          pads=[3, 0, 3, 2])
    d = n("Elu", c, alpha=0.7)
    e = n("Conv", d, n.normal(12, 4, 3, 3, scale=0.3), n.normal(12), group=3, pads=[0, 1, 2, 1])
    f = n("HardSigmoid", e, alpha=0.3, beta=0.4)
    g = n("Conv", f, n.normal(10, 12, 5, 3, scale=0.2), strides=[2, 2], pads=[1, 0, 2, 1])
    h = n("ThresholdedRelu", g, alpha=0.4)
    n.out(n("Conv", h, n.normal(7, 10, 1, 3, scale=0.3), n.normal(7), pads=[0, 2, 0, 0]), e)


@net(13, 2)
def pools(n):
    x = n.input(n.normal(2, 5, 17, 21, shift=-1.0))
    a = n("MaxPool", x, kernel_shape=[3, 3], pads=[0, 0, 2, 1], strides=[1, 1])
    b = n("AveragePool", a, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    c = n("AveragePool", b, kernel_shape=[3, 2], pads=[0, 1, 2, 0], count_include_pad=1)
    d = n("LRN", c, size=3, alpha=0.3, beta=0.75, bias=1.0)
    e = n("ConvTranspose", d, n.normal(5, 6, 3, 3, scale=0.3), n.normal(6), strides=[2, 2],
          pads=[0, 1, 2, 0])
    f = n("Pad", e, numpy.array([0, 0, 2, 1, 0, 0, 1, 3]), mode="reflect")
    g = n("Pad", f, numpy.array([0, 0, 1, 2, 0, 0, 2, 1]), numpy.float32(0.7), mode="constant")
    h = n("AveragePool", g, kernel_shape=[2, 2], pads=[1, 0, 0, 1], strides=[2, 2])
    n.out(n("Pad", h, numpy.array([0, 0, 1, 1, 0, 0, 1, 1]), mode="edge"))


@net(13, 3)
def resizes(n):
    x = n.input(n.normal(1, 8, 7, 9))
    none, up = numpy.zeros(0, numpy.float32), numpy.array([1, 1, 2.3, 1.7], numpy.float32)
    a = n("Resize", x, none, up, mode="nearest", coordinate_transformation_mode="asymmetric",
          nearest_mode="floor")
    b = n("Resize", x, none, up, mode="linear", coordinate_transformation_mode="half_pixel")
    c = n("Add", a, b)
    d = n("DepthToSpace", c, blocksize=2, mode="CRD")
    e = n("Resize", d, none, numpy.array([1, 1, 0.7, 0.6], numpy.float32), mode="cubic",
          cubic_coeff_a=-0.5)
    f = n("Resize", e, none, up, mode="linear", coordinate_transformation_mode="align_corners")
    g = n("Conv", f, n.normal(4, 2, 3, 3, scale=0.3), n.normal(4))
    h = n("DepthToSpace", g, blocksize=2)
    n.out(n("Resize", h, none, up, mode="nearest", nearest_mode="round_prefer_ceil"))


@net(16, 4)
def grids(n):
    x = n.input(n.normal(2, 3, 11, 13))
    grid = n.random.uniform(-1.3, 1.3, (2, 7, 9, 2)).astype(numpy.float32)
    a = n("GridSample", x, grid, mode="bilinear", padding_mode="border", align_corners=1)
    b = n("Softmax", a, axis=1)
    c = n("GridSample", b, grid[:, ::-1].copy(), mode="bilinear", align_corners=0)
    d = n("LogSoftmax", c, axis=2)
    n.out(n("GridSample", d, grid, mode="nearest", padding_mode="reflection"))


@net(14, 5)
def cells(n):
    x = n.input(n.normal(11, 3, 5))
    length = numpy.array([11, 7, 9], numpy.int32)
    h, c = n.normal(1, 3, 6), n.normal(1, 3, 6)
    lstm = n("LSTM", x, n.normal(1, 24, 5, scale=0.5), n.normal(1, 24, 6, scale=0.5),
             n.normal(1, 48, scale=0.5), length, h, c, count=3, hidden_size=6)
    a = n("Squeeze", lstm[0], numpy.array([1]))
    gru = n("GRU", a, n.normal(1, 21, 6, scale=0.5), n.normal(1, 21, 7, scale=0.5),
            n.normal(1, 42, scale=0.7), "", n.normal(1, 3, 7), count=2, hidden_size=7)
    b = n("Squeeze", gru[0], numpy.array([1]))
    other = n("GRU", b, n.normal(1, 12, 7, scale=0.5), n.normal(1, 12, 4, scale=0.5),
              n.normal(1, 24, scale=0.7), count=2, hidden_size=4, linear_before_reset=1)
    d = n("Squeeze", other[0], numpy.array([1]))
    rnn = n("RNN", d, n.normal(1, 5, 4, scale=0.5), n.normal(1, 5, 5, scale=0.5),
            n.normal(1, 10, scale=0.5), length, n.normal(1, 3, 5), count=2, hidden_size=5)
    n.out(n("LSTM", n("Squeeze", rnn[0], numpy.array([1])), n.normal(2, 12, 5, scale=0.5),
            n.normal(2, 12, 3, scale=0.5), n.normal(2, 24, scale=0.5), "", n.normal(2, 3, 3),
            n.normal(2, 3, 3), count=3, hidden_size=3, direction="bidirectional")[0])


@net(17, 6)
def norms(n):
    x = n.input(n.normal(3, 7, 11, 5, scale=0.05))
    a = n("InstanceNormalization", x, n.normal(7), n.normal(7), epsilon=1e-4)
    b = n("LayerNormalization", n("Mul", a, numpy.float32(0.02)), n.normal(5), n.normal(5),
          epsilon=1e-4)
    c = n("BatchNormalization", n("Mul", b, numpy.float32(0.1)), n.normal(7), n.normal(7),
          n.normal(7, scale=0.1), abs(n.normal(7, scale=0.01)), epsilon=1e-3)
    d = n("PRelu", c, n.normal(7, 1, 1, shift=0.3, scale=0.2))
    e = n("Softmax", d, axis=1)
    f = n("Softmax", n("Mul", d, numpy.float32(3)), axis=-1)
    g = n("LpNormalization", n("Add", e, f), axis=2, p=2)
    n.out(n("ReduceMean", g, axes=[2], keepdims=1), n("ReduceMax", g, axes=[1], keepdims=1), f)


@net(12, 7)
def old_softmax(n):
    x = n.input(n.normal(2, 3, 5, 7))
    a = n("Softmax", x, axis=1)
    b = n("LogSoftmax", n("Mul", a, numpy.float32(40)), axis=2)
    c = n("Softmax", b, axis=3)
    n.out(n("Transpose", c, perm=[0, 2, 3, 1]), n("Softmax", n("Transpose", x, perm=[1, 2, 0, 3])))


@net(13, 8)
def integers(n):
    x = n.input(n.random.randint(-3000000000, 3000000000, (5, 7)))
    y = n.input(n.random.randint(1, 9, (5, 7)))
    a = n("Add", x, n("Mul", y, numpy.int64(1000003)))
    b = n("Div", a, y)
    c = n("Mod", n("Sub", a, b), numpy.int64(13))
    d = n("Mod", c, numpy.int64(-5), fmod=1)
    e = n("Gather", n("Neg", a), numpy.array([-1, 2, -3, 0]), axis=1)
    f = n("CumSum", n("Add", c, d), numpy.int64(1), reverse=1)
    g = n("CumSum", y, numpy.int64(0), exclusive=1)
    n.out(e, f, g, n("ArgMax", g, axis=1), n("ArgMax", y, axis=0, select_last_index=1), b)


@net(13, 9)
def quantised(n):
    x = n.input(n.normal(3, 6, 9, 7, scale=1.5))
    u8, s8 = numpy.uint8, numpy.int8
    q = n("QuantizeLinear", x, numpy.float32(0.03), u8(113))
    w = n.random.randint(-127, 128, (5, 6, 3, 3)).astype(s8)
    c = n("QLinearConv", q, numpy.float32(0.03), u8(113), w, abs(n.normal(5, scale=0.01)) + 0.002,
          numpy.zeros(5, s8), numpy.float32(0.09), u8(101),
          n.random.randint(-900, 900, 5).astype(numpy.int32), pads=[1, 1, 1, 1])
    d = n("DequantizeLinear", c, numpy.float32(0.09), u8(101))
    e = n("QuantizeLinear", d, abs(n.normal(5, scale=0.05)) + 0.02,
          n.random.randint(-20, 20, 5).astype(s8), axis=1)
    f = n("DequantizeLinear", e, abs(n.normal(5, scale=0.05)) + 0.02,
          n.random.randint(-20, 20, 5).astype(s8), axis=1)
    g = n("Round", n("Mul", f, numpy.float32(2.5)))
    flat = n("Reshape", q, numpy.array([18, 63]))
    m = n("MatMulInteger", flat, n.random.randint(-127, 128, (63, 11)).astype(s8), u8(113), s8(3))
    l = n("QLinearMatMul", flat, numpy.float32(0.03), u8(113),
          n.random.randint(-127, 128, (63, 11)).astype(s8), numpy.float32(0.02), s8(0),
          numpy.float32(0.5), u8(120))
    i = n("ConvInteger", q, n.random.randint(0, 255, (4, 6, 2, 2)).astype(u8), u8(113), u8(128))
    k = n("Cast", n("Mul", x, numpy.float32(7)), to=TensorProto.INT32)
    ties = n.input(n.random.randint(-90, 90, (3, 11)).astype(numpy.float32) / 4)
    r = n("QuantizeLinear", n("Mul", ties, numpy.float32(2)), numpy.float32(0.5), s8(-5))
    s = n("QuantizeLinear", n("Neg", ties), numpy.float32(0.5), u8(120))
    n.out(g, m, l, i, k, n("Round", n("Mul", x, numpy.float32(2))), r, s, n("Round", n("Add", ties, ties)))


@net(13, 10)
def pieces(n):
    x = n.input(abs(n.normal(2, 6, 11)) + 0.1)
    parts = n("Split", x, numpy.array([3, 3]), count=2, axis=1)
    a = n("Sub", parts[0], parts[1])
    b = n("Pow", parts[0], parts[1])
    c = n("Div", parts[1], b)
    d = n("Where", n("Greater", a, numpy.float32(0)), b, c)
    e = n("Concat", a, d, b, axis=1)
    f = n("Slice", e, numpy.array([1, 2]), numpy.array([7, 9]), numpy.array([1, 2]))
    g = n("TopK", f, numpy.array([4]), count=2, axis=-1)[0]
    h = n("CumSum", g, numpy.int64(1), reverse=1, exclusive=1)
    i = n("Clip", h, numpy.float32(-2), numpy.float32(3))
    j = n("Gather", e, numpy.array([5, -2, 0, -9]), axis=1)
    n.out(i, n("ReduceSum", j, numpy.array([1]), keepdims=1), n("Transpose", j, perm=[2, 0, 1]),
          n("Max", a, d))


@net(13, 11)
def doubles(n):
    x = n.input(n.random.normal(0, 1, (5, 7)))
    a = n("MatMul", x, n.random.normal(0, 1, (7, 11)))
    b = n("Add", a, n.random.normal(0, 1, 11))
    c = n("Sigmoid", b)
    n.out(n("Mul", c, n.random.normal(0, 1, (5, 1))), n("Tanh", b))


@net(20, 12)
def curves(n):
    x = n.input(n.normal(3, 5, 37, scale=3))
    a = n("Gelu", x, approximate="none")
    b = n("Gelu", n("Mul", x, numpy.float32(0.5)), approximate="tanh")
    c = n("Erf", n("Mul", x, numpy.float32(0.4)))
    d = n("Sigmoid", n("Mul", x, numpy.float32(2)))
    e = n("Tanh", n("Mul", x, numpy.float32(2)))
    f = n("Exp", x)
    g = n("Log", x)
    h = n("Relu", n("Mul", x, numpy.float32(1e-38)))
    i = n("Selu", x)
    j = n("Celu", x, alpha=0.6)
    n.out(a, b, c, d, e, f, n("Add", g, numpy.float32(1)), h, i, j, n("HardSwish", x))


@net(13, 13)
def products(n):
    x = n.input(n.normal(4, 13, 13))
    a = n("MatMul", x, n.normal(13, 13, scale=0.3))
    b = n("MatMul", a, n.normal(4, 13, 10, scale=0.3))
    c = n("Reshape", b, numpy.array([52, 10]))
    d = n("Gemm", c, n.normal(19, 10, scale=0.3), n.normal(19), alpha=0.5, beta=2.0, transB=1)
    e = n("Gemm", d, n.normal(19, 19, scale=0.3), n.normal(19))
    f = n("MatMul", e, n.normal(19, 37, scale=0.3))
    g = n("MatMul", x, a)
    n.out(n("Add", f, n.normal(37)), n("Sub", g, x), n("Mul", g, n.normal(13, 1)))


@net(13, 14)
def squares(n):
    x = n.input(n.normal(2, 4, 12, 12))
    a = n("Conv", x, n.normal(4, 4, 3, 3, scale=0.3), n.normal(4), pads=[1, 1, 1, 1])
    b = n("Conv", n("Tanh", a), n.normal(4, 4, 3, 3, scale=0.3), n.normal(4), pads=[1, 1, 1, 1])
    c = n("MaxPool", b, kernel_shape=[2, 2], strides=[2, 2])
    d = n("Flatten", c)
    n.out(n("MatMul", n("MatMul", d, n.normal(144, 8, scale=0.1)), n.normal(8, 8)))


def main():
    for nth in range(1, 1 + int(sys.argv[2] if len(sys.argv) > 2 else 1)):
        for make, opset, seed in MAKERS:
            made = Net("%s-%d" % (make.__name__.replace("_", "-"), nth), opset, 100 * nth + seed)
            make(made)
            made.write(sys.argv[1])


if __name__ == "__main__":
    main()
