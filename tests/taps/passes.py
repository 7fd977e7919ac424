# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for a compiler that can be stopped after any of its passes, for command:.

Usage: passes.py ONNXDBG --stop-after=N DIR

From its fourth pass on #30 computes wrongly, and groups.json says that it is in a kernel which that
pass made.
"""
import json
import os
import shutil
import subprocess
import sys

PASSES = ['fold-constants', 'fuse-conv', 'layout', 'fuse-attention', 'memory', 'schedule']

program, option, folder = sys.argv[1:4]
stop = int(option.removeprefix('--stop-after='))
os.chdir(folder)
with open('io.json', encoding='utf-8') as file:
    wanted = json.load(file)
wrong = stop > PASSES.index('fuse-attention')


def run(target):
    call = [program, 'run', 'model.onnx', '--save', 'saved', '--target', target]
    for item in wanted['inputs']:
        call += ['--input', f"{item['name']}={item['file']}"]
    return subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


done = run('fault:scale,node=/attn/Softmax,amount=0.05@cpu' if wrong else 'cpu')
if 'has no node' in done.stderr:  # this part of the model is right
    done = run('cpu')
if done.returncode:
    sys.exit(done.stderr)
for item in wanted['outputs']:
    shutil.move(os.path.join('saved', item['name'].replace('/', '_') + '.npy'), item['file'])
groups = [{'kernel': 'attention_0', 'pass': 'fuse-attention', 'nodes': ['/attn/Softmax']}]
with open('groups.json', 'w', encoding='utf-8') as file:
    json.dump({'schema': 1, 'groups': groups if wrong else []}, file)
