# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands that write where there is no room, nothing may be written, or all goes away.

Usage: places.py PROGRAM SERVE PRELOAD GEN_MODEL SCRATCH    (as inject.py)

A file system in memory takes the place of the folder, or of TMPDIR, in a name space of our own, and
is filled until so many pages are left. After each command what inject.py wants to hold has to hold:
one line, old files whole, nothing left. Needs to be root.
"""
import ctypes
import os
import shutil
import subprocess
import sys
import threading

import inject

PAGE = 4096
LEFT = list(range(0, 200, 3)) if inject.ALL else [0, 1, 3, 8, 20, 60, 150]  # pages
LEFT = LEFT if inject.LONG else [0, 8, 60]
NEWNS, PRIVATE, RDONLY, REMOUNT = 0x20000, 1 << 18 | 1 << 14, 1, 32
SIZE = 8 << 20
libc = ctypes.CDLL(None, use_errno=True)


def mount(where, flags, options=''):
    if libc.mount(b'none', where.encode(), b'tmpfs', flags, options.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), where)


def fill(where, pages):
    """Takes all the room of a file system but for so many pages."""
    with open(os.path.join(where, '.filler'), 'wb', 0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            pass
        file.truncate(max(file.tell() - pages * PAGE, 0))


def place(case, name, inside, pages):
    """A copy of what a command finds, with the folder or its TMPDIR on a disk that is full, or, of
    None pages, that cannot be written to."""
    folder = os.path.join(inject.SCRATCH, f'{case["name"]}-{name}-{pages}')
    there = folder + ('' if inside else '.tmp')
    os.makedirs(folder)
    os.makedirs(folder + '.tmp')
    mount(there, 0, f'size={SIZE}')
    shutil.copytree(case['template'], folder, dirs_exist_ok=True)
    if pages is None:
        mount(there, REMOUNT | RDONLY)
    else:
        fill(there, pages)
    return folder, there


def try_place(words, case, name, inside, pages):
    folder, there = place(case, name, inside, pages)
    result = inject.run(folder, words, {})
    filler = os.path.join(there, '.filler')
    if pages is not None:
        os.unlink(filler)
    wrong = inject.judge(folder, case, case['before'], result, True, '')
    libc.umount2(there.encode(), 2)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder + '.tmp', ignore_errors=True)
    for end in ('.out', '.err'):
        os.unlink(folder + end)
    return result[0] == case['status'], wrong + ([result[2].strip()[-300:]] if wrong else [])


def vanish(words, case, inside, delay):
    """The folder, or TMPDIR, is taken away meanwhile: no more is asked than an end and a line."""
    folder = os.path.join(inject.SCRATCH, f'{case["name"]}-gone-{inside}-{delay}')
    shutil.copytree(case['template'], folder)
    os.makedirs(folder + '.tmp')
    gone = folder if inside else folder + '.tmp'
    timer = threading.Timer(delay, lambda: os.rename(gone, gone + '.gone'))
    timer.start()
    try:
        status, _, err, left = inject.run(folder, words, {})
    except FileNotFoundError:  # a busy machine took it away before the program was there
        timer.join()
        for path in (folder, folder + '.tmp', gone + '.gone'):
            shutil.rmtree(path, ignore_errors=True)
        return vanish(words, case, inside, 2 * delay)
    timer.join()
    wrong = [] if status in inject.STATUSES else [f'exit status {status}: {err[-300:]}']
    wrong += [f'{len(left)} processes left'] if left else []
    for path in (folder, folder + '.tmp', gone + '.gone'):
        shutil.rmtree(path, ignore_errors=True)
    return status == case['status'], wrong


def tell(what, results):
    wrong = [(case, word) for case, _, words in results for word in [words] if words]
    well = sum(1 for _, same, words in results if same and not words)
    print(f'# {what:48} {len(results):5} tried, {well} carried on, {len(wrong)} wrong')
    print(f"{'not ' if wrong else ''}ok - {what}: {len(results)} tried")
    for case, words in wrong[:20]:
        print(f'#   {case}: ' + '; '.join(words).replace('\n', ' | '))


def main():
    if libc.unshare(NEWNS) or libc.mount(b'none', b'/', None, PRIVATE, None):
        print('ok - # SKIP full disks: only root may mount one')
        return 0
    subprocess.run([inject.GEN_MODEL, 'demo', os.path.join(inject.SCRATCH, 'demo.onnx')],
                   check=True)
    libc.prctl(36, 1, 0, 0, 0)
    cases = [(c, inject.undisturbed(*c)) for c in inject.COMMANDS]
    rows = [('a full disk', True, LEFT), ('a full TMPDIR', False, LEFT),
            ('a disk that is read-only', True, [None]), ('a TMPDIR that is', False, [None])]
    for what, inside, lefts in rows:
        tell(what, [(f'{c[0]}, {pages} pages left',
                     *try_place(c[1], case, f'{inside:d}', inside, pages))
                    for c, case in cases for pages in lefts])
    for what, inside in (('a folder that goes away', True), ('a TMPDIR that goes away', False)):
        tell(what, [(f'{c[0]} after {delay} s', *vanish(c[1], case, inside, delay))
                    for c, case in cases for delay in ((0.02, 0.07, 0.15) if inject.LONG else (0.02, 0.07))])
    return 0


if __name__ == '__main__':
    sys.exit(main())
