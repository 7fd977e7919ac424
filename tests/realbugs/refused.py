# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid networks that ONNX Runtime's optimisers make something of that it then refuses to load or to
run; without them it runs each."""
import numpy as np

from networks import Net, network
from fusions import pair
from operators import end, image, tail, words


@network
def quickgelu_double():
    """x * Sigmoid(1.702 x) in float64 becomes QuickGelu, which has no kernel for that type."""
    net = Net(17)
    value = net.dense(net.input("rows", [4, 16]), 16, 16)
    value = net.op("Cast", [value], to=11, name="/gelu/wide")
    scaled = net.op("Mul", [value, np.array(1.702)], name="/gelu/scale")
    gate = net.op("Sigmoid", [scaled], name="/gelu/gate")
    value = net.op("Mul", [value, gate], name="/gelu/Mul")
    value = net.op("Cast", [value], to=1, name="/gelu/narrow")
    return end(net, net.dense(value, 16, 16))


@network
def reshape_of_shape():
    """A Reshape makes the shape that another one takes: the two are made one, of the wrong type."""
    net = Net(21)
    rows = net.input("rows", [4, 16], feed=net.draw(4, 16))
    value = net.dense(rows, 16, 16)
    sizes = net.op("Cast", [net.input("sizes", [1, 2], "int64", np.array([[8, 8]], np.int64))],
                   to=7, name="/view/sizes")
    shape = net.op("Reshape", [sizes, np.array([2], np.int64)], name="/view/shape")
    value = net.op("Reshape", [value, shape], name="/view/Reshape")
    value = net.op("Reshape", [value, np.array([4, 16], np.int64)], name="/view/back")
    return end(net, net.dense(value, 16, 16))


def _layer_norm(net, value, scale, bias):
    """A layer norm of single operators."""
    mean = net.op("ReduceMean", [value], axes=[-1], keepdims=1, name="/norm/mean")
    centred = net.op("Sub", [value, mean], name="/norm/Sub")
    square = net.op("Pow", [centred, np.array(2, np.float32)], name="/norm/Pow")
    variance = net.op("ReduceMean", [square], axes=[-1], keepdims=1, name="/norm/variance")
    variance = net.op("Add", [variance, np.array(1e-5, np.float32)], name="/norm/epsilon")
    value = net.op("Div", [centred, net.op("Sqrt", [variance], name="/norm/Sqrt")],
                   name="/norm/Div")
    value = net.op("Mul", [scale, value], name="/norm/Mul")
    return net.op("Add", [value, bias], name="/norm/Add")


@network
def layernorm_rank1():
    """Of one dimension, what is normalised looks like the scale: the fused node reads what is gone."""
    net = Net(17)
    value = net.op("ReduceMax", [net.dense(net.input("rows", [4, 16]), 16, 16)], axes=[0],
                   keepdims=0, name="/pool")
    scale = net.op("Tanh", [net.op("ReduceMin", [net.dense("rows", 16, 16)], axes=[0], keepdims=0,
                                   name="/scale/pool")], name="/scale")
    value = _layer_norm(net, value, scale, net.draw(16, scale=0.1))
    value = net.op("Unsqueeze", [value, np.array([0], np.int64)], name="/norm/rows")
    return end(net, net.dense(value, 16, 16))


@network
def rmsnorm_wide_scale():
    """What follows an RMS norm widens its one column: the fused node takes that for its scale."""
    net = Net(17)
    value = net.dense(net.input("rows", [4, 16]), 16, 1, act=None)
    square = net.op("Pow", [value, np.array(2, np.float32)], name="/norm/Pow")
    mean = net.op("ReduceMean", [square], axes=[-1], keepdims=1, name="/norm/mean")
    mean = net.op("Add", [mean, np.array(1e-5, np.float32)], name="/norm/epsilon")
    value = net.op("Div", [value, net.op("Sqrt", [mean], name="/norm/Sqrt")], name="/norm/Div")
    value = net.op("Mul", [value, net.draw(16)], name="/norm/wide")
    return end(net, net.dense(value, 16, 16))


@network
def qdq_avgpool_dilations():
    """AveragePool between two pairs, with dilations: QLinearAveragePool knows none."""
    net, value = image(opset=19)
    value = net.op("AveragePool", [pair(net, value, 0.02, 10)], kernel_shape=[3, 3],
                   strides=[2, 2], dilations=[2, 2])
    return tail(net, pair(net, value, 0.02, 10))


@network
def qdq_matmul_batch_scales():
    """Weights of three axes, with a scale for each column: MatMulIntegerToFloat takes two axes."""
    net = Net(17)
    value = net.dense(net.input("rows", [3, 4, 16]), 16, 16)
    value = pair(net, value, 0.02, 10)
    weight = net.random.randint(-60, 60, (3, 16, 16)).astype(np.int8)
    scales = np.abs(net.draw(16, scale=0.004)) + np.float32(0.001)
    weight = net.op("DequantizeLinear", [weight, scales, np.zeros(16, np.int8)], axis=2)
    value = net.op("MatMul", [value, weight], name="/fc/MatMul")
    return end(net, pair(net, value, 0.01, 100), rank=3)


@network
def transpose_pad_axes():
    """A Transpose is moved behind a Pad of two axes, as if it had pads for all."""
    net, value = image(opset=18)
    value = net.op("Transpose", [value], perm=[0, 2, 3, 1])
    value = net.op("Pad", [value, np.array([1, 2, 2, 0], np.int64), "",
                           np.array([-1, 1], np.int64)])
    value = net.op("Slice", [value, *(np.array(n, np.int64) for n in ([1, 2], [9, 22], [3, 1]))])
    return tail(net, net.op("Transpose", [value], perm=[0, 3, 1, 2]))


@network
def transpose_resize_axes():
    """The same of a Resize."""
    net, value = image(opset=18)
    value = net.op("Transpose", [value], perm=[0, 2, 3, 1])
    value = net.op("Resize", [value, "", np.array([1.5, 2], np.float32)], mode="linear",
                   axes=[2, 1])
    return tail(net, net.op("Transpose", [value], perm=[0, 3, 1, 2]))
