# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory a command takes, with all processes that it starts.

Usage: peak.py FILE COMMAND…

Looks twenty times a second, and writes the most that was resident at once into FILE, in MiB.
What processes share is counted for each of them. Ends as the command does.
"""
import os
import re
import subprocess
import sys
import time


def family(pid):
    yield pid
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/children') as file:
            for child in file.read().split():
                yield from family(int(child))


def resident(pid):
    with open(f'/proc/{pid}/status') as file:
        found = re.search(r'^VmRSS:\s*(\d+) kB', file.read(), re.M)
    return int(found.group(1)) if found else 0


def main():
    command = subprocess.Popen(sys.argv[2:])
    most = 0
    while command.poll() is None:
        try:
            most = max(most, sum(resident(pid) for pid in family(command.pid)))
        except OSError:  # one has ended meanwhile
            pass
        time.sleep(0.05)
    with open(sys.argv[1], 'w') as file:
        file.write(f'{most // 1024}\n')
    return command.returncode


sys.exit(main())
