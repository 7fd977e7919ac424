# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks that OpenCV 4.6 or ONNX.js 0.1.8 computes wrongly: of an opset that these read."""
import numpy as np

from networks import Net, network


def small(opset=9, size=12):
    """The beginning: an image and a layer."""
    net = Net(opset)
    net.ir = 6 if opset < 12 else 7
    value = net.input("image", [1, 3, size, size])
    return net, net.conv(net.conv(value, 3, 8), 8, 8)


def finish(net, value, classes=10):
    """The end: layers and probabilities."""
    value = net.conv(net.conv(value, 8, 8), 8, 8)
    value = net.op("GlobalAveragePool", [value])
    value = net.op("Flatten", [value], axis=1)
    value = net.op("Gemm", [value, net.draw(8, classes, scale=0.4), net.draw(classes)])
    net.output(net.op("Softmax", [value], axis=1), shape=[1, classes])
    return net


@network
def cv_avgpool_include_pad():
    """count_include_pad is not read."""
    net, value = small()
    return finish(net, net.op("AveragePool", [value], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                              count_include_pad=1))


@network
def cv_maxpool_same_lower():
    """SAME_LOWER is taken for SAME_UPPER."""
    net, value = small()
    return finish(net, net.op("MaxPool", [value], kernel_shape=[2, 2], auto_pad="SAME_LOWER"))


@network
def cv_maxpool_dilations():
    """dilations are not read."""
    net, value = small(11)
    return finish(net, net.op("MaxPool", [value], kernel_shape=[3, 3], dilations=[2, 2]))


@network
def cv_conv_same_dilated():
    """SAME is computed as if there were no dilations."""
    net, value = small()
    return finish(net, net.op("Conv", [value, net.draw(8, 8, 3, 3, scale=0.2)],
                              kernel_shape=[3, 3], auto_pad="SAME_UPPER", dilations=[2, 2]))


@network
def cv_prelu_wide():
    """A slope for each column is taken for one for each channel."""
    net, value = small()
    value = net.op("Sub", [value, np.array([0.5], np.float32)])
    return finish(net, net.op("PRelu", [value, net.draw(12)]))


@network
def cv_cumsum_exclusive():
    """The exclusive sum begins with what is in memory."""
    net, value = small(11)
    value = net.op("CumSum", [value, np.array(2, np.int32)], exclusive=1)
    return finish(net, net.op("Tanh", [value]))


@network
def cv_softplus_overflow():
    """log(1 + exp(x)), though exp(x) has no number."""
    net, value = small()
    value = net.op("Mul", [value, np.array([60], np.float32)])
    return finish(net, net.op("Softplus", [value]))


@network
def cv_deconv_output_shape():
    """output_shape is not read."""
    net, value = small()
    return finish(net, net.op("ConvTranspose", [value, net.draw(8, 8, 3, 3, scale=0.2)],
                              kernel_shape=[3, 3], strides=[2, 2], output_shape=[24, 24]))


@network
def cv_deconv_dilations():
    """dilations of what is spread are not read."""
    net, value = small()
    return finish(net, net.op("ConvTranspose", [value, net.draw(8, 8, 3, 3, scale=0.2)],
                              kernel_shape=[3, 3], dilations=[2, 2]))


@network
def js_conv_same_stride():
    """SAME_UPPER with strides."""
    net, value = small()
    return finish(net, net.op("Conv", [value, net.draw(8, 8, 3, 3, scale=0.2)],
                              kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2]))


@network
def js_lrn_even():
    """A window of an even number of channels."""
    net, value = small()
    return finish(net, net.op("LRN", [value], size=4, alpha=0.5, beta=0.75, bias=1.0))


@network
def js_softmax_13():
    """Softmax as before opset 13."""
    net, value = small(13)
    return finish(net, net.op("Softmax", [value], axis=1))


@network
def js_pad_negative():
    """Negative pads."""
    net, value = small()
    return finish(net, net.op("Pad", [value], pads=[0, 0, -1, -2, 0, 0, -1, -1]))
