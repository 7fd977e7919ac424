#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel or calibration? Encodings of real float models, honest and with faults planted.

    sweep.py ONNXDBG MODELS FOLDER SPEC SECONDS [MODEL…]

For each model `onnxdbg calibrate` writes encodings, by another method from model to model, and
quantised.py is a target that computes by them on SPEC. Each line says what was tried and what came of it:

    honest       nothing planted: nobody may be accused
    kernel KIND  one node's kernel is wrong: that node must be
    calib KIND   one encoding is wrong, for the target as well: the calibration must be, and no node
"""
import json
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
METHODS = ["minmax", "percentile", "entropy"]
KERNEL = ["scale", "zero", "floor", "saturate", "wrap", "bias", "channel"]
CALIB = ["clip 2", "clip 4", "clip 10", "other", "channel lost", "channel clipped"]


class Model:
    def __init__(self, program, folder, to, spec, method):
        self.program, self.spec = program, spec
        self.path = os.path.join(folder, "model.onnx")
        self.name = os.path.basename(folder)
        sets = os.path.join(folder, "test_data_set_0")
        self.inputs = ["--inputs-from", sets] if os.path.isdir(sets) else []
        self.to = os.path.join(to, self.name)
        os.makedirs(self.to, exist_ok=True)
        self.encodings = os.path.join(self.to, "encodings.json")
        done = subprocess.run([program, "calibrate", self.path, *self.inputs, "--method", method,
                               "-o", self.encodings], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[:200])
        with open(self.encodings, encoding="utf-8") as file:
            self.made = json.load(file)

    def search(self, encodings, fault=""):
        found = os.path.join(self.to, "found.json")
        words = ["server:/usr/bin/python3", os.path.join(HERE, "quantised.py"), self.program,
                 self.spec.replace(",", "\\,").replace("=", "\\="), encodings] + ([fault] if fault else [])
        if os.path.exists(found):
            os.remove(found)
        done = subprocess.run([self.program, "bisect", self.path, *self.inputs, "--encodings", encodings,
                               "--target", " ".join(words), "--json", found, "--budget", "120"],
                              capture_output=True, text=True)
        if not os.path.exists(found):
            raise RuntimeError("exit status %d: %s" % (done.returncode, done.stderr.strip()[-300:]))
        with open(found, encoding="utf-8") as file:
            report = json.load(file)
        report["exit"] = done.returncode
        if "encodings" not in report:
            raise RuntimeError("exit status %d: %s" % (done.returncode, done.stderr.strip()[-300:]))
        return report

    def nodes(self):
        """What each node makes, reads, and is."""
        import onnx
        return list(onnx.load(self.path, load_external_data=False).graph.node)


def values_of(report):
    return {v["name"]: v for v in report["encodings"]["values"]}


def accused(report):
    return [(c["index"], c["segment"]) for c in report["culprits"]]


def say(model, what, came, about=""):
    print("%-28s %-22s %-8s %s" % (model.name, what, came, about), flush=True)


def far(report):
    """The worst output: simulation to float."""
    numbers = [o["sqnr_simulation_float"] for o in report["encodings"]["outputs"]]
    return min([float(n) for n in numbers if n is not None] or [float("inf")])


def honest(model):
    report = model.search(model.encodings)
    right = report["exit"] == 0 and not report["culprits"]
    about = "exit %d, culprits %s, %s" % (report["exit"], accused(report)[:3],
                                           "calibration noted" if report["encodings"]["calibration_at_fault"]
                                           else "no note")
    say(model, "honest", "right" if right else "WRONG", about)
    return report


def kernel(model, base, kind, dice):
    nodes, values = model.nodes(), model.made["values"]
    choices = []
    for i, node in enumerate(nodes):
        weights = [n for n in node.input[1:2] if isinstance(values.get(n, {}).get("scale"), list)]
        if kind == "bias" and (node.op_type not in ("Conv", "Gemm") or len(node.input) < 3
                               or node.input[2] not in values):
            continue
        if kind == "channel" and not weights:
            continue
        if kind not in ("bias", "channel") and node.output[0] not in values:
            continue
        if node.op_type != "Constant" and node.output[0] in values_of(base):
            choices.append((i, node.output[0]))
    if not choices:
        return
    index, value = dice.choice(choices)
    report = model.search(model.encodings, kind + ":" + value)
    seen = values_of(report).get(value, {}).get("sqnr_target_simulation")
    if seen in ("inf", None) or (isinstance(seen, float) and seen > 200):
        say(model, "kernel " + kind, "nothing", "%s is what it would be" % value)
        return
    named = [c for c in report["culprits"] if c["index"] == index]
    others = [c["index"] for c in report["culprits"] if c["index"] != index]
    right = report["exit"] == 1 and named and report["culprits"][0]["index"] == index
    say(model, "kernel " + kind, "right" if right else "WRONG",
        "#%d %s, %s dB off, exit %d, accused %s, others %s" %
        (index, value, seen, report["exit"], accused(report)[:3], others[:3]))


def spoil(model, kind, dice):
    """Encodings with one that is wrong; its name."""
    made = json.loads(json.dumps(model.made))
    values = made["values"]
    plain = [n for n, e in values.items() if not isinstance(e.get("scale"), list) and e["bits"] == 8]
    lists = [n for n, e in values.items() if isinstance(e.get("scale"), list) and e["bits"] == 8]
    if kind.startswith("clip"):
        name = dice.choice(plain)
        values[name]["scale"] /= float(kind.split()[1])
    elif kind == "other":
        pairs = [(a, b) for a in plain for b in plain
                 if not 0.125 < values[a]["scale"] / values[b]["scale"] < 8]
        if not pairs:
            return None, None
        name, other = dice.choice(pairs)
        values[name] = values[other]
    else:
        if not lists:
            return None, None
        name = dice.choice(lists)
        scales = values[name]["scale"]
        scales[dice.randrange(len(scales))] *= 1000 if kind == "channel lost" else 1e-3
    path = os.path.join(model.to, "bad.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    return path, name


def calibration(model, base, kind, dice):
    path, name = spoil(model, kind, dice)
    if not path:
        return
    report = model.search(path)
    before, now = far(base), far(report)
    harm = 0 if before == now else before - now
    blamed = report["encodings"]["calibration_at_fault"]
    bad = [v["name"] for v in report["encodings"]["values"] if v.get("at_fault")]
    if report["exit"] or report["culprits"]:
        came = "WRONG"
    elif harm < 3 and not blamed:
        came = "nothing"
    else:
        came = "right" if blamed else "MISSED"
    say(model, "calib " + kind, came, "%s, outputs lose %.1f dB, exit %d, accused %s, at fault %s" %
        (name, harm, report["exit"], accused(report)[:3],
         "it" if name in bad[:3] else ("it, behind others" if name in bad else bad[:2])))


def main():
    program, models, to, spec, seconds = sys.argv[1:6]
    names, end = sys.argv[6:], time.time() + float(seconds)
    for i, name in enumerate(names):
        if time.time() > end:
            break
        dice = random.Random(name)
        try:
            model = Model(program, os.path.join(models, name), to, spec, METHODS[i % 3])
            base = honest(model)
            for k in range(2):
                kernel(model, base, KERNEL[(2 * i + k) % len(KERNEL)], dice)
            for k in range(3):
                calibration(model, base, CALIB[(3 * i + k) % len(CALIB)], dice)
        except RuntimeError as why:
            print("%-28s %-22s %s" % (name, "left out", why), flush=True)


main()
