# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid networks that ONNX Runtime's optimisers compute wrongly, or break."""
import numpy as np

from networks import Net, network
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
    weight = net.op("Transpose", [value], perm=[1, 0])
    weight = net.op("MatMul", [weight, value])
    weight = net.op("Transpose", [weight], perm=[0, 1], name="/fc/same")
    value = net.op("Gemm", [value, weight, net.draw(16)], name="/fc/Gemm")
    return end(net, net.op("Relu", [value]))


@network
def global_pool_nchwc():
    """GlobalAveragePool behind blocked convolutions."""
    net, value = image(channels=16)
    return tail(net, value, 16)
