#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A compiler that is wrong: reads models, spoils one group of each, writes them.

spoil.py KIND MODE VALUE; VALUE is what the operator of the group makes. The group is what stands
between quantisers: DequantizeLinear, the operator, Relu or Clip, QuantizeLinear; or one node that
works on integers by itself, as QLinearConv and MatMulInteger do.

MODE says when the fault is there: pairs, where the group stands between whole pairs of
QuantizeLinear and DequantizeLinear, as ONNX Runtime fuses; integers, where it reads integers and
makes them; always, wherever its nodes are.
"""
import struct
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Graph:
    def __init__(self, model):
        self.graph = model.graph
        self.makers = {o: n for n in self.graph.node for o in n.output if o}
        self.weights = {t.name: t for t in self.graph.initializer}
        self.outputs = {v.name for v in self.graph.output}
        self.readers = {}
        for n in self.graph.node:
            for i in n.input:
                self.readers.setdefault(i, []).append(n)

    def array(self, name):
        """A weight, or what a Constant makes; None: it is neither."""
        if name in self.weights:
            try:
                return numpy_helper.to_array(self.weights[name])
            except (KeyError, TypeError, ValueError):  # a type that NumPy lacks
                return None
        maker = self.makers.get(name)
        if maker is not None and maker.op_type == 'Constant':
            for a in maker.attribute:
                if a.name == 'value':
                    return numpy_helper.to_array(a.t)
        return None

    def constant(self, name):
        """Whether a value hangs on weights alone."""
        if not name or self.array(name) is not None:
            return True
        if name in self.weights:
            return True
        maker = self.makers.get(name)
        return maker is not None and all(self.constant(i) for i in maker.input)

    def put(self, array, like):
        name = f'spoilt_{len(self.graph.initializer)}'
        dtype = like.dtype if like is not None else array.dtype
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def before(self, reader, nodes):
        """Inserts nodes right before the one that reads what they make."""
        at = list(self.graph.node).index(reader)
        for k, n in enumerate(nodes):
            self.graph.node.insert(at + k, n)


EXACT = ('Cast', 'Identity', 'Reshape', 'Transpose', 'Flatten')


class Group:
    """What stands around an operator; found: it is all there."""

    def __init__(self, g, value, mode):
        self.g = g
        self.main = g.makers.get(value)
        self.found = self.main is not None
        if not self.found:
            return
        self.fed, self.fixed = [], []
        for i in self.main.input:
            maker = g.makers.get(i)
            dequantises = maker is not None and maker.op_type == 'DequantizeLinear'
            if i and not g.constant(i):
                self.fed.append(maker if dequantises else None)
            elif dequantises:
                self.fixed.append(maker)
        self.between = [value]
        self.end = self.only_reader(value)
        while self.end is not None and self.end.op_type in ('Relu', 'Clip'):
            self.between.append(self.end.output[0])
            self.end = self.only_reader(self.end.output[0])
        if self.end is not None and self.end.op_type != 'QuantizeLinear':
            self.end = None
        self.found = self.end is not None and all(self.fed) and bool(self.fed)
        if self.found and mode != 'always':
            inner = self.between + [d.output[0] for d in self.fed]
            self.found = not any(v in g.outputs for v in inner)
        if self.found and mode == 'pairs':
            self.found = (all(self.from_quantiser(d.input[0]) for d in self.fed)
                          and self.to_dequantiser(self.end.output[0]))

    def names(self):
        """Its nodes by what they make, weights' included."""
        return ({self.main.output[0], *self.between, self.end.output[0]}
                | {d.output[0] for d in self.fed + self.fixed})

    def only_reader(self, value):
        readers = self.g.readers.get(value, [])
        return readers[0] if len(readers) == 1 else None

    def from_quantiser(self, value):
        maker = self.g.makers.get(value)
        while maker is not None and maker.op_type in EXACT:
            maker = self.g.makers.get(maker.input[0])
        return maker is not None and maker.op_type == 'QuantizeLinear' and value not in self.g.outputs

    def to_dequantiser(self, value):
        readers = self.g.readers.get(value, [])
        if value in self.g.outputs or not readers:
            return False
        return all(r.op_type == 'DequantizeLinear'
                   or (r.op_type in EXACT and self.to_dequantiser(r.output[0])) for r in readers)


def own_dequantiser(group, old):
    """A DequantizeLinear that feeds the operator alone."""
    new = onnx.NodeProto()
    new.CopyFrom(old)
    new.name, new.output[0] = old.name + '_spoilt', old.output[0] + '_spoilt'
    group.g.before(group.main, [new])
    for k, i in enumerate(group.main.input):
        if i == old.output[0]:
            group.main.input[k] = new.output[0]
    return new


def scale(group):
    value = group.g.array(group.end.input[1])
    group.end.input[1] = group.g.put(value * 1.25, value)


def zero_point(group):
    """Dropped where it is read, else where it is made."""
    for node in list(group.fed) + [group.end]:
        value = group.g.array(node.input[2]) if len(node.input) > 2 else None
        if value is None or not np.any(value):
            continue
        if node is not group.end:
            node = own_dequantiser(group, node)
        node.input[2] = group.g.put(np.zeros_like(value), value)
        return


def shift(group):
    """The zero point is one more."""
    value = group.g.array(group.end.input[2]) if len(group.end.input) > 2 else None
    if value is not None:
        top = np.iinfo(value.dtype).max
        group.end.input[2] = group.g.put(np.where(value < top, value + 1, value - 1), value)


def per_tensor(group):
    """One scale for all channels of the weights."""
    for node in group.fixed:
        value, weight = group.g.array(node.input[1]), group.g.array(node.input[0])
        if value is not None and value.size > 1 and weight is not None and weight.ndim > 1:
            node = own_dequantiser(group, node)
            node.input[1] = group.g.put(np.full_like(value, value.mean()), value)


def saturate_weights(group):
    """Seven bits where there are eight."""
    for node in group.fixed:
        weight = group.g.array(node.input[0])
        if weight is not None and weight.ndim > 1:
            node = own_dequantiser(group, node)
            node.input[0] = group.g.put(np.clip(weight.astype(int), -48, 48 if weight.min() < 0 else 175),
                                        weight)


def bounds(group):
    """Least and greatest number of the quantiser, and a step; None: they are no constants."""
    step = group.g.array(group.end.input[1])
    zero = group.g.array(group.end.input[2]) if len(group.end.input) > 2 else np.uint8(0)
    if step is None or zero is None:
        return None
    step = float(np.max(step))
    info = np.iinfo(zero.dtype)
    return (info.min - float(np.max(zero))) * step, (info.max - float(np.max(zero))) * step, step


def insert(group, make):
    value = group.between[-1]
    group.g.before(group.end, make(value, value + '_spoilt'))
    group.end.input[0] = value + '_spoilt'


def saturate(group):
    """At half the range."""
    known = bounds(group)
    if known is None:
        return
    low, high, _ = known
    ends = [group.g.put(np.float32(v / 2), None) for v in (low, high)]
    insert(group, lambda a, b: [helper.make_node('Max', [a, ends[0]], [b + '_0']),
                                helper.make_node('Min', [b + '_0', ends[1]], [b])])


def truncate(group):
    """Down, where it is to the nearest."""
    known = bounds(group)
    if known is None:
        return
    half = group.g.put(np.float32(known[2] * 0.499), None)
    insert(group, lambda a, b: [helper.make_node('Sub', [a, half], [b])])


def bias(group):
    if group.main.op_type in ('Conv', 'Gemm') and len(group.main.input) > 2:
        del group.main.input[2:]


# Which input of an operator on integers is what.
SLOTS = {'QLinearConv': dict(x_zero=2, weight=3, w_scale=4, y_scale=6, y_zero=7, bias=8),
         'QLinearMatMul': dict(x_zero=2, weight=3, w_scale=4, y_scale=6, y_zero=7),
         'QGemm': dict(x_zero=2, weight=3, w_scale=4, bias=6, y_scale=7, y_zero=8),
         'QLinearAdd': dict(x_zero=2, y_scale=6, y_zero=7),
         'QLinearMul': dict(x_zero=2, y_scale=6, y_zero=7),
         'MatMulNBits': dict(weight=1, w_scale=2, x_zero=3),
         'ConvInteger': dict(weight=1, x_zero=2),
         'MatMulInteger': dict(weight=1, x_zero=2)}


class Kernel:
    """A node that works on integers by itself."""

    def __init__(self, g, value):
        self.g = g
        self.main = g.makers.get(value)
        self.slots = SLOTS.get(self.main.op_type) if self.main is not None else None
        self.found = self.slots is not None

    def names(self):
        return set(self.main.output)

    def at(self, what):
        """Where that input is; None: the node has none."""
        k = self.slots.get(what)
        return k if k is not None and k < len(self.main.input) and self.main.input[k] else None

    def change(self, what, by):
        k = self.at(what)
        value = self.g.array(self.main.input[k]) if k is not None else None
        if value is not None and by(value) is not None:
            self.main.input[k] = self.g.put(by(value), value)


def drop(kernel, what):
    k = kernel.at(what)
    if k is not None:
        kernel.main.input[k] = ''


def swap_halves(kernel):
    """Of each byte of weights in 4 bits."""
    if kernel.main.op_type == 'MatMulNBits':
        kernel.change('weight', lambda v: v >> 4 | v << 4)


def kernel_scale(kernel):
    kernel.change('w_scale' if kernel.at('y_scale') is None else 'y_scale', lambda v: v * 1.25)


def kernel_zero_point(kernel):
    k = kernel.at('x_zero')
    known = kernel.g.array(kernel.main.input[k]) if k is not None else None
    if k is not None and known is None:
        drop(kernel, 'x_zero')  # which is 0 then
    elif known is not None and np.any(known):
        kernel.change('x_zero', np.zeros_like)


KERNEL_KINDS = {
    'scale': kernel_scale,
    'truncate': swap_halves,
    'zero-point': kernel_zero_point,
    'shift': lambda k: k.change(
        'y_zero', lambda v: np.where(v < np.iinfo(v.dtype).max, v + 1, v - 1)),
    'per-tensor': lambda k: k.change(
        'w_scale', lambda v: np.full_like(v, v.mean()) if v.size > 1 else None),
    'saturate-weights': lambda k: k.change(
        'weight', lambda v: np.clip(v.astype(int), -48 if v.min() < 0 else 80,
                                    48 if v.min() < 0 else 175)),
    'bias': lambda k: drop(k, 'bias')}
KINDS = {f.__name__.replace('_', '-'): f for f in
         (scale, zero_point, shift, per_tensor, saturate_weights, saturate, truncate, bias)}


def find(g, value, mode):
    kernel = Kernel(g, value)
    return kernel if kernel.found else Group(g, value, mode)


def spoil(data, kind, mode, value):
    model = onnx.ModelProto()
    model.ParseFromString(data)
    group = find(Graph(model), value, mode)
    if not group.found:
        return data
    (KINDS if isinstance(group, Group) else KERNEL_KINDS).get(kind, lambda group: None)(group)
    return model.SerializeToString()


def exactly(stream, size):
    data = b''
    while len(data) < size:
        piece = stream.read(size - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        size, = struct.unpack('<Q', exactly(source, 8))
        data = spoil(exactly(source, size), *sys.argv[1:4])
        sink.write(struct.pack('<Q', len(data)) + data)
        sink.flush()


if __name__ == '__main__':
    main()
