#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A dump done again with NumPy and ONNX's own library, and held against what onnxdbg wrote.

    redo.py dump ROOT MODEL PRINTED [step=N] [begin=I] [end=I]
    redo.py compare LOG TARGET COMPARE [GOLDEN] [tag=X] [th1=X] [th2=X]

Prints what differs, a line each; nothing: all is as it should be.
"""
import json
import math
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def say(*words):
    print(*words)


def topological(model):
    """Nodes in Kahn's order, ties by place in the file."""
    graph = model.graph
    made = {o: i for i, n in enumerate(graph.node) for o in n.output if o}
    needs = []
    for node in graph.node:
        names = set(node.input)
        stack = [a for a in node.attribute]
        while stack:
            attr = stack.pop()
            for body in ([attr.g] if attr.HasField("g") else []) + list(attr.graphs):
                for inner in body.node:
                    names |= set(inner.input)
                    stack += list(inner.attribute)
                names |= {o.name for o in body.output}
        needs.append({made[n] for n in names if n in made} - {len(needs)})
    order, left = [], set(range(len(graph.node)))
    while left:
        now = min(i for i in left if not needs[i] & left)
        left.remove(now)
        order.append(graph.node[now])
    return order


def indexed(model):
    """(output, node) by topological index."""
    return [(o, n) for n in topological(model) if not (n.op_type == "Constant" and not n.domain)
            for o in n.output if o]


def feeds(model):
    weights = {w.name for w in model.graph.initializer} | {
        w.values.name for w in model.graph.sparse_initializer}
    return [i for i in model.graph.input if i.name not in weights]


def generated(entry):
    """The values that an entry of input_info stands for."""
    shape, dtype = entry["tensor_info"]["shape"], entry["tensor_info"]["dtype"]
    rng = np.random.default_rng(entry["seed"])
    if isinstance(entry["low"], int) or dtype == "bool":
        return rng.integers(int(entry["low"]), int(entry["high"]), shape,
                            endpoint=True).astype(dtype)
    return rng.uniform(entry["low"], entry["high"], shape).astype(dtype)


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a)
                      and math.isnan(b))


def tensor_info(t):
    info = {"dtype": str(t.dtype), "shape": list(t.shape), "has_nan": False, "has_inf": False,
            "mean": None, "median": None, "min": None, "max": None}
    if t.dtype.kind in "OUS":
        info["dtype"] = "object"
        return info
    info["has_nan"] = bool(np.isnan(t).any())
    info["has_inf"] = bool(np.isinf(t).any())
    if t.size and t.dtype.kind != "c":
        wide = t.astype(np.float64).ravel()
        with np.errstate(all="ignore"):
            info.update(mean=float(np.mean(wide)), median=float(np.median(wide)),
                        min=float(np.min(wide)), max=float(np.max(wide)))
    return info


def check_info(what, said, t):
    for key, value in tensor_info(t).items():
        if not same(said[key], value):
            say(what, key, "is", said[key], "and should be", value)


def file_name(name):
    return name.replace("/", "_").replace("\\", "_")


def find(folder, prefix, name):
    """A file's name, cut off or not."""
    whole = prefix + file_name(name)
    if os.path.exists(os.path.join(folder, whole + ".npy")):
        return os.path.join(folder, whole + ".npy")
    near = [f for f in os.listdir(folder) if prefix and f.startswith(prefix)]
    return os.path.join(folder, near[0]) if len(near) == 1 else None


def load(path):
    if path.endswith(".pb"):
        t = onnx.TensorProto()
        with open(path, "rb") as file:
            try:
                t.ParseFromString(file.read())
                return numpy_helper.to_array(t) if t.dims or t.data_type else None
            except Exception:
                return None
    return np.load(path, allow_pickle=False)


def dump(root, path, printed, options):
    text = open(os.path.join(root, "dump_info.json"), encoding="utf-8").read()
    info = json.loads(text)
    if json.dumps(info, indent=4) != text:
        say("dump_info.json is not as json.dump(indent=4) writes it")
    model = onnx.load(path, load_external_data=False)
    outputs = indexed(model)
    names = [o for o, _ in outputs]
    meta = info["meta_info"]
    expect = {"input_names": [i.name for i in feeds(model)],
              "output_names": [o.name for o in model.graph.output], "node_output_names": names,
              "default_float_min": 0.0, "default_float_max": 1.0, "default_int_min": 0,
              "default_int_max": 100, "extract_subgraph": False}
    for key, value in expect.items():
        if meta[key] != value:
            say("meta_info", key, "differs")
    begin, end = int(options.get("begin", 0)), int(options.get("end", len(names) - 1))
    chosen = sorted(set(range(begin, end + 1, int(options.get("step", 1)))) | {end})
    if [e["node_output_name"] for e in info["node_output_info"]] != [names[i] for i in chosen]:
        say("node_output_info has other outputs")
        return
    fed = [e["input_name"] for e in info["input_info"]]
    for at, entry in enumerate(info["input_info"]):
        file = file_name(fed[at])
        twins = 0 if file == fed[at] else sum(
            file_name(n) == file and (i < at or n == file) for i, n in enumerate(fed) if i != at)
        t = np.load(os.path.join(root, "inputs", file + ("~%d" % twins if twins else "") + ".npy"))
        check_info("input " + entry["input_name"], entry["tensor_info"], t)
        if not entry["use_external"] and t.dtype.kind in "fiub":
            again = generated(entry)
            if again.tobytes() != t.tobytes():
                say("input", entry["input_name"], "is not NumPy's")
    lines = open(printed, encoding="utf-8").read().splitlines()
    folder, want = os.path.join(root, "outputs"), []
    for i, entry in zip(chosen, info["node_output_info"]):
        name, node = outputs[i]
        if "error" in entry:
            continue
        if (entry["node_name"], entry["node_type"], entry["node_input_name"]) != (
                node.name, node.op_type, list(node.input)):
            say("output", name, "is another node's")
        said = entry["tensor_info"]
        want.append("topology index %d, output %s, shape %s, dtype %s" %
                    (i, name, tuple(said["shape"]), said["dtype"]))
        file = find(folder, "topoidx_%05d__" % i, name)
        t = load(file) if file else None
        if not file:
            say("output", name, "has no file")
        elif t is not None:
            check_info("output " + name, said, t)
    if lines[:len(want)] != want:
        bad = [(a, b) for a, b in zip(lines, want) if a != b]
        say("printed lines differ:", bad[:1] or (len(lines), len(want)))


def diff3(e, b, th):
    e, b = e.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        d = np.where(np.abs(b) > th, np.abs(e - b) / (np.abs(b) + 1e-9), np.abs(e - b))
    return float(np.max(d)), float(np.mean(d))


def diff2(e, b):
    e, b = e.astype(np.float32), b.astype(np.float32)
    with np.errstate(all="ignore"):
        return math.sqrt(np.sum((e - b) ** 2) / np.sum(b ** 2))


def all_close(e, b, th):
    try:
        np.testing.assert_allclose(e.astype(np.float64), b.astype(np.float64), rtol=th, atol=th)
        return True
    except AssertionError:
        return False


def compare(log, dirs, options):
    tag, th1 = float(options.get("tag", 10)), float(options.get("th1", 1e-6))
    names = sorted(set.intersection(*[{f for f in os.listdir(d) if f.endswith(".npy")}
                                      for d in dirs]))
    lines = open(log, encoding="utf-8").read().splitlines()
    for i, name in enumerate(names):
        t = [np.load(os.path.join(d, name)) for d in dirs]
        odd = any(x.dtype.kind in "fc" and not np.isfinite(x).all() for x in t)
        head = "index: %d | %s | nan_inf: %s | diff2: %r | " % (i, name, odd, diff2(t[0], t[1]))
        if not lines[i].startswith(head):
            say("line", i, "is", lines[i], "and should begin", head)
            continue
        if len(t) == 2:
            rest = "all_close: %s | th: %r" % (all_close(t[0], t[1], th1), th1)
            if lines[i] != head + rest:
                say("line", i, "is", lines[i], "and should be", head + rest)
            continue
        target, other, parts = diff3(t[0], t[2], th1), diff3(t[1], t[2], th1), []
        for k, which in enumerate(("max", "mean")):
            part = "diff3_%s_sw: %r | diff3_%s_g: %r*%r=%r" % (
                which, target[k], which, other[k], tag, other[k] * tag)
            head += "diff3_%s=%s | " % (which, "pass" if target[k] <= tag * other[k] else "fail")
            parts.append(part)
        if lines[i] != head + " | ".join(parts):
            say("line", i, "is", lines[i], "and should be", head + " | ".join(parts))
    if not names:
        say("nothing to compare")


def main():
    words = [w for w in sys.argv[2:] if "=" not in w or os.path.exists(w)]
    options = dict(w.split("=", 1) for w in sys.argv[2:] if w not in words)
    if sys.argv[1] == "dump":
        dump(words[0], words[1], words[2], options)
    else:
        compare(words[0], words[1:], options)


main()
