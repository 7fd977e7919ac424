#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Any command line that runs a model, as a program that stays: onnxdbg-server(7).

    onnxdbg bisect model.onnx --target 'server:python3 server.py onnxdbg ort'
"""
import json
import os
import shutil
import subprocess
import sys

runtime, target = sys.argv[1:3]
model = None


def load(request):
    global model  # a runtime would compile it here
    model = request["model"]
    return {"ok": True}


def run(request):
    saved = os.path.join(os.path.dirname(model), "saved")
    words = [runtime, "run", model, "--target", target, "--save", saved]
    for value in request["inputs"]:
        words += ["--input", value["name"] + "=" + value["file"]]
    done = subprocess.run(words, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        kind = "unsupported" if "not supported" in done.stderr else "failed"
        return {"ok": False, "kind": kind, "error": done.stderr.strip()}
    for value in request["outputs"]:
        shutil.move(os.path.join(saved, value["name"].replace("/", "_") + ".npy"), value["file"])
    return {"ok": True}


for line in sys.stdin:  # ends with our standard input
    request = json.loads(line)
    does = {"load": load, "run": run}.get(request["do"], lambda _: {"ok": False})
    print(json.dumps(does(request)), flush=True)
