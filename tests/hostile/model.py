# SPDX-License-Identifier: GPL-3.0-or-later
# Models and tensors that nobody means well with, byte by byte:
#
#   model.py NAMES.onnx FOLDER
#
# a model that runs and all of whose names are hostile, and files that claim what they do not hold.
import io
import itertools
import os
import struct
import sys
import zipfile


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([(n & 127) | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out


def field(number, data):
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


EVIL = (b"\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b]8;;http://evil\x1b\\\xc2\x9b31m\r\n\t\x7f\xe2\x80\xae"
        b"<script>alert(1)</script>=cmd|x!A1\"'&]]>../../etc/passwd")


def evil(name):
    return b"=1+1/../.." + name + EVIL


def info(name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(inputs, output, name, op):
    return (b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, name) +
            field(4, op) + field(6, EVIL))


def tensor(dims, dtype, name, more):
    return b"".join(field(1, d) for d in dims) + field(2, dtype) + field(8, name) + more


def model(graph, text=b""):
    head = b"".join(field(n, text) for n in (2, 3, 4, 6) if text)
    meta = field(14, field(1, text) + field(2, text)) if text else b""
    return field(1, 8) + head + field(7, graph) + field(8, field(2, 17)) + meta


def names():
    w = tensor([4], 1, evil(b"w"), field(9, struct.pack("<4f", 1, 2, 3, 4)))
    return model(field(1, node([evil(b"x")], evil(b"a"), evil(b"n1"), b"Sigmoid")) +
                 field(1, node([evil(b"a"), evil(b"w")], evil(b"b"), evil(b"n2"), b"Add")) +
                 field(1, node([evil(b"b")], evil(b"y"), evil(b"n3"), b"Exp")) +
                 field(2, evil(b"graph")) + field(5, w) + field(10, EVIL) +
                 field(11, info(evil(b"x"), [4])) + field(12, info(evil(b"y"), [4])), EVIL)


def claiming(more, dims=(1 << 38,), dtype=1, sparse=False):
    t = tensor(dims, dtype, b"w", more)
    if sparse:
        at = tensor([1], 7, b"i", field(9, struct.pack("<q", 1 << 40)))
        t = field(1, tensor([1], 1, b"w", field(9, b"\0\0\0\0"))) + field(2, at) + field(3, 1 << 39)
    return model(field(1, node([b"w"], b"y", b"n", b"Exp")) + field(2, b"g") +
                 field(15 if sparse else 5, t) + field(12, info(b"y", [1])))


def call(i, o, op, more=b""):
    return field(1, i) + field(2, o) + field(4, op) + more


def function(name, inputs, nodes, more=b""):
    """d::name, whose output is y."""
    return field(25, field(1, name) + b"".join(field(4, i) for i in inputs) + field(5, b"y") +
                 b"".join(field(7, n) for n in nodes) + field(9, field(2, 17)) + field(10, b"d") +
                 more)


def laughs(n):
    """Functions, each of which calls the one before it twice."""
    def call_of(i, o, op):
        return call(i, o, op, field(7, b"d") if op[:1] == b"f" else b"")
    out = b""
    for k in range(n):
        last = b"f%d" % (k - 1) if k else b"Tanh"
        out += function(b"f%d" % k, [b"x"], [call_of(b"x", b"t", last), call_of(b"t", b"y", last)],
                        field(9, field(1, b"d") + field(2, 1)))
    graph = field(1, call_of(b"x", b"y", b"f%d" % (n - 1))) + field(2, b"g")
    graph += field(11, info(b"x", [1])) + field(12, info(b"y", [1]))
    return model(graph) + field(8, field(1, b"d") + field(2, 1)) + out


def handed(n):
    """The same, with a body that each hands on, for the last to be both branches of an If."""
    def hand(name):
        return field(5, field(1, name) + field(21, b"body") + field(20, 5))

    def call(i, o, op):
        return field(1, i) + field(2, o) + field(4, op) + field(7, b"d") + hand(b"body")
    out = b""
    for k in range(n):
        both = hand(b"then_branch") + hand(b"else_branch")
        calls = field(7, field(1, b"x") + field(2, b"y") + field(4, b"If") + both)
        if k:
            last = b"f%d" % (k - 1)
            calls = field(7, call(b"x", b"t", last)) + field(7, call(b"t", b"y", last))
        out += field(25, field(1, b"f%d" % k) + field(4, b"x") + field(5, b"y") +
                     field(6, b"body") + calls + field(9, field(2, 17)) +
                     field(9, field(1, b"d") + field(2, 1)) + field(10, b"d"))
    body = field(2, b"b") + field(12, info(b"v300", [1]))
    for k in range(300):
        body += field(1, field(1, b"v%d" % k) + field(2, b"v%d" % (k + 1)) + field(4, b"Exp"))
    body += field(5, tensor([1], 1, b"v0", field(9, b"\0" * 4)))
    given = field(5, field(1, b"body") + field(6, body) + field(20, 5))
    graph = field(1, field(1, b"x") + field(2, b"y") + field(4, b"f%d" % (n - 1)) +
                  field(7, b"d") + given) + field(2, b"g")
    graph += field(11, info(b"x", [1])) + field(12, info(b"y", [1]))
    return model(graph) + field(8, field(1, b"d") + field(2, 1)) + out


def calling(n, of):
    """A model of n calls of a function d::f, with that."""
    graph = b"".join(field(1, call(b"x", b"y%d" % k, b"f", field(7, b"d"))) for k in range(n))
    graph += field(2, b"g") + field(11, info(b"x", [1])) + field(12, info(b"y0", [1]))
    return model(graph) + field(8, field(1, b"d") + field(2, 1)) + of


def swollen():
    """What is small in a file, and was large in memory: n of one thing beside n of another."""
    text = field(1, tensor([1], 8, b"w", field(6, b"a")))
    text += field(2, tensor([1], 7, b"i", field(9, b"\0" * 8))) + field(3, 1 << 30)
    yield "dense.onnx", model(field(15, text) + field(1, call(b"w", b"y", b"Identity")) +
                              field(2, b"g") + field(12, info(b"y", [1])))
    odd = call(b"x", b"y", b"z" * 100000)
    yield "why.onnx", calling(20000, function(b"f", [b"x"], [odd]))
    many = [b"x%d" % k for k in range(15000)]
    yield "plans.onnx", calling(20000, function(b"f", many, [call(b"x0", b"y", b"Exp")]))
    odd = b"".join(field(5, field(1, b"a%d" % k) + field(3, 1) + field(20, 2)) for k in range(15000))
    yield "lint.onnx", model(field(1, call(b"x", b"y", b"Exp", field(3, b"n" * 150000) + odd)) +
                             field(2, b"g") + field(11, info(b"x", [1])) +
                             field(12, info(b"y", [1])))
    tensors = field(5, tensor([1], 1, b"w", field(9, b"\0" * 4))) * 1000
    yield "parts.onnx", model(b"") + field(7, tensors) * 90
    values = ",".join(['{"node":1,"name":"v"}'] * 2000)
    culprits = ",".join(['{"index":1}'] * 2000)
    yield "report.json", f'{{"values":[{values}],"culprits":[{culprits}]}}'.encode()
    yield "text.pb", tensor([1], 8, b"w", field(6, EVIL))


def claims():
    deep = b""
    for _ in range(200):
        deep = field(1, field(5, field(6, deep)))
    entry = field(13, field(1, b"location") + field(2, b"w.bin"))
    yield "raw.onnx", claiming(field(9, b"\0" * 16))
    yield "floats.onnx", claiming(field(4, b"\0" * 16))
    yield "strings.onnx", claiming(field(6, b"a"), dtype=8)
    yield "overflow.onnx", claiming(field(9, b"\0" * 16), dims=(1 << 33, 1 << 33, 1 << 33))
    yield "external.onnx", claiming(entry + field(14, 1))
    yield "w.bin", b"\0" * 16
    yield "sparse.onnx", claiming(b"", sparse=True)
    yield "deep.onnx", model(deep)
    yield "laughs.onnx", laughs(60)
    yield "giggles.onnx", laughs(20)
    yield "handed.onnx", handed(16)
    yield "name", evil(b"x")  # of the input of names()
    yield "huge.pb", tensor([1 << 38], 1, b"w", field(9, b"\0" * 16))
    for name, shape in ("huge", "(274877906944,)"), ("overflow", "(4294967296, 4294967296, 9)"):
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"\0" * 16
        yield name + ".npy", array
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", array)
    yield "map.npz", packed.getvalue()
    data = bytearray(packed.getvalue())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24:at + 28] = struct.pack("<I", 0xfffffff0)  # the size that the directory tells
    data[22:26] = struct.pack("<I", 0xfffffff0)
    yield "huge.npz", bytes(data)


open(sys.argv[1], "wb").write(names())
os.makedirs(sys.argv[2], exist_ok=True)
for file, content in itertools.chain(claims(), swollen()):
    open(os.path.join(sys.argv[2], file), "wb").write(content)
