# SPDX-License-Identifier: GPL-3.0-or-later
"""What one node may compute instead: the table of kinds of mutations.

A kind is a function that changes a Call before it is made: its operator, attributes, inputs, or what
is done to its output; NotHere means that it does not apply to this node. @kind gives it a row: the
family, the operators, and what the kind is called. Names of variants that say the same are in
truth.tsv. Seeded choices come from call.rng, so that every probe of a search meets the same fault.
"""
import random

import numpy
import onnx
from onnx import helper, numpy_helper

import ort

KINDS = {}  # by name
FAMILIES = ("attribute", "input", "number", "output", "elsewhere", "pair", "none")
FLOATS = ("float32", "float64", "float16")


class NotHere(Exception):
    """The mutation does not apply to this node with these inputs."""


class Kind:
    def __init__(self, name, family, operators, change):
        self.name, self.family, self.change = name, family, change
        self.operators = operators.split() if operators else None

    def takes(self, op_type):
        return self.operators is None or op_type in self.operators


def kind(family, operators=""):
    """Makes a function a kind, for these operators; without any, for all."""
    def register(change):
        name = change.__name__.strip("_").replace("_", "-")
        KINDS[name] = Kind(name, family, operators, change)
        return change
    return register


def mutate(call, name, seed):
    """Applies a kind, with its choices settled by the seed."""
    call.rng = random.Random("%s %s" % (name, seed))
    try:
        KINDS[name].change(call)
    except NotHere:
        if call.strict:
            raise
        call.undo()


def need(holds):
    if not holds:
        raise NotHere()


class Call:
    """One node with its inputs. strict: NotHere goes on to the caller. other, other_weight: the
    name of another value, and another weight, that a mutation reads; None: it may choose."""

    def __init__(self, cut, values, strict=False):
        node = cut.node
        self.cut, self.values, self.strict, self.node = cut, values, strict, node
        self.op, self.domain, self.rng = node.op_type, node.domain, None
        self.attributes = {a.name: a for a in node.attribute}
        self.inputs = [values.get(n, cut.constant(n)) if n else None for n in node.input]
        self.constant = [n in cut.weights for n in node.input]
        self.other, self.other_weight = None, None
        self.compute, self.behind, self.original = Call.by_runtime, [], None

    @property
    def opset(self):
        return next((o.version for o in self.cut.model.opset_import
                     if o.domain in ("", "ai.onnx")), 1)

    @property
    def x(self):
        return self.inputs[0]

    def attr(self, name, default=None):
        found = self.attributes.get(name)
        return default if found is None else helper.get_attribute_value(found)

    def put(self, name, value):
        self.attributes[name] = helper.make_attribute(name, value)

    def drop(self, *names):
        for name in names:
            self.attributes.pop(name, None)

    def input(self, at):
        """This input; NotHere where it is left out."""
        need(at < len(self.inputs) and self.inputs[at] is not None)
        return self.inputs[at]

    def weight(self, at):
        """The same for one that is a weight."""
        need(at < len(self.inputs) and self.constant[at])
        return self.inputs[at]

    def give(self, at, array):
        array = numpy.asarray(array)
        need(array.dtype == self.inputs[at].dtype)
        self.inputs[at] = numpy.ascontiguousarray(array).reshape(array.shape)

    def undo(self):
        """The node as it was."""
        self.__init__(self.cut, self.values, self.strict)

    def right(self):
        """Its first output as it ought to be."""
        if self.original is None:
            whole = Call(self.cut, self.values)
            self.original = whole.by_runtime()[0]
        return self.original

    def after(self, change):
        """What is done to the first output when it has been computed."""
        self.behind.append(change)

    def outputs(self):
        """What the changed node makes."""
        outputs = self.compute(self)
        for change in self.behind:
            was = outputs[0]
            outputs[0] = numpy.ascontiguousarray(change(was)).astype(was.dtype)
            outputs[0] = outputs[0].reshape(self.right().shape)
        need(outputs[0].shape == self.right().shape and outputs[0].dtype == self.right().dtype)
        return outputs

    def by_runtime(self):
        """The node as it now is, by ONNX Runtime."""
        names = ["in_%d" % i if v is not None else "" for i, v in enumerate(self.inputs)]
        outputs = ["out_%d" % i if n else "" for i, n in enumerate(self.node.output)]
        node = helper.make_node(self.op, names, outputs, name="mutated", domain=self.domain)
        node.attribute.extend(self.attributes.values())
        return run_nodes(self.cut.model, [node],
                         {n: v for n, v in zip(names, self.inputs) if n},
                         {n for n, c in zip(names, self.constant) if c and n}, outputs)

    def by_nodes(self, nodes, values, constants=(), opset=None):
        """What other nodes make of these values: the array "y"."""
        return run_nodes(self.cut.model, nodes, values, set(constants), ["y"], opset)[0]


def run_nodes(model, nodes, values, constants, outputs, opset=None):
    """Nodes as a model of their own. opset: of ai.onnx, where it is not the model's."""
    made = onnx.ModelProto()
    made.ir_version = max(model.ir_version, 4)
    made.opset_import.extend(model.opset_import)
    if opset is not None:
        for one in made.opset_import:
            one.version = opset if one.domain in ("", "ai.onnx") else one.version
    made.functions.extend(model.functions)
    made.graph.name = "node"
    made.graph.node.extend(nodes)
    for name, array in values.items():
        if name in constants:
            made.graph.initializer.append(numpy_helper.from_array(array, name))
        else:
            need(array.dtype.name in ort.NUMBERS)
            made.graph.input.append(helper.make_tensor_value_info(
                name, ort.NUMBERS[array.dtype.name], array.shape))
    wanted = [name for name in outputs if name]
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    given = {n: v for n, v in values.items() if n not in constants}
    found = dict(zip(wanted, ort.Session(made.SerializeToString()).run(given, wanted)))
    return [found.get(name) for name in outputs]


def floats(array):
    """NotHere where it holds no floats."""
    need(array is not None and array.dtype.name in FLOATS)
    return array


from mutations import attribute, elsewhere, inputs, none, numbers, outputs, pairs  # noqa: E402, F401
