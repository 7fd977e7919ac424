# SPDX-License-Identifier: GPL-3.0-or-later
"""A target with one mutated node: the class for `--target python:tests/explain/mutant.py,plan=FILE`.

Of any model or cut that it is given, the nodes before the mutated one and those behind it run by
ONNX Runtime as they stand; the node itself does what a mutation (mutations/) makes of it, which
runs it by ONNX Runtime too, rewritten, or changes what goes in and comes out. Nothing here shares
code with the variants that onnxdbg replays. FILE is JSON: the value that the node makes, the kind of
mutation with its seed, and what it reads besides:
{"value": "y", "kind": "pads-exchanged", "seed": 3, "other": null, "other_weight": null}.

A cut without the node, or without what the mutation reads besides, runs as it is.
"""
import json

import numpy
import onnx
from onnx import helper, numpy_helper

import mutations
import ort


def used_names(node):
    """Names that a node reads, those that its bodies read included."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        for body in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
            for inner in body.node:
                names |= used_names(inner)
    return names


class Part:
    """Some nodes of a model, as a model: made for the types that its inputs turn out to have."""

    def __init__(self, model, nodes):
        self.model, self.nodes, self.sessions = model, nodes, {}
        made = {name for node in nodes for name in node.output}
        weights = {w.name for w in model.graph.initializer}
        read = set().union(*[used_names(node) for node in nodes]) if nodes else set()
        self.inputs = read - made - weights
        self.weights = read & weights

    def run(self, values, outputs):
        """Arrays by name, of the outputs that this part makes; values holds what it reads."""
        given = {name: values[name] for name in self.inputs if name in values}
        key = (tuple(outputs), tuple((n, a.dtype.name) for n, a in sorted(given.items())))
        if key not in self.sessions:
            self.sessions[key] = ort.Session(self.model_of(given, outputs).SerializeToString())
        return dict(zip(outputs, self.sessions[key].run(given, outputs)))

    def model_of(self, given, outputs):
        made = onnx.ModelProto()
        made.ir_version = self.model.ir_version
        made.opset_import.extend(self.model.opset_import)
        made.functions.extend(self.model.functions)
        made.graph.name = "part"
        made.graph.node.extend(self.nodes)
        made.graph.initializer.extend(
            w for w in self.model.graph.initializer if w.name in self.weights)
        for name, array in given.items():
            made.graph.input.append(helper.make_tensor_value_info(
                name, ort.NUMBERS[array.dtype.name], None))
        for name in outputs:
            made.graph.output.append(onnx.ValueInfoProto(name=name))
        return made


class Cut:
    """A model around one of its nodes: before, node, behind. node is None where it is not there."""

    def __init__(self, model, value):
        graph = model.graph
        self.model = model
        self.weights = {w.name: w for w in graph.initializer}
        self.node = next((n for n in graph.node if value in n.output), None)
        reached = set(self.node.output) if self.node else set()
        before, behind = [], []
        for node in graph.node:
            if node is self.node or (self.node and node == self.node):
                continue
            later = bool(used_names(node) & reached)
            (behind if later else before).append(node)
            reached |= set(node.output) if later else set()
        self.before, self.behind = before, behind
        self.reached = reached
        self.sides = {}

    def side(self, nodes, wanted):
        """What of these nodes makes the wanted values."""
        key = (id(nodes), frozenset(wanted))
        if key not in self.sides:
            names, kept = set(wanted), []
            for node in reversed(nodes):
                if names & set(node.output):
                    names |= used_names(node)
                    kept.append(node)
            self.sides[key] = Part(self.model, kept[::-1])
        return self.sides[key]

    def made(self, nodes):
        return {name for node in nodes for name in node.output if name}

    def run_side(self, nodes, values, wanted):
        wanted = sorted(set(wanted) & self.made(nodes) - set(values))
        if wanted:
            values.update(self.side(nodes, wanted).run(values, wanted))

    def constant(self, name):
        return numpy_helper.to_array(self.weights[name]) if name in self.weights else None


class Mutant:
    """The target."""

    def init(self, plan):
        with open(plan) as f:
            self.told = json.load(f)
        weight = self.told["other_weight"]
        self.other_weight = None if weight is None else numpy.load(weight)

    def load_model(self, path):
        self.cut = Cut(onnx.load(path), self.told["value"])

    def execute(self, inputs, outputs):
        cut, values = self.cut, dict(inputs)
        if cut.node is None:
            cut.run_side(cut.before, values, outputs)
            return {name: self.found(values, name) for name in outputs}
        behind = self.needed(outputs)
        wanted = behind | used_names(cut.node) | set(outputs) | {self.told["other"]}
        cut.run_side(cut.before, values, wanted - {None})
        values.update(self.mutated(values))
        cut.run_side(cut.behind, values, outputs)
        return {name: self.found(values, name) for name in outputs}

    def needed(self, outputs):
        """What the nodes behind read of what stands before them."""
        wanted = set(outputs) & self.cut.made(self.cut.behind)
        return self.cut.side(self.cut.behind, sorted(wanted)).inputs if wanted else set()

    def found(self, values, name):
        return values[name] if name in values else self.cut.constant(name)

    def mutated(self, values):
        """The outputs of the node, by name."""
        call = mutations.Call(self.cut, values)
        call.other, call.other_weight = self.told["other"] or "", self.other_weight
        mutations.mutate(call, self.told["kind"], self.told["seed"])
        return dict(zip(self.cut.node.output, call.outputs()))

    def describe(self):
        return "a mutated node, on ONNX Runtime"
