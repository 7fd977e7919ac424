#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the probabilities of `onnxdbg suspects` hold for faults of no family that it tries.

    tests/suspects/edited.py [--each N] [--samples N] [--budget S] [--seed N] [--out FILE] MODEL.onnx...
    tests/suspects/edited.py --table FILE...

Nodes drawn at random are edited in the model: a bias left out, another attribute, channels exchanged,
weights rolled, an approximation, float16 within one node. The target is a program that runs the
edited model on the reference, so that nothing but the edit differs. Prints the table of planted.py,
and how often what was said with a probability was right, band by band. Needs Python's onnx.
"""
import argparse
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import planted  # noqa: E402

BANDS = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.01)


class Edit:
    """One node of one copy of a model, and what an edit of it may ask and do."""

    def __init__(self, model, node, rng):
        self.graph, self.node, self.rng = model.graph, node, rng
        self.weights = {w.name: w for w in model.graph.initializer}

    def weight(self, at):
        """The weight that is this input; None: it is none."""
        names = self.node.input
        found = self.weights.get(names[at]) if at < len(names) else None
        return None if found is None else numpy_helper.to_array(found)

    def put_weight(self, at, value):
        """In the place of this input, for this node alone."""
        name = f"edited_{at}"
        self.graph.initializer.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        self.node.input[at] = name

    def attr(self, name, default=None):
        for a in self.node.attribute:
            if a.name == name:
                return helper.get_attribute_value(a)
        return default

    def put_attr(self, name, value):
        for a in [a for a in self.node.attribute if a.name == name]:
            self.node.attribute.remove(a)
        self.node.attribute.append(helper.make_attribute(name, value))

    def around(self, before, after):
        """Nodes before it, and nodes behind it, which make its output of "edited_y"."""
        at = [i for i, n in enumerate(self.graph.node) if n is self.node or n == self.node][0]
        for n in reversed(after):
            self.graph.node.insert(at + 1, n)
        for n in reversed(before):
            self.graph.node.insert(at, n)

    def constant(self, name, value):
        self.graph.initializer.append(
            numpy_helper.from_array(numpy.array(value, dtype=numpy.float32), name))
        return name


def linear(e):
    return e.node.op_type in ("Conv", "Gemm", "MatMul", "ConvTranspose")


def bias_missing(e):
    bias = e.weight(2) if e.node.op_type in ("Conv", "Gemm") else None
    if bias is None:
        return False
    e.put_weight(2, 0 * bias)
    return True


def epsilon(e):
    if "Normalization" not in e.node.op_type:
        return False
    e.put_attr("epsilon", 100 * e.attr("epsilon", 1e-5))
    return True


def axis(e):
    if e.node.op_type not in ("Softmax", "LogSoftmax"):
        return False
    e.put_attr("axis", 0 if e.attr("axis", -1) else 1)
    return True


def kernel_of(e):
    weight = e.weight(1) if e.node.op_type == "Conv" else None
    return () if weight is None or not e.attr("pads") else weight.shape[2:]


def dilation(e):
    kernel = kernel_of(e)
    if not kernel or max(kernel) != 3 or min(kernel) != 3 or max(e.attr("dilations", [1])) > 1:
        return False
    e.put_attr("dilations", [2] * len(kernel))
    e.put_attr("pads", [p + 1 for p in e.attr("pads")])
    return True


def pads(e):
    if e.node.op_type not in ("Conv", "MaxPool", "AveragePool") or not any(e.attr("pads", [])):
        return False
    p = list(e.attr("pads"))
    half = len(p) // 2
    moved = [0] * half + [a + b for a, b in zip(p[:half], p[half:])]
    e.put_attr("pads", moved if moved != p else moved[half:] + moved[:half])
    return True


def pool(e):
    if e.node.op_type == "MaxPool" and len(e.node.output) == 1:
        e.node.op_type = "AveragePool"
        for name in ("storage_order", "dilations"):
            for a in [a for a in e.node.attribute if a.name == name]:
                e.node.attribute.remove(a)
        return True
    if e.node.op_type == "AveragePool" and any(e.attr("pads", [])):
        e.put_attr("count_include_pad", 1 - e.attr("count_include_pad", 0))
        return True
    return False


def outputs_axis(e):
    if e.node.op_type == "Gemm":
        return 0 if e.attr("transB", 0) else 1
    return {"Conv": 0, "ConvTranspose": 1, "MatMul": -1}[e.node.op_type]


def channels(e):
    """Two of what it makes change places."""
    weight = e.weight(1) if linear(e) else None
    if weight is None or weight.ndim < 2 or weight.shape[outputs_axis(e)] < 2:
        return False
    n = weight.shape[outputs_axis(e)]
    a, b = e.rng.sample(range(n), 2)
    order = numpy.arange(n)
    order[[a, b]] = order[[b, a]]
    e.put_weight(1, numpy.take(weight, order, outputs_axis(e)))
    bias = e.weight(2)
    if bias is not None and bias.shape == (n,):
        e.put_weight(2, bias[order])
    return True


def rolled(e):
    weight = e.weight(1) if linear(e) else None
    if weight is None or weight.shape[-1] < 2:
        return False
    e.put_weight(1, numpy.roll(weight, 1, axis=-1))
    return True


def transposed(e):
    weight = e.weight(1) if linear(e) else None
    if weight is None or weight.ndim < 2 or weight.shape[-1] != weight.shape[-2]:
        return False
    e.put_weight(1, numpy.swapaxes(weight, -1, -2))
    return True


def channel_zero(e):
    """One that is not the first."""
    weight = e.weight(1) if linear(e) else None
    if weight is None or weight.ndim < 2 or weight.shape[outputs_axis(e)] < 2:
        return False
    part = [slice(None)] * weight.ndim
    part[outputs_axis(e)] = e.rng.randrange(1, weight.shape[outputs_axis(e)])
    weight = weight.copy()
    weight[tuple(part)] = 0
    e.put_weight(1, weight)
    return True


def weights_int8(e):
    weight = e.weight(1) if linear(e) else None
    if weight is None or weight.dtype != numpy.float32 or not weight.any():
        return False
    step = abs(weight).max() / 127
    e.put_weight(1, (numpy.round(weight / step) * step).astype(numpy.float32))
    return True


def activation(e):
    """Another one that is nearly the same."""
    other = {"Relu": ("LeakyRelu", {"alpha": 0.02}), "Sigmoid": ("HardSigmoid", {}),
             "Tanh": ("Softsign", {}), "Elu": ("Relu", {}), "LeakyRelu": ("Relu", {})}
    if e.node.op_type not in other:
        return False
    op, attrs = other[e.node.op_type]
    e.node.op_type = op
    del e.node.attribute[:]
    e.node.attribute.extend(helper.make_attribute(k, v) for k, v in attrs.items())
    return True


def erf_tanh(e):
    """erf(z) as Gelu's approximation by tanh has it."""
    if e.node.op_type != "Erf":
        return False
    x, y = e.node.input[0], e.node.output[0]
    a, b = e.constant("edited_a", 1.1283791671), e.constant("edited_b", 0.0894430)
    e.around([helper.make_node("Mul", [x, x], ["edited_2"]),
              helper.make_node("Mul", ["edited_2", b], ["edited_3"]),
              helper.make_node("Mul", ["edited_3", x], ["edited_4"]),
              helper.make_node("Add", ["edited_4", x], ["edited_5"]),
              helper.make_node("Mul", ["edited_5", a], ["edited_6"]),
              helper.make_node("Tanh", ["edited_6"], [y])], [])
    e.graph.node.remove([n for n in e.graph.node if n.op_type == "Erf" and n.output[0] == y][0])
    return True


def truncated(e):
    """To steps of 1/64, towards minus infinity."""
    if not linear(e) and e.node.op_type not in ("Add", "Mul"):
        return False
    y = e.node.output[0]
    a, b = e.constant("edited_a", 64.0), e.constant("edited_b", 1 / 64)
    after = [helper.make_node("Mul", ["edited_y", a], ["edited_2"]),
             helper.make_node("Floor", ["edited_2"], ["edited_3"]),
             helper.make_node("Mul", ["edited_3", b], [y])]
    e.around([], after)
    own = [n for n in e.graph.node if y in n.output][0]
    own.output[0] = "edited_y"
    return True


def half(e):
    """The whole node in float16: what goes in, what comes out, and what it adds up."""
    if not linear(e) and e.node.op_type not in ("Softmax", "ReduceMean", "LayerNormalization"):
        return False
    y = e.node.output[0]
    before = [helper.make_node("Cast", [n], [f"edited_h{i}"], to=TensorProto.FLOAT16)
              for i, n in enumerate(e.node.input) if n]
    e.around(before, [helper.make_node("Cast", ["edited_y"], [y], to=TensorProto.FLOAT)])
    own = [n for n in e.graph.node if y in n.output and n.op_type != "Cast"][0]
    for i, n in enumerate(own.input):
        own.input[i] = f"edited_h{i}" if n else n
    own.output[0] = "edited_y"
    return True


EDITS = (bias_missing, epsilon, axis, dilation, pads, pool, channels, rolled, transposed, channel_zero,
         weights_int8, activation, erf_tanh, truncated, half)


def rename_outputs(model):
    """Names that an expression may be: y_0, y_1. Bodies do not read outputs."""
    new = {o.name: f"edited_out_{i}" for i, o in enumerate(model.graph.output)}
    for o in model.graph.output:
        o.name = new[o.name]
    for node in model.graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = new.get(name, name)


def write_target(folder, model, original):
    """A program that runs the edited model on the reference."""
    rename_outputs(model)
    path = os.path.join(folder, "edited.onnx")
    onnx.save(model, path)
    weights = {w.name for w in original.graph.initializer}
    names = [i.name for i in original.graph.input if i.name not in weights]
    given = " ".join(f"--input '{n}=in_{i}.npy'" for i, n in enumerate(names))
    script = os.path.join(folder, "target")
    with open(script, "w") as f:
        f.write("#!/bin/sh\nset -e\ncd \"$1\"\n")
        for i in range(len(model.graph.output)):
            f.write(f"{os.path.abspath(planted.program())} print {path} edited_out_{i} {given} "
                    f"--save out_{i}.npy >/dev/null\n")
    os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
    return "command:" + script


def index_of(file, output):
    text = subprocess.run([planted.program(), "nodes", file, "-j"],
                          capture_output=True).stdout
    for node in json.loads(text)["nodes"]:
        if output in node["outputs"]:
            return node["index"]
    return None


def edited(file, args):
    original = onnx.load(file)
    rng = random.Random(f"{args.seed} {planted.name_of(file)}")
    pairs = [(e, i) for e in EDITS for i in range(len(original.graph.node))]
    rng.shuffle(pairs)
    done, counts = 0, {}
    for edit, i in pairs:
        if done >= args.each:
            return
        if counts.get(edit, 0) > min(counts.values(), default=0) + 2:
            continue
        model = onnx.ModelProto()
        model.CopyFrom(original)
        output = model.graph.node[i].output[0]
        if not edit(Edit(model, model.graph.node[i], rng)):
            continue
        folder = tempfile.mkdtemp(prefix="edited-")
        try:
            found = planted.ask(file, write_target(folder, model, original), args)
        finally:
            shutil.rmtree(folder)
        if not found or not found["outputs_diverge"] or not found["suspects"]:
            continue
        done += 1
        counts[edit] = counts.get(edit, 0) + 1
        yield planted.row_of(file, edit.__name__, [index_of(file, output)], found)


def bands(rows):
    """What was said against what was so. A row of no probability said nothing."""
    print(f"\n{'probability said':>16} {'faults':>7} {'right':>6} {'part':>6} {'mean said':>10}")
    for low, high in zip(BANDS, BANDS[1:]):
        cell = [r for r in rows if r["probability"] is not None and low <= r["probability"] < high]
        if cell:
            held = sum(r["in_group"] for r in cell)
            print(f"{low:7.2f} to {min(high, 1):4.2f}  {len(cell):7} {held:6} "
                  f"{held / len(cell):6.2f} {sum(r['probability'] for r in cell) / len(cell):10.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--each", type=int, default=12)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--budget", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out")
    parser.add_argument("--table", nargs="+")
    args = parser.parse_args()
    rows = [json.loads(line) for f in args.table or [] for line in open(f)]
    for model in args.models:
        for row in edited(model, args):
            rows.append(row)
            if args.out:
                with open(args.out, "a") as f:
                    f.write(json.dumps(row) + "\n")
            print(row["model"], row["kind"], row["culprits"], "missed %.2g next %.2g said %s" %
                  (row["missed"], row["next"], row["probability"]), "group", row["group"],
                  row["in_group"], "%.1f s" % row["seconds"], file=sys.stderr)
    planted.table(rows)
    bands(rows)


if __name__ == "__main__":
    main()
