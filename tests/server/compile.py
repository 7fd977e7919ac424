# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for server: that compiles.

Usage: compile.py ONNXDBG SPEC

Writes "compile" or "compiled" to $CALLS for each load, as it was told, and runs nothing but what was
compiled.
"""
import json
import os
import shutil
import subprocess
import sys

program, spec = sys.argv[1:3]
engine = None


def load(request):
    global engine
    engine = os.path.join(os.path.dirname(request['model']), 'engine.onnx')
    with open(os.environ['CALLS'], 'a', encoding='utf-8') as file:
        print('compiled' if request['compiled'] else 'compile', file=file)
    if not request['compiled']:
        if os.path.exists(engine):
            return {'ok': False, 'error': 'something is there'}
        shutil.copy(request['model'], engine)
    return {'ok': True}


def run(request):
    saved = os.path.join(os.path.dirname(engine), 'saved')
    words = [program, 'run', engine, '--target', spec, '--save', saved]
    for value in request['inputs']:
        words += ['--input', value['name'] + '=' + value['file']]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    for value in request['outputs']:
        os.rename(os.path.join(saved, value['name'].replace('/', '_') + '.npy'), value['file'])
    return {'ok': True}


def capabilities(_):
    return {'ok': True, 'verbs': ['compile'], 'version': os.environ.get('VERSION', '1')}


for line in sys.stdin:
    question = json.loads(line)
    does = {'load': load, 'run': run, 'capabilities': capabilities}.get(question['do'])
    print(json.dumps(does(question) if does else {'ok': True}), flush=True)
