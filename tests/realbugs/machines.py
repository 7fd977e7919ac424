# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that err as published implementations did which do not run here: NumPy, with the fault as
the report describes it. `--target python:tests/realbugs/machines.py:CLASS`."""
import numpy as np

from onnxdbg_numpy import Numpy
from onnxdbg_types import Refused


class Machine(Numpy):
    """NumPy; err() makes the outputs of a node in its own way, or returns None."""

    def load_model(self, path):
        """Knows who makes a value and who reads it."""
        super().load_model(path)
        graph = self.model.graph
        self.weights = graph.initializers
        self.makers = {name: node for node in graph.nodes for name in node.outputs}
        self.readers = {}
        for node in graph.nodes:
            for name in node.inputs:
                self.readers.setdefault(name, []).append(node)

    def err(self, node, inputs):
        """The outputs of a node, wrongly; None: rightly."""

    def run_node(self, node, values):
        """One node."""
        self.values = values
        inputs = [values.get(name) if name else None for name in node.inputs]
        made = self.err(node, inputs)
        return super().run_node(node, values) if made is None else made

    def joined(self, name, kind):
        """The node of this kind that makes a value which is no output: the two are one kernel."""
        maker = self.makers.get(name)
        fused = maker is not None and maker.op_type == kind and name not in self.model.graph.outputs
        return maker if fused else None

    def right(self, node):
        """What the node makes."""
        return super().run_node(node, self.values)[0]


class HandsOnBlocks(Machine):
    """A linear Resize hands its result on in blocks of channels, unless it is an output."""

    def err(self, node, inputs):
        hidden = node.outputs[0] not in self.model.graph.outputs
        if node.op_type != "Resize" or node.attributes.get("mode") != "linear" or not hidden:
            return None
        made = self.right(node)
        batch, channels, height, width = made.shape
        blocks = made.reshape(batch, channels // 4, 4, height, width).transpose(0, 1, 3, 4, 2)
        return [np.ascontiguousarray(blocks).reshape(made.shape)]


class CountsInHalf(Machine):
    """ConvTranspose works out in the type of its numbers where they come from."""

    def err(self, node, inputs):
        if node.op_type != "ConvTranspose":
            return None
        x, weight = (array.astype(float) for array in inputs[:2])
        number = inputs[0].dtype.type
        stride, pad, size = (node.attributes[n][1] for n in ("strides", "pads", "kernel_shape"))
        made = np.zeros(self.right(node).shape)
        for place in range(made.shape[3]):
            for k in range(size):
                at = (number(place + pad - (size - 1)) + number(k)) / number(stride)
                if 0 <= at < x.shape[3] and at % 1 == 0:
                    made[:, :, 0, place] += x[:, :, 0, int(at)] @ weight[:, :, 0, size - 1 - k]
        made += inputs[2].astype(float).reshape(1, -1, 1, 1)
        return [made.astype(inputs[0].dtype)]


class ScalesFirstGroup(Machine):
    """BatchNormalization within a ConvTranspose: all groups have the factors of the first."""

    def err(self, node, inputs):
        before = self.joined(node.inputs[0], "ConvTranspose")
        if node.op_type != "BatchNormalization" or before is None:
            return None
        x, scale, bias, mean, variance = (array.astype(float) for array in inputs)
        factor = scale / np.sqrt(variance + node.attributes.get("epsilon", 1e-5))
        channels = self.values[before.inputs[1]].shape[1]
        own = self.values[before.inputs[2]].astype(float)
        wrong = np.resize(factor[:channels], factor.shape)
        made = (x - own.reshape(-1, 1, 1)) * wrong.reshape(-1, 1, 1)
        made += ((own - mean) * factor + bias).reshape(-1, 1, 1)
        return [made.astype(inputs[0].dtype)]


class SubtractsOnce(Machine):
    """(a - x) - b becomes x - (a + b)."""

    def err(self, node, inputs):
        before = self.joined(node.inputs[0], "Sub")
        if node.op_type != "Sub" or before is None or before.inputs[0] not in self.weights:
            return None
        return [self.values[before.inputs[1]] - (self.weights[before.inputs[0]] + inputs[1])]


class ReadsOtherPanels(Machine):
    """A product packs its matrix by 16 columns and reads it by 4."""

    def err(self, node, inputs):
        if node.op_type != "MatMul":
            return None
        a, b = inputs
        rows, columns = b.shape
        wide = np.pad(b, ((0, 0), (0, -columns % 16)))
        packed = wide.reshape(rows, -1, 16).transpose(1, 0, 2)
        read = packed.reshape(-1, rows, 4).transpose(1, 0, 2).reshape(rows, -1)[:, :columns]
        return [(a.astype(float) @ read).astype(a.dtype)]


class BeginsAgain(Machine):
    """A minimum takes the new number wherever the comparison is false."""

    def err(self, node, inputs):
        if node.op_type != "ReduceMin":
            return None
        least = inputs[0][:, :1]
        for k in range(1, inputs[0].shape[1]):
            new = inputs[0][:, k:k + 1]
            least = np.where(least < new, least, new)
        return [least]


class PowersInFloat(Machine):
    """Pow of integers in float32."""

    def err(self, node, inputs):
        if node.op_type != "Pow" or inputs[0].dtype != np.int64:
            return None
        return [np.power(*(array.astype(np.float32) for array in inputs)).astype(np.int64)]


class LosesReader(Machine):
    """A pool takes the Relu behind it in, whoever else reads it, and is refused then."""

    def load_model(self, path):
        """Refuses what it made of the model."""
        super().load_model(path)
        for node in self.model.graph.nodes:
            readers = [reader.op_type for reader in self.readers.get(node.outputs[0], [])]
            if node.op_type == "MaxPool" and len(readers) > 1 and "Relu" in readers:
                raise Refused("Invalid model. Node input '%s' is not a graph input, initializer, "
                              "or output of a previous node." % node.name)


class FreesFolded(Machine):
    """What Reshape makes of a weight lies in memory that is given away: other numbers at each load."""
    loads = 0

    def load_model(self, path):
        """Counts."""
        super().load_model(path)
        FreesFolded.loads += 1

    def err(self, node, inputs):
        if node.op_type != "Reshape" or node.inputs[0] not in self.weights:
            return None
        made = self.right(node).copy()
        half = made.size // 2
        made.ravel()[:half] = 3 * np.random.RandomState(self.loads).standard_normal(half)
        return [made]


class ScalesSharedWeight(Machine):
    """A factor behind a Conv is multiplied into its weight where it lies, whoever else reads that."""

    def load_model(self, path):
        """Takes the factors in."""
        super().load_model(path)
        self.factors, self.taken = {}, set()
        for node in self.model.graph.nodes:
            before = self.joined(node.inputs[0], "Conv")
            if node.op_type == "Mul" and before and self.weights[node.inputs[1]].size == 1:
                factor = self.weights[node.inputs[1]]
                self.weights[before.inputs[1]] = self.weights[before.inputs[1]] * factor
                self.factors[before.outputs[0]] = factor
                self.taken.add(node.outputs[0])

    def err(self, node, inputs):
        if node.outputs[0] in self.taken:
            return [inputs[0]]
        if node.outputs[0] not in self.factors:
            return None
        bias = inputs[2].reshape(1, -1, 1, 1)
        return [self.right(node) + bias * (self.factors[node.outputs[0]] - 1)]


class MergesAlike(Machine):
    """Nodes of one operator that read the same are one, whatever their attributes."""

    def load_model(self, path):
        """Finds them."""
        super().load_model(path)
        first, self.same = {}, {}
        for node in self.model.graph.nodes:
            key = (node.op_type, *node.inputs)
            self.same[node.outputs[0]] = first.setdefault(key, node.outputs[0])

    def err(self, node, inputs):
        other = self.same[node.outputs[0]]
        return None if other == node.outputs[0] else [self.values[other]]


class SoftmaxInHalf(Machine):
    """Between two Casts of float16, a Softmax is computed in float16."""

    def err(self, node, inputs):
        softmax = self.joined(node.inputs[0], "Softmax")
        before = softmax and self.joined(softmax.inputs[0], "Cast")
        if node.op_type != "Cast" or not before:
            return None

        def half(array):
            return array.astype(np.float16).astype(np.float32)

        x = self.values[before.inputs[0]].astype(np.float32)
        powers = half(np.exp(half(x - x.max(-1, keepdims=True))))
        total = np.zeros_like(powers[..., :1])
        for k in range(powers.shape[-1]):
            total = half(total + powers[..., k:k + 1])
        return [(powers / total).astype(np.float16)]
