# SPDX-License-Identifier: GPL-3.0-or-later
"""Narrower types, other rounding, saturation and wrapping. Formulas as a textbook has them, in NumPy."""
import numpy
from onnx import helper

from mutations import floats, kind, need
from mutations.inputs import ZERO_POINTS

PRODUCTS = "MatMul Gemm Conv ConvTranspose"
BIG = 4e6  # multiplications that a sum in a narrow type may take


def to_odd(x):
    """float32, whose last bit says that there was more: so it can be rounded once again."""
    near = numpy.asarray(x).astype(numpy.float32)
    below = numpy.where(abs(near) > abs(x), numpy.nextafter(near, numpy.float32(0)), near)
    odd = (numpy.ascontiguousarray(below).view(numpy.uint32) | 1).view(numpy.float32)
    return numpy.where((near == x) | ~numpy.isfinite(near), near, odd.reshape(near.shape))


def bits_dropped(x, bits, nearest=True):
    """float32 with fewer bits of mantissa."""
    narrow = to_odd(x) if numpy.asarray(x).dtype == numpy.float64 else x
    whole = numpy.ascontiguousarray(narrow, numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    if nearest:
        whole += (1 << (bits - 1)) - 1 + ((whole >> bits) & 1)
    whole = (whole >> bits) << bits
    rounded = whole.astype(numpy.uint32).view(numpy.float32).reshape(numpy.shape(x))
    return numpy.where(numpy.isfinite(x), rounded, x).astype(numpy.float32)


def to_f16(x):
    with numpy.errstate(over="ignore"):
        return x.astype(numpy.float16).astype(x.dtype)


def to_f8(x):
    """E4M3: four bits of exponent, three of mantissa, 448 at most."""
    x = numpy.asarray(x, numpy.float64)
    exponent = numpy.maximum(numpy.floor(numpy.log2(numpy.maximum(abs(x), 1e-30))), -6)
    step = 2.0 ** (exponent - 3)
    return numpy.clip(numpy.round(x / step) * step, -448, 448)


def to_int8(x):
    """A grid of 127 steps each way of the largest."""
    step = numpy.max(abs(x)) / 127
    return x if step == 0 else numpy.round(x / step) * step


ROUNDINGS = {"f16": to_f16, "f8": to_f8, "int8": to_int8,
             "bf16": lambda x: bits_dropped(x, 16), "tf32": lambda x: bits_dropped(x, 13),
             "bf16_truncated": lambda x: bits_dropped(x, 16, False)}


def operands(call, rounding):
    need(call.x is not None and call.x.dtype == numpy.float32)
    need(call.op in PRODUCTS.split())
    for at in (0, 1):
        call.give(at, ROUNDINGS[rounding](call.inputs[at]).astype(numpy.float32))


def results(call, rounding):
    need(floats(call.right()).dtype == numpy.float32)
    call.after(lambda y: ROUNDINGS[rounding](y).astype(numpy.float32))


@kind("number", PRODUCTS)
def operands_f16(call):
    operands(call, "f16")


@kind("number", PRODUCTS)
def operands_bf16(call):
    operands(call, "bf16")


@kind("number", PRODUCTS)
def operands_bf16_truncated(call):
    operands(call, "bf16_truncated")


@kind("number", PRODUCTS)
def operands_tf32(call):
    operands(call, "tf32")


@kind("number", PRODUCTS)
def operands_f8(call):
    operands(call, "f8")


@kind("number", PRODUCTS)
def operands_int8(call):
    operands(call, "int8")


@kind("number")
def results_f16(call):
    results(call, "f16")


@kind("number")
def results_bf16(call):
    results(call, "bf16")


@kind("number")
def results_tf32(call):
    results(call, "tf32")


@kind("number")
def results_f8(call):
    results(call, "f8")


@kind("number")
def results_int8(call):
    results(call, "int8")


@kind("number", "Softmax Sigmoid Tanh Erf Exp Log Sqrt LayerNormalization InstanceNormalization Mul Add")
def inputs_bf16(call):
    need(call.x is not None and call.x.dtype == numpy.float32)
    call.give(0, ROUNDINGS["bf16"](call.x))


@kind("number", "Softmax Sigmoid Tanh Erf Exp Log Sqrt LayerNormalization InstanceNormalization Mul Add")
def inputs_f16(call):
    need(call.x is not None and call.x.dtype == numpy.float32)
    call.give(0, to_f16(call.x))


def columns(call):
    """Conv as a product of matrices: the windows of each group as [places, K], as im2col has them."""
    x, weight = call.x, call.input(1)
    rank = x.ndim - 2
    need(rank in (1, 2) and call.attr("auto_pad", b"NOTSET") == b"NOTSET")
    pads = call.attr("pads", [0] * 2 * rank)
    x = numpy.pad(x, [(0, 0), (0, 0)] + list(zip(pads[:rank], pads[rank:])))
    strides, dilations = call.attr("strides", [1] * rank), call.attr("dilations", [1] * rank)
    spans = tuple(d * (k - 1) + 1 for d, k in zip(dilations, weight.shape[2:]))
    windows = numpy.lib.stride_tricks.sliding_window_view(x, spans, tuple(range(2, x.ndim)))
    cut = (slice(None),) * 2 + tuple(slice(None, None, s) for s in strides)
    windows = windows[cut + tuple(slice(None, None, d) for d in dilations)]
    groups = call.attr("group", 1)
    n, c, places = windows.shape[0], windows.shape[1] // groups, windows.shape[2:2 + rank]
    windows = numpy.moveaxis(windows, 1, 1 + rank).reshape(
        (n, -1, groups, c * int(numpy.prod(weight.shape[2:]))))
    return windows, weight.reshape(groups, weight.shape[0] // groups, -1), places


def as_product(call, product):
    """The node by product(a[..., M, K], b[..., K, N]); what follows the sums by ONNX Runtime's way."""
    need(call.right().size * 8 < BIG)
    if call.op == "Conv":
        windows, weight, places = columns(call)
        need(windows.size * weight.shape[1] < BIG)
        made = [product(windows[:, :, g], weight[g].T) for g in range(weight.shape[0])]
        y = numpy.concatenate(made, -1).transpose(0, 2, 1).reshape((len(windows), -1) + places)
        bias = call.inputs[2] if len(call.inputs) > 2 else None
        return y if bias is None else y + bias.reshape((-1,) + (1,) * len(places))
    a, b = call.inputs[0], call.inputs[1]
    if call.op == "Gemm":
        a = a.T if call.attr("transA", 0) else a
        b = b.T if call.attr("transB", 0) else b
    need(a.ndim > 1 and b.ndim > 1 and call.right().size * a.shape[-1] < BIG)
    y = product(a, b)
    if call.op == "Gemm":
        y = call.attr("alpha", 1.0) * y
        if len(call.inputs) > 2 and call.inputs[2] is not None:
            y = y + call.attr("beta", 1.0) * call.inputs[2]
    return y


def narrow_sums(rounding):
    """A product whose sum is rounded after each addition."""
    def product(a, b):
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        total = numpy.zeros(a.shape[:-1] + b.shape[-1:])
        for k in range(a.shape[-1]):
            term = a[..., k, None] * (b[..., k, None, :] if b.ndim > 2 else b[k])
            total = ROUNDINGS[rounding](total + term).astype(numpy.float64)
        return total
    return product


def accumulated(call, rounding):
    need(call.x is not None and call.x.dtype == numpy.float32)
    y = as_product(call, narrow_sums(rounding)).astype(numpy.float32)
    call.compute = lambda c: [y]


@kind("number", "MatMul Gemm Conv")
def accumulated_f16(call):
    accumulated(call, "f16")


@kind("number", "MatMul Gemm Conv")
def accumulated_bf16(call):
    accumulated(call, "bf16")


def saturating_pairs(a, b):
    """u8 times s8: sums of two neighbours saturate at 16 bits."""
    if a.shape[-1] % 2:
        a = numpy.concatenate([a, numpy.zeros_like(a[..., :1])], -1)
        b = numpy.concatenate([b, numpy.zeros_like(b[..., :1, :])], -2)
    a, b = a.astype(numpy.int64), b.astype(numpy.int64)
    total = 0
    for k in range(0, a.shape[-1], 2):
        pair = (a[..., k, None] * b[..., k, None, :] + a[..., k + 1, None] * b[..., k + 1, None, :])
        total = total + numpy.clip(pair, -32768, 32767)
    return total


def pair_sums(call, a, b, a_zero, b_zero):
    """sum((a - a_zero) * (b - b_zero)), whose first term comes out of saturated pairs."""
    need(a.dtype == numpy.uint8 and b.dtype == numpy.int8 and a.ndim > 1 and b.ndim == 2)
    need(a.size * b.shape[1] < BIG)
    wide, narrow = a.astype(numpy.int64), b.astype(numpy.int64)
    return (saturating_pairs(a, b) - a_zero * narrow.sum(-2)
            - wide.sum(-1, keepdims=True) * b_zero + a.shape[-1] * a_zero * b_zero)


def whole(call, at):
    given = call.inputs[at] if at < len(call.inputs) else None
    need(given is None or given.size == 1)
    return 0 if given is None else int(given.reshape(-1)[0])


@kind("number", "MatMulInteger QLinearMatMul")
def pairs_saturate(call):
    if call.op == "MatMulInteger":
        y = pair_sums(call, call.x, call.input(1), whole(call, 2), whole(call, 3)).astype(numpy.int32)
    else:
        a, a_scale, b, b_scale, scale = (call.input(i) for i in (0, 1, 3, 4, 6))
        sums = pair_sums(call, a, b, whole(call, 2), whole(call, 5))
        zero, kept = call.input(7), call.inputs[7].dtype
        real = numpy.round(sums.astype(numpy.float32) * (a_scale * b_scale / scale)) + zero
        y = numpy.clip(real, numpy.iinfo(kept).min, numpy.iinfo(kept).max).astype(kept)
    call.compute = lambda c: [y]


ROUND = {"half_away": lambda v: numpy.sign(v) * numpy.floor(abs(v) + 0.5), "truncated": numpy.trunc,
         "floor": numpy.floor, "half_up": lambda v: numpy.floor(v + 0.5)}


def quantised(call, rounding, wrap=False):
    """QuantizeLinear, with another rounding."""
    x, scale = call.x.astype(numpy.float32), call.input(1)
    zero = call.input(2)
    if scale.size > 1:
        axis = call.attr("axis", 1)
        shape = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    v = rounding(x / scale).astype(numpy.float64) + zero.astype(numpy.float64)
    kept = call.inputs[2].dtype
    low, high = numpy.iinfo(kept).min, numpy.iinfo(kept).max
    v = (v - low) % (high - low + 1) + low if wrap else numpy.clip(v, low, high)
    return v.astype(kept)


def rounded(call, name, wrap=False):
    if call.op == "Round":
        need(call.x.dtype == numpy.float32 and not wrap)
        y = ROUND[name](call.x)
    elif call.op == "Cast":
        need(call.x.dtype.kind == "f" and call.right().dtype.kind in "iu")
        y = (ROUND[name] if name != "even" else numpy.round)(call.x).astype(call.right().dtype)
    else:
        y = quantised(call, ROUND.get(name, numpy.round), wrap)
    call.compute = lambda c: [y]


@kind("number", "QuantizeLinear Round")
def round_half_away(call):
    rounded(call, "half_away")


@kind("number", "QuantizeLinear Round")
def round_truncated(call):
    rounded(call, "truncated")


@kind("number", "QuantizeLinear Round Cast")
def round_floor(call):
    rounded(call, "floor")


@kind("number", "Cast")
def cast_rounds(call):
    """To the nearest, where it ought to cut off."""
    rounded(call, "even")


@kind("number", "QuantizeLinear")
def wraps(call):
    """Where it ought to saturate."""
    rounded(call, "even", wrap=True)


@kind("number", "QuantizeLinear")
def narrow_range(call):
    """-127 for -128, as if the range were even."""
    low = numpy.iinfo(call.right().dtype).min
    need(low < 0 and numpy.any(call.right() == low))
    call.after(lambda y: numpy.maximum(y, low + 1))


@kind("number", "DequantizeLinear MatMulInteger")
def signedness(call):
    """The bytes taken as of the other sign."""
    need(call.x.dtype.name in ("int8", "uint8"))
    other = numpy.dtype("uint8" if call.x.dtype == numpy.int8 else "int8")
    call.inputs[0] = call.x.view(other)
    at = 2
    if at < len(call.inputs) and call.inputs[at] is not None:
        call.inputs[at] = call.inputs[at].view(other)


@kind("number", "Erf")
def erf_tanh(call):
    """As the form of Gelu by tanh has it."""
    need(call.x.dtype == numpy.float32)
    call.compute = lambda c: [numpy.tanh(1.1283791671 * (c.x + 0.0894430 * c.x ** 3))
                              .astype(numpy.float32)]


@kind("number", "Gelu")
def gelu_sigmoid(call):
    need(call.x.dtype == numpy.float32)
    call.compute = lambda c: [(c.x / (1 + numpy.exp(-1.702 * c.x))).astype(numpy.float32)]


@kind("number", "Sigmoid Tanh")
def hard_form(call):
    """Straight lines in the place of the curve."""
    low = 0 if call.op == "Sigmoid" else -1
    slope, middle = (0.2, 0.5) if call.op == "Sigmoid" else (1, 0)
    call.compute = lambda c: [numpy.clip(c.x * slope + middle, low, 1).astype(c.x.dtype)]


@kind("number", "Sigmoid Tanh Exp")
def argument_clamped(call):
    """To -c .. c before the function."""
    limit = call.rng.choice([4, 5, 8])
    need(numpy.any(abs(call.x) > limit))
    call.give(0, numpy.clip(call.x, -limit, limit))


@kind("number", "Relu Clip Add Mul")
def subnormals_flushed(call):
    need(call.x.dtype == numpy.float32)
    tiny = numpy.float32(2.0 ** -126)
    need(numpy.any((abs(call.right()) < tiny) & (call.right() != 0)))
    call.after(lambda y: numpy.where(abs(y) < tiny, 0, y))


@kind("number")
def double_through_float(call):
    need(call.right().dtype == numpy.float64)
    for at, array in enumerate(call.inputs):
        if array is not None and array.dtype == numpy.float64:
            call.give(at, array.astype(numpy.float32).astype(numpy.float64))
    call.after(lambda y: y.astype(numpy.float32).astype(numpy.float64))


@kind("number", "Add Mul Sub Neg Gather Cast")
def int64_through_int32(call):
    need(call.right().dtype == numpy.int64)
    need(numpy.any(call.right() != call.right().astype(numpy.int32)))
    call.after(lambda y: y.astype(numpy.int32).astype(numpy.int64))


@kind("number", "Div")
def integer_division_floors(call):
    a, b = call.input(0), call.input(1)
    need(a.dtype.kind == "i" and numpy.all(b != 0))
    call.compute = lambda c: [numpy.floor_divide(a, b).astype(a.dtype)]


@kind("number", "Softmax")
def softmax_f16(call):
    """The whole node in float16."""
    need(call.x.dtype == numpy.float32 and call.x.ndim > 0)
    axis = call.attr("axis", -1 if call.opset >= 13 else 1)
    need(call.opset >= 13 or axis % call.x.ndim == call.x.ndim - 1)
    half = call.x.astype(numpy.float16)
    e = numpy.exp(half - half.max(axis, keepdims=True))
    y = e / e.sum(axis, keepdims=True, dtype=numpy.float16)
    call.compute = lambda c: [y.astype(numpy.float32)]


@kind("number", "QLinearConv QLinearMatMul")
def requantised_down(call):
    """One less where the result was rounded up: half of all elements."""
    need(call.right().dtype.kind in "iu")
    real, zero = requantised(call)
    low, high = numpy.iinfo(call.right().dtype).min, numpy.iinfo(call.right().dtype).max
    call.compute = lambda c: [numpy.clip(numpy.floor(real) + zero, low, high).astype(c.right().dtype)]


def requantised(call):
    """What QLinearConv or QLinearMatMul gives before it is rounded, and the zero point."""
    names = {at: call.inputs[at] for at in range(len(call.inputs)) if call.inputs[at] is not None}
    a, b = names[0], names[3]
    zeros = [names.get(at, numpy.zeros(1, a.dtype)) for at in ZERO_POINTS[call.op]]
    node_op = "ConvInteger" if call.op == "QLinearConv" else "MatMulInteger"
    need(zeros[1].size == 1)
    node = helper.make_node(node_op, ["a", "b", "az", "bz"], ["y"])
    node.attribute.extend(call.attributes.values())
    sums = call.by_nodes([node], {"a": a, "b": b, "az": zeros[0].reshape(()),
                                  "bz": zeros[1].reshape(())})
    scale = names[1] * names[4] / names[6]
    if call.op == "QLinearConv":
        shape = (-1,) + (1,) * (a.ndim - 2)
        bias = names.get(8)
        sums = sums if bias is None else sums + bias.reshape(shape)
        scale = scale.reshape(shape) if scale.size > 1 else scale
    return sums.astype(numpy.float32) * scale, zeros[2].astype(numpy.float64)
