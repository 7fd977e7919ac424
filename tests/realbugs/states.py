# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators with a state, or with what came before, that versions of ONNX Runtime compute wrongly."""
import numpy as np

from networks import Net, network
from operators import end, heads, words


def sequence(net, outputs, width):
    """What a recurrent operator made, its last state added to each step, and the end."""
    shape = np.array([6, 3, width], np.int64)
    value = net.op("Reshape", [net.op("Transpose", [outputs[0]], perm=[0, 2, 1, 3]), shape])
    last = net.op("Reshape", [net.op("Transpose", [outputs[1]], perm=[1, 0, 2]), shape[1:]])
    return end(net, net.dense(net.op("Add", [value, last]), width, 16), rank=3)


def steps():
    """The beginning: six steps of three sequences."""
    net = Net(17)
    return net, net.dense(net.input("tokens", [6, 3, 16]), 16, 16, act="Tanh")


@network
def rnn_activation_defaults():
    """HardSigmoid without activation_alpha and activation_beta, which are 0.2 and 0.5 then."""
    net, value = steps()
    outputs = net.op("RNN", [value, net.draw(1, 8, 16, scale=0.4), net.draw(1, 8, 8, scale=0.4),
                             net.draw(1, 16, scale=0.3)], 2, hidden_size=8,
                     activations=["HardSigmoid"])
    return sequence(net, outputs, 8)


@network
def lstm_softplus_overflow():
    """Softplus of what has grown large: log(1 + exp(x)), though exp(x) has no number."""
    net, value = steps()
    outputs = net.op("LSTM", [value, net.draw(1, 32, 16, scale=0.4), net.draw(1, 32, 8, scale=0.4),
                              net.draw(1, 64, scale=0.3)], 3, hidden_size=8,
                     activations=["Softplus"] * 3)
    return sequence(net, outputs, 8)


@network
def multi_head_past_alone():
    """past_key and past_value, and nobody reads what is present."""
    net = Net(17, com_microsoft=1)
    value = net.dense(net.input("tokens", [2, 6, 16]), 16, 16)
    query = [heads(net, value, 16, n) for n in "qkv"]
    past = [net.draw(2, 2, 3, 8) for _ in range(2)]
    value = net.op("MultiHeadAttention", [*query, "", "", "", *past], domain="com.microsoft",
                   num_heads=2)
    return end(net, value, rank=3)


@network
def multi_head_past():
    """The same where somebody does."""
    net = Net(17, com_microsoft=1)
    value = net.dense(net.input("tokens", [2, 6, 16]), 16, 16)
    query = [heads(net, value, 16, n) for n in "qkv"]
    past = [net.draw(2, 2, 3, 8) for _ in range(2)]
    made = net.op("MultiHeadAttention", [*query, "", "", "", *past], 3, domain="com.microsoft",
                  num_heads=2)
    net.output(made[1], rank=4)
    return end(net, made[0], rank=3)


@network
def attention_causal_one():
    """One query, and is_causal: it is the first, so it sees the first key alone."""
    net, value = words(opset=23)
    query, key, item = (heads(net, value, 16, n) for n in "qkv")
    last = [np.array([n], np.int64) for n in (5, 6, 1)]
    query = net.op("Slice", [query, *last])
    value = net.op("Attention", [query, key, item], q_num_heads=2, kv_num_heads=2, is_causal=1)
    return end(net, value, rank=3)


@network
def saturation():
    """An image's saturation, where a program computes hue and value beside it that nobody reads."""
    net = Net(17)
    image = net.input("image", [1, 3, 64, 64])
    number = {n: net.constant(np.array([n], np.float32), "c%d" % n) for n in (0, 1, 2, 4, 60, 360)}
    least = net.constant(np.array([1e-7], np.float32), "least")
    red, green, blue = (net.op("Gather", [image, np.array([c], np.int64)], axis=1) for c in range(3))
    value = net.op("Max", [red, green, blue])
    range_ = net.op("Sub", [value, net.op("Min", [red, green, blue])])
    grey = net.op("Div", [range_, net.op("Add", [value, least])])
    divisor = net.op("Add", [range_, least])

    def part(a, b, start):
        made = net.op("Div", [net.op("Sub", [a, b]), divisor])
        return net.op("Add", [number[start], made]) if start else made

    hues = part(green, blue, 0), part(blue, red, 2), part(red, green, 4)
    hue = net.op("Where", [net.op("Equal", [value, blue]), hues[1], hues[0]])
    hue = net.op("Where", [net.op("Equal", [value, green]), hues[2], hue])
    degrees = net.op("Mul", [hue, number[60]])
    below = net.op("Less", [degrees, number[0]])
    turned = net.op("Add", [degrees, number[360]])
    hue = net.op("Div", [net.op("Where", [below, turned, degrees]), number[360]])
    net.op("Where", [net.op("Equal", [range_, number[0]]), number[0], hue])
    made = net.op("Clip", [grey, number[0], number[1]])
    net.output(net.op("Expand", [made, np.array([1, 3, 1, 1], np.int64)]), rank=4)
    return net
