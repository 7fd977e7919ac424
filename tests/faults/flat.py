# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a search of many probes holds its memory and its descriptors flat.

Usage: flat.py PROGRAM ARGS…

Looks at the program and at its child every 20 ms while they talk, and compares the first tenth
of what it saw with the last. Both have what a search needs from the beginning: the reference's
values and the model. The child keeps nothing. The program keeps of each probe its row of the log,
with what it asked and what came of it (about 900 bytes), what the reference made of what the
target gave (a small tensor here: 800), and without a session the answer. A descriptor or two is
open for a moment while a tensor is handed over. Prints TAP.
"""
import os
import re
import subprocess
import sys
import time

PER_PROBE = 2 << 10
SLACK = {1: 4 << 20, 2: 1 << 19}  # the program: arenas and caches (SQLite's: 2 MB) not full yet
HANDED_OVER = 6


def look(pid):
    with open(f'/proc/{pid}/statm') as file:
        pages = int(file.read().split()[1])
    return len(os.listdir(f'/proc/{pid}/fd')), pages * os.sysconf('SC_PAGESIZE')


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children') as file:
        return [int(word) for word in file.read().split()]


def turns(pid):
    """How often it has waited for anything: more, when it has been asked."""
    with open(f'/proc/{pid}/status') as file:
        return int(re.search(r'^voluntary_ctxt_switches:\s*(\d+)', file.read(), re.M).group(1))


def watch(process):
    """What was seen while the child was asked: at the end the report is made, which is as large as
    the model has nodes."""
    seen, before = [], 0
    while process.poll() is None:
        try:
            for child in children(process.pid)[:1]:
                now = turns(child)
                if now != before:
                    seen.append((child, look(process.pid), look(child)))
                before = now
        except OSError:
            pass  # one of them has just ended
        time.sleep(0.02)
    return seen


def main():
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True)
    begin = time.time()
    seen = watch(process)
    text = process.stdout.read()
    found = re.search(r'(\d+) loads? and (\d+) runs?', text)
    probes = int(found.group(1)) if found else 0
    tenth = max(len(seen) // 10, 1)
    first, last = seen[tenth // 2:tenth + 1], seen[-tenth:]
    print(f'# {probes} loads in {time.time() - begin:.0f} s, looked at {len(seen)} times')
    n = 0
    for who, at in (('the program', 1), ('its child', 2)):
        for what, of in (('descriptors', 0), ('resident bytes', 1)):
            n += 1
            early, late = (max((s[at][of] for s in part), default=0) for part in (first, last))
            allowed = HANDED_OVER if of == 0 else SLACK[at] + (PER_PROBE * probes if at == 1 else 0)
            good = len(seen) > 50 and probes > 1000 and late - early <= allowed
            print(f"{'' if good else 'not '}ok {n} - {who}: {early} {what}, at the end {late}")
    n += 1
    same = len({s[0] for s in seen}) == 1
    print(f"{'' if same else 'not '}ok {n} - it was one child all the time")
    print(f'1..{n}')


main()
