# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends signals to the program at work on a terminal, and looks at what is left, there as well.

Usage: screen.py PROGRAM SERVE PRELOAD GEN_MODEL SCRATCH    (as inject.py; SIGNALS=n rounds, SEED=n)

A search runs, keys are typed, and at a random moment, from the program's first instruction on, it is
ended, or stopped and continued, or the terminal takes another size a thousand times, or goes away.
After each: the terminal has the modes that it had, the alternate screen is left, the cursor is
shown, no process and no file is left, and the session can be read.
"""
import fcntl
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

import inject
import signals

ROUNDS = int(os.environ.get('SIGNALS', 500 if inject.ALL else 21 if inject.LONG else 14))
SEED = int(os.environ.get('SEED', 1))
SIZES = 1000 if inject.LONG else 300  # in a storm
KEYS = [b'j', b'k', b'G', b'g', b'\t', b'\r', b'\x1b', b'/', b'?', b'd', b'n', b'h', b'l', b'F']
WORDS = ['demo.onnx', '--target', inject.TARGET, '--session', 's.odb', '--strategy', 'each',
         '-x', 'bisect']
# What a terminal is like that nobody has touched, of the modes that programs set.
UNTOUCHED = {'7': True, '25': True}  # lines wrap, the cursor is shown
MODE = re.compile(rb'\x1b\[\?([0-9;]+)([hl])|\x1b([=>])')


def leader(words, env, folder, told, go):
    """In the terminal's session: once the pipe `go` is written to, runs the program as a shell does,
    in a group of its own, and tells the other pipe what becomes of it. Never returns."""
    os.read(go, 1)
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.chdir(folder)
        os.execve(words[0], words, env)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the program's; one of before is not lost on it
    os.write(told, b'pid %d\n' % pid)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.write(told, b'stopped\n')
        else:
            os.write(told, b'ended %d\n' % os.waitstatus_to_exitcode(status))
            os._exit(0)


class Terminal:
    """The program on a terminal, whose output is read whenever we wait."""

    def __init__(self, folder):
        env = dict(os.environ, ONNXDBG_SERVE=inject.SERVE, ONNXDBG_ORT='/dev/null',
                   TMPDIR=folder + '.tmp', HOME=folder + '.home', TERM='xterm-256color',
                   OPENBLAS_NUM_THREADS='1', LC_ALL='C.UTF-8')
        self.told, told = os.pipe()
        wait, go = os.pipe()
        self.out, self.lines, self.text = b'', [], b''
        self.session, self.master = pty.fork()
        if not self.session:
            leader([inject.PROGRAM] + WORDS, env, folder, told, wait)
        os.close(told)
        os.close(wait)
        self.resize(80, 24)
        self.modes = termios.tcgetattr(self.master)
        os.write(go, b'.')
        os.close(go)
        self.wait('pid', 10)
        self.pid = int(self.lines[0].split()[1])

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        """What comes within that time."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            fds = [fd for fd in (self.master, self.told) if fd >= 0]
            ready, _, _ = select.select(fds, [], [], max(left, 0))
            for fd in ready:
                try:
                    data = os.read(fd, 65536)
                except OSError:
                    data = b''
                if fd == self.master:
                    self.out += data
                else:
                    self.text += data
                    *lines, self.text = self.text.split(b'\n')
                    self.lines += [line.decode() for line in lines]
                if not data:
                    time.sleep(0.005)
            if left <= 0:
                return

    def wait(self, word, seconds):
        """Until the program has come to that; whether it has. What it printed before is read."""
        end = time.monotonic() + seconds
        while not any(line.startswith(word) for line in self.lines):
            if time.monotonic() > end:
                return False
            self.read(0.01)
        self.read(0)
        return True

    def touched(self):
        """What is not as it was."""
        modes, wrong = dict(UNTOUCHED), []
        for numbers, how, keypad in MODE.findall(self.out):
            for number in numbers.decode().split(';') if numbers else ['keypad']:
                modes[number] = how == b'h' or keypad == b'='
        wrong += [f'mode {n} is {"on" if on else "off"}' for n, on in modes.items()
                  if on != UNTOUCHED.get(n, False)]
        if termios.tcgetattr(self.master) != self.modes:
            wrong.append('stty says something else')
        return wrong

    def send(self, number, group=False):
        try:
            (os.killpg if group else os.kill)(self.pid, number)
        except ProcessLookupError:
            pass

    def type(self, draw, most):
        for _ in range(draw.randrange(most)):
            try:
                os.write(self.master, draw.choice(KEYS))
            except OSError:
                return
            self.read(0.005)


def end_by(number):
    return lambda draw, terminal: terminal.send(number) or []


def stop(draw, terminal):
    wrong = []
    terminal.send(signal.SIGTSTP)
    if terminal.wait('stopped', inject.LIMIT):
        wrong = ['stopped: ' + word for word in terminal.touched()]
    elif not terminal.wait('ended', 0):
        wrong = ['it does not stop']
    terminal.send(signal.SIGCONT, True)
    terminal.read(draw.random() * 0.2)
    terminal.send(signal.SIGTERM)
    return wrong


def storm(draw, terminal):
    for at in range(SIZES):
        if terminal.wait('ended', 0):
            return ['it ends']
        terminal.resize(draw.randint(1, 300), draw.randint(1, 100))
        if at % 16 == 0:
            terminal.type(draw, 2)
        terminal.read(draw.choice([0, 0, 0.001]))
    terminal.send(signal.SIGTERM)
    return []


def hang_up(draw, terminal):
    os.close(terminal.master)
    terminal.master = -1
    return []


BLOWS = [('SIGINT', end_by(signal.SIGINT)), ('SIGTERM', end_by(signal.SIGTERM)),
         ('SIGHUP', end_by(signal.SIGHUP)), ('SIGQUIT', end_by(signal.SIGQUIT)),
         ('SIGTSTP and SIGCONT', stop), (f'{SIZES} sizes', storm),
         ('the terminal goes away', hang_up)]
ENDS = inject.STATUSES | {-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGQUIT}


def round_of(draw, folder, blow):
    """One run that is struck; what is wrong, and whether it was struck before it ended."""
    before = set(inject.files(folder))
    terminal = Terminal(folder)
    # Half of them while it starts, and a storm when there is a screen.
    terminal.read(0.5 if blow is storm else draw.choice([0.1, 1]) * draw.random())
    terminal.type(draw, 6)
    struck = not terminal.wait('ended', 0)
    wrong = blow(draw, terminal)
    terminal.send(signal.SIGCONT, True)  # a key may have led to `suspend`
    if not terminal.wait('ended', inject.LIMIT):
        wrong.append('it does not end')
        terminal.send(signal.SIGKILL)
        terminal.wait('ended', 5)
    status = int(terminal.lines[-1].split()[1])
    if status not in ENDS:
        wrong.append(f'exit status {status}')
    if terminal.master >= 0:
        wrong += terminal.touched()
        os.close(terminal.master)
    os.close(terminal.told)
    os.waitpid(terminal.session, 0)
    if inject.still_there(terminal.session):
        wrong.append('processes are left')
    return struck, wrong + signals.left_over(folder, before)


def main():
    draw = random.Random(SEED)
    subprocess.run([inject.GEN_MODEL, 'demo', os.path.join(inject.SCRATCH, 'demo.onnx')],
                   check=True)
    folder = os.path.join(inject.SCRATCH, 'screen')
    inject.prepare(folder, [])
    os.makedirs(folder + '.home')
    table = {}
    for at in range(ROUNDS):
        name, blow = BLOWS[at % len(BLOWS)]
        struck, wrong = round_of(draw, folder, blow)
        row = table.setdefault(name, [0, 0, []])
        row[0] += 1
        row[1] += struck
        row[2] += ['; '.join(wrong)] if wrong else []
    for n, (name, (rounds, struck, wrong)) in enumerate(table.items(), 1):
        print(f"{'not ' if wrong else ''}ok {n} - on a terminal, {name}: {rounds} runs, "
              f'{struck} struck')
        for line in wrong[:8]:
            print('#  ', line)
    shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
