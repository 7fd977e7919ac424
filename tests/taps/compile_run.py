# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for a compiler and its runner, for command:.

Usage: compile_run.py ONNXDBG SPEC MODE [capabilities | compile DIR | run DIR | DIR]

Writes every call to $CALLS, "VERB DIGEST" with the digest of the model. Compiling makes two files, one
in a folder, without which nothing runs. MODE says what goes wrong: "fails", "crashes" or "hangs"
while compiling, "whole": it takes no part of the model of $NODES nodes, and $OUTPUTS outputs of
that at most; "garbage", "status", "silent" or "slow" when asked what it can do; "noisy": it
prints more than the answer; "old": it knows no verbs; "none": nothing. With $SLEEP compiling takes so
many seconds, and $VERSION is what it says of itself.
"""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

program, spec, mode = sys.argv[1:4]
words = sys.argv[4:]


def note(*what):
    with open(os.environ['CALLS'], 'a', encoding='utf-8') as file:
        print(*what, file=file)


def digest():
    with open('model.onnx', 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def capabilities():
    note('capabilities', len(os.listdir('.')), sys.stdin.read())
    with open('dropped', 'w', encoding='utf-8'):
        pass
    if mode == 'slow':
        time.sleep(60)
    if mode == 'garbage':
        print('{"verbs": ["compile", "run"')
    elif mode == 'silent':
        print('{"max_outputs": 1}')
    else:
        if mode == 'noisy':
            print('warning: loading the library')
            print('{ warning: no such device }', file=sys.stderr)
        print(json.dumps({'schema': 1, 'verbs': ['compile', 'run'], 'max_outputs': 16,
                          'version': os.environ.get('VERSION'), 'compile': 5, 'run': 0.1}))
    sys.exit(2 if mode == 'status' else 0)


def compile_model():
    note('compile', digest())
    if mode == 'fails':
        sys.exit('error: unsupported operator Gemm')
    if mode == 'whole':
        said = json.loads(subprocess.run([program, 'info', '--json', 'model.onnx'], check=True,
                                         stdout=subprocess.PIPE).stdout)
        nodes, outputs = said['nodes'], len(said['outputs'])
        if nodes != int(os.environ['NODES']):
            sys.exit(f'error: only complete networks are supported, this has {nodes} nodes')
        if outputs > int(os.environ['OUTPUTS']):
            sys.exit(f'error: {outputs} outputs are too many')
    if mode == 'crashes':
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode == 'hangs':
        time.sleep(60)
    os.mkdir('code')
    for name in 'engine', 'code/text':
        with open(name, 'w', encoding='utf-8') as file:
            file.write(digest())
    time.sleep(float(os.environ.get('SLEEP', 0)))
    os.chmod('engine', 0o755)
    os.symlink('engine', 'latest')


def run_model(verb):
    note(verb, digest())
    if verb == 'run':
        for name in 'engine', 'code/text', 'latest':
            with open(name, encoding='utf-8') as file:
                if file.read() != digest():
                    sys.exit(f'{name} is of another model')
        if not os.access('engine', os.X_OK):
            sys.exit('engine cannot be executed')
        with open('engine', 'a', encoding='utf-8'):
            os.utime('engine')
    with open('io.json', encoding='utf-8') as file:
        wanted = json.load(file)
    call = [program, 'run', 'model.onnx', '--target', spec, '--save', 'saved']
    for item in wanted['inputs']:
        call += ['--input', f"{item['name']}={item['file']}"]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    for item in wanted['outputs']:
        shutil.move(os.path.join('saved', item['name'].replace('/', '_') + '.npy'), item['file'])


if mode == 'old' or mode in ('garbage', 'status', 'silent', 'slow') and words != ['capabilities']:
    if len(words) != 1:
        sys.exit('one directory is wanted')
    if words == ['capabilities']:
        note('capabilities')
    os.chdir(words[0])
    run_model('whole')
elif words == ['capabilities']:
    capabilities()
else:
    assert os.getcwd() == os.path.realpath(words[1])
    {'compile': compile_model, 'run': lambda: run_model('run')}[words[0]]()
