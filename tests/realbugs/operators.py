# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that versions of ONNX Runtime compute wrongly, whatever is optimised."""
import numpy as np

from networks import Net, network


def image(opset=17, channels=8, size=20, seed=1, **domains):
    """The beginning of an image network: two layers."""
    net = Net(opset, seed, **domains)
    value = net.input("image", [1, 3, size, size])
    value = net.conv(value, 3, channels)
    return net, net.conv(value, channels, channels)


def tail(net, value, channels=8):
    """Its end: two layers and the head."""
    value = net.conv(value, channels, channels)
    value = net.conv(value, channels, channels)
    net.head(value, channels)
    return net


def words(opset=17, width=16, rows=6, seed=1, **domains):
    """The beginning of a network on rows of features: two layers."""
    net = Net(opset, seed, **domains)
    value = net.input("tokens", [1, rows, width])
    value = net.dense(value, width, width)
    return net, net.dense(value, width, width)


def end(net, value, rank=None, width=16):
    """Its end: two layers."""
    value = net.dense(value, width, width)
    net.output(net.dense(value, width, 8, act="Tanh"), rank=rank)
    return net


@network
def avgpool_end_pads():
    """count_include_pad with other pads at the end than at the beginning."""
    net, value = image(opset=19)
    value = net.op("AveragePool", [value], kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 2, 2],
                   count_include_pad=1, dilations=[1, 2])
    return tail(net, value)


@network
def resize_nearest_tie():
    """half_pixel with round_prefer_ceil, where a place is a tie that float misses."""
    net, value = image()
    value = net.op("Resize", [value, "", "", np.array([1, 8, 6, 6], np.int64)], mode="nearest",
                   coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_ceil")
    return tail(net, value)


@network
def layernorm_offset():
    """Rows far from 0 with little between them."""
    net, value = words()
    value = net.op("Add", [value, np.array([40000], np.float32)])
    value = net.op("LayerNormalization", [value, 1 + net.draw(16, scale=0.1), net.draw(16)], axis=-1)
    return end(net, value)


@network
def matmulnbits_block512():
    """4-bit weights in blocks of 512."""
    net = Net(17, com_microsoft=1)
    value = net.input("tokens", [2, 64])
    value = net.dense(value, 64, 64)
    value = net.dense(value, 64, 1024)
    blocks = 1024 // 512
    value = net.op("MatMulNBits", [
        value, net.random.randint(0, 256, (32, blocks, 256)).astype(np.uint8),
        np.abs(net.draw(32 * blocks, scale=0.02)),
        net.random.randint(0, 256, 32 * ((blocks + 1) // 2)).astype(np.uint8)],
        domain="com.microsoft", K=1024, N=32, bits=4, block_size=512)
    value = net.dense(value, 32, 32)
    net.output(net.dense(value, 32, 8, act="Tanh"), rank=2)
    return net


@network
def quantize_float16():
    """Float16 to int8: quotients are cut off where they should be rounded."""
    net, value = words(opset=19)
    value = net.op("Cast", [value], to=10)
    scale, zero = np.array(0.05, np.float16), np.array(3, np.int8)
    value = net.op("QuantizeLinear", [value, scale, zero])
    value = net.op("DequantizeLinear", [value, scale, zero])
    value = net.op("Cast", [value], to=1)
    return end(net, value)


def heads(net, value, width, name):
    """A dense layer whose columns are heads."""
    return net.op("MatMul", [value, net.draw(16, width, scale=0.25)], name="/attn/" + name)


@network
def attention_softcap_mask():
    """softcap and a mask: the cap comes first."""
    net, value = words(opset=23)
    q, k, v = (heads(net, value, 16, n) for n in "qkv")
    mask = np.where(net.random.rand(6, 6) < 0.3, -20, 0).astype(np.float32)
    value = net.op("Attention", [q, k, v, mask], q_num_heads=2, kv_num_heads=2, softcap=2.0)
    return end(net, value)


@network
def group_query_window():
    """A window of 3 tokens, the own one among them."""
    net, value = words(com_microsoft=1)
    q, k, v = (heads(net, value, width, n) for n, width in (("q", 16), ("k", 8), ("v", 8)))
    ends = [np.array([5], np.int32), np.array(6, np.int32)]
    value = net.op("GroupQueryAttention", [q, k, v, "", "", *ends], 3, domain="com.microsoft",
                   num_heads=2, kv_num_heads=1, local_window_size=3)
    return end(net, value[0])


@network
def einsum_lone_sum():
    """One operand with a letter that is summed, and the others exchanged."""
    net, value = words()
    value = net.op("Reshape", [value, np.array([2, 3, 16], np.int64)])
    value = net.op("Einsum", [value], equation="ijk->ki")
    value = net.op("Transpose", [value], perm=[1, 0])
    return end(net, value)


@network
def maxpool_dilated_same():
    """auto_pad and dilations."""
    net, value = image()
    value = net.op("MaxPool", [value], kernel_shape=[3, 3], dilations=[2, 2], auto_pad="SAME_UPPER")
    return tail(net, value)


@network
def lstm_clip():
    """clip bounds what goes into every activation."""
    net, value = words()
    value = net.op("Transpose", [value], perm=[1, 0, 2])
    value, _, _ = net.op("LSTM", [value, net.draw(1, 32, 16), net.draw(1, 32, 8), net.draw(1, 64)],
                         outputs=3, hidden_size=8, clip=0.3)
    value = net.op("Squeeze", [value, np.array([1], np.int64)])
    value = net.op("Transpose", [value], perm=[1, 0, 2])
    net.output(net.dense(net.dense(value, 8, 8), 8, 8, act="Tanh"))
    return net


@network
def gridsample_cubic_border():
    """Bicubic with border padding. Whether a place outside or each of its pixels is moved to the border
    is read in two ways; 1.16 does neither."""
    net, value = image()
    grid = np.stack(np.meshgrid(np.linspace(-1.3, 1.3, 12), np.linspace(-1.2, 1.25, 12)), -1)
    value = net.op("GridSample", [value, grid[None].astype(np.float32)], mode="bicubic",
                   padding_mode="border")
    return tail(net, value)


@network
def onehot_negative():
    """Before opset 11 a negative index has no place."""
    net = Net(10)
    value = net.input("ids", [6], "int64", np.array([0, -1, 3, -2, 2, 1], np.int64))
    value = net.op("OneHot", [value, np.array([16], np.int64), np.array([0, 1], np.float32)])
    return end(net, net.dense(value, 16, 16), rank=2)


@network
def mod_int64_large():
    """fmod of large integers."""
    net = Net(17)
    ids = np.array([2 ** 60 + 1, 2 ** 55 + 3, -(2 ** 58) - 5, 77, 2 ** 61 + 9, 12], np.int64)
    value = net.input("ids", [6], "int64", ids)
    value = net.op("Mod", [value, np.array([7], np.int64)], fmod=1)
    value = net.op("Cast", [value], to=1)
    value = net.op("Unsqueeze", [value, np.array([1], np.int64)])
    value = net.dense(value, 1, 16)
    return end(net, value, rank=2)


@network
def reducesum_noop_axes():
    """noop_with_empty_axes with no axes."""
    net, value = words()
    value = net.op("ReduceSum", [value], noop_with_empty_axes=1)
    return end(net, value)


@network
def reducemean_noop_axes():
    """The same of an operator that got it later."""
    net, value = words(opset=18)
    value = net.op("ReduceMean", [value], noop_with_empty_axes=1)
    return end(net, value)


@network
def reducesumsquare_noop():
    """Nothing is reduced, and still every element is squared."""
    net, value = words(opset=18)
    value = net.op("ReduceSumSquare", [value, np.array([], np.int64)], noop_with_empty_axes=1)
    return end(net, value)


@network
def maxpool_valid_ceil():
    """VALID has its own rule for the size; ceil_mode is none of it."""
    net, value = image(opset=12)
    value = net.op("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2], auto_pad="VALID",
                   ceil_mode=1)
    return tail(net, value)


@network
def layernorm_in_branch():
    """LayerNormalization of rows far from 0, in the branch that is taken."""
    net, value = words()
    total = net.op("ReduceSum", [value], keepdims=0)
    flag = net.op("Greater", [total, np.array(-1e9, np.float32)])
    branches = {}
    for seed, (name, offset) in enumerate((("then_branch", 40000), ("else_branch", 0))):
        body = Net(17, seed, prefix=name)
        inside = body.op("Add", [value, np.array([offset], np.float32)], name="/%s/Add" % name)
        inside = body.op("LayerNormalization", [inside, 1 + body.draw(16, scale=0.1), body.draw(16)],
                         axis=-1, name="/%s/Norm" % name)
        body.output(body.op("Relu", [inside], name="/%s/Relu" % name), shape=[1, 6, 16])
        branches[name] = body.graph(name)
    return end(net, net.op("If", [flag], name="/choose", **branches))


@network
def resize_and_pool():
    """Two faults, one behind the other."""
    net, value = image()
    value = net.op("Resize", [value, "", "", np.array([1, 8, 6, 6], np.int64)], mode="nearest",
                   coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_ceil")
    value = net.conv(value, 8, 8)
    value = net.op("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2], auto_pad="VALID",
                   ceil_mode=1)
    return tail(net, value)


@network
def avgpool_before_topk():
    """A fault that reaches the outputs as other choices."""
    net, value = image(opset=19)
    value = net.op("AveragePool", [value], kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 2, 2],
                   count_include_pad=1, dilations=[1, 2])
    value = net.conv(net.conv(value, 8, 8), 8, 8)
    value = net.op("Flatten", [net.op("GlobalAveragePool", [value])], axis=1)
    value = net.dense(value, 8, 20, act=None)
    best, where = net.op("TopK", [value, np.array([5], np.int64)], outputs=2)
    net.output(best, rank=2)
    net.output(where, "int64", rank=2)
    return net


@network
def dft_inverse_onesided():
    """From half a spectrum back to real numbers."""
    net, value = words(opset=20)
    value = net.op("Unsqueeze", [value, np.array([-1], np.int64)])
    value = net.op("DFT", [value, "", np.array(2, np.int64)], onesided=1)
    value = net.op("DFT", [value, np.array(16, np.int64), np.array(2, np.int64)], onesided=1,
                   inverse=1)
    return end(net, net.op("Squeeze", [value, np.array([-1], np.int64)]), rank=3)


@network
def maxunpool_output_shape():
    """output_shape is wider than the windows: indices are still those of the pooled image."""
    net, value = image()
    value, where = net.op("MaxPool", [value], 2, kernel_shape=[2, 2], strides=[2, 2])
    value = net.op("MaxUnpool", [value, where, np.array([1, 8, 22, 22], np.int64)],
                   kernel_shape=[2, 2], strides=[2, 2])
    return tail(net, value)
