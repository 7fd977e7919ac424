#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A compiler for few bits, as a target that stays: onnxdbg-server(7).

    server:/usr/bin/python3 quantised.py ONNXDBG SPEC ENCODINGS [FAULT:VALUE [codes]]

Whatever model it is given gets QuantizeLinear and DequantizeLinear around the values that ENCODINGS
(onnxdbg's own JSON) names, and then runs on SPEC by `onnxdbg run`: with ort, code of another house
throughout. FAULT is what its kernel for the node that makes VALUE does wrong:

    scale     its results are 5 % too large before they are rounded
    zero      codes are read with a zero point that is one too large
    floor     it rounds down
    saturate  codes end at half of the range
    bias      the bias is left out
    channel   all channels of the weight are read with the scale of the first
    wrap      codes wrap around where they should saturate, a quarter of the range too early
    percent   its results are 1 % too large before they are rounded
    step      its codes are one too large

With "codes" it computes with the weights and the inputs as they are, has scales with room for what
rounding adds, gives what it stores as codes, and says in groups.json what they are worth. So nobody
needs ENCODINGS to judge it.
"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

ROOM = 1.25  # so that what rounding adds does not saturate
CONTRIB = "com.microsoft"  # its QuantizeLinear is in every opset


class Encoding:
    def __init__(self, about):
        bits, signed = about.get("bits", 8), about.get("signed", False)
        least = -(1 << bits - 1) if signed else 0
        codes = about.get("codes", [least, least + (1 << bits) - 1])
        self.bits, self.axis = bits, about.get("axis")
        self.scale = np.atleast_1d(np.array(about["scale"], np.float32))
        self.zero = np.broadcast_to(np.array(about.get("zero_point", 0), np.int64),
                                    self.scale.shape)
        self.lo, self.hi, self.whole = *codes, self.scale

    def shaped(self, array, rank):
        if array.size == 1 or self.axis is None:
            return array.reshape(-1)[:1].reshape([1] * rank) if rank else array.reshape(())
        return array.reshape([-1 if d == self.axis else 1 for d in range(rank)])

    def rounded(self, x, first_scale=False):
        scale = self.shaped(self.scale, x.ndim).astype(np.float64)
        zero = self.shaped(self.zero, x.ndim)
        q = np.clip(np.rint(x.astype(np.float64) / scale) + zero, self.lo, self.hi)
        if first_scale:
            scale = scale.reshape(-1)[0]
        return ((q - zero) * scale).astype(np.float32)


class Rewriter:
    def __init__(self, model, encodings, fault):
        self.graph, self.encodings, self.fault, self.n = model.graph, encodings, fault, 0
        self.nodes, self.renamed = [], {}
        self.opset = max([o.version for o in model.opset_import if o.domain in ("", "ai.onnx")])

    def constant(self, array):
        name = "onnxdbg_test_%d" % self.n
        self.n += 1
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def clip(self, x, lo, hi):
        y = x + "/clipped"
        if self.opset >= 11:
            self.add("Clip", [x, self.constant(np.float32(lo)), self.constant(np.float32(hi))], y)
        else:
            self.add("Clip", [x], y, min=float(lo), max=float(hi))
        return y

    def add(self, op, inputs, output, domain="", **attrs):
        self.nodes.append(helper.make_node(op, inputs, [output], domain=domain,
                                           name=output + "/" + op, **attrs))

    def through(self, e, x, y, fault=None):
        """y becomes x as the target's integers have it."""
        scale, zero = np.float32(e.scale[0]), int(e.zero[0])
        half = np.float32(scale / 2)
        if fault in ("scale", "percent"):
            by = np.float32(1.05 if fault == "scale" else 1.01)
            self.add("Mul", [x, self.constant(by)], x + "/scaled")
            x += "/scaled"
        elif fault == "step":
            self.add("Add", [x, self.constant(scale)], x + "/up")
            x += "/up"
        elif fault == "floor":
            self.add("Sub", [x, self.constant(np.float32(half * 0.999))], x + "/floor")
            x += "/floor"
        elif fault == "saturate":
            x = self.clip(x, (e.lo - zero) * scale / 2, (e.hi - zero) * scale / 2)
        elif fault == "wrap":
            x = self.wrap(e, x, scale, zero)
        if e.bits != 8 or (e.lo, e.hi) not in ((0, 255), (-128, 127)):
            x = self.clip(x, (e.lo - zero) * scale, (e.hi - zero) * scale)
        kind = np.uint8 if e.lo == 0 else np.int8
        wide = np.uint16 if kind == np.uint8 else np.int16
        kind = kind if e.bits <= 8 else wide
        s, z = self.constant(scale), self.constant(kind(zero))
        read = zero + 1 if fault == "zero" else zero
        z2 = self.constant(kind(read)) if 0 <= read <= np.iinfo(kind).max else z
        self.add("QuantizeLinear", [x, s, z], y + "/q", CONTRIB)
        self.add("DequantizeLinear", [y + "/q", s, z2], y, CONTRIB)

    def wrap(self, e, x, scale, zero):
        """Numbers above three quarters of the range come out at its lower end."""
        top = np.float32((e.lo - zero + 0.75 * (e.hi - e.lo)) * scale)
        down = np.float32((e.hi - e.lo) * scale)
        self.add("Sub", [x, self.constant(top)], x + "/over")
        self.add("Sign", [x + "/over"], x + "/sign")
        self.add("Relu", [x + "/sign"], x + "/is")
        self.add("Mul", [x + "/is", self.constant(down)], x + "/down")
        self.add("Sub", [x, x + "/down"], x + "/wrapped")
        return x + "/wrapped"

    def weights(self):
        made = {t.name: t for t in self.graph.initializer}
        for name, tensor in made.items():
            e = self.encodings.get(name)
            if e and tensor.data_type == onnx.TensorProto.FLOAT:
                x = e.rounded(numpy_helper.to_array(tensor))
                tensor.CopyFrom(numpy_helper.from_array(x, name))
        return made

    def spoil(self, node, raw):
        """A fault in what the node reads."""
        kind, value = self.fault
        if value not in node.output:
            return
        if kind == "bias" and len(node.input) > 2:
            node.input[2] = self.constant(np.zeros_like(raw[node.input[2]]))
        elif kind == "channel":
            name = node.input[1]
            node.input[1] = self.constant(self.encodings[name].rounded(raw[name], True))

    def run(self):
        raw = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        raw.update({node.output[0]: numpy_helper.to_array(node.attribute[0].t)
                    for node in self.graph.node
                    if node.op_type == "Constant" and node.attribute[0].name == "value"})
        made = self.weights()
        outputs = {o.name for o in self.graph.output}
        for value in self.graph.input:
            if value.name in self.encodings and value.name not in made:
                self.renamed[value.name] = value.name + "/dq"
                self.through(self.encodings[value.name], value.name, value.name + "/dq")
        for node in self.graph.node:
            for i, name in enumerate(node.input):
                node.input[i] = self.renamed.get(name, name)
            self.spoil(node, raw)
            late = []
            if node.op_type == "Constant" and node.output[0] in self.encodings:
                tensor = node.attribute[0].t
                x = self.encodings[node.output[0]].rounded(numpy_helper.to_array(tensor))
                tensor.CopyFrom(numpy_helper.from_array(x, tensor.name))
                self.nodes.append(node)
                continue
            for o, name in enumerate(node.output):
                if name not in self.encodings:
                    continue
                fault = self.fault[0] if self.fault[1] == name else None
                node.output[o] = name + "/raw"
                late.append((name, fault))
            self.nodes.append(node)
            for name, fault in late:
                self.through(self.encodings[name], name + "/raw", name, fault)
        del self.graph.node[:]
        self.graph.node.extend(self.nodes)
        del self.graph.value_info[:]
        return outputs


def rewrite(path, encodings, fault):
    model = onnx.load(path)
    Rewriter(model, encodings, fault).run()
    if CONTRIB not in [o.domain for o in model.opset_import]:
        model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
    to = os.path.join(os.path.dirname(path), "quantised.onnx")
    onnx.save(model, to)
    return to


class Target:
    def __init__(self, program, spec, path, fault=":", codes=""):
        with open(path, encoding="utf-8") as file:
            about = json.load(file)["values"]
        self.program, self.spec = program, spec
        self.encodings = {name: Encoding(e) for name, e in about.items()}
        self.fault = fault.split(":", 1)
        self.codes = codes == "codes"

    def load(self, request):
        if self.codes:
            self.compute_alone(request["model"])
        self.model = rewrite(request["model"], self.now if self.codes else self.encodings,
                             self.fault)
        return {"ok": True}

    def compute_alone(self, path):
        """Neither weights nor inputs are stored as codes."""
        graph = onnx.load(path, load_external_data=False).graph
        fed = [v.name for v in graph.input] + [t.name for t in graph.initializer] + [
            n.output[0] for n in graph.node if n.op_type == "Constant"]
        self.now = {n: e for n, e in self.encodings.items() if n not in fed}
        for e in self.now.values():
            e.scale = e.whole * np.float32(ROOM)

    def store(self, directory, outputs):
        """Outputs become codes, and what they are worth is said."""
        values = {}
        for value in outputs:
            e = self.now.get(value["name"])
            array = np.load(value["file"]) if e else None
            if e is None or array.dtype != np.float32:
                continue
            scale, zero = float(e.scale[0]), int(e.zero[0])
            np.save(value["file"], (np.rint(array / scale) + zero).astype(np.int16))
            values[value["name"]] = {"dtype": "int16", "scale": scale, "zero_point": zero}
        with open(os.path.join(directory, "groups.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "groups": [], "values": values}, file)

    def run(self, request):
        saved = os.path.join(os.path.dirname(self.model), "saved")
        words = [self.program, "run", self.model, "--target", self.spec, "--save", saved]
        for value in request["inputs"]:
            words += ["--input", value["name"] + "=" + value["file"]]
        done = subprocess.run(words, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            return {"ok": False, "kind": "failed", "error": done.stderr.strip()}
        for value in request["outputs"]:
            shutil.move(os.path.join(saved, value["name"].replace("/", "_") + ".npy"),
                        value["file"])
        if self.codes:
            self.store(os.path.dirname(self.model), request["outputs"])
        return {"ok": True}


if __name__ == "__main__":
    target = Target(*sys.argv[1:])
    for line in sys.stdin:
        asked = json.loads(line)
        does = {"load": target.load, "run": target.run}.get(asked["do"], lambda _: {"ok": False})
        try:
            answer = does(asked)
        except Exception as why:  # whatever it is, the model cannot be had
            answer = {"ok": False, "kind": "failed", "error": repr(why)}
        print(json.dumps(answer), flush=True)
