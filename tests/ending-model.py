# SPDX-License-Identifier: GPL-3.0-or-later
"""ending-model.py FOLDER: a model of one operator that takes many seconds, and two large arrays that
take no room on the disk. Needs nothing but Python.
"""
import os
import sys

SIDE, GIB = 6000, 1 << 30


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def put(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name):
    dims = b''.join(put(1, put(1, SIDE)) for _ in range(2))
    return put(1, name) + put(2, put(1, put(1, 1) + put(2, dims)))


def array(path, gib):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % (gib * GIB // 4)
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00\x76\x00' + head.ljust(117).encode() + b'\n')
        file.flush()
        os.truncate(file.fileno(), 128 + gib * GIB)


def tensor(path):
    """One of the model's, zeros all of it."""
    size = 4 * SIDE * SIDE
    with open(path, 'wb') as file:
        file.write(put(1, SIDE) + put(1, SIDE) + put(2, 1) + varint(9 << 3 | 2) + varint(size))
        file.flush()
        os.truncate(file.fileno(), file.tell() + size)


folder = sys.argv[1]
node = put(1, 'x') + put(1, 'x') + put(2, 'y') + put(3, 'long') + put(4, 'MatMul')
graph = put(1, node) + put(2, 'g') + put(11, value_info('x')) + put(12, value_info('y'))
os.makedirs(f'{folder}/case/test_data_set_0')
with open(f'{folder}/case/model.onnx', 'wb') as file:
    file.write(put(1, 8) + put(7, graph) + put(8, put(1, '') + put(2, 17)))
for name in 'input_0', 'output_0':
    tensor(f'{folder}/case/test_data_set_0/{name}.pb')
for name in 'one', 'two':
    array(f'{folder}/{name}.npy', 16)
