#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# A target that compiles and runs apart. What stands for the compiler takes five seconds, and what
# stands for the runtime is onnxdbg:  --target 'command:./compile.py onnxdbg ort'
import json
import shutil
import subprocess
import sys
import time

runtime, spec, verb = sys.argv[1:4]
if verb == "capabilities":
    print(json.dumps({"schema": 1, "verbs": ["compile", "run"], "version": "compile.py 1",
                      "compile": 5, "run": 0.1}))
elif verb == "compile":  # here are model.onnx and its weights
    time.sleep(5)
    shutil.copy("model.onnx", "compiled.onnx")
elif verb == "run":  # here is, besides, what compile has made of it, maybe long ago
    with open("io.json", encoding="utf-8") as file:
        io = json.load(file)
    words = [runtime, "run", "compiled.onnx", "--target", spec, "--save", "saved"]
    for value in io["inputs"]:
        words += ["--input", value["name"] + "=" + value["file"]]
    done = subprocess.run(words, check=False)
    if done.returncode:
        sys.exit("the model cannot be run")
    for value in io["outputs"]:
        shutil.move("saved/" + value["name"].replace("/", "_") + ".npy", value["file"])
