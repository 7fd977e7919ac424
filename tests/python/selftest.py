# SPDX-License-Identifier: GPL-3.0-or-later
"""What share/python is made of: protobuf, element types, the reader of models, and a conversation
with onnxdbg-serve over plain pipes. Prints TAP lines without numbers for tests/check-python."""
import os
import random
import resource
import subprocess
import sys
import time
import traceback

import numpy as np

import onnxdbg_model as model
import onnxdbg_serve
import onnxdbg_types as types
import onnxdbg_wire as wire
from onnxdbg_wire import Message


def test_varints_of_any_size_come_back():
    for n in (0, 1, 127, 128, 300, 2 ** 31, 2 ** 63 - 1, -1, -2 ** 63):
        value, at = wire.read_varint(wire.write_varint(n), 0)
        assert wire.convert("int", value) == n and at == len(wire.write_varint(n))


def test_messages_come_back():
    tensor = Message(name="x\udcff", kind=0, dtype=1, dims=[2, -3, 0], data=Message(inline=b"ab"))
    bytes_ = wire.encode(wire.REQUEST, Message(execute=Message(inputs=[tensor], outputs=["y"]),
                                               id=7))
    got = wire.decode(wire.REQUEST, bytes_)
    assert got.which == "execute" and got.id == 7
    head = got.execute.inputs[0]
    assert (head.name, head.dims, bytes(head.data.inline)) == ("x\udcff", [2, -3, 0], b"ab")
    assert got.execute.outputs == ["y"] and not head.same


def test_broken_messages_are_refused():
    good = wire.encode(wire.REQUEST, Message(load=Message(dir="/tmp")))
    for bad in (good[:-1], b"\x80", b"\x0a\xff\xff\xff\xff\x0f", b"\x0f"):
        try:
            wire.decode(wire.REQUEST, bad)
        except wire.WireError:
            continue
        raise AssertionError("%r was read" % bad)


def test_every_element_type_comes_back():
    draw = np.random.default_rng(1)
    for number, (name, kind, bits, _) in types.TYPES.items():
        if number == types.STRING:
            continue
        for dims in ((), (0,), (3,), (2, 5)):
            count = int(np.prod(dims))
            raw = draw.integers(0, 2 if name == "bool" else 256, -(-count * bits // 8), np.uint8)
            if bits < 8 and count * bits % 8:  # what pads the last byte is 0
                raw[-1] &= (1 << count * bits % 8) - 1
            array = types.from_bytes(number, dims, raw.tobytes())
            assert array.shape == dims, (name, dims)
            assert types.dtype_of(array) == number, name
            assert bytes(types.to_bytes(array, number)) == raw.tobytes(), (name, dims)


def test_four_bits_have_their_values():
    array = types.from_bytes(22, (3,), b"\x8f\x07")
    assert array.tolist() == [-1, -8, 7] and array.onnx_type == "int4"
    assert types.from_bytes(26, (4,), b"\xe4").tolist() == [0, 1, -2, -1]


def test_unsigned_bits_are_what_the_model_declares():
    plain = np.zeros(3, np.uint16)
    assert types.dtype_of(plain) == 4 and types.dtype_of(plain, 16) == 16
    assert types.dtype_of(np.zeros(3, np.uint8), 17) == 17


def test_bfloat16_rounds_to_even():
    x = np.array([1.0, 1.00390625, 1.01171875, np.inf, -0.0, 3e38], np.float32)
    want = [1.0, 1.0, 1.015625, np.inf, -0.0, 226.0 * 2 ** 120]
    assert types.widen(types.narrow(x)).tolist() == want
    assert np.isnan(types.widen(types.narrow(np.float32("nan"))))


def test_strings_come_back():
    array = np.array([["", "a\0b"], ["\u00e4\U0001f600", "\udcff"]], object)
    raw = types.strings_to_bytes(array)
    assert types.strings_from_bytes((2, 2), raw).tolist() == array.tolist()


def test_views_and_other_byte_orders_are_made_dense():
    array = np.arange(12, dtype=">i4").reshape(3, 4).T
    assert bytes(types.to_bytes(array, 6)) == np.ascontiguousarray(array).astype("<i4").tobytes()


def test_models_are_read(path):
    got = model.read_model(path)
    assert got.opsets[""] >= 13 and len(got.graph.nodes) > 20
    conv = next(n for n in got.graph.nodes if n.op_type == "Conv")
    assert conv.attributes["strides"] == [2, 2] or len(conv.attributes["strides"]) == 2
    weight = got.graph.initializers[conv.inputs[1]]
    assert weight.dtype == np.float32 and weight.ndim == 4
    with open(path, "rb") as file:
        taken, given, spare = model.outline(file.read())
    assert taken == got.graph.inputs and given == got.graph.outputs
    assert spare == set(got.graph.initializers)


def small_model():
    """The bytes of a model that takes x and s and gives y and list, in which nothing happens."""
    ports = {name: [Message(name=word) for word in words]
             for name, words in (("input", ("x", "s")), ("output", ("y", "list")))}
    return wire.encode(model.MODEL_PROTO, Message(ir_version=8, graph=Message(**ports)))


def mutant(data, draw):
    """The bytes with a few changes, as a fuzzer makes them."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(data) + 1)
        size = draw.choice((1, 1, 2, 8))
        data[at:at + draw.choice((0, size))] = draw.choice((
            b"", draw.randbytes(size), b"\xff" * size, b"\0" * size,
            wire.write_varint(draw.choice((1 << 63, 1 << 40, 1 << 31, 127)))))
    return bytes(data)


def mutants(data, count, read, fine):
    """Reads so many mutants with 256 MB and a second for each; what is raised must be fine."""
    draw, seen = random.Random(1), 0
    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20), limits[1]))
    try:
        for _ in range(count):
            bad = mutant(data, draw)
            begin = time.process_time()
            try:
                read(bad)
            except fine:
                seen += 1
            assert time.process_time() - begin < 1, bad
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert count // 10 < seen < count  # else the mutants are all alike


def test_mutants_of_requests_are_read_or_refused():
    parts = [Message(name="x", dtype=1, dims=[2, 2], data=Message(inline=bytes(16))),
             Message(name="s", dtype=8, dims=[2], data=Message(inline=b"\1\0\0\0z\0\0\0\0")),
             Message(name="l", kind=1, dtype=1, n_items=2),
             Message(dtype=22, dims=[3], data=Message(attached=True, offset=4, size=2)),
             Message(kind=2, dtype=1)]
    request = Message(execute=Message(inputs=parts, outputs=["y", "z"]), id=3)
    tensors = onnxdbg_serve.Tensors()

    def read(data):
        got = wire.decode(wire.REQUEST, data)
        items = got.execute.inputs if got.which == "execute" else []
        at = 0
        while at < len(items):
            _, at = tensors.get(items, at, b"attached")

    fine = (wire.WireError, ValueError, IndexError, AssertionError, NotImplementedError)
    mutants(wire.encode(wire.REQUEST, request), 4000, read, fine)


def test_mutants_of_models_are_read_or_refused():
    raw = Message(name="w", dims=[2, 2], data_type=1, raw_data=bytes(16))
    others = [Message(name="t%d" % number, dims=[2], data_type=number, **{field: [1, 2]})
              for number, field in ((7, "int64_data"), (10, "int32_data"), (13, "uint64_data"))]
    text = Message(name="s", dims=[2], data_type=8, string_data=[b"a", b"\xff"])
    far = Message(name="e", dims=[4], data_type=1, data_location=1, external_data=[
        Message(key="location", value="weights"), Message(key="length", value="16")])
    body = Message(node=[Message(input=["x"], output=["b"], op_type="Exp")], name="body")
    attributes = [Message(name="i", type=2, i=-1), Message(name="l", type=7, ints=[1, 2]),
                  Message(name="s", type=3, s=b"text"), Message(name="t", type=4, t=raw),
                  Message(name="g", type=5, g=body)]
    tensor = Message(elem_type=1, shape=Message(dim=[Message(value=2), Message(param="N")]))
    port = Message(name="x", type=Message(sequence=Message(elem=Message(tensor=tensor))))
    node = Message(input=["x", "w"], output=["y"], op_type="Conv", attribute=attributes)
    graph = Message(name="g", node=[node], initializer=[raw, text, *others], input=[port],
                    output=[port])
    data = wire.encode(model.MODEL_PROTO, Message(ir_version=8, graph=graph))
    with open(os.path.join(os.environ["SCRATCH"], "weights"), "wb") as file:
        file.write(bytes(16))

    def read(data):
        model.external_files(data)
        model.outline(data)
        model.Model(wire.decode(model.MODEL_PROTO, data), os.environ["SCRATCH"])

    read(data)
    fine = (wire.WireError, types.Refused, ValueError, KeyError, OSError, OverflowError,
            AssertionError)
    mutants(data, 2000, read, fine)
    graph.initializer.append(far)
    mutants(wire.encode(model.MODEL_PROTO, Message(ir_version=8, graph=graph)), 500, read, fine)


def test_a_conversation_over_pipes(serve):
    """One small and one large run of a class, which prints on standard output meanwhile."""
    target = os.path.join(os.environ["SCRATCH"], "talk.py")
    with open(target, "w", encoding="utf-8") as file:
        file.write("class Talk:\n"
                   "    def execute(self, inputs, outputs):\n"
                   "        print('on standard output')\n"
                   "        return {outputs[0]: inputs['x'] * 2, outputs[1]: [inputs['s'], None]}\n")
    child = subprocess.Popen([serve, "python:" + target], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    channel = wire.PipeChannel(child.stdout.fileno(), child.stdin.fileno())

    def ask(request, parcel=None):
        parcel = parcel or wire.Parcel()
        data = wire.encode(wire.REQUEST, request)
        channel.write(wire.HEADER.pack(wire.MAGIC, wire.VERSION, 0, len(data), parcel.size) + data,
                      parcel)
        head = wire.HEADER.unpack(channel.read(wire.HEADER.size))
        reply = wire.decode(wire.REPLY, channel.read(head[3]))
        return reply, channel.read_attachment(head[4], False) if head[4] else None

    assert "Talk in talk.py" in ask(Message(hello=Message(), id=1))[0].ready.description
    request = Message(load=Message(model=Message(inline=small_model()), dir="/"), id=2)
    reply, _ = ask(request)
    assert reply.which == "done" and reply.id == 2, vars(reply)
    for count in (5, 100000):
        x = np.arange(count, dtype=np.float32)
        parcel = wire.Parcel()
        text = Message(name="s", dtype=types.STRING, dims=[1], data=Message(inline=b"\1\0\0\0z"))
        values = [Message(name="x", dtype=1, dims=[count], data=parcel.add(types.to_bytes(x, 1))),
                  text]
        request = Message(execute=Message(inputs=values, outputs=["y", "list"]), id=3)
        for _ in range(2):  # the second time without the data
            reply, memory = ask(request, parcel)
            y, head, first, none = reply.values.outputs
            data, attached = wire.blob_bytes(y.data, memory)
            assert attached == (count > 5)
            assert (np.frombuffer(data, np.float32) == 2 * x).all()
            assert (head.kind, head.n_items, first.dtype, none.kind) == (1, 2, types.STRING, 2)
            parcel = wire.Parcel()
            values[:] = [Message(name="x", same=True), Message(name="s", same=True)]
    ask_nothing = wire.encode(wire.REQUEST, Message(shutdown=Message()))
    channel.write(wire.HEADER.pack(wire.MAGIC, wire.VERSION, 0, len(ask_nothing), 0) + ask_nothing,
                  wire.Parcel())
    assert child.wait(10) == 0


def main():
    """Runs what is named test_*; paths for those that take them come from the command line."""
    given = {"serve": sys.argv[1], "path": sys.argv[2]}
    for name, function in list(globals().items()):
        if not name.startswith("test_"):
            continue
        wanted = function.__code__.co_varnames[:function.__code__.co_argcount]
        try:
            function(*(given[word] for word in wanted))
            print("ok", name[5:].replace("_", " "))
        except Exception:
            print("not ok", name[5:].replace("_", " "))
            traceback.print_exc()


if __name__ == "__main__":
    main()
