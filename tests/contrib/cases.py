# SPDX-License-Identifier: GPL-3.0-or-later
"""Random calls of operators of com.microsoft in the layout of ONNX's backend tests, with outputs by
NumPy: written from what the operators are documented to do, in float64, element by element where
that is plainest. They know nothing of the kernels.

    cases.py FOLDER SEED COUNT [OPERATOR…]

Below FOLDER stand folders f32, f16 and bf16, for the type that a call's floats have.
"""
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3,
         np.dtype(np.int32): 6, np.dtype(np.int64): 7, np.dtype(np.float16): 10}
BF16 = 16
E4M3, E8M0 = 17, 24


class Raw:
    """A tensor of an element type that NumPy lacks: its bytes, and the numbers they stand for."""

    def __init__(self, code, bits, values):
        self.code, self.bits, self.values = code, bits, values
        self.shape = values.shape


def bfloat16(values):
    """The numbers, rounded to bfloat16."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return Raw(BF16, bits.astype(np.uint16),
               (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64))


def proto(name, t):
    if isinstance(t, Raw):
        out = TensorProto(name=name, data_type=t.code, dims=t.shape)
        out.raw_data = t.bits.tobytes()
        return out
    return numpy_helper.from_array(np.ascontiguousarray(t), name)


def code(t):
    return t.code if isinstance(t, Raw) else TYPES[np.dtype(t.dtype)]


def num(t):
    """The numbers of a tensor, as float64; None stays None."""
    if t is None:
        return None
    return t.values if isinstance(t, Raw) else np.asarray(t, np.float64)


class Draw:
    """One call: what is drawn for it."""

    def __init__(self, rng):
        self.rng = rng
        self.type = [np.float32, np.float32, np.float16, "bf16"][rng.integers(4)]
        self.attrs, self.inputs, self.outputs = {}, [], []

    def int(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))

    def chance(self, percent):
        return bool(self.rng.integers(100) < percent)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def as_type(self, values, kind=None):
        kind = kind or self.type
        return bfloat16(values) if kind == "bf16" else np.asarray(values).astype(kind)

    def floats(self, *shape, lo=-2.0, hi=2.0, kind=None):
        return self.as_type(self.rng.uniform(lo, hi, shape), kind)

    def put(self, t):
        """An input; gives its numbers."""
        self.inputs.append(t)
        return num(t)

    def maybe(self, percent, t):
        return self.put(t if self.chance(percent) else None)

    def give(self, values, kind=None):
        self.outputs.append(None if values is None else self.as_type(values, kind))

    def attr(self, name, default, *others):
        """An attribute that is left out where it is what it is without it."""
        value = self.pick(default, *others)
        if value != default or self.chance(50):
            self.attrs[name] = value
        return value


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms(x, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


# --- gates -----------------------------------------------------------------------------------------


def BiasSoftmax(d):
    if d.type == "bf16":
        d.type = np.float32
    rank = d.int(2, 4)
    shape = [d.int(1, 4) for _ in range(rank)]
    axis = d.int(1, rank - 1)
    split = d.int(0, axis)
    inner = d.chance(50)
    bias = list(shape)
    for i in range(split, axis) if inner else range(split):
        bias[i] = 1
    while not inner and len(bias) > 1 and bias[0] == 1 and d.chance(50):
        bias.pop(0)
    x, b = d.put(d.floats(*shape)), d.put(d.floats(*bias))
    if axis != 1 or d.chance(50):
        d.attrs["axis"] = axis - (rank if d.chance(30) else 0)
    d.attrs["is_inner_broadcast"] = int(inner)
    y = softmax((x + b).reshape(*shape[:axis], -1))
    d.give(y.reshape(shape))


def GatedAdd(d):
    shape = [d.int(1, 4) for _ in range(d.int(1, 3))]
    x, y = d.put(d.floats(*shape)), d.put(d.floats(*shape))
    gate = d.put(d.floats(*shape[:-1], 1))
    d.give(x + num(d.as_type(y * gate)))


def GatedRMSNorm(d):
    lead = [d.int(1, 3) for _ in range(d.int(0, 2))]
    heads, size = d.int(1, 3), d.int(1, 6)
    x = d.put(d.floats(*lead, heads * size))
    scale = d.put(d.floats(size))
    gate = d.put(d.floats(*lead, heads * size))
    epsilon = d.attr("epsilon", 1e-5, 0.1)
    y = rms(x.reshape(-1, size), epsilon) * scale
    d.give(y.reshape(x.shape) * silu(gate))


def LinearAttentionGate(d):
    b, t, h = d.int(1, 2), d.int(0, 4), d.int(1, 4)
    a = d.put(d.floats(b, t, h))
    bias = d.put(d.floats(h, kind=np.float32))
    scale = d.put(d.floats(h, kind=np.float32))
    d.give(scale * np.log1p(np.exp(a + bias)))
    if d.chance(60):
        d.give(sigmoid(d.put(d.floats(b, t, h))))


def EngramGate(d):
    b, t, h, n = d.int(1, 2), d.int(0, 3), d.int(1, 3), d.int(1, 6)
    key, query = d.put(d.floats(b, t, h, n)), d.put(d.floats(b, t, h, n))
    value = d.put(d.floats(b, t, n))
    ks, qs = d.put(d.floats(h, n)), d.put(d.floats(h, n))
    epsilon = d.attr("epsilon", 1e-5, 0.1)
    dot = (rms(key, epsilon) * ks * rms(query, epsilon) * qs).sum(-1) / np.sqrt(n)
    gate = sigmoid(np.sign(dot) * np.sqrt(np.maximum(abs(dot), 1e-6)))
    y = gate[..., None] * value[:, :, None, :]
    d.give(y)
    if d.chance(30):
        d.give(rms(y, epsilon) * d.put(d.floats(h, n)))


OPERATORS = [BiasSoftmax, GatedAdd, GatedRMSNorm, LinearAttentionGate, EngramGate]


# --- files -----------------------------------------------------------------------------------------


def write(folder, op, d):
    while d.inputs and d.inputs[-1] is None:
        d.inputs.pop()
    ins = ["" if t is None else f"i{i}" for i, t in enumerate(d.inputs)]
    outs = ["" if t is None else f"o{i}" for i, t in enumerate(d.outputs)]

    def infos(names, tensors):
        return [helper.make_tensor_value_info(n, code(t), t.shape)
                for n, t in zip(names, tensors) if n]

    node = helper.make_node(op, ins, outs, domain="com.microsoft", **d.attrs)
    graph = helper.make_graph([node], op, infos(ins, d.inputs), infos(outs, d.outputs))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                    helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 10
    sets = os.path.join(folder, "test_data_set_0")
    os.makedirs(sets)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(model.SerializeToString())
    for word, names, tensors in ("input", ins, d.inputs), ("output", outs, d.outputs):
        at = 0
        for name, t in zip(names, tensors):
            if name:
                with open(os.path.join(sets, f"{word}_{at}.pb"), "wb") as f:
                    f.write(proto(name, t).SerializeToString())
                at += 1


def main(folder, seed, count, *only):
    for number, draw in enumerate(OPERATORS):
        if only and draw.__name__ not in only:
            continue
        for i in range(int(count)):
            d = Draw(np.random.default_rng([int(seed), number, i]))
            draw(d)
            name = d.type if d.type == "bf16" else {4: "f32", 2: "f16"}[np.dtype(d.type).itemsize]
            write(os.path.join(folder, name, f"{draw.__name__}_{i}"), draw.__name__, d)


main(*sys.argv[1:])
