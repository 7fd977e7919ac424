# SPDX-License-Identifier: MIT
"""ONNX's operators as a textbook writes them down, for onnxdbg_numpy.py: a table from name to a
function that takes a Call and returns an array, or a tuple of them.

Functions of `real` rows see float64 in place of any float type, and what they give in float64 is
rounded once. Attributes are listed in the row: another one is refused before anything runs. What a
function does not handle, and what ONNX leaves open, is Unsupported, never a guess.
"""
import itertools
import math

import numpy as np

from onnxdbg_types import TYPES, Unsupported, as_bits, dtype_of, narrow, widen

OPERATORS = {}
INTEGERS = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767),
            "uint4": (0, 15), "int4": (-8, 7), "int32": (-2 ** 31, 2 ** 31 - 1)}


class Row:
    """An operator: its function, the attributes that it knows, whether floats come widened."""

    def __init__(self, function, attributes, real):
        self.function, self.attributes, self.real = function, attributes, real


def widened(array):
    """An array of any float type as float64; others as they are."""
    if getattr(array, "onnx_type", None) == "bfloat16":
        return widen(array).astype(np.float64)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def rounded(array, number):
    """Floats as an array of ONNX's type of that number, rounded to nearest even."""
    if TYPES[number][0] == "bfloat16":
        return narrow(array.astype(np.float32))
    return array.astype(TYPES[number][1])


class Call:
    """One call of an operator: inputs (arrays, None where omitted) and attributes."""

    def __init__(self, node, inputs, opset):
        self.node, self.inputs, self.opset = node, inputs, opset
        types = [dtype_of(value) for value in inputs if value is not None]
        floats = [number for number in types if number in (1, 10, 11, 16)]
        self.type = floats[0] if floats else 1  # of what is computed in floats
        self.types = types

    def attr(self, name, default=None):
        """An attribute's value."""
        return self.node.attributes.get(name, default)

    def word(self, name, default, *others):
        """An attribute that is one of some words."""
        value = self.attr(name, default)
        if value not in (default, *others):
            raise Unsupported("%s=%s is not covered" % (name, value))
        return value

    def input(self, i):
        """An input, None where it is omitted."""
        return self.inputs[i] if i < len(self.inputs) else None

    def numbers(self, i):
        """An input of integers as a list; None where it is omitted."""
        value = self.input(i)
        return None if value is None else [int(v) for v in value.reshape(-1)]

    def list(self, name, i):
        """Integers that an attribute has in some opsets, and an input in others."""
        return self.attr(name) if name in self.node.attributes else self.numbers(i)

    def wants(self, i):
        """Whether somebody reads an output."""
        return i < len(self.node.outputs) and self.node.outputs[i] != ""

    def fit(self, result, real):
        """A result in its type."""
        if result is None or getattr(result, "onnx_type", None):
            return result
        if isinstance(result, str):
            return np.array(result, object)
        if real or isinstance(result, np.generic):  # which functions give for an array of rank 0
            result = np.asarray(result)
        return rounded(result, self.type) if real and result.dtype == np.float64 else result


def operator(names, attributes="", real=True):
    """Enters a function into the table; names and attributes are words."""
    def enter(function):
        for name in names.split():
            OPERATORS[name] = Row(function, frozenset(attributes.split()), real)
        return function
    return enter


def exact(names, attributes=""):
    """Enters one that moves elements, or has types of its own."""
    return operator(names, attributes, real=False)


def no_nan(call, *arrays):
    """What becomes of NaN there is left open."""
    for array in arrays:
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise Unsupported("what %s makes of NaN is left open" % call.node.op_type)


def axis_of(axis, rank):
    """A negative axis counted from the front."""
    if not -rank <= axis < rank:
        raise Unsupported("axis %d of %d" % (axis, rank))
    return axis % rank


def along(vector, axis, rank):
    """A vector that lies along an axis of a tensor."""
    return vector.reshape([-1 if i == axis else 1 for i in range(rank)])


# --- one element from one ------------------------------------------------------------------------

def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow."""
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) /
                    (1 + np.exp(-np.abs(x))))


ERF = np.vectorize(math.erf, otypes=[np.float64])

for _name, _function in {
        "Abs": np.abs, "Neg": np.negative, "Sqrt": np.sqrt, "Exp": np.exp, "Log": np.log,
        "Reciprocal": lambda x: 1 / x, "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint,
        "Sign": np.sign, "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin,
        "Acos": np.arccos, "Atan": np.arctan, "Sinh": np.sinh, "Cosh": np.cosh,
        "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh, "Tanh": np.tanh,
        "Erf": ERF, "Sigmoid": sigmoid, "Softsign": lambda x: x / (1 + np.abs(x)),
        "Softplus": lambda x: np.logaddexp(0, x), "IsNaN": np.isnan,
        "Mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
        "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
        "Not": np.logical_not, "BitwiseNot": np.invert}.items():
    operator(_name)(lambda call, function=_function: function(call.inputs[0]))


@operator("Relu")
def relu(call):
    no_nan(call, call.inputs[0])
    return np.maximum(call.inputs[0], 0).astype(call.inputs[0].dtype)


def unary(name, attributes, function):
    """An operator with float attributes: function(x, *attributes), from "name=default" words."""
    pairs = [word.split("=") for word in attributes.split()]

    def run(call):
        values = [call.attr(key, float(np.float32(default))) for key, default in pairs]
        return function(call.inputs[0], *values)
    operator(name, " ".join(key for key, _ in pairs))(run)


unary("LeakyRelu", "alpha=0.01", lambda x, a: np.where(x < 0, a * x, x))
unary("Elu", "alpha=1", lambda x, a: np.where(x < 0, a * np.expm1(x), x))
unary("Celu", "alpha=1", lambda x, a: np.maximum(x, 0) + np.minimum(0, a * np.expm1(x / a)))
unary("ThresholdedRelu", "alpha=1", lambda x, a: np.where(x > a, x, 0.0))
unary("HardSigmoid", "alpha=0.2 beta=0.5", lambda x, a, b: np.clip(a * x + b, 0, 1))
unary("Swish", "alpha=1", lambda x, a: x * sigmoid(a * x))


@operator("Selu", "alpha gamma")
def selu(call):
    old = call.opset < 6
    alpha = call.attr("alpha", 1.6732 if old else 1.67326319217681884765625)
    gamma = call.attr("gamma", 1.0507 if old else 1.05070102214813232421875)
    x = call.inputs[0]
    return gamma * np.where(x < 0, alpha * np.expm1(x), x)


@operator("Shrink", "lambd bias")
def shrink(call):
    x, edge, bias = call.inputs[0], call.attr("lambd", 0.5), call.attr("bias", 0.0)
    if x.dtype.kind != "f":
        raise Unsupported("Shrink of integers is not covered")
    return np.where(x < -edge, x + bias, np.where(x > edge, x - bias, 0.0))


@operator("Gelu", "approximate")
def gelu(call):
    x = call.inputs[0]
    if call.word("approximate", "none", "tanh") == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return 0.5 * x * (1 + ERF(x / math.sqrt(2)))


@operator("IsInf", "detect_negative detect_positive")
def is_inf(call):
    x = call.inputs[0]
    return ((np.isposinf(x) & bool(call.attr("detect_positive", 1))) |
            (np.isneginf(x) & bool(call.attr("detect_negative", 1))))


@operator("Clip", "min max")
def clip(call):
    x = call.inputs[0]
    low = call.attr("min") if call.opset < 11 else call.input(1)
    high = call.attr("max") if call.opset < 11 else call.input(2)
    no_nan(call, x, *(v for v in (low, high) if isinstance(v, np.ndarray)))
    if low is not None:
        x = np.maximum(x, np.asarray(low, x.dtype))
    return x if high is None else np.minimum(x, np.asarray(high, x.dtype))


@operator("PRelu")
def prelu(call):
    x, slope = call.inputs
    if call.opset < 7 and slope.ndim == 1 and x.ndim > 1:  # one per channel
        slope = along(slope, 1 if slope.size > 1 else 0, x.ndim)
    return np.where(x < 0, x * slope, x).astype(x.dtype)


# --- one from several ----------------------------------------------------------------------------

def pair(call):
    """Two inputs; before opset 7 the second lies along an axis of the first, if it says so."""
    a, b = call.inputs
    if call.opset >= 7:
        return a, b
    if not call.attr("broadcast", 0) and a.shape != b.shape:
        raise Unsupported("shapes differ, and broadcast is off")
    if "axis" in call.node.attributes and b.ndim:
        axis = axis_of(call.attr("axis"), a.ndim)
        b = b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))
    return a, b


def quotient(a, b):
    """a / b; integers towards zero."""
    if a.dtype.kind == "f":
        return a / b
    if (b == 0).any():
        raise Unsupported("a division by 0 of integers is left open")
    down = a // b
    return down + ((down * b != a) & ((a < 0) != (b < 0))).astype(a.dtype)


for _name, _function in {
        "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": quotient,
        "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor, "Equal": np.equal,
        "Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater,
        "GreaterOrEqual": np.greater_equal, "BitwiseAnd": np.bitwise_and,
        "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}.items():
    operator(_name, "axis broadcast")(lambda call, function=_function: function(*pair(call)))


@operator("Pow", "axis broadcast")
def power(call):
    a, b = pair(call)
    if a.dtype.kind != "f" and (b.dtype.kind == "f" or (b < 0).any()):
        raise Unsupported("powers of integers that are no integers are not covered")
    return np.power(a, b.astype(np.float64) if a.dtype.kind == "f" else b).astype(a.dtype)


@operator("Mod", "fmod")
def modulo(call):
    a, b = call.inputs
    if call.attr("fmod", 0):
        if a.dtype.kind != "f" and (b == 0).any():
            raise Unsupported("a remainder of a division by 0 is left open")
        return np.fmod(a, b)
    if a.dtype.kind == "f" or (b == 0).any():
        raise Unsupported("this remainder is left open")
    return np.mod(a, b)


@operator("BitShift", "direction")
def bit_shift(call):
    a, b = call.inputs
    if (b >= a.dtype.itemsize * 8).any():
        raise Unsupported("a shift by all bits is left open")
    left = call.word("direction", "LEFT", "RIGHT") == "LEFT"
    return (np.left_shift if left else np.right_shift)(a, b)


@operator("Sum Mean Max Min")
def of_all(call):
    kind = call.node.op_type
    if kind in ("Max", "Min"):
        no_nan(call, *call.inputs)
    step = {"Max": np.maximum, "Min": np.minimum}.get(kind, np.add)
    out = call.inputs[0]
    for value in call.inputs[1:]:
        out = step(out, value)
    return out / len(call.inputs) if kind == "Mean" else out


@exact("Where")
def where(call):
    condition, a, b = call.inputs
    out = np.where(condition, a, b)
    marked = getattr(a, "onnx_type", None)
    return as_bits(out, marked) if marked else out.astype(a.dtype)


# --- moves ---------------------------------------------------------------------------------------

@exact("Identity")
def identity(call):
    return call.inputs[0]


@exact("Reshape", "shape allowzero")
def reshape(call):
    x, shape = call.inputs[0], call.list("shape", 1)
    if not call.attr("allowzero", 0):
        shape = [x.shape[i] if d == 0 else d for i, d in enumerate(shape)]
    return x.reshape(shape)


@exact("Flatten", "axis")
def flatten(call):
    x, axis = call.inputs[0], call.attr("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@exact("Squeeze", "axes")
def squeeze(call):
    x, axes = call.inputs[0], call.list("axes", 1)
    return np.squeeze(x) if axes is None else np.squeeze(x, tuple(axes))


@exact("Unsqueeze", "axes")
def unsqueeze(call):
    return np.expand_dims(call.inputs[0], tuple(call.list("axes", 1)))


@exact("Transpose", "perm")
def transpose(call):
    return np.transpose(call.inputs[0], call.attr("perm"))


@exact("Concat", "axis")
def concat(call):
    out = np.concatenate(call.inputs, call.attr("axis", 1))
    marked = getattr(call.inputs[0], "onnx_type", None)
    return as_bits(out, marked) if marked else out


@exact("Split", "axis split num_outputs")
def split(call):
    x, axis = call.inputs[0], call.attr("axis", 0)
    sizes, n = call.list("split", 1), len(call.node.outputs)
    if sizes is None:
        size = -(-x.shape[axis] // n)
        if size * n != x.shape[axis] and "num_outputs" not in call.node.attributes:
            raise Unsupported("it cannot be split into equal parts")
        sizes = [size] * (n - 1) + [x.shape[axis] - size * (n - 1)]
    return tuple(np.split(x, np.cumsum(sizes)[:-1].tolist(), axis))


@exact("Slice", "starts ends axes")
def slice_(call):
    x, starts, ends = call.inputs[0], call.list("starts", 1), call.list("ends", 2)
    axes = call.list("axes", 3)
    axes = range(len(starts)) if axes is None else axes
    steps = call.numbers(4) or [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        size = x.shape[axis]
        start, end = (v + size if v < 0 else v for v in (start, end))
        low, high = (0, size) if step > 0 else (-1, size - 1)
        start = min(max(start, low if step > 0 else 0), high)
        end = min(max(end, low), high)
        x = np.take(x, np.arange(start, end, step), axis)
    return x


def indices_of(array, size):
    """Indices that count from the end made others; out of range is Unsupported."""
    if ((array < -size) | (array >= size)).any():
        raise Unsupported("an index out of range")
    return np.where(array < 0, array + size, array)


@exact("Gather", "axis")
def gather(call):
    x, axis = call.inputs[0], call.attr("axis", 0)
    return np.take(x, indices_of(call.inputs[1], x.shape[axis]), axis)


@exact("GatherElements", "axis")
def gather_elements(call):
    x, indices = call.inputs
    axis = axis_of(call.attr("axis", 0), x.ndim)
    place = list(np.indices(indices.shape, sparse=True))
    place[axis] = indices_of(indices, x.shape[axis])
    return x[tuple(place)]


@exact("GatherND", "batch_dims")
def gather_nd(call):
    x, indices = call.inputs
    batch, depth = call.attr("batch_dims", 0), indices.shape[-1]
    lead = indices.shape[:batch]
    out = [x[at][tuple(indices_of(row[i], x.shape[batch + i]) for i in range(depth))]
           for at in np.ndindex(*lead)
           for row in indices[at].reshape(-1, depth)]
    shape = indices.shape[:-1] + x.shape[batch + depth:]
    if not out:
        return np.zeros(shape, x.dtype)
    return np.array(out, x.dtype).reshape(shape)


@exact("Expand")
def expand(call):
    x = call.inputs[0]
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(call.numbers(1))))


@exact("Tile")
def tile(call):
    if call.opset < 6:
        raise Unsupported("Tile before opset 6 is not covered")
    return np.tile(call.inputs[0], call.numbers(1))


@exact("Shape", "start end")
def shape_(call):
    shape = call.inputs[0].shape
    return np.array(shape[call.attr("start", 0):call.attr("end", len(shape))], np.int64)


@exact("Size")
def size_(call):
    return np.array(call.inputs[0].size, np.int64)


@exact("Constant", "value value_float value_floats value_int value_ints value_string value_strings")
def constant(call):
    for name, kind in (("value_float", np.float32), ("value_floats", np.float32),
                       ("value_int", np.int64), ("value_ints", np.int64),
                       ("value_string", object), ("value_strings", object)):
        if name in call.node.attributes:
            return np.array(call.attr(name), kind)
    return call.attr("value")


@exact("ConstantOfShape", "value")
def constant_of_shape(call):
    value = call.attr("value")
    value = np.zeros(1, np.float32) if value is None else value
    return np.broadcast_to(value.reshape(()), tuple(call.numbers(0)))


@exact("Range")
def range_(call):
    start, limit, step = (widened(v).reshape(()) for v in call.inputs)
    count = max(math.ceil((float(limit) - float(start)) / float(step)), 0)
    if start.dtype.kind == "f":
        out = float(start) + np.arange(count) * float(step)
        return rounded(out, call.type)
    return (start + np.arange(count, dtype=start.dtype) * step).astype(start.dtype)


@exact("DepthToSpace", "blocksize mode")
def depth_to_space(call):
    x, size = call.inputs[0], call.attr("blocksize")
    n, c, h, w = x.shape
    if call.word("mode", "DCR", "CRD") == "DCR":
        x = x.reshape(n, size, size, c // size ** 2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(n, c // size ** 2, size, size, h, w).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(n, c // size ** 2, h * size, w * size)


@exact("SpaceToDepth", "blocksize")
def space_to_depth(call):
    x, size = call.inputs[0], call.attr("blocksize")
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // size, size, w // size, size).transpose(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * size ** 2, h // size, w // size)


@exact("Pad", "mode pads paddings value")
def pad(call):
    x, mode = call.inputs[0], call.word("mode", "constant", "edge", "reflect", "wrap")
    pads = call.attr("paddings") or call.list("pads", 1)
    axes = call.numbers(3)
    axes = range(x.ndim) if axes is None else [axis_of(a, x.ndim) for a in axes]
    value = call.attr("value", 0.0) if call.opset < 11 else call.input(2)
    value = np.zeros((), x.dtype) if value is None else np.asarray(value, x.dtype).reshape(())
    widths = [[0, 0] for _ in range(x.ndim)]
    for i, axis in enumerate(axes):
        widths[axis] = [pads[i], pads[i + len(pads) // 2]]
    if mode != "constant" and min(pads) < 0:
        raise Unsupported("negative pads of mode %s are not covered" % mode)
    if mode == "reflect" and any(max(w) >= d for w, d in zip(widths, x.shape)):
        raise Unsupported("pads as long as the dimension are not covered")
    if mode != "constant":
        return np.pad(x, widths, mode)
    x = x[tuple(slice(max(-a, 0), d - max(-b, 0)) for (a, b), d in zip(widths, x.shape))]
    return np.pad(x, [(max(a, 0), max(b, 0)) for a, b in widths], constant_values=value)


@exact("Trilu", "upper")
def trilu(call):
    x, k = call.inputs[0], (call.numbers(1) or [0])[0]
    return (np.triu if call.attr("upper", 1) else np.tril)(x, k)


@exact("EyeLike", "dtype k")
def eye_like(call):
    x, kind = call.inputs[0], TYPES[call.attr("dtype", call.types[0])]
    if kind[3]:
        raise Unsupported("EyeLike of %s is not covered" % kind[0])
    return np.eye(*x.shape, k=call.attr("k", 0), dtype=kind[1])


@exact("Compress", "axis")
def compress(call):
    return np.compress(call.inputs[1], call.inputs[0], call.attr("axis"))


@exact("NonZero")
def non_zero(call):
    x = np.atleast_1d(widened(call.inputs[0]))
    return np.array(np.nonzero(x), np.int64).reshape(call.inputs[0].ndim, -1)


@exact("OneHot", "axis")
def one_hot(call):
    indices, depth, values = call.inputs
    depth, axis = int(depth.reshape(-1)[0]), call.attr("axis", -1)
    known = np.where((indices < 0) & (call.opset >= 11), indices + depth, indices)
    hot = np.expand_dims(known, axis) == along(np.arange(depth), axis_of(axis, indices.ndim + 1),
                                               indices.ndim + 1)
    return np.where(hot, values[1], values[0]).astype(values.dtype)


SCATTER = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter(call, x, place, updates):
    """x with updates at these places, by the node's reduction."""
    how = call.word("reduction", "none", *SCATTER)
    out = np.array(x)
    if how == "none":
        out[place] = updates
        if not np.array_equal(out[place], updates, equal_nan=updates.dtype.kind == "f"):
            raise Unsupported("which of two updates of one element counts is left open")
        return out
    SCATTER[how].at(out, place, updates)
    return out


@operator("ScatterElements Scatter", "axis reduction")
def scatter_elements(call):
    x, indices, updates = call.inputs
    axis = axis_of(call.attr("axis", 0), x.ndim)
    place = list(np.indices(indices.shape, sparse=True))
    place[axis] = indices_of(indices, x.shape[axis])
    return scatter(call, x, tuple(place), updates)


@operator("ScatterND", "reduction")
def scatter_nd(call):
    x, indices, updates = call.inputs
    place = tuple(indices_of(indices[..., i], x.shape[i]) for i in range(indices.shape[-1]))
    return scatter(call, x, place, updates)


@exact("ReverseSequence", "batch_axis time_axis")
def reverse_sequence(call):
    x, lengths = call.inputs
    batch, time = call.attr("batch_axis", 1), call.attr("time_axis", 0)
    out = np.moveaxis(np.array(x), (batch, time), (0, 1)).copy()
    for i, n in enumerate(lengths.tolist()):
        out[i, :n] = out[i, :n][::-1].copy()
    return np.moveaxis(out, (0, 1), (batch, time))


@exact("Dropout", "ratio seed is_test")
def dropout(call):
    x, training = call.inputs[0], call.input(2)
    if (training is not None and bool(training)) or (call.opset < 7 and not call.attr("is_test")):
        raise Unsupported("training is not covered")
    return (x, np.ones(x.shape, bool if call.opset >= 10 else x.dtype))


# --- types ---------------------------------------------------------------------------------------

def cast_to(x, number):
    """The array in another type."""
    name, kind, _, foreign = TYPES[number]
    if x.dtype == object or name == "string" or (foreign and name != "bfloat16"):
        raise Unsupported("casts from or to %s are not covered" % name)
    if getattr(x, "onnx_type", None) not in (None, "bfloat16"):
        raise Unsupported("casts from %s are not covered" % x.onnx_type)
    wide = widened(x)
    if name == "bfloat16" or np.dtype(kind).kind == "f":
        if name == "bfloat16" and x.dtype == np.float64:
            raise Unsupported("double to bfloat16 rounds twice here")
        return rounded(wide.astype(np.float64) if wide.dtype.kind != "f" else wide, number)
    if np.dtype(kind).kind == "b" or wide.dtype.kind != "f":
        return wide.astype(kind)
    limits = np.iinfo(kind)
    whole = np.trunc(wide)
    if not ((whole >= limits.min) & (whole <= limits.max) & (whole < 2.0 ** 63)).all():
        raise Unsupported("what a number beyond the type becomes is left open")
    return whole.astype(kind)


@exact("Cast", "to saturate round_mode")
def cast(call):
    return cast_to(call.inputs[0], call.attr("to"))


@exact("CastLike", "saturate round_mode")
def cast_like(call):
    return cast_to(call.inputs[0], call.types[1])


# --- reductions ----------------------------------------------------------------------------------

def log_sum_exp(x, axes, keep):
    """log(sum(exp(x))) without overflow."""
    most = np.max(x, axes, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(most), most, 0)
    out = np.log(np.sum(np.exp(x - shift), axes, keepdims=True)) + shift
    return out if keep else np.squeeze(out, axes)


def of_least(x, least):
    """What the maximum (minimum) of nothing is."""
    if x.dtype.kind == "f":
        return -np.inf if least else np.inf
    if x.dtype.kind == "b":
        return not least
    return np.iinfo(x.dtype).min if least else np.iinfo(x.dtype).max


REDUCE = {
    "Sum": lambda x, a, k: np.sum(x, a, keepdims=k, dtype=x.dtype),
    "Mean": lambda x, a, k: np.mean(x, a, keepdims=k),
    "Prod": lambda x, a, k: np.prod(x, a, keepdims=k, dtype=x.dtype),
    "Max": lambda x, a, k: np.max(x, a, keepdims=k, initial=of_least(x, True)),
    "Min": lambda x, a, k: np.min(x, a, keepdims=k, initial=of_least(x, False)),
    "L1": lambda x, a, k: np.sum(np.abs(x), a, keepdims=k, dtype=x.dtype),
    "L2": lambda x, a, k: np.sqrt(np.sum(x * x, a, keepdims=k)),
    "SumSquare": lambda x, a, k: np.sum(x * x, a, keepdims=k, dtype=x.dtype),
    "LogSum": lambda x, a, k: np.log(np.sum(x, a, keepdims=k)),
    "LogSumExp": log_sum_exp}


@operator(" ".join("Reduce" + name for name in REDUCE), "axes keepdims noop_with_empty_axes")
def reduce(call):
    x, kind, axes = call.inputs[0], call.node.op_type[6:], call.list("axes", 1)
    if kind in ("Max", "Min"):
        no_nan(call, x)
    if kind in ("Mean", "L2", "LogSum", "LogSumExp") and x.dtype.kind != "f":
        raise Unsupported("%s of integers is not covered" % call.node.op_type)
    if not axes and call.attr("noop_with_empty_axes", 0):
        if kind not in ("Sum", "Mean", "Prod", "Max", "Min"):
            raise Unsupported("what %s does without axes is left open" % call.node.op_type)
        return x
    axes = tuple(axis_of(a, x.ndim) for a in axes) if axes else tuple(range(x.ndim))
    return REDUCE[kind](x, axes, bool(call.attr("keepdims", 1)))


@operator("ArgMax ArgMin", "axis keepdims select_last_index")
def arg(call):
    x, axis = call.inputs[0], axis_of(call.attr("axis", 0), call.inputs[0].ndim)
    no_nan(call, x)
    find = np.argmax if call.node.op_type == "ArgMax" else np.argmin
    if call.attr("select_last_index", 0):
        out = x.shape[axis] - 1 - find(np.flip(x, axis), axis)
    else:
        out = find(x, axis)
    out = out.astype(np.int64)
    return np.expand_dims(out, axis) if call.attr("keepdims", 1) else out


@operator("CumSum", "exclusive reverse")
def cumulative(call):
    x, axis = call.inputs[0], axis_of(int(call.inputs[1].reshape(-1)[0]), call.inputs[0].ndim)
    x = np.flip(x, axis) if call.attr("reverse", 0) else x
    out = np.cumsum(x, axis, dtype=x.dtype)
    if call.attr("exclusive", 0):
        out = np.roll(out, 1, axis)
        out[tuple(0 if i == axis else slice(None) for i in range(x.ndim))] = 0
    return np.flip(out, axis) if call.attr("reverse", 0) else out


@operator("TopK", "axis k largest sorted")
def top_k(call):
    x, axis = call.inputs[0], axis_of(call.attr("axis", -1), call.inputs[0].ndim)
    k = call.attr("k") if "k" in call.node.attributes else call.numbers(1)[0]
    if not call.attr("sorted", 1) and k > 1:
        raise Unsupported("the order of elements that are not sorted is left open")
    no_nan(call, x)
    if call.attr("largest", 1):  # equal ones by their place, the first one first
        order = np.flip(np.argsort(np.flip(x, axis), axis, "stable"), axis)
        order = x.shape[axis] - 1 - order
    else:
        order = np.argsort(x, axis, kind="stable")
    order = np.take(order, np.arange(k), axis)
    return np.take_along_axis(x, order, axis), order.astype(np.int64)


@operator("Softmax LogSoftmax Hardmax", "axis")
def softmax(call):
    x, kind = call.inputs[0], call.node.op_type
    shape = x.shape
    axis = call.attr("axis", 1 if call.opset < 13 else -1)
    if call.opset < 13:  # all from the axis on is one
        axis = axis + x.ndim if axis < 0 else axis
        x, axis = x.reshape(math.prod(shape[:axis]), -1), 1
    if kind == "Hardmax":
        no_nan(call, x)
        first = np.expand_dims(np.argmax(x, axis), axis)
        place = along(np.arange(x.shape[axis]), axis_of(axis, x.ndim), x.ndim)
        return (place == first).astype(np.float64).reshape(shape)
    x = x - np.max(x, axis, keepdims=True)
    if kind == "LogSoftmax":
        return (x - np.log(np.sum(np.exp(x), axis, keepdims=True))).reshape(shape)
    return (np.exp(x) / np.sum(np.exp(x), axis, keepdims=True)).reshape(shape)


# --- products ------------------------------------------------------------------------------------

@operator("MatMul")
def matmul(call):
    return np.matmul(*call.inputs)


@operator("Gemm", "alpha beta transA transB broadcast")
def gemm(call):
    a, b, c = call.inputs[0], call.inputs[1], call.input(2)
    alpha, beta = call.attr("alpha", 1.0), call.attr("beta", 1.0)
    if a.dtype.kind != "f" and (alpha, beta) != (1, 1):
        raise Unsupported("integers with a factor are not covered")
    a = a.T if call.attr("transA", 0) else a
    b = b.T if call.attr("transB", 0) else b
    out = a @ b if a.dtype.kind != "f" else alpha * (a @ b)
    if c is None:
        return out
    return out + (c if a.dtype.kind != "f" else beta * c)


@operator("Einsum", "equation")
def einsum(call):
    return np.einsum(call.attr("equation").replace(" ", ""), *call.inputs)


@operator("Det")
def det(call):
    return np.linalg.det(call.inputs[0])


# --- windows -------------------------------------------------------------------------------------

class Windows:
    """Where a kernel looks: sizes, strides, dilations and pads of the spatial axes."""

    def __init__(self, call, sizes, kernel):
        n = len(sizes)
        self.sizes, self.kernel = list(sizes), list(kernel)
        self.strides = call.attr("strides") or [1] * n
        self.dilations = call.attr("dilations") or [1] * n
        self.reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        pads = call.attr("pads") or [0] * (2 * n)
        self.begin, self.end = list(pads[:n]), list(pads[n:])
        auto = call.word("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
        if auto == "VALID":
            self.begin, self.end = [0] * n, [0] * n
        if auto.startswith("SAME"):
            total = [max((-(-size // s) - 1) * s + r - size, 0)
                     for size, s, r in zip(sizes, self.strides, self.reach)]
            less, more = [t // 2 for t in total], [t - t // 2 for t in total]
            self.begin, self.end = (less, more) if auto == "SAME_UPPER" else (more, less)
        ceil = bool(call.attr("ceil_mode", 0)) and auto == "NOTSET"
        self.out = [self.count(i, ceil) for i in range(n)]

    def count(self, i, ceil):
        """Windows along an axis; with ceil_mode one may begin before the end of what there is,
        pads in front included, and reach beyond it."""
        room = self.sizes[i] + self.begin[i] + self.end[i] - self.reach[i]
        n = (-(-room // self.strides[i]) if ceil else room // self.strides[i]) + 1
        if ceil and (n - 1) * self.strides[i] >= self.sizes[i] + self.begin[i]:
            n -= 1
        return n

    def padded(self, x, value):
        """x, of which the last axes are spatial, with a value where windows reach beyond it."""
        need = [(o - 1) * s + r for o, s, r in zip(self.out, self.strides, self.reach)]
        if min(self.begin + self.end) < 0:
            raise Unsupported("negative pads are not covered")
        widths = [(b, max(n - size - b, 0))
                  for b, n, size in zip(self.begin, need, self.sizes)]
        lead = [(0, 0)] * (x.ndim - len(widths))
        return np.pad(x, lead + widths, constant_values=value)

    def places(self):
        """Places in the kernel."""
        return itertools.product(*(range(k) for k in self.kernel))

    def look(self, x, place):
        """Of a padded x what all windows have at a place."""
        cut = [slice(p * d, p * d + (o - 1) * s + 1, s) for p, d, o, s in
               zip(place, self.dilations, self.out, self.strides)]
        return x[(..., *cut)]


CONV = "auto_pad dilations group kernel_shape pads strides"
POOL = "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"


def convolved(call, x, w, bias=None):
    """The convolution of x with w, in the type they have."""
    group, out_channels = call.attr("group", 1), w.shape[0]
    if "kernel_shape" in call.node.attributes and call.attr("kernel_shape") != list(w.shape[2:]):
        raise Unsupported("kernel_shape is another than that of W")
    windows = Windows(call, x.shape[2:], w.shape[2:])
    x = windows.padded(x, 0)
    out = np.zeros((x.shape[0], out_channels, *windows.out), x.dtype)
    m, c = out_channels // group, w.shape[1]
    for g in range(group):
        own, take = slice(g * m, (g + 1) * m), slice(g * c, (g + 1) * c)
        for place in windows.places():
            weights = w[(own, slice(None), *place)]
            seen = windows.look(x[:, take], place)
            out[:, own] += np.moveaxis(np.tensordot(weights, seen, (1, 1)), 0, 1)
    return out if bias is None else out + along(bias, 1, out.ndim)


@operator("Conv", CONV)
def conv(call):
    return convolved(call, call.inputs[0], call.inputs[1], call.input(2))


@operator("ConvTranspose", CONV + " output_padding output_shape")
def conv_transpose(call):
    x, w, bias = call.inputs[0], call.inputs[1], call.input(2)
    group, n = call.attr("group", 1), x.ndim - 2
    strides, dilations = (call.attr(a) or [1] * n for a in ("strides", "dilations"))
    extra = call.attr("output_padding") or [0] * n
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    full = [(i - 1) * s + r + e for i, s, r, e in zip(x.shape[2:], strides, reach, extra)]
    auto = call.word("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    shape = call.attr("output_shape")
    pads = call.attr("pads") or [0] * (2 * n)
    if auto.startswith("SAME") and not shape:
        shape = [i * s for i, s in zip(x.shape[2:], strides)]
    if shape:
        total = [f - o for f, o in zip(full, shape[-n:])]
        if min(total) < 0:
            raise Unsupported("an output larger than the full one is not covered")
        half = [t // 2 for t in total]
        begin = half if auto == "SAME_UPPER" else [t - h for t, h in zip(total, half)]
        pads = begin + [t - b for t, b in zip(total, begin)]
    if auto == "VALID":
        pads = [0] * (2 * n)
    c, m = x.shape[1] // group, w.shape[1]
    out = np.zeros((x.shape[0], m * group, *full), x.dtype)
    for g in range(group):
        seen, own = x[:, g * c:(g + 1) * c], slice(g * m, (g + 1) * m)
        for place in itertools.product(*(range(k) for k in w.shape[2:])):
            weights = w[(slice(g * c, (g + 1) * c), slice(None), *place)]
            cut = [slice(p * d, p * d + (i - 1) * s + 1, s)
                   for p, d, i, s in zip(place, dilations, x.shape[2:], strides)]
            out[(slice(None), own, *cut)] += np.moveaxis(np.tensordot(weights, seen, (0, 1)), 0, 1)
    out = out[(..., *(slice(b, f - e) for b, e, f in zip(pads[:n], pads[n:], full)))]
    return out if bias is None else out + along(bias, 1, out.ndim)


@operator("AveragePool LpPool", POOL + " count_include_pad p")
def average_pool(call):
    x = call.inputs[0]
    windows = Windows(call, x.shape[2:], call.attr("kernel_shape"))
    power_ = call.attr("p", 2) if call.node.op_type == "LpPool" else None
    inside = np.ones(x.shape[2:])
    if call.attr("count_include_pad", 0):  # pads count, what lies beyond them does not
        inside = np.pad(inside, list(zip(windows.begin, windows.end)), constant_values=1)
        beyond = [max((o - 1) * s + r - size, 0) for o, s, r, size in
                  zip(windows.out, windows.strides, windows.reach, inside.shape)]
        inside = np.pad(inside, [(0, b) for b in beyond])
    else:
        inside = windows.padded(inside, 0)
    padded = windows.padded(x, 0)
    total = np.zeros((*x.shape[:2], *windows.out))
    count = np.zeros(windows.out)
    for place in windows.places():
        seen = windows.look(padded, place)
        total += seen if power_ is None else np.abs(seen) ** power_
        count += windows.look(inside, place)
    return total / count if power_ is None else total ** (1 / power_)


@operator("MaxPool", POOL)
def max_pool(call):
    x, sizes = call.inputs[0], call.inputs[0].shape[2:]
    no_nan(call, x)
    windows = Windows(call, sizes, call.attr("kernel_shape"))
    columns = call.attr("storage_order", 0)
    index = np.arange(math.prod(sizes)).reshape(sizes[::-1] if columns else sizes)
    index = windows.padded(index.T if columns else index, -1)
    padded = windows.padded(x, of_least(x, True))
    best = np.full((*x.shape[:2], *windows.out), of_least(x, True), x.dtype)
    where_ = np.full(best.shape, -1, np.int64)
    for place in windows.places():
        seen, at = windows.look(padded, place), windows.look(index, place)
        better = (at >= 0) & ((seen > best) | (where_ < 0))
        best, where_ = np.where(better, seen, best), np.where(better, at, where_)
    plane = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *[1] * len(sizes))
    return best, where_ + plane * math.prod(sizes)


@operator("GlobalAveragePool GlobalMaxPool")
def global_pool(call):
    x = call.inputs[0]
    axes = tuple(range(2, x.ndim))
    if call.node.op_type == "GlobalAveragePool":
        return np.mean(x, axes, keepdims=True)
    no_nan(call, x)
    return np.max(x, axes, keepdims=True)


# --- norms ---------------------------------------------------------------------------------------

def standard(x, axes, epsilon):
    """(x - mean) / sqrt(variance + epsilon), the mean, and 1 / that root."""
    mean = np.mean(x, axes, keepdims=True)
    inverse = 1 / np.sqrt(np.mean((x - mean) ** 2, axes, keepdims=True) + epsilon)
    return (x - mean) * inverse, mean, inverse


@operator("BatchNormalization", "epsilon momentum training_mode spatial is_test")
def batch_normalization(call):
    x, scale, bias, mean, variance = call.inputs
    trains = call.attr("training_mode", 0) or (call.opset < 7 and not call.attr("is_test", 0))
    if trains or not call.attr("spatial", 1) or any(call.wants(i) for i in range(1, 5)):
        raise Unsupported("training, and statistics per element, are not covered")
    scale, bias, mean, variance = (along(v, 1, x.ndim) for v in (scale, bias, mean, variance))
    return scale * (x - mean) / np.sqrt(variance + call.attr("epsilon", 1e-5)) + bias


@operator("InstanceNormalization", "epsilon")
def instance_normalization(call):
    x, scale, bias = call.inputs
    out = standard(x, tuple(range(2, x.ndim)), call.attr("epsilon", 1e-5))[0]
    return along(scale, 1, x.ndim) * out + along(bias, 1, x.ndim)


@exact("LayerNormalization", "axis epsilon stash_type")
def layer_normalization(call):
    x, scale, bias = (v if v is None else widened(v)
                      for v in (call.inputs[0], call.inputs[1], call.input(2)))
    if call.attr("stash_type", 1) != 1:
        raise Unsupported("stash_type is not covered")
    axes = tuple(range(axis_of(call.attr("axis", -1), x.ndim), x.ndim))
    out, mean, inverse = standard(x, axes, call.attr("epsilon", 1e-5))
    out = out * scale + (0 if bias is None else bias)
    return rounded(out, call.type), rounded(mean, 1), rounded(inverse, 1)


@operator("RMSNormalization", "axis epsilon stash_type")
def rms_normalization(call):
    x, scale = call.inputs
    axes = tuple(range(axis_of(call.attr("axis", -1), x.ndim), x.ndim))
    root = np.sqrt(np.mean(x * x, axes, keepdims=True) + call.attr("epsilon", 1e-5))
    return x / root * scale


@operator("GroupNormalization", "epsilon num_groups stash_type")
def group_normalization(call):
    x, scale, bias = call.inputs
    groups = call.attr("num_groups")
    parts = x.reshape(x.shape[0], groups, -1)
    out = standard(parts, (2,), call.attr("epsilon", 1e-5))[0].reshape(x.shape)
    if call.opset < 21:  # one scale per group
        scale, bias = (np.repeat(v, x.shape[1] // groups) for v in (scale, bias))
    return along(scale, 1, x.ndim) * out + along(bias, 1, x.ndim)


@operator("LRN", "alpha beta bias size")
def lrn(call):
    x, size = call.inputs[0], call.attr("size")
    total = np.zeros(x.shape)
    for c in range(x.shape[1]):
        first, last = max(0, c - (size - 1) // 2), min(x.shape[1], c + -(-(size - 1) // 2) + 1)
        total[:, c] = np.sum(x[:, first:last] ** 2, 1)
    base = call.attr("bias", 1.0) + call.attr("alpha", 1e-4) / size * total
    return x / base ** call.attr("beta", 0.75)


@operator("LpNormalization", "axis p")
def lp_normalization(call):
    x, axis, p = call.inputs[0], call.attr("axis", -1), call.attr("p", 2)
    norm = np.sum(np.abs(x) ** p, axis, keepdims=True) ** (1 / p)
    if (norm == 0).any():
        raise Unsupported("what a norm of 0 comes to is left open")
    return x / norm


@operator("MeanVarianceNormalization", "axes")
def mean_variance_normalization(call):
    x, axes = call.inputs[0], tuple(call.attr("axes", [0, 2, 3]))
    mean = np.mean(x, axes, keepdims=True)
    return (x - mean) / (np.sqrt(np.mean((x - mean) ** 2, axes, keepdims=True)) + 1e-9)


# --- quantised -----------------------------------------------------------------------------------

def spread(parameter, x, axis, block=0):
    """A scale or zero point per tensor, per axis or per block as it lies over x."""
    if parameter is None or parameter.size == 1 and not block:
        return parameter if parameter is None else parameter.reshape(())
    axis = axis_of(axis, x.ndim)
    if not block:
        return along(parameter, axis, x.ndim)
    return np.take(np.repeat(parameter, block, axis), np.arange(x.shape[axis]), axis)


def plain(array):
    """Integers of any type as int64."""
    return None if array is None else np.asarray(array).astype(np.int64)


def saturated(values, name):
    """Whole numbers within a type, in it."""
    if name not in INTEGERS:
        raise Unsupported("%s is not covered" % name)
    out = np.clip(values, *INTEGERS[name])
    if name in ("uint4", "int4"):
        return as_bits(out.astype(np.int8 if name == "int4" else np.uint8), name)
    return out.astype(name)


def type_name(array):
    """ONNX's name of an array's type."""
    return TYPES[dtype_of(array)][0]


@exact("QuantizeLinear", "axis block_size output_dtype precision saturate")
def quantize_linear(call):
    x, scale, zero = call.inputs[0], call.inputs[1], call.input(2)
    if x.dtype != np.float32 or scale.dtype != np.float32 or call.attr("precision", 0) > 1:
        raise Unsupported("what is not float is not covered")
    axis, block = call.attr("axis", 1), call.attr("block_size", 0)
    name = TYPES[call.attr("output_dtype", 0) or 2][0] if zero is None else type_name(zero)
    ratio = np.rint(x / spread(scale, x, axis, block)).astype(np.float64)
    if np.isnan(ratio).any():
        raise Unsupported("what NaN becomes is left open")
    return saturated(ratio + (0 if zero is None else spread(plain(zero), x, axis, block)), name)


@exact("DequantizeLinear", "axis block_size output_dtype")
def dequantize_linear(call):
    x, scale, zero = call.inputs[0], call.inputs[1], plain(call.input(2))
    if type_name(x) not in INTEGERS:
        raise Unsupported("%s is not covered" % type_name(x))
    axis, block = call.attr("axis", 1), call.attr("block_size", 0)
    whole = plain(x) - (0 if zero is None else spread(zero, x, axis, block))
    out = whole * spread(widened(scale), x, axis, block)
    return rounded(out, call.attr("output_dtype", 0) or dtype_of(scale))


@exact("DynamicQuantizeLinear")
def dynamic_quantize_linear(call):
    x = call.inputs[0]
    low, high = np.minimum(np.float32(0), x.min()), np.maximum(np.float32(0), x.max())
    scale = np.float32((high - low) / np.float32(255))
    zero = np.clip(np.rint(np.float32(0) - low / scale), 0, 255) if scale else np.float32(0)
    y = np.rint(x / scale) + zero if scale else np.zeros(x.shape)
    return saturated(y, "uint8"), np.asarray(scale), np.asarray(zero).astype(np.uint8)


def shifted(x, zero, axis):
    """Integers less their zero point, exactly."""
    x = plain(x)
    return x if zero is None else x - spread(plain(zero), x, axis)


def requantized(total, scale, out_scale, out_zero):
    """Exact sums in the output's type."""
    return saturated(np.rint(total * (scale / widened(out_scale))) + plain(out_zero),
                     type_name(out_zero))


@exact("MatMulInteger")
def matmul_integer(call):
    a, b, a_zero, b_zero = (call.input(i) for i in range(4))
    out = shifted(a, a_zero, a.ndim - 2) @ shifted(b, b_zero, b.ndim - 1)
    return out.astype(np.int32)


@exact("QLinearMatMul")
def q_linear_matmul(call):
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = call.inputs
    total = shifted(a, a_zero, a.ndim - 2) @ shifted(b, b_zero, b.ndim - 1)
    both = (spread(widened(a_scale), a, a.ndim - 2) * spread(widened(b_scale), b, b.ndim - 1))
    return requantized(total, both, scale, zero)


@exact("ConvInteger", CONV)
def conv_integer(call):
    x, w, x_zero, w_zero = (call.input(i) for i in range(4))
    return convolved(call, shifted(x, x_zero, 1), shifted(w, w_zero, 0)).astype(np.int32)


@exact("QLinearConv", CONV)
def q_linear_conv(call):
    x, x_scale, x_zero, w, w_scale, w_zero, scale, zero = call.inputs[:8]
    total = convolved(call, shifted(x, x_zero, 1), shifted(w, w_zero, 0), plain(call.input(8)))
    both = widened(x_scale).reshape(()) * spread(widened(w_scale), total, 1)
    return requantized(total, both, scale, zero)


# --- images --------------------------------------------------------------------------------------

RESIZE = ("antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
          "extrapolation_value keep_aspect_ratio_policy mode nearest_mode scales")


def coordinate(how, i, scale, size, out):
    """Where the element i of the output lies among the input's."""
    if how == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if how == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if out > 1 else 0 * i
    if how == "align_corners":
        return i * (size - 1) / (out - 1) if out > 1 else 0 * i
    if how == "asymmetric":
        return i / scale
    if how == "half_pixel_symmetric":
        return size / 2 * (1 - out / (scale * size)) + (i + 0.5) / scale - 0.5
    raise Unsupported("coordinate_transformation_mode=%s is not covered" % how)


def nearest(how, at):
    """The whole number that a coordinate is taken for."""
    if how == "floor":
        return np.floor(at)
    if how == "ceil":
        return np.ceil(at)
    return np.ceil(at - 0.5) if how == "round_prefer_floor" else np.floor(at + 0.5)


def cubic(t, a):
    """The weight of an element at distance t."""
    t = np.abs(t)
    near = (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
    far = a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def resize_matrix(at, size, mode, how, a=-0.75, outside=True):
    """[out, in] weights for outputs that lie at these coordinates."""
    out = np.zeros((len(at), size))
    rows = np.arange(len(at))
    if mode == "nearest":
        out[rows, np.clip(nearest(how, at), 0, size - 1).astype(int)] = 1
        return out
    taps = range(0, 2) if mode == "linear" else range(-1, 3)
    base = np.floor(at)
    for tap in taps:
        where_ = base + tap
        weight = 1 - np.abs(at - where_) if mode == "linear" else cubic(at - where_, a)
        if not outside:
            weight = np.where((where_ < 0) | (where_ >= size), 0.0, weight)
        np.add.at(out, (rows, np.clip(where_, 0, size - 1).astype(int)), weight)
    return out if outside else out / out.sum(1, keepdims=True)


def resized(call, x, scales, sizes, axes, how):
    """x with some axes resized, one after the other; how: mode, coordinates, nearest_mode."""
    mode, coordinates, rounding = how
    for i, axis in enumerate(axes):
        size = x.shape[axis]
        scale = scales[i] if scales else sizes[i] / size
        out = sizes[i] if sizes else math.floor(size * scale)
        if out == size and scale == 1:
            continue
        at = coordinate(coordinates, np.arange(out, dtype=np.float64), scale, size, out)
        weights = resize_matrix(at, size, mode, rounding, call.attr("cubic_coeff_a", -0.75),
                                not call.attr("exclude_outside", 0))
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
    return x


@exact("Resize", RESIZE)
def resize(call):
    mode = call.word("mode", "nearest", "linear", "cubic")
    x, old = call.inputs[0], call.opset < 11
    kept = x.dtype if mode == "nearest" else None
    scales = call.input(1 if old else 2)
    sizes = None if old else call.numbers(3)
    if call.attr("antialias", 0):
        raise Unsupported("antialias is not covered")
    scales = None if scales is None or scales.size == 0 else widened(scales).tolist()
    if scales is not None:
        sizes = None
    axes = [axis_of(a, x.ndim) for a in call.attr("axes", range(x.ndim))]
    policy = call.word("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
    if sizes and policy != "stretch":
        pick = min if policy == "not_larger" else max
        scale = pick(s / x.shape[a] for s, a in zip(sizes, axes))
        sizes, scales = [int(nearest("round", scale * x.shape[a])) for a in axes], None
        if any(abs(scale * x.shape[a] % 1 - 0.5) < 1e-6 for a in axes):
            raise Unsupported("a size halfway between two is not covered")
        scales_kept = [scale] * len(axes)
        return call_resized(call, x, scales_kept, sizes, axes, mode, old, kept)
    return call_resized(call, x, scales, sizes, axes, mode, old, kept)


def call_resized(call, x, scales, sizes, axes, mode, old, kept):
    """The same with all that is known about sizes."""
    if old:
        how = (mode, "asymmetric", "floor")
    else:
        how = (mode, call.attr("coordinate_transformation_mode", "half_pixel"),
               call.word("nearest_mode", "round_prefer_floor", "round_prefer_ceil", "floor",
                         "ceil"))
    out = resized(call, widened(x), scales, sizes, axes, how)
    if getattr(x, "onnx_type", None) or kept is None:
        return rounded(out, call.type) if call.types[0] in (1, 10, 11, 16) else refuse_integers()
    return out.astype(kept)


def refuse_integers():
    """Integers between others."""
    raise Unsupported("integers that are interpolated are not covered")


@exact("Upsample", "mode scales")
def upsample(call):
    x = call.inputs[0]
    scales = call.attr("scales") or widened(call.inputs[1]).tolist()
    mode = {"bilinear": "linear"}.get(call.attr("mode", "nearest"), call.attr("mode", "nearest"))
    if mode not in ("nearest", "linear"):
        raise Unsupported("mode=%s is not covered" % mode)
    out = resized(call, widened(x), scales, None, range(x.ndim), (mode, "asymmetric", "floor"))
    return out.astype(x.dtype) if mode == "nearest" else rounded(out, call.type)


def reflected(at, size, corners):
    """Coordinates beyond the border folded back into it."""
    low, high = (0, size - 1) if corners else (-0.5, size - 0.5)
    length = high - low
    if length == 0:
        return np.zeros_like(at)
    away = np.mod(at - low, 2 * length)
    return low + np.where(away > length, 2 * length - away, away)


@operator("GridSample", "align_corners mode padding_mode")
def grid_sample(call):
    x, grid = call.inputs
    mode = {"linear": "bilinear"}.get(call.attr("mode"), call.attr("mode", "bilinear"))
    if x.ndim != 4 or mode not in ("bilinear", "nearest"):
        raise Unsupported("mode=%s of %d dimensions is not covered" % (mode, x.ndim))
    border = call.word("padding_mode", "zeros", "border", "reflection")
    corners, sizes = bool(call.attr("align_corners", 0)), x.shape[2:]
    at = []
    for size, g in zip(sizes, (grid[..., 1], grid[..., 0])):
        where_ = (g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2
        if border == "border":
            where_ = np.clip(where_, 0, size - 1)
        if border == "reflection":
            where_ = np.clip(reflected(where_, size, corners), 0, size - 1)
        at.append(where_)
    base = [np.rint(a) if mode == "nearest" else np.floor(a) for a in at]
    out = np.zeros((x.shape[0], x.shape[1], *grid.shape[1:3]))
    for step in itertools.product((0, 1), repeat=2) if mode == "bilinear" else [(0, 0)]:
        place = [b + s for b, s in zip(base, step)]
        weight = np.ones(grid.shape[:3])
        for a, p, size in zip(at, place, sizes):
            weight = weight * (1 - np.abs(a - p) if mode == "bilinear" else 1)
            weight = np.where((p >= 0) & (p < size), weight, 0)
        row, column = (np.clip(p, 0, s - 1).astype(int) for p, s in zip(place, sizes))
        for n in range(x.shape[0]):
            out[n] += x[n][:, row[n], column[n]] * weight[n]
    return out


def bilinear(plane, y, x):
    """What a plane [C, H, W] has at a place of RoiAlign, which is 0 beyond one pixel outside."""
    height, width = plane.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros(plane.shape[0]), np.zeros((4, plane.shape[0]))
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    dy, dx = y - top, x - left
    parts = np.array([(1 - dy) * (1 - dx) * plane[:, top, left],
                      (1 - dy) * dx * plane[:, top, right],
                      dy * (1 - dx) * plane[:, bottom, left], dy * dx * plane[:, bottom, right]])
    return parts.sum(0), parts


@operator("RoiAlign", "coordinate_transformation_mode mode output_height output_width "
                      "sampling_ratio spatial_scale")
def roi_align(call):
    x, rois, batches = call.inputs
    if call.word("mode", "avg", "max") == "max":
        raise Unsupported("mode=max is not covered")
    default = "half_pixel" if call.opset >= 16 else "output_half_pixel"
    half = call.attr("coordinate_transformation_mode", default) == "half_pixel"
    height, width = call.attr("output_height", 1), call.attr("output_width", 1)
    scale, ratio = call.attr("spatial_scale", 1.0), call.attr("sampling_ratio", 0)
    out = np.zeros((len(rois), x.shape[1], height, width))
    for r, (roi, batch) in enumerate(zip(rois, batches.tolist())):
        x1, y1, x2, y2 = roi * scale - (0.5 if half else 0)
        tall, wide = y2 - y1, x2 - x1
        if not half:
            tall, wide = max(tall, 1.0), max(wide, 1.0)
        ny, nx = (ratio or math.ceil(tall / height)), (ratio or math.ceil(wide / width))
        for i, j in itertools.product(range(height), range(width)):
            total = 0
            for iy, ix in itertools.product(range(ny), range(nx)):
                y = y1 + i * tall / height + (iy + 0.5) * tall / height / ny
                at = x1 + j * wide / width + (ix + 0.5) * wide / width / nx
                total = total + bilinear(x[batch], y, at)[0]
            out[r, :, i, j] = total / max(ny * nx, 1)
    return out


def overlap(a, b, centres):
    """Intersection over union of two boxes."""
    if centres:
        a, b = ((x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y, w, h in (a, b))
    else:
        a, b = ((min(p[0], p[2]), min(p[1], p[3]), max(p[0], p[2]), max(p[1], p[3]))
                for p in (a, b))
    tall, wide = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(tall, 0) * max(wide, 0)
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return both / (areas - both) if both > 0 else 0.0


@operator("NonMaxSuppression", "center_point_box")
def non_max_suppression(call):
    boxes, scores = call.inputs[:2]
    most = (call.numbers(2) or [0])[0]
    limits = [call.input(i) for i in (3, 4)]
    iou = 0.0 if limits[0] is None else float(limits[0].reshape(-1)[0])
    least = None if limits[1] is None else float(limits[1].reshape(-1)[0])
    found = []
    for n, c in itertools.product(range(scores.shape[0]), range(scores.shape[1])):
        row, kept = scores[n, c], []
        for i in np.argsort(-row, kind="stable").tolist():
            if len(kept) >= most or (least is not None and row[i] <= least):
                break
            if all(overlap(boxes[n, i], boxes[n, k], call.attr("center_point_box", 0)) <= iou
                   for k in kept):
                kept.append(i)
        found += [[n, c, i] for i in kept]
    return np.array(found, np.int64).reshape(-1, 3)


# --- recurrent -----------------------------------------------------------------------------------

ACTIVATIONS = {"sigmoid": sigmoid, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}
RECURRENT = "activations activation_alpha activation_beta clip direction hidden_size layout"


class Cell:
    """What the recurrent operators share."""

    def __init__(self, call, defaults):
        self.call = call
        direction = call.word("direction", "forward", "reverse", "bidirectional")
        self.backwards = {"forward": [False], "reverse": [True],
                          "bidirectional": [False, True]}[direction]
        if "activation_alpha" in call.node.attributes or "activation_beta" in call.node.attributes:
            raise Unsupported("parameters of activations are not covered")
        names = call.attr("activations") or defaults * len(self.backwards)
        names = [name.lower() for name in names]
        if any(name not in ACTIVATIONS for name in names):
            raise Unsupported("activations of %s are not covered" % ", ".join(names))
        n = len(defaults)
        self.activations = [[ACTIVATIONS[name] for name in names[d * n:(d + 1) * n]]
                            for d in range(len(self.backwards))]
        self.clip, self.layout = call.attr("clip", 0.0), call.attr("layout", 0)
        self.x = call.inputs[0]
        if self.layout:
            self.x = self.x.transpose(1, 0, 2)
        lengths = call.numbers(4)
        self.lengths = [self.x.shape[0]] * self.x.shape[1] if lengths is None else lengths
        self.hidden = call.inputs[2].shape[2]

    def bounded(self, x):
        """x within the clip."""
        return np.clip(x, -self.clip, self.clip) if self.clip else x

    def start(self, i, d):
        """The first state of a direction."""
        given = self.call.input(i)
        if given is None:
            return np.zeros((self.x.shape[1], self.hidden))
        return np.array((given.transpose(1, 0, 2) if self.layout else given)[d])

    def parameters(self, d):
        """W, R and the two halves of B of a direction."""
        w, r, b = self.call.inputs[1][d], self.call.inputs[2][d], self.call.input(3)
        half = w.shape[0]
        b = np.zeros(2 * half) if b is None else b[d]
        return w, r, b[:half], b[half:]

    def run(self, step, with_cell):
        """All directions; step(d, x, h, c) gives the next h and c. Y, Y_h and Y_c."""
        length, batch = self.x.shape[:2]
        y = np.zeros((length, len(self.backwards), batch, self.hidden))
        last_h, last_c = [], []
        for d, backwards in enumerate(self.backwards):
            h = self.start(5, d)
            c = self.start(6, d) if with_cell else np.zeros_like(h)
            for n in range(batch):
                times = range(self.lengths[n])
                for t in reversed(times) if backwards else times:
                    h[n], c[n] = step(d, self.x[t, n], h[n], c[n])
                    y[t, d, n] = h[n]
            last_h.append(h)
            last_c.append(c)
        h, c = np.array(last_h), np.array(last_c)
        if self.layout:
            y, h, c = y.transpose(2, 0, 1, 3), h.transpose(1, 0, 2), c.transpose(1, 0, 2)
        return (y, h, c) if with_cell else (y, h)


@operator("RNN", RECURRENT)
def rnn(call):
    cell = Cell(call, ["tanh"])

    def step(d, x, h, c):
        w, r, bw, br = cell.parameters(d)
        return cell.activations[d][0](cell.bounded(w @ x + bw + r @ h + br)), c
    return cell.run(step, False)


@operator("GRU", RECURRENT + " linear_before_reset")
def gru(call):
    cell = Cell(call, ["sigmoid", "tanh"])

    def step(d, x, h, c):
        w, r, bw, br = cell.parameters(d)
        f, g = cell.activations[d]
        wz, wr, wh = np.split(w @ x + bw, 3)
        rz, rr, rh = np.split(r, 3)
        bz, bq, bh = np.split(br, 3)
        z = f(cell.bounded(wz + rz @ h + bz))
        reset = f(cell.bounded(wr + rr @ h + bq))
        if call.attr("linear_before_reset", 0):
            new = g(cell.bounded(wh + reset * (rh @ h + bh)))
        else:
            new = g(cell.bounded(wh + rh @ (reset * h) + bh))
        return (1 - z) * new + z * h, c
    return cell.run(step, False)


@operator("LSTM", RECURRENT + " input_forget")
def lstm(call):
    cell = Cell(call, ["sigmoid", "tanh", "tanh"])
    if call.attr("input_forget", 0):
        raise Unsupported("input_forget is not covered")

    def step(d, x, h, c):
        w, r, bw, br = cell.parameters(d)
        f, g, last = cell.activations[d]
        holes = call.input(7)
        pi, po, pf = np.zeros((3, cell.hidden)) if holes is None else np.split(holes[d], 3)
        i, o, forget, new = np.split(w @ x + bw + r @ h + br, 4)
        i, forget = f(cell.bounded(i + pi * c)), f(cell.bounded(forget + pf * c))
        c = forget * c + i * g(cell.bounded(new))
        return f(cell.bounded(o + po * c)) * last(cell.bounded(c)), c
    return cell.run(step, True)
