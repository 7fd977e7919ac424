# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for server: that does what it should not, at the first run of a model.

Usage: odd.py LOG HOW ONNXDBG

Runs models with onnxdbg's reference otherwise, and writes a line to LOG for its start and its end.
"""
import json
import os
import signal
import subprocess
import sys
import time

log, how, program = sys.argv[1:4]
model = None


def say(text):
    with open(log, 'a', encoding='utf-8') as file:
        print(text, file=file)


def put(text):
    os.write(1, text if isinstance(text, bytes) else text.encode())


def answer(**what):
    put(json.dumps(what) + '\n')


def compute(request):
    """Runs the model; what is written is where the request says."""
    saved = os.path.join(os.path.dirname(model), 'saved')
    words = [program, 'run', model, '--target', 'cpu', '--save', saved]
    for value in request['inputs']:
        words += ['--input', value['name'] + '=' + value['file']]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    for value in request['outputs']:
        os.rename(os.path.join(saved, value['name'].replace('/', '_') + '.npy'), value['file'])


def listed(request, place):
    """The outputs under other names."""
    found = []
    for at, value in enumerate(request['outputs']):
        os.rename(value['file'], os.path.join(os.path.dirname(model), f'result{at}.npy'))
        found.append({'name': value['name'], 'file': place(f'result{at}.npy')})
    return found


def link(request):
    for value in request['outputs']:
        os.rename(value['file'], value['file'] + '.real')
        os.symlink(value['file'] + '.real', value['file'])
    answer(ok=True)


def fifo(request):
    for value in request['outputs']:
        os.remove(value['file'])
        os.mkfifo(value['file'])
    answer(ok=True)


def lose(request):
    os.remove(request['outputs'][0]['file'])
    answer(ok=True)


def half():
    put('{"ok": tr')
    os._exit(0)


def leave():
    """A process that holds our output, when we are gone."""
    if os.fork() == 0:
        time.sleep(100)
    sys.stderr.write('gone\n')
    os._exit(4)


DOES = {
    'crash': lambda r: os.kill(os.getpid(), signal.SIGSEGV),
    'exit': lambda r: (sys.stderr.write('out of ideas\n'), os._exit(3)),
    'half': lambda r: half(),
    'leave': lambda r: leave(),
    'hang': lambda r: time.sleep(1000),
    'deaf': lambda r: (signal.signal(signal.SIGTERM, signal.SIG_IGN), time.sleep(1000)),
    'close': lambda r: (os.close(1), time.sleep(1000)),
    'long': lambda r: (put('{"ok": "' + 'x' * (20 << 20)), time.sleep(1000)),
    'deep': lambda r: (put('{"ok":' + '[' * 100000 + '\n'), answer(ok=True)),
    'bytes': lambda r: (put(b'\xff\xfe{"ok": "\xff"}\n\0\n'), answer(ok=True)),
    'array': lambda r: (put('[true]\nnull\n{}\n{"ok": 1}\n'), answer(ok=True)),
    'flood': lambda r: (put('{"noise": 1}\n' * 200000), answer(ok=True)),
    'errors': lambda r: (sys.stderr.write('e' * (1 << 20)), answer(ok=True)),
    'noise': lambda r: (put('Loading...\nand dots ... '), answer(ok=True)),
    'twice': lambda r: (answer(ok=True), answer(ok=True)),
    'unsupported': lambda r: answer(ok=False, kind='unsupported', error='no Frobnicate', node='n1'),
    'rejected': lambda r: answer(ok=False, kind='rejected', error='too\nlarge'),
    'failed': lambda r: answer(ok=False, kind='failed', error='device lost', node=None),
    'wordless': lambda r: answer(ok=False),
    'acts': lambda r: answer(ok=False, error='\x1b[2J\x9b', node='\x1b]0;x\x07'),
    'lost': lose,
    'link': link,
    'fifo': fifo,
    'listed': lambda r: answer(ok=True, outputs=listed(r, lambda name: name)),
    'whole': lambda r: answer(ok=True, outputs=listed(
        r, lambda name: os.path.join(os.path.dirname(model), name))),
    'above': lambda r: answer(ok=True, outputs=listed(r, lambda name: '../' + name)),
    'elsewhere': lambda r: answer(ok=True, outputs=listed(r, lambda name: '/etc/passwd')),
    'folder': lambda r: answer(ok=True, outputs=listed(r, lambda name: '..')),
    'number': lambda r: answer(ok=True, outputs=[{'name': 'y', 'file': 7}]),
    'text': lambda r: answer(ok=True, outputs='y'),
    'unread': lambda r: answer(ok=True, outputs=[{'name': v['name'], 'file': None}
                                                 for v in r['outputs']]),
    'right': lambda r: answer(ok=True),
    'few': lambda r: answer(ok=True),
}

say('start')
if how == 'stillborn':
    sys.exit('no such library')
for line in sys.stdin:
    request = json.loads(line)
    if request['do'] == 'load':
        model = request['model']
        answer(ok=True)
    elif request['do'] == 'run':
        say(f"outputs {len(request['outputs'])}")
        compute(request)
        DOES[how](request)
    elif request['do'] == 'capabilities' and how == 'deaf':
        answer(ok=False, error='what?')
    elif request['do'] == 'capabilities' and how in ('few', 'many'):
        answer(ok=True, version='odd 1.0', max_outputs=4 if how == 'few' else 'many', colour=[{}])
    else:
        answer(ok=True, version='odd 1.0')
say('end')
