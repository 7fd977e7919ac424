# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for a compiler that gives few outputs of one model, for command:.

Usage: compiler.py ONNXDBG SPEC MOST LOG DIR

Refuses a model with more than MOST outputs, as such compilers do: with a message that names no
number. Else it runs the model on SPEC, and writes the digest of what it compiled to LOG, a line for
each model.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys

program, spec, most, log, folder = sys.argv[1:6]
os.chdir(folder)
with open('model.onnx', 'rb') as file:
    digest = hashlib.sha256(file.read()).hexdigest()
with open('io.json', encoding='utf-8') as file:
    wanted = json.load(file)
outputs = json.loads(subprocess.run([program, 'info', 'model.onnx', '--json'], check=True,
                                    stdout=subprocess.PIPE).stdout)['outputs']
with open(log, 'a', encoding='utf-8') as file:
    print(digest, len(outputs), file=file)
if len(outputs) > int(most):
    sys.exit('compiler: internal error: I/O tensor table overflow')
words = [program, 'run', 'model.onnx', '--target', spec, '--save', 'saved']
for item in wanted['inputs']:
    words += ['--input', f"{item['name']}={item['file']}"]
subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
for item in wanted['outputs']:
    shutil.move(os.path.join('saved', item['name'].replace('/', '_') + '.npy'), item['file'])
