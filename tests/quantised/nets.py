#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks in the element types that few published models have yet: 4-bit weights in blocks, as
MatMulNBits and as DequantizeLinear with block_size, and float8.

    nets.py FOLDER      writes FOLDER/NAME/model.onnx of each, and prints the folders
"""
import os
import sys

import numpy as np
from onnx import save

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../realbugs'))
from networks import FLOAT8E4M3FN, INT4, Net  # noqa: E402

WIDTH, BLOCK, LAYERS = 64, 32, 5


def begin(opset, **domains):
    net = Net(opset, **domains)
    return net, net.dense(net.input('tokens', [8, WIDTH]), WIDTH, WIDTH)


def end(net, value):
    net.output(net.dense(value, WIDTH, 8, act=None), rank=2)
    return net


def nbits():
    """MatMulNBits with zero points, and Gelu or Add between."""
    net, value = begin(17, com_microsoft=1)
    blocks = WIDTH // BLOCK
    for _ in range(LAYERS):
        skip = value
        value = net.op('MatMulNBits', [
            value, net.random.randint(0, 256, (WIDTH, blocks, BLOCK // 2)).astype(np.uint8),
            np.abs(net.draw(WIDTH * blocks, scale=0.02)) + 0.01,
            net.random.randint(0, 256, WIDTH * ((blocks + 1) // 2)).astype(np.uint8)],
            domain='com.microsoft', K=WIDTH, N=WIDTH, bits=4, block_size=BLOCK)
        value = net.op('Add', [net.op('Relu', [value]), skip])
    return end(net, value)


def blocked():
    """int4 weights with a scale for each block of rows."""
    net, value = begin(21)
    for _ in range(LAYERS):
        weight = net.raw(INT4, [WIDTH, WIDTH],
                         net.random.randint(0, 256, WIDTH * WIDTH // 2).astype(np.uint8))
        zero = net.raw(INT4, [WIDTH // BLOCK, WIDTH],
                       net.random.randint(0, 256, WIDTH // BLOCK * WIDTH // 2).astype(np.uint8))
        scale = np.abs(net.draw(WIDTH // BLOCK, WIDTH, scale=0.02)) + 0.01
        real = net.op('DequantizeLinear', [weight, scale, zero], axis=0, block_size=BLOCK)
        value = net.op('Tanh', [net.op('MatMul', [value, real])])
    return end(net, value)


def float8():
    """Values and weights in float8e4m3fn."""
    net, value = begin(19)
    none = net.raw(FLOAT8E4M3FN, [], [0])
    for k in range(LAYERS):
        bits = net.random.randint(0, 0x40, WIDTH * WIDTH) | net.random.randint(0, 2, WIDTH * WIDTH) * 128
        weight = net.raw(FLOAT8E4M3FN, [WIDTH, WIDTH], bits.astype(np.uint8))
        scales = np.abs(net.draw(WIDTH, scale=0.1)) + 0.05
        zeros = net.raw(FLOAT8E4M3FN, [WIDTH], [0] * WIDTH)
        step = np.float32(0.02 + 0.01 * k)
        value = net.op('QuantizeLinear', [value, np.array(step), none])
        value = net.op('DequantizeLinear', [value, np.array(step), none])
        real = net.op('DequantizeLinear', [weight, scales, zeros], axis=1)
        value = net.op('Tanh', [net.op('MatMul', [value, real])])
        value = net.op('QuantizeLinear', [value, np.array(np.float32(0.01)), none])
        value = net.op('DequantizeLinear', [value, np.array(np.float32(0.01)), none])
    return end(net, value)


if __name__ == '__main__':
    for make in (nbits, blocked, float8):
        folder = os.path.join(sys.argv[1], make.__name__)
        os.makedirs(folder, exist_ok=True)
        save(make().model(make.__name__), os.path.join(folder, 'model.onnx'))
        print(folder)
