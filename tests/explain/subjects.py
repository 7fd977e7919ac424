# SPDX-License-Identifier: GPL-3.0-or-later
"""Which node of which model is mutated how: cases drawn by a seed, each of which makes a difference."""
import os
import random

import numpy
import onnx
from onnx import numpy_helper

import mutations
import ort
from mutant import Cut, Part

LARGEST = 3 << 20  # elements of a value that a case may be about
# Of the largest element: less, and rounding may hide it.
DIFFERENCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-10}

TRIES, TURN = 30, 5  # nodes of a model that a kind is tried at, and before the next model's turn


class Subject:
    """A model with all its values for one set of inputs."""

    def __init__(self, path, inputs=None):
        self.path = path
        self.name = os.path.basename(os.path.dirname(path))
        self.model = onnx.load(path)
        self.nodes = list(self.model.graph.node)
        self.values = self.all_values(self.inputs_of(path) if inputs is None else inputs)

    def inputs_of(self, path):
        """What stands beside the model, or random numbers."""
        graph, found = self.model.graph, {}
        weights = {w.name for w in graph.initializer}
        names = [i for i in graph.input if i.name not in weights]
        for at, one in enumerate(names):
            file = os.path.join(os.path.dirname(path), "test_data_set_0", "input_%d.pb" % at)
            with open(file, "rb") as f:
                tensor = onnx.TensorProto()
                tensor.ParseFromString(f.read())
                found[one.name] = numpy_helper.to_array(tensor)
        return found

    def all_values(self, inputs):
        names = [n for node in self.nodes for n in node.output if n]
        values = dict(inputs)
        values.update(Part(self.model, self.nodes).run(inputs, names))
        return values

    def input_options(self):
        """The same inputs, for the command line."""
        return ["--inputs-from", os.path.join(os.path.dirname(self.path), "test_data_set_0")]

    def shape_options(self):
        """Sizes that the model leaves open, as the inputs here have them."""
        words, bound = [], set()
        for one in self.model.graph.input:
            for axis, dim in enumerate(one.type.tensor_type.shape.dim):
                if one.name not in self.values or dim.dim_value:
                    continue
                size = self.values[one.name].shape[axis]
                name = dim.dim_param or "%s[%d]" % (one.name, axis)
                if name not in bound:
                    words += ["--dim", "%s=%d" % (name, size)]
                    bound.add(name)
        return words


class Case:
    """One mutated node. other, other_weight: what the mutation reads besides."""

    def __init__(self, subject, at, kind, seed, call):
        self.subject, self.at, self.kind, self.seed = subject, at, kind, seed
        self.node = subject.nodes[at]
        self.other, self.other_weight = call.other, call.other_weight

    def call(self, values=None):
        call = mutations.Call(Cut(self.subject.model, self.node.output[0]),
                              self.subject.values if values is None else values, strict=True)
        call.other, call.other_weight = self.other, self.other_weight
        return call


def tried(subject, at, kind, seed):
    """The case; None where the mutation does not apply or changes next to nothing."""
    node = subject.nodes[at]
    if not node.output or not node.output[0]:
        return None
    made = subject.values.get(node.output[0])
    if not isinstance(made, numpy.ndarray) or made.size > LARGEST or not made.size:
        return None
    call = mutations.Call(Cut(subject.model, node.output[0]), subject.values, strict=True)
    try:
        mutations.mutate(call, kind, seed)
        changed = call.outputs()[0]
    except (mutations.NotHere, ort.OrtError, ValueError, TypeError, IndexError, KeyError,
            AttributeError):
        return None
    return Case(subject, at, kind, seed, call) if differ(made, changed) else None


def differ(right, changed):
    """Whether a comparison could tell."""
    if right.dtype.name not in DIFFERENCE:
        return not numpy.array_equal(right, changed)
    a, b = right.astype(numpy.float64), changed.astype(numpy.float64)
    if numpy.any(numpy.isfinite(a) != numpy.isfinite(b)):
        return True
    error = numpy.nanmax(numpy.where(numpy.isfinite(a), abs(a - b), 0))
    return error > DIFFERENCE[right.dtype.name] * (numpy.nanmax(numpy.where(numpy.isfinite(a), abs(a), 0)) or 1)


def drawn(subjects, kind, each, seed):
    """At most that many cases of a kind, from as many models as there are."""
    rng = random.Random("%s %s" % (kind, seed))
    order = list(subjects)
    rng.shuffle(order)
    places = {s: [i for i, n in enumerate(s.nodes) if mutations.KINDS[kind].takes(n.op_type)]
              for s in order}
    for left in places.values():
        rng.shuffle(left)
        del left[TRIES:]
    found = []
    while any(places.values()) and len(found) < each:
        for subject in order:
            case = None
            for _ in range(TURN):
                if not case and places[subject]:
                    case = tried(subject, places[subject].pop(), kind, rng.randrange(1 << 20))
            found += [case] if case and len(found) < each else []
    return found
