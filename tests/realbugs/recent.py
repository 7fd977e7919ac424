# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of faults published since 2025, of ONNX Runtime and of the targets of machines.py."""
import numpy as np

from networks import Net, network
from operators import end, image, tail, words


@network
def div_mul_dropout():
    """1 / w times a Dropout's output becomes a quotient that reads what is removed afterwards."""
    net, value = words()
    value = net.op("Dropout", [value], name="/drop")
    inverse = net.op("Div", [np.array([1], np.float32), np.abs(net.draw(16)) + 1], name="/inverse")
    value = net.op("Mul", [value, inverse], name="/scale")
    return end(net, value, rank=3)


@network
def scaled_dot_product():
    """A scale of one element makes a list of a number; within the product it stays a number."""
    net, value = words()
    flat = net.op("Reshape", [value, np.array([-1], np.int64)])
    halves = net.op("Split", [flat, np.array([48, 48], np.int64)], 2)
    dot = net.op("MatMul", halves, name="/dot")
    scaled = net.op("Mul", [dot, np.array([0.125], np.float32)], name="/scaled")
    value = net.op("Concat", [flat, scaled], axis=0, name="/join")
    value = net.op("Slice", [value, np.array([1], np.int64), np.array([97], np.int64)])
    value = net.op("Reshape", [value, np.array([1, 6, 16], np.int64)])
    return end(net, value, rank=3)


@network
def relu_clip_double():
    """Clip is to take a Relu in, and does not know the type of its own bound."""
    net = Net(17)
    value = net.op("Cast", [net.dense(net.input("rows", [4, 16]), 16, 16, act="Tanh")], to=11)
    value = net.op("Relu", [value], name="/relu")
    value = net.op("Clip", [value, np.array(-0.5), np.array(0.7)], name="/clip")
    return end(net, net.op("Cast", [value], to=1), rank=2)


@network
def half_residual():
    """Sums leave the range of float16, which a runtime that keeps float32 does not see."""
    net = Net(17)
    value = net.op("Cast", [net.input("tokens", [4, 16])], to=10)
    for layer in range(4):
        weight = net.draw(16, 16).astype(np.float16)
        hidden = net.op("MatMul", [value, weight], name="/l%d/MatMul" % layer)
        hidden = net.op("Mul", [hidden, np.array(6, np.float16)], name="/l%d/Mul" % layer)
        value = net.op("Add", [value, hidden], name="/l%d/Add" % layer)
    value = net.op("Cast", [value], to=1)
    value = net.op("LayerNormalization", [value, np.ones(16, np.float32)], axis=-1)
    return end(net, value, rank=2)


def doubled(net, value):
    """An image twice as large."""
    scales = np.array([1, 1, 2, 2], np.float32)
    return net.op("Resize", [value, "", scales], mode="linear", name="/up")


@network
def resize_fed():
    """A linear Resize that a layer reads."""
    net, value = image()
    value = doubled(net, value)
    return tail(net, value)


@network
def resize_last():
    """The same where nothing does."""
    net, value = image()
    value = doubled(net, value)
    net.output(value, rank=4)
    return net


@network
def deconv_half_long():
    """A float16 ConvTranspose of more places than float16 counts."""
    net = Net(17)
    value = net.input("signal", [1, 3, 1, 1100])
    value = net.op("Conv", [value, net.draw(4, 3, 1, 3, scale=0.3), net.draw(4, scale=0.1)],
                   kernel_shape=[1, 3], pads=[0, 1, 0, 1])
    value = net.op("Cast", [net.op("Relu", [value])], to=10)
    weight, bias = net.draw(4, 4, 1, 4, scale=0.3), net.draw(4)
    weight, bias = weight.astype(np.float16), bias.astype(np.float16)
    value = net.op("ConvTranspose", [value, weight, bias], kernel_shape=[1, 4], strides=[1, 2],
                   pads=[0, 1, 0, 1], name="/up")
    value = net.op("Relu", [net.op("Cast", [value], to=1)])
    net.head(value, 4)
    return net


@network
def deconv_groups_norm():
    """BatchNormalization behind a ConvTranspose of two groups."""
    net, value = image()
    weight, bias = net.draw(8, 4, 3, 3, scale=0.3), net.draw(8, scale=0.1)
    value = net.op("ConvTranspose", [value, weight, bias], kernel_shape=[3, 3], strides=[2, 2],
                   group=2, name="/up")
    scale, variance = (np.abs(net.draw(8)) + 0.5 for _ in range(2))
    value = net.op("BatchNormalization", [value, scale, net.draw(8), net.draw(8), variance],
                   name="/norm")
    return tail(net, value)


@network
def subtract_twice():
    """(200 - x) - 200."""
    net, value = words()
    value = net.op("Sub", [np.array(200, np.float32), value], name="/from")
    value = net.op("Sub", [value, np.array(200, np.float32)], name="/less")
    return end(net, value, rank=3)


@network
def product_of_20():
    """One product of a width that no panel has."""
    net = Net(17)
    value = net.op("Tanh", [net.input("rows", [4, 12])])
    value = net.op("MatMul", [value, net.draw(12, 20, scale=0.3)], name="/product")
    value = net.op("Add", [value, net.draw(20)])
    net.output(net.op("Tanh", [net.op("Relu", [value])]), rank=2)
    return net


@network
def least_of_nan():
    """The least of rows, two of which have a NaN."""
    net = Net(17)
    rows = net.draw(4, 16)
    rows[1, 5] = rows[3, 0] = np.nan
    value = net.input("rows", [4, 16], feed=rows)
    least = net.op("ReduceMin", [value], axes=[1], keepdims=1, name="/least")
    value = net.op("Sub", [value, least])
    value = net.op("Where", [net.op("IsNaN", [value]), np.zeros((), np.float32), value])
    return end(net, value, rank=2)


@network
def power_of_integers():
    """int64 to an int64 power, beyond what float32 has exactly."""
    net = Net(17)
    value = net.input("ids", [4], "int64", feed=np.array([13, 17, 19, 23], np.int64))
    value = net.op("Pow", [value, np.array([8, 7, 7, 6], np.int64)], name="/power")
    value = net.op("Cast", [net.op("Mod", [value, np.array(97, np.int64)])], to=1)
    value = net.op("Mul", [value, np.array(0.01, np.float32)])
    value = net.op("Unsqueeze", [value, np.array([0], np.int64)])
    return end(net, net.dense(value, 4, 16), rank=2)


@network
def pool_read_twice():
    """A pool that a Relu and an Add read."""
    net, value = image()
    pool = net.op("MaxPool", [value], kernel_shape=[2, 2], strides=[2, 2], name="/pool")
    value = net.op("Add", [pool, net.op("Relu", [pool], name="/relu")], name="/merge")
    return tail(net, value)


@network
def folded_weight():
    """A weight that a Reshape makes of another one."""
    net, value = words(width=32)
    weight = net.op("Reshape", [net.draw(1024, scale=0.2), np.array([32, 32], np.int64)],
                    name="/weight")
    value = net.op("Relu", [net.op("MatMul", [value, weight], name="/product")])
    return end(net, value, rank=3, width=32)


@network
def weight_of_two():
    """Two layers of one weight, and a factor behind the first."""
    net, value = image()
    weight = net.constant(net.draw(8, 8, 3, 3, scale=0.15), "shared")
    kernel = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    value = net.op("Conv", [value, weight, net.draw(8)], name="/one", **kernel)
    value = net.op("Relu", [net.op("Mul", [value, np.array(0.5, np.float32)])])
    value = net.conv(value, 8, 8)
    value = net.op("Conv", [value, weight, net.draw(8)], name="/two", **kernel)
    return tail(net, net.op("Relu", [value]))


@network
def softmax_of_each_axis():
    """Softmax of rows and of columns of one value."""
    net, value = words()
    rows, columns = (net.op("Softmax", [value], axis=axis) for axis in (1, 2))
    return end(net, net.op("Add", [rows, columns]), rank=3)


@network
def softmax_widened():
    """A float16 network that takes its Softmax in float32."""
    net, value = words(width=64)
    value = net.op("Cast", [net.op("Mul", [value, np.array(3, np.float32)])], to=10)
    value = net.op("Softmax", [net.op("Cast", [value], to=1)], axis=-1)
    value = net.op("Cast", [net.op("Cast", [value], to=10)], to=1)
    return end(net, net.op("Mul", [value, np.array(64, np.float32)]), rank=3, width=64)
