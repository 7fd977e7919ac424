# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends the program, its child, or both, at random moments, and looks at what is left.

Usage: signals.py PROGRAM SERVE PRELOAD GEN_MODEL SCRATCH    (as inject.py; SIGNALS=n rounds)
"""
import ctypes
import os
import random
import shutil
import signal
import subprocess
import time

import inject

ROUNDS = int(os.environ.get('SIGNALS', 500 if inject.ALL else 60 if inject.LONG else 24))
SEED = int(os.environ.get('SEED', 1))
BISECT = ['bisect', 'demo.onnx', '--target', inject.TARGET, '--session', 's.odb', '--retry']
DUMP = ['dump', 'full', 'demo.onnx', '-f', 'cpu', '--root-dir', 'd', '--strategy', 'each']
EXPORT = ['export', 'demo.onnx', inject.NODE, '--target', inject.TARGET, '-o', 'e']
# What is sent, to whom: the program, its child, both.
BLOWS = [(signal.SIGINT, 'program'), (signal.SIGTERM, 'program'), (signal.SIGHUP, 'program'),
         (signal.SIGKILL, 'program'), (signal.SIGKILL, 'child'), (signal.SIGKILL, 'both'),
         (signal.SIGSTOP, 'child'), (signal.SIGSTOP, 'both')]


def children(pid):
    try:
        with open(f'/proc/{pid}/task/{pid}/children') as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def strike(process, number, whom):
    pids = ([process.pid] if whom != 'child' else []) + (
        children(process.pid) if whom != 'program' else [])
    for pid in pids:
        try:
            os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(0.05)
                os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


def left_over(folder, before):
    wrong = []
    names = set(inject.files(folder))
    extra = [n for n in names if n.endswith('.tmp') or '.tmp/' in n]
    if extra:
        wrong.append('left: ' + ' '.join(sorted(extra)))
    if os.listdir(folder + '.tmp'):
        wrong.append('in TMPDIR: ' + ' '.join(os.listdir(folder + '.tmp')))
    lost = before - names - {'d/dump_info.json', 'd/.dump_journal'}  # one or the other is there
    if lost:
        wrong.append('lost: ' + ' '.join(sorted(lost)))
    if 's.odb' in names and not inject.session_is_whole(os.path.join(folder, 's.odb')):
        wrong.append('the session is damaged')
    return wrong


def round_of(draw, folder, words, number, whom):
    """One run that is struck; what is wrong, and whether it was struck in time."""
    before = set(inject.files(folder))
    env = dict(os.environ, ONNXDBG_SERVE=inject.SERVE, ONNXDBG_ORT='/dev/null',
               TMPDIR=folder + '.tmp', OPENBLAS_NUM_THREADS='1')
    with open(folder + '.err', 'wb') as err:
        process = subprocess.Popen([inject.PROGRAM] + words, cwd=folder, env=env, stderr=err,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   start_new_session=True)
        time.sleep(draw.random() * 0.15)
        struck = process.poll() is None
        strike(process, number, whom)
        try:
            status = process.wait(inject.LIMIT)
        except subprocess.TimeoutExpired:
            status = 'hangs'
            process.kill()
            process.wait()
    wrong = []
    if status not in inject.STATUSES and not (whom != 'child' and status == -number):
        wrong.append(f'exit status {status}')
    if inject.still_there(process.pid):
        wrong.append('processes are left')
    # A program that is killed cannot put its folders away; a signal it hears.
    if number == signal.SIGKILL and whom != 'child':
        sweep(folder)
    return struck, wrong + left_over(folder, before)


def sweep(folder):
    """Who comes later, when they are no longer new, puts them away."""
    for parent in (folder, folder + '.tmp'):
        for name in os.listdir(parent):
            if 'onnxdbg-' in name:
                os.utime(os.path.join(parent, name), (0, 0))
    shutil.rmtree(os.path.join(folder, 'e'), ignore_errors=True)
    inject.run(folder, EXPORT, {})
    shutil.rmtree(os.path.join(folder, 'e'))


def main():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    draw = random.Random(SEED)
    subprocess.run([inject.GEN_MODEL, 'demo', os.path.join(inject.SCRATCH, 'demo.onnx')],
                   check=True)
    table = {}
    for at in range(ROUNDS):
        number, whom = BLOWS[at % len(BLOWS)]
        words = draw.choice([BISECT, DUMP, EXPORT])
        folder = os.path.join(inject.SCRATCH, f'struck-{words[0]}')
        if words is EXPORT or not os.path.isdir(folder):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(folder + '.tmp', ignore_errors=True)
            inject.prepare(folder, [])
        struck, wrong = round_of(draw, folder, words, number, whom)
        row = table.setdefault((number.name, whom), [0, 0, []])
        row[0] += 1
        row[1] += struck
        row[2] += [f'{words[0]}: ' + '; '.join(wrong)] if wrong else []
    for n, ((name, whom), (rounds, struck, wrong)) in enumerate(table.items(), 1):
        print(f"{'not ' if wrong else ''}ok {n} - {name} to {whom}: {rounds} runs, {struck} struck")
        for line in wrong[:8]:
            print('#  ', line)


if __name__ == '__main__':
    main()
