# SPDX-License-Identifier: MIT
"""ONNX's element types as numpy arrays, for executors in Python.

numpy has no bfloat16, float8, float4, and no integers of 4 or 2 bits. Arrays of these are Bits: the
bits of a number in a uint16 or uint8 each (int4 and int2: their values in an int8), with the type's
name in `onnx_type`. They are the same whether or not the package ml_dtypes is installed; where it
is, `x.view(ml_dtypes.bfloat16)` is the array of its type, and such arrays may be given back.
"""
import numpy as np

TENSOR, SEQUENCE, OPTIONAL, SPARSE, MAP = range(5)
STRING = 8

# TensorProto.DataType -> ONNX's name, what the array is of, bits of a number, ml_dtypes' name
TYPES = {
    1: ("float", "<f4", 32, None), 2: ("uint8", "u1", 8, None), 3: ("int8", "i1", 8, None),
    4: ("uint16", "<u2", 16, None), 5: ("int16", "<i2", 16, None),
    6: ("int32", "<i4", 32, None), 7: ("int64", "<i8", 64, None), 8: ("string", "O", 0, None),
    9: ("bool", "?", 8, None), 10: ("float16", "<f2", 16, None), 11: ("double", "<f8", 64, None),
    12: ("uint32", "<u4", 32, None), 13: ("uint64", "<u8", 64, None),
    14: ("complex64", "<c8", 64, None), 15: ("complex128", "<c16", 128, None),
    16: ("bfloat16", "<u2", 16, "bfloat16"), 17: ("float8e4m3fn", "u1", 8, "float8_e4m3fn"),
    18: ("float8e4m3fnuz", "u1", 8, "float8_e4m3fnuz"), 19: ("float8e5m2", "u1", 8, "float8_e5m2"),
    20: ("float8e5m2fnuz", "u1", 8, "float8_e5m2fnuz"), 21: ("uint4", "u1", 4, "uint4"),
    22: ("int4", "i1", 4, "int4"), 23: ("float4e2m1", "u1", 4, "float4_e2m1fn"),
    24: ("float8e8m0", "u1", 8, "float8_e8m0fnu"), 25: ("uint2", "u1", 2, "uint2"),
    26: ("int2", "i1", 2, "int2"),
}
FOREIGN = {row[3]: number for number, row in TYPES.items() if row[3]}
NATIVE = {np.dtype(row[1]): number for number, row in TYPES.items() if not row[3] and row[2]}
FLOATS = (1, 10, 11)
BY_NAME = {row[0]: number for number, row in TYPES.items()}


class Refused(Exception):
    """What an executor will not do, in a line of its own words, and the way out."""

    def __init__(self, what, remedy=""):
        super().__init__(what)
        self.remedy = remedy


class Unsupported(Refused):
    """The same where the model asks for something that the executor does not have."""


class WrongOption(Refused, ValueError):
    """The same where the spec is at fault; for init()."""


class Bits(np.ndarray):
    """Numbers of a type that numpy lacks; onnx_type is its name."""

    onnx_type = None

    def __array_finalize__(self, other):
        self.onnx_type = getattr(other, "onnx_type", None)


def as_bits(array, onnx_type):
    """The array, whose elements are bits of onnx_type ("bfloat16"), marked as such."""
    out = np.asarray(array).view(Bits)
    out.onnx_type = onnx_type
    return out


def widen(bits):
    """Bits of bfloat16 as float32."""
    if getattr(bits, "onnx_type", None) != "bfloat16":
        raise Refused("'%s' cannot be made float32" % getattr(bits, "onnx_type", bits.dtype))
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(array):
    """float32 as Bits of bfloat16, rounded to nearest even."""
    u = np.asarray(array, np.float32).view(np.uint32)
    rounded = ((u.astype(np.int64) + 0x7FFF + (u >> np.uint32(16) & 1)) >> 16).astype(np.uint16)
    nan = np.isnan(array)
    return as_bits(np.where(nan, np.uint16(0x7FC0), rounded), "bfloat16")


def from_bytes(dtype, dims, data):
    """An array over data, which is not copied where it has the array's layout."""
    name, kind, bits, foreign = TYPES[dtype]
    count = int(np.prod(dims, dtype=np.int64))
    if bits < 8:
        packed = np.frombuffer(data, np.uint8)
        per = 8 // bits
        flat = (packed[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)) & ((1 << bits) - 1)
        flat = flat.reshape(-1)[:count]
        if kind == "i1":
            flat = flat.astype(np.int8)
            flat[flat >= 1 << (bits - 1)] -= 1 << bits
        assert len(packed) == (count + per - 1) // per
    else:
        flat = np.frombuffer(data, kind)
    array = flat.reshape(dims)
    return as_bits(array, name) if foreign else array


def to_bytes(array, dtype):
    """The bytes of an array as they travel: dense, row-major, little-endian."""
    _, kind, bits, _ = TYPES[dtype]
    flat = np.asarray(array, order="C").reshape(-1)
    if flat.dtype.byteorder == ">":
        flat = flat.astype(flat.dtype.newbyteorder("<"))
    flat = np.asarray(flat).view(np.uint8)
    if bits >= 8:
        return memoryview(flat)
    per = 8 // bits
    flat = np.append(flat, np.zeros(-len(flat) % per, np.uint8)) & ((1 << bits) - 1)
    shifted = flat.reshape(-1, per) << np.arange(0, 8, bits, dtype=np.uint8)
    return memoryview(np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8))


def dtype_of(array, declared=0):
    """The type's number; declared tells what unsigned integers stand for. Refused: none."""
    marked = getattr(array, "onnx_type", None)
    if marked in BY_NAME and array.dtype == np.dtype(TYPES[BY_NAME[marked]][1]):
        return BY_NAME[marked]
    if array.dtype.kind in "OSU":
        return STRING
    if array.dtype.name in FOREIGN:
        return FOREIGN[array.dtype.name]
    native = NATIVE.get(array.dtype.newbyteorder("="))
    row = TYPES.get(declared)
    if row and row[3] and np.dtype(row[1]) == array.dtype:
        return declared
    if native is None:
        raise Refused("ONNX has no type for an array of %s" % array.dtype)
    return native


def strings_from_bytes(dims, data):
    """An array of str from u32 length and bytes each; what is no UTF-8 comes as surrogates."""
    out, at, data = [], 0, bytes(data)
    for _ in range(int(np.prod(dims, dtype=np.int64))):
        size = int.from_bytes(data[at:at + 4], "little")
        if at + 4 + size > len(data):
            raise ValueError("there are fewer strings than the shape says")
        out.append(data[at + 4:at + 4 + size].decode("utf-8", "surrogateescape"))
        at += 4 + size
    array = np.empty(len(out), object)
    array[:] = out
    return array.reshape(dims)


def strings_to_bytes(array):
    """The reverse; elements may be str or bytes."""
    out = []
    for item in array.reshape(-1).tolist():
        if not isinstance(item, (str, bytes)):
            raise Refused("a %s is no text" % type(item).__name__)
        raw = item if isinstance(item, bytes) else item.encode("utf-8", "surrogateescape")
        out += [len(raw).to_bytes(4, "little"), raw]
    return b"".join(out)
