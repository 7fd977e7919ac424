# SPDX-License-Identifier: GPL-3.0-or-later
"""ending-model.py FOLDER: a model of one operator that takes many seconds; two whose Loop has no
trip count and never ends, of which one gathers; and two large arrays that take no room on the disk.
Needs nothing but Python.
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


def value_info(name, dims=(SIDE, SIDE), elem=1):
    shape = b''.join(put(1, put(1, n)) for n in dims)
    return put(1, name) + put(2, put(1, put(1, elem) + put(2, shape)))


def node(op, inputs, outputs, *attributes):
    names = b''.join(put(1, name) for name in inputs) + b''.join(put(2, name) for name in outputs)
    return names + put(3, outputs[0]) + put(4, op) + b''.join(put(5, a) for a in attributes)


def graph(nodes, inputs, outputs):
    return (b''.join(put(1, n) for n in nodes) + put(2, 'g') + b''.join(put(11, i) for i in inputs)
            + b''.join(put(12, o) for o in outputs))


def case(folder, made, n_outputs=1):
    """In the layout of ONNX's backend tests."""
    os.makedirs(f'{folder}/test_data_set_0')
    with open(f'{folder}/model.onnx', 'wb') as file:
        file.write(put(1, 8) + put(7, made) + put(8, put(1, '') + put(2, 17)))
    for name in ['input_0'] + [f'output_{i}' for i in range(n_outputs)]:
        tensor(f'{folder}/test_data_set_0/{name}.pb')


def endless(gathers):
    """Goes on while true is true."""
    carried = value_info('go', (), 9), value_info('a')
    made = [value_info('go2', (), 9), value_info('a2')] + [value_info('s')] * gathers
    nodes = [node('Identity', ['go'], ['go2']), node('Identity', ['a'], ['a2'])]
    nodes += [node('Identity', ['a'], ['s'])] * gathers
    body = graph(nodes, (value_info('i', (), 7),) + carried, made)
    true = put(1, 'value') + put(5, put(2, 9) + put(9, b'\x01')) + put(20, 4)
    turns = put(1, 'body') + put(6, body) + put(20, 5)
    outputs = [value_info('y'), value_info('all', (1, SIDE, SIDE))][:1 + gathers]
    return graph([node('Constant', [], ['true'], true),
                  node('Loop', ['', 'true', 'x'], ['y', 'all'][:1 + gathers], turns)],
                 [value_info('x')], outputs)


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
product = node('MatMul', ['x', 'x'], ['y'])
case(f'{folder}/case', graph([product], [value_info('x')], [value_info('y')]))
case(f'{folder}/gathers', endless(1), 2)
case(f'{folder}/turns', endless(0))
for name in 'one', 'two':
    array(f'{folder}/{name}.npy', 16)
