# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns the order of the nodes in a model's file around: reverse.py IN OUT"""
import sys


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def put(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def fields(data):
    """(number, wire type, all of its bytes, those of its contents)"""
    at = 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        size = {1: 8, 5: 4}.get(tag & 7, 0)
        if tag & 7 == 2:
            size, at = varint(data, at)
        elif tag & 7 == 0:
            _, at = varint(data, at)
        yield tag >> 3, data[begin:at + size], data[at:at + size]
        at += size


with open(sys.argv[1], 'rb') as file:
    parts = list(fields(file.read()))
out = b''
for number, whole, inner in parts:
    if number == 7:
        graph = list(fields(inner))
        nodes = [w for n, w, _ in graph if n == 1]
        inner = b''.join(reversed(nodes)) + b''.join(w for n, w, _ in graph if n != 1)
        whole = put(7 << 3 | 2) + put(len(inner)) + inner
    out += whole
with open(sys.argv[2], 'wb') as file:
    file.write(out)
