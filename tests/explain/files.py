#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs that NumPy makes of operators that are wrong in one way, as files for `explain --op`.

    files.py DIR [PREFIX]    writes them, each name with that before it, and prints a line for each:
                             the variant, "right" or "none", a tab, and what explain is given
"""
import os
import sys

import numpy as np

F = np.float32
RANDOM = np.random.default_rng(7)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(F)


def stored(tensor):
    """The name of its file; of one that is not had, -."""
    if tensor is None:
        return "-"
    case.n += 1
    name = f"{case.prefix}{case.n}.npy"
    np.save(name, tensor)
    return name


def case(variant, words, *tensors, out=()):
    """The last tensor is the output, or out has all of them."""
    names = [stored(t) for t in tensors] + ["--out " + stored(t) for t in out]
    print(variant, f"--op {words} {' '.join(names)}", sep="\t")


case.n, case.prefix = 0, ""


def begin(folder, prefix=""):
    os.chdir(folder)
    case.prefix = prefix


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return (e / e.sum(axis, keepdims=True)).astype(F)


def softmaxes():
    x = floats(3, 5, 7)
    case("right", "Softmax --attr axis=1", x, softmax(x, 1))
    case("attribute/axis=2", "Softmax --attr axis=1", x, softmax(x, 2))
    case("none", "Softmax --attr axis=1", x, softmax(x + floats(3, 5, 7), 1))


def quantisers():
    scale, zero = np.array(F(0.1)), np.array(3, np.int8)
    x = ((RANDOM.integers(-100, 100, 4000) + 0.5) * scale).astype(F)
    x = np.concatenate([x, np.nextafter(x, F(99)), np.nextafter(x, F(-99))])

    def codes(q):
        return np.clip(q + 3, -128, 127).astype(np.int8)

    quotient = (x / scale).astype(F)
    case("right", "QuantizeLinear", x, scale, zero, codes(np.rint(quotient)))
    case("number/reciprocal", "QuantizeLinear", x, scale, zero,
         codes(np.rint((x * (F(1) / scale)).astype(F))))
    case("number/rounding=half away", "QuantizeLinear", x, scale, zero,
         codes(np.sign(quotient) * np.floor(np.abs(quotient.astype(float)) + 0.5)))


def halves():
    """Products with weights of four bits, two in a byte."""
    n, k, block = 6, 64, 32
    a, scales = floats(3, k), (RANDOM.random(n * k // block) + 0.5).astype(F)
    stored = RANDOM.integers(0, 256, (n, k // block, block // 2)).astype(np.uint8)

    def product(a, stored):
        weights = np.stack([stored & 15, stored >> 4], -1).reshape(n, k).astype(int) - 8
        return (a @ (weights * np.repeat(scales.reshape(n, -1), block, 1)).astype(F).T).astype(F)

    words = "MatMulNBits --domain com.microsoft --attr K=64 --attr N=6 --attr bits=4 --attr block_size=32"
    grid = np.abs(a).max() / 127
    case("right", words, a, stored, scales, product(a, stored))
    case("input/B=nibbles exchanged", words, a, stored, scales, product(a, stored << 4 | stored >> 4))
    case("input/B=nibbles signed", words, a, stored, scales, product(a, stored ^ 0x88))
    case("number/operand=int8,0", words, a, stored, scales, product((np.rint(a / grid) * grid).astype(F), stored))


def groups():
    x, scale, bias = floats(2, 8, 5), floats(8), floats(8)

    def norm(n):
        y = x.reshape(2, n, -1).astype(float)
        y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
        return (y.reshape(x.shape) * scale[:, None] + bias[:, None]).astype(F)

    for n in (1, 2, 8):
        case(f"attribute/num_groups={n}", "GroupNormalization --attr num_groups=4", x, scale, bias, norm(n))


def paddings():
    x, w = floats(1, 2, 8, 9), floats(3, 2, 3, 3)

    def conv(top, left):
        """Whatever the pads are at the other ends, the output has the shape of pads 0,1,3,1."""
        p = np.pad(x.astype(float), ((0, 0), (0, 0), (top, 9), (left, 9)))
        rows = [[(w * p[0, :, i:i + 3, j:j + 3]).sum((1, 2, 3)) for j in range(9)] for i in range(9)]
        return np.moveaxis(np.array(rows), 2, 0)[None].astype(F)

    case("right", "Conv --attr pads=0,1,3,1", x, w, conv(0, 1))
    case("attribute/pads=larger for both", "Conv --attr pads=0,1,3,1", x, w, conv(3, 1))
    case("attribute/pads=half of both", "Conv --attr pads=0,1,3,1", x, w, conv(1, 1))


def broadcasts():
    x, b = floats(2, 5, 5, 5), floats(5)
    case("input/B=along axis 1", "Add", x, b, x + b[:, None, None])
    case("input/slope=along axis 2", "PRelu", x, b, np.where(x < 0, x * b[:, None], x))
    a, w = floats(3, 4, 6), floats(3, 6, 5)
    case("input/B=first of batch", "MatMul", a, w, (a @ w[0]).astype(F))
    x = floats(2, 3)
    case("right", "Tile", x, np.array([2, 2]), np.tile(x, (2, 2)))
    case("elsewhere/repeated", "Tile", x, np.array([2, 2]), x.repeat(2, 0).repeat(2, 1))


def main():
    begin(*sys.argv[1:3])
    for make in (softmaxes, quantisers, halves, groups, paddings, broadcasts):
        make()


if __name__ == "__main__":
    main()
