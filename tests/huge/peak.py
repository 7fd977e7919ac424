# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory a command takes, with all processes that it starts.

Usage: peak.py FILE [--own | --alone] COMMAND…

Looks twenty times a second, and writes the most that was resident at once into FILE, in MiB.
What processes share is counted for each of them. With --alone it is the command's process, and with
--own that one's own memory: no pages of files, which the system takes back. Ends as the command does.
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


def resident(pid, kind):
    with open(f'/proc/{pid}/status') as file:
        found = re.search(rf'^{kind}:\s*(\d+) kB', file.read(), re.M)
    return int(found.group(1)) if found else 0


def main():
    alone = {'--own': 'RssAnon', '--alone': 'VmHWM'}.get(sys.argv[2])
    command = subprocess.Popen(sys.argv[3 if alone else 2:])
    most = 0
    while command.poll() is None:
        try:
            pid = command.pid
            now = (resident(pid, alone) if alone
                   else sum(resident(each, 'VmRSS') for each in family(pid)))
            most = max(most, now)
        except OSError:  # one has ended meanwhile
            pass
        time.sleep(0.05)
    with open(sys.argv[1], 'w') as file:
        file.write(f'{most // 1024}\n')
    return command.returncode


sys.exit(main())
