# SPDX-License-Identifier: MIT
"""Protocol buffers in a hundred lines, and the frames of proto/executor.proto.

A schema is a dict from field number to (name, kind): kind is "int", "uint", "size" (an int that is
None where there is none), "bool", "float", "bytes", "text", another schema, or a list of one of
these for a repeated field. What a message holds comes as a Message whose attributes are the
schema's names; fields that a schema does not name are skipped, so a schema may be as short as what
is asked of it.
"""
import array
import fcntl
import mmap
import os
import socket
import stat
import struct

MAGIC = b"ODBX"
VERSION = 2
FLAG_FD = 1
INLINE = 64 << 10          # bytes of tensors in one message
MESSAGE_MAX = 64 << 20
ALIGN = 64
HEADER = struct.Struct("<4sHHQQ")

F_ADD_SEALS, F_GET_SEALS = 1033, 1034
SEALS = 2 | 4 | 8          # shrink, grow, write

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
FIXED = {FIXED64: 8, FIXED32: 4}
WIRE_TYPES = {"int": VARINT, "uint": VARINT, "size": VARINT, "bool": VARINT, "bytes": BYTES,
              "text": BYTES, "float": FIXED32}


class WireError(Exception):
    """What came cannot be read."""


class Message:
    """The fields of a message as attributes; `which` names the last one that was there and holds a
    message."""

    which = None

    def __init__(self, **fields):
        self.__dict__.update(fields)


# --- reading ---------------------------------------------------------------------------------

def read_varint(data, at):
    """The number at data[at:] and where it ends."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError("a message ends early")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def read_fields(data):
    """Pairs (number, value) of a message: an int, or a memoryview of bytes."""
    data = memoryview(data)
    at, end = 0, len(data)
    while at < end:
        key, at = read_varint(data, at)
        wire = key & 7
        if wire == VARINT:
            value, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if wire == BYTES else (FIXED.get(wire, end), at)
            if at + size > end:
                raise WireError("a message ends early")
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def convert(kind, value):
    """A field's value from what is on the wire."""
    wire = BYTES if isinstance(kind, dict) else WIRE_TYPES[kind]
    if (wire == VARINT) != isinstance(value, int) or (wire == FIXED32 and len(value) != 4):
        raise WireError("a field is of another type")
    if isinstance(kind, dict):
        return decode(kind, value)
    if kind in ("int", "size"):
        return value - (1 << 64) if value >> 63 else value
    if kind == "text":
        return str(value, "utf-8", "surrogateescape")
    if kind == "float":
        return struct.unpack("<f", value)[0]
    return bool(value) if kind == "bool" else value


def unpack(kind, value):
    """The items of a packed repeated field."""
    if kind == "float":
        return array.array("f", bytes(value)) if len(value) % 4 == 0 else []
    items, at = [], 0
    while at < len(value):
        item, at = read_varint(value, at)
        items.append(convert(kind, item))
    return items


def decode(schema, data):
    """A Message from bytes."""
    message = Message()
    fields = message.__dict__
    for name, kind in schema.values():
        fields[name] = [] if isinstance(kind, list) else DEFAULTS.get(
            kind if isinstance(kind, str) else "")
    for number, value in read_fields(data):
        if number not in schema:
            continue
        name, kind = schema[number]
        if not isinstance(kind, list):
            fields[name] = convert(kind, value)
        elif kind[0] in PACKED and not isinstance(value, int):
            fields[name].extend(unpack(kind[0], value))
        else:
            fields[name].append(convert(kind[0], value))
        if not isinstance(kind, str):
            message.which = name
    return message


DEFAULTS = {"int": 0, "uint": 0, "bool": False, "float": 0.0, "bytes": b"", "text": ""}
PACKED = ("int", "uint", "bool", "float")


# --- writing ---------------------------------------------------------------------------------

def write_varint(value):
    """A number's bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field: an int, or anything that is bytes."""
    if isinstance(value, int):
        return write_varint(number << 3 | VARINT) + write_varint(value)
    return b"".join((write_varint(number << 3 | BYTES), write_varint(len(value)), value))


def encode_one(number, kind, value):
    """One value of a field in its schema's kind."""
    if isinstance(kind, dict):
        return field(number, encode(kind, value))
    if kind == "text":
        return field(number, value.encode("utf-8", "surrogateescape"))
    return field(number, int(value) if WIRE_TYPES[kind] == VARINT else value)


def encode(schema, message):
    """The bytes of a Message; fields it lacks, or that are None, are left out."""
    out = []
    for number, (name, kind) in schema.items():
        value = getattr(message, name, None)
        if value is None:
            continue
        if isinstance(kind, list):
            out.extend(encode_one(number, kind[0], item) for item in value)
        else:
            out.append(encode_one(number, kind, value))
    return b"".join(out)


# --- executor.proto --------------------------------------------------------------------------

BLOB = {1: ("inline", "bytes"), 2: ("attached", "bool"), 3: ("offset", "uint"),
        4: ("size", "uint")}
TENSOR = {1: ("name", "text"), 2: ("kind", "uint"), 3: ("dtype", "uint"), 4: ("dims", ["int"]),
          5: ("data", BLOB), 6: ("n_items", "uint"), 7: ("same", "bool"), 8: ("absent", "bool")}
ERROR = {1: ("code", "int"), 2: ("where", "text"), 3: ("what", "text"), 4: ("remedy", "text")}
LOAD = {1: ("model", BLOB), 2: ("dir", "text"), 3: ("node_index", ["int"]),
        4: ("original_outputs", ["text"])}
EXECUTE = {1: ("inputs", [TENSOR]), 2: ("outputs", ["text"])}
REQUEST = {1: ("hello", {}), 2: ("load", LOAD), 3: ("execute", EXECUTE), 4: ("shutdown", {}),
           5: ("tell", {}), 15: ("id", "uint")}
READY = {1: ("version", "text"), 2: ("description", "text"), 3: ("capabilities", "text")}
PLACEMENT = {1: ("node", "text"), 2: ("op_type", "text"), 3: ("where", "text")}
ACCOUNT = {1: ("text", BLOB), 2: ("places", [PLACEMENT]), 3: ("notes", ["text"]),
           4: ("groups", BLOB)}
REPLY = {1: ("error", ERROR), 2: ("ready", READY), 3: ("done", {}),
         4: ("values", {1: ("outputs", [TENSOR])}), 5: ("account", ACCOUNT), 15: ("id", "uint")}


class Parcel:
    """The bytes that go with a message: few of them inside, the rest attached."""

    def __init__(self):
        self.parts = []
        self.size = self.inlined = 0

    def add(self, data):
        """A Blob for data, which is anything with a buffer of bytes."""
        if len(data) <= INLINE - self.inlined:
            self.inlined += len(data)
            return Message(inline=bytes(data))
        blob = Message(attached=True, offset=self.size, size=len(data))
        self.parts.append((self.size, data))
        self.size += (len(data) + ALIGN - 1) // ALIGN * ALIGN
        return blob

    def memfd(self):
        """A sealed file in memory that holds the attached parts."""
        fd = os.memfd_create("onnxdbg", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, self.size)
        for offset, data in self.parts:
            while len(data) > 0:
                n = os.pwrite(fd, data, offset)
                data, offset = data[n:], offset + n
        fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
        return fd


def blob_bytes(blob, attachment):
    """The bytes of a Blob, and whether they stand in the attachment."""
    if blob is None:
        return memoryview(b""), False
    if not blob.attached:
        return memoryview(blob.inline), False
    if attachment is None or blob.offset + blob.size > len(attachment):
        raise WireError("bytes lie outside the attachment")
    return memoryview(attachment)[blob.offset:blob.offset + blob.size], True


def fill(fd, view):
    """Reads until the view is full."""
    while len(view) > 0:
        n = os.readv(fd, [view])
        if n == 0:
            raise EOFError
        view = view[n:]


def read_memory(fd, size):
    """Memory with the next bytes of a pipe."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    fill(fd, memoryview(memory))
    return memory


class SocketChannel:
    """A socket within this machine: attachments come and go behind descriptors."""

    def __init__(self, fd):
        os.set_inheritable(fd, False)
        self.socket = socket.socket(fileno=fd)
        self.fds = []

    def read(self, size):
        """Exactly so many bytes; descriptors that come with them wait in self.fds."""
        out = bytearray(size)
        at = 0
        while at < size:
            piece, fds, _, _ = socket.recv_fds(self.socket, size - at, 4)
            self.fds.extend(fds)
            if not piece:
                raise EOFError
            out[at:at + len(piece)] = piece
            at += len(piece)
        return out

    def read_attachment(self, size, has_fd):
        """Memory of size bytes: read from a pipe, or a mapping that nobody can take away."""
        if not has_fd or len(self.fds) != 1:
            raise WireError("a message and its attachment do not fit")
        fd = self.fds.pop()
        try:
            status = os.fstat(fd)
            if stat.S_ISFIFO(status.st_mode):
                return read_memory(fd, size)
            if fcntl.fcntl(fd, F_GET_SEALS) & SEALS != SEALS or status.st_size < size:
                raise WireError("the attachment is no sealed memory of %d bytes" % size)
            return mmap.mmap(fd, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        finally:
            os.close(fd)

    def write(self, frame, parcel):
        """A frame with what goes with it."""
        if not parcel.size:
            self.socket.sendall(frame)
            return
        fd = parcel.memfd()
        try:
            n = socket.send_fds(self.socket, [frame], [fd])
        finally:
            os.close(fd)
        self.socket.sendall(frame[n:])

    flags = FLAG_FD


class PipeChannel:
    """A pair of pipes: attachments follow their message."""

    flags = 0

    def __init__(self, fd_in, fd_out):
        self.fd_in, self.fd_out = fd_in, fd_out

    def read(self, size):
        """Exactly so many bytes."""
        out = bytearray(size)
        fill(self.fd_in, memoryview(out))
        return out

    def read_attachment(self, size, has_fd):
        """Memory of its own with size bytes."""
        if has_fd:
            raise WireError("a message and its attachment do not fit")
        return read_memory(self.fd_in, size)

    def write(self, frame, parcel):
        """A frame with what goes with it."""
        self._write(frame)
        at = 0
        for offset, data in parcel.parts + [(parcel.size, b"")]:
            self._write(bytes(offset - at))
            self._write(data)
            at = offset + len(data)

    def _write(self, data):
        data = memoryview(data)
        while len(data) > 0:
            data = data[os.write(self.fd_out, data):]


def receive(channel):
    """The next request and its attachment (None: it has none). EOFError: there is no next."""
    magic, version, flags, size, attached = HEADER.unpack(channel.read(HEADER.size))
    if magic != MAGIC:
        raise WireError("what came is no message of onnxdbg")
    if version != VERSION:
        raise WireError("onnxdbg speaks version %d, this server %d" % (version, VERSION))
    if size > MESSAGE_MAX:
        raise WireError("a message of %d bytes is over the limit" % size)
    request = decode(REQUEST, channel.read(size))
    attachment = channel.read_attachment(attached, bool(flags & FLAG_FD)) if attached else None
    return request, attachment


def send(channel, reply, parcel=None):
    """A reply, with its parcel."""
    parcel = parcel or Parcel()
    data = encode(REPLY, reply)
    flags = channel.flags if parcel.size else 0
    channel.write(HEADER.pack(MAGIC, VERSION, flags, len(data), parcel.size) + data, parcel)
