# SPDX-License-Identifier: MIT
"""PyTorch as a target, one operator after the other: onnxdbg-adapter(7).

    onnxdbg bisect model.onnx --target python:torch_adapter.py
"""
import numpy as np
import torch
import torch.nn.functional as F
from onnxdbg_model import read_model
from onnxdbg_types import Unsupported

torch.set_num_threads(1)  # the same sums in the same order, run after run


def padded(x, pads, value=0.0):
    return F.pad(x, (pads[1], pads[3], pads[0], pads[2]), value=value)


def conv(x, w, b=None, *, kernel_shape=None, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1),
         group=1):
    return F.conv2d(padded(x, pads), w, b, strides, 0, dilations, group)


def max_pool(x, *, kernel_shape, strides=(1, 1), pads=(0, 0, 0, 0)):
    return F.max_pool2d(padded(x, pads, -torch.inf), kernel_shape, strides)


def gemm(a, b, c=0, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    return alpha * (a.T if transA else a) @ (b.T if transB else b) + beta * c


def batch_norm(x, scale, bias, mean, var, *, epsilon=1e-5, momentum=0.9):
    return F.batch_norm(x, mean, var, scale, bias, eps=epsilon)


def reshape(x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape.tolist())])


# Attributes are keywords: one that is not here is an attribute that is not supported. Never guess.
OPERATORS = {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
    "MatMul": lambda a, b: a @ b, "Gemm": gemm, "Conv": conv, "BatchNormalization": batch_norm,
    "MaxPool": max_pool, "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
    "Relu": torch.relu, "Sigmoid": torch.sigmoid, "Tanh": torch.tanh,
    "Softmax": lambda x, *, axis: x.softmax(axis), "Identity": lambda x: x, "Reshape": reshape,
    "Flatten": lambda x, *, axis=1: x.reshape(int(np.prod(x.shape[:axis])), -1),
    "Transpose": lambda x, *, perm: x.permute(perm),
    "Concat": lambda *x, axis: torch.cat(x, axis),
    "Split": lambda x, sizes, *, axis=0: x.split(sizes.tolist(), axis),  # several outputs
}


class Torch:
    def load_model(self, path):
        self.graph = read_model(path).graph
        for node in self.graph.nodes:  # said now, a search knows it before anything runs
            if node.domain or node.op_type not in OPERATORS:
                raise Unsupported("unsupported operator %s" % node)
        self.weights = {name: self.tensor(a) for name, a in self.graph.initializers.items()}

    def tensor(self, array):
        try:
            return torch.from_numpy(np.array(array))
        except TypeError as error:  # no float8, no strings
            raise Unsupported("unsupported type: %s" % error) from error

    def execute(self, inputs, outputs):
        values = dict(self.weights)
        values.update((name, self.tensor(array)) for name, array in inputs.items())
        with torch.inference_mode():
            for node in self.graph.nodes:
                made = self.run(node, [values[name] if name else None for name in node.inputs])
                values.update(zip(node.outputs, made if isinstance(made, tuple) else (made,)))
        return {name: values[name].numpy() for name in outputs}

    def run(self, node, given):
        try:
            return OPERATORS[node.op_type](*given, **node.attributes)
        except (TypeError, RuntimeError) as error:
            if isinstance(error, TypeError) or "not implemented for" in str(error):
                raise Unsupported("unsupported: %s: %s" % (node, error)) from error
            raise

    def describe(self):
        return "PyTorch " + torch.__version__
