# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a model at random with `onnxdbg extract --run`, and holds what is written against ONNX's
checker, where there is one that knows the model's versions and is content with the model itself.

    cuts.py PROGRAM MODEL FOLDER SEED       prints "ok WORDS", "skip WORDS" or "not ok WORDS"
"""
import json
import os
import random
import re
import subprocess
import sys

try:
    import onnx
    from onnx import checker, defs
except ImportError:
    onnx = None


def checks(path):
    """None: content; else what the checker says, or "" where it cannot be asked."""
    if onnx is None:
        return ""
    model = onnx.load(path, load_external_data=False)
    newest = {"": defs.onnx_opset_version(), "ai.onnx": defs.onnx_opset_version(), "ai.onnx.ml": 3}
    if model.ir_version > onnx.IR_VERSION or any(
            o.version > newest.get(o.domain, 1 << 30) for o in model.opset_import):
        return ""
    try:
        checker.check_model(path)
    except Exception as why:  # whatever it raises is its opinion
        return str(why)
    return None


def extract(program, path, inputs, outputs, to, feeds):
    """The command's result, with the inputs added that it asks for."""
    while True:
        line = [program, "extract", path, "-o", to, "--run"] + feeds
        for name in inputs:
            line += ["--inputs", name]
        for name in outputs:
            line += ["--outputs", name]
        done = subprocess.run(line, capture_output=True, text=True)
        asked = re.search(r"add --inputs (.*)$", done.stderr.strip())
        if not asked or done.returncode != 2 or len(inputs) > 200:
            return done
        inputs += [name for name in asked.group(1).split(",") if name not in inputs]


def main(program, path, folder, seed):
    chance = random.Random(int(seed))
    listed = subprocess.run([program, "nodes", path, "--json"], capture_output=True, text=True)
    nodes = json.loads(listed.stdout)["nodes"]
    makers = {name: node for node in nodes for name in node["outputs"] if name}
    last = chance.choice(nodes[len(nodes) // 2:])
    outputs = [name for name in last["outputs"] if name][:1]
    seen, wait = [], [last]
    while wait:
        node = wait.pop(0)
        for name in node["inputs"]:
            if name in makers and name not in seen:
                seen.append(name)
                wait.append(makers[name])
    inputs = chance.sample(seen, min(len(seen), chance.randint(1, 3)))
    feeds = os.path.join(os.path.dirname(path), "test_data_set_0")
    to = os.path.join(folder, "cut.onnx")
    done = extract(program, path, inputs, outputs, to,
                   ["--inputs-from", feeds] if os.path.isdir(feeds) else [])
    words = (done.stdout + done.stderr).strip().replace("\n", "; ")
    if done.returncode:
        return "not ok " + words
    lint = subprocess.run([program, "lint", path], capture_output=True).returncode
    if lint == 0 and subprocess.run([program, "lint", to], capture_output=True).returncode:
        return "not ok lint finds errors in the cut and none in the model"
    before, after = checks(path), checks(to)
    if before is None and after is not None:
        return "not ok the checker refuses the cut: " + after
    asked = "checker content" if after is None else "checker not asked"
    return f"ok {words.split(': ')[-1]}; {asked}"


print(main(*sys.argv[1:]))
