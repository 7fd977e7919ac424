# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid networks that ONNX Runtime's optimisers compute wrongly, or break."""
import numpy as np
from onnx import TensorProto, helper

from networks import FLOAT8E4M3FN, INT4, Net, network
from operators import end, image, tail, words


@network
def pad_avgpool_fusion():
    """A Pad before an AveragePool that leaves pads out of its mean."""
    net, value = image()
    value = net.op("Pad", [value, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)])
    value = net.op("AveragePool", [value], kernel_shape=[3, 3], strides=[2, 2])
    return tail(net, value)


@network
def pad_maxpool_fusion():
    """A Pad with zeros before a MaxPool of negative numbers."""
    net, value = image()
    value = net.op("Neg", [value])
    value = net.op("Sub", [value, np.array([1], np.float32)])
    value = net.op("Pad", [value, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)])
    value = net.op("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2])
    return tail(net, value)


@network
def gemm_identity_weight():
    """A Gemm whose weight comes through a Transpose that changes nothing."""
    net = Net(17)
    value = net.input("rows", [4, 16])
    value = net.dense(value, 16, 16)
    weight = net.op("MatMul", [net.draw(16, 4), value])
    weight = net.op("Transpose", [weight], perm=[0, 1], name="/fc/same")
    value = net.op("Gemm", [value, weight, net.draw(16)], name="/fc/Gemm")
    return end(net, net.op("Relu", [value]), rank=2)


@network
def gemm_identity_weight_oblong():
    """The same where the weight is not square."""
    net = Net(17)
    value = net.input("rows", [4, 16])
    value = net.dense(value, 16, 16)
    weight = net.op("MatMul", [net.draw(16, 4), net.dense(value, 16, 12)])
    weight = net.op("Transpose", [weight], perm=[0, 1], name="/fc/same")
    value = net.op("Gemm", [value, weight, net.draw(12)], name="/fc/Gemm")
    value = net.dense(value, 12, 16)
    return end(net, value, rank=2)


@network
def cse_string_attribute():
    """Two equal nodes with strings in a tensor: their hashes are compared, and strings have none."""
    net = Net(17, ai_onnx_ml=4)
    value = net.input("ids", [8], "int64")
    keys = helper.make_tensor("keys", TensorProto.INT64, [2], [0, 1])
    words_ = helper.make_tensor("words", TensorProto.STRING, [2], [b"no", b"yes"])
    names = [net.op("LabelEncoder", [value], domain="ai.onnx.ml", keys_tensor=keys,
                    values_tensor=words_, default_tensor=helper.make_tensor(
                        "default", TensorProto.STRING, [1], [b""])) for _ in range(2)]
    back = [net.op("LabelEncoder", [n], domain="ai.onnx.ml", keys_strings=["no", "yes"],
                   values_floats=[0.25, 1.5]) for n in names]
    value = net.op("Add", back)
    value = net.op("Unsqueeze", [value, np.array([0], np.int64)])
    value = net.dense(value, 8, 16)
    return end(net, value, rank=2)


@network
def gemm_identity_each_layer():
    """The same fault in every block of a network."""
    net = Net(17)
    value = net.input("rows", [4, 16])
    for layer in range(5):
        value = net.dense(value, 16, 16)
        weight = net.op("MatMul", [net.draw(16, 4), value])
        weight = net.op("Transpose", [weight], perm=[0, 1], name="/layer%d/same" % layer)
        value = net.op("Gemm", [value, weight, net.draw(16)], name="/layer%d/Gemm" % layer)
        value = net.op("Tanh", [value])
    net.output(value, rank=2)
    return net


@network
def pad_maxpool_in_loop():
    """A fusion that goes wrong in the body of a Loop."""
    net, value = image()
    body = Net(17, seed=5)
    inside = body.op("Sub", [body.op("Neg", ["state"]), np.array([1], np.float32)])
    inside = body.op("Pad", [inside, np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64)])
    inside = body.op("MaxPool", [inside], kernel_shape=[3, 3])
    body.input("turn", [], "int64")
    body.input("go", [], "bool")
    body.input("state", [1, 8, 20, 20])
    body.output(body.op("Identity", ["go"], name="/again"), "bool", [])
    body.output(body.op("Add", [body.op("Tanh", [inside]), "state"]), shape=[1, 8, 20, 20])
    value = net.op("Loop", [np.array(3, np.int64), np.array(True), value], name="/loop",
                   body=body.graph("body"))
    return tail(net, value)


@network
def qdq_resize_linear():
    """Resize between a DequantizeLinear and a QuantizeLinear: done on bytes, and cut off there."""
    net, value = image()
    scale, zero = np.array(0.02, np.float32), np.array(10, np.uint8)
    for resized in (False, True):
        if resized:
            value = net.op("Resize", [value, "", np.array([1, 1, 2, 2], np.float32)], mode="linear")
        value = net.op("QuantizeLinear", [value, scale, zero])
        value = net.op("DequantizeLinear", [value, scale, zero])
    return tail(net, value)


@network
def qdq_gemm_alpha():
    """A quantised Gemm with an alpha, which the fused kernel multiplies the bias by as well."""
    net = Net(17)
    value = net.dense(net.input("rows", [4, 16]), 16, 16)
    scale, zero = np.array(0.02, np.float32), np.array(10, np.uint8)
    value = net.op("QuantizeLinear", [value, scale, zero])
    value = net.op("DequantizeLinear", [value, scale, zero])
    weight = net.op("DequantizeLinear", [net.random.randint(-60, 60, (16, 16)).astype(np.int8),
                                         np.array(0.004, np.float32), np.array(0, np.int8)])
    bias = net.op("DequantizeLinear", [net.random.randint(-5000, 5000, 16).astype(np.int32),
                                       np.array(0.00008, np.float32), np.array(0, np.int32)])
    value = net.op("Gemm", [value, weight, bias], transB=1, alpha=0.5, name="/fc/Gemm")
    scale, zero = np.array(0.01, np.float32), np.array(100, np.uint8)
    value = net.op("QuantizeLinear", [value, scale, zero])
    value = net.op("DequantizeLinear", [value, scale, zero])
    return end(net, value, rank=2)


@network
def float8_relu_quantize():
    """A Relu before a QuantizeLinear to float8: taken out, as before integers whose least is 0."""
    net, value = words(opset=19)
    scale, zero = np.array(0.02, np.float32), net.raw(FLOAT8E4M3FN, [], [0])
    value = net.op("Relu", [net.dense(value, 16, 16, act=None)], name="/act/Relu")
    value = net.op("QuantizeLinear", [value, scale, zero])
    value = net.op("DequantizeLinear", [value, scale, zero])
    return end(net, net.op("Tanh", [value]))


@network
def float8_dequantize_matmul():
    """MatMul of two that were float8: made one that takes integers alone."""
    net, value = words(opset=19)
    zero = net.raw(FLOAT8E4M3FN, [], [0])
    value = net.op("Tanh", [value])
    value = net.op("QuantizeLinear", [value, np.array(0.02, np.float32), zero])
    value = net.op("DequantizeLinear", [value, np.array(0.02, np.float32), zero])
    weight = net.op("DequantizeLinear", [
        net.raw(FLOAT8E4M3FN, [16, 16], net.random.randint(0, 0x40, 256).astype(np.uint8)),
        np.array(0.1, np.float32), zero])
    return end(net, net.op("MatMul", [value, weight], name="/fc/MatMul"))


@network
def int4_dequantize_matmul():
    """MatMul with weights of 4 bits: made MatMulNBits, which rounds the rows to int8 as well."""
    net, value = words(opset=21)
    weight = net.op("DequantizeLinear", [
        net.raw(INT4, [16, 16], net.random.randint(0, 256, 128).astype(np.uint8)),
        np.abs(net.draw(1, 16, scale=0.1)) + np.float32(0.01)], axis=0, block_size=16)
    return end(net, net.op("MatMul", [value, weight], name="/fc/MatMul"))


def pair(net, value, scale, zero):
    """QuantizeLinear and DequantizeLinear."""
    scale, zero = np.array(scale, np.float32), np.array(zero, np.uint8)
    value = net.op("QuantizeLinear", [value, scale, zero])
    return net.op("DequantizeLinear", [value, scale, zero])


@network
def qdq_double_pair():
    """Two pairs in a row, the second one coarser: they are made one, as fine as the first."""
    net, value = image()
    return tail(net, pair(net, pair(net, value, 0.02, 10), 0.05, 3))


@network
def qdq_weight_reshape():
    """int8 weights without a zero point, and a Reshape: taken for uint8 behind it."""
    net, value = words(opset=21)
    weight = net.random.randint(-60, 60, (16, 16)).astype(np.int8)
    weight = net.op("DequantizeLinear", [weight, np.array(0.01, np.float32)])
    weight = net.op("Reshape", [weight, np.array([16, 16], np.int64)])
    return end(net, net.op("MatMul", [value, weight], name="/fc/MatMul"), rank=3)


@network
def qdq_matmul_row_scales():
    """A scale for each row of the weights: taken for those of the columns."""
    net, value = words()
    value = pair(net, value, 0.02, 10)
    weight = net.random.randint(-60, 60, (16, 16)).astype(np.int8)
    scales = np.abs(net.draw(16, scale=0.004)) + np.float32(0.001)
    weight = net.op("DequantizeLinear", [weight, scales, np.zeros(16, np.int8)], axis=0)
    value = net.op("MatMul", [value, weight], name="/fc/MatMul")
    return end(net, pair(net, value, 0.01, 100))


def norm(net, value, keepdims=1, exponent=2.0):
    """What looks like a layer norm of single operators."""
    def mean(rows):
        return net.op("ReduceMean", [rows], axes=[-1], keepdims=keepdims)
    centred = net.op("Sub", [value, mean(value)])
    square = net.op("Pow", [centred, np.array(exponent, np.float32)])
    deviation = net.op("Sqrt", [net.op("Add", [mean(square), np.array(1e-5, np.float32)])])
    value = net.op("Mul", [net.op("Div", [centred, deviation]), net.draw(16)])
    return net.op("Add", [value, net.draw(16)])


@network
def layernorm_keepdims():
    """The means of rows have no axis of their own, so they go with columns: no layer norm."""
    net, value = words(rows=16)
    value = net.op("Squeeze", [value, np.array([0], np.int64)])
    return end(net, norm(net, value, keepdims=0), rank=2)


@network
def layernorm_fourth_power():
    """Fourth powers are no variance: no layer norm."""
    net, value = words()
    return end(net, norm(net, net.op("Tanh", [value]), exponent=4.0))


@network
def cast_integer_bool():
    """Float to int32 to bool: what is less than 1 has become 0 by then."""
    net, value = words()
    value = net.op("Cast", [net.op("Cast", [net.op("Tanh", [value])], to=6)], to=9)
    return end(net, net.op("Cast", [value], to=1))
