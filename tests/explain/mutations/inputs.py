# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs missing, exchanged, in another order or layout, or of another node."""
import numpy

from mutations import kind, need

LINEAR = "Conv ConvTranspose MatMul Gemm"
BIASED = "Conv ConvTranspose Gemm LayerNormalization BatchNormalization InstanceNormalization"
CELLS = {"LSTM": 4, "GRU": 3}


def bias_at(call):
    at = {"Conv": 2, "ConvTranspose": 2, "Gemm": 2, "QLinearConv": 8}.get(call.op, 2)
    bias = call.input(at)
    need(numpy.any(bias))
    return at


def out_axis(call):
    """Of a weight: along the channels of the output."""
    if call.op == "Gemm":
        return 0 if call.attr("transB", 0) else 1
    return {"Conv": 0, "ConvTranspose": 1, "MatMul": -1}[call.op]


def differs(call, at, array):
    """In its place, where that is not the same."""
    need(array.shape == call.inputs[at].shape and not numpy.array_equal(array, call.inputs[at]))
    call.give(at, array)


@kind("input", BIASED)
def bias_missing(call):
    at = bias_at(call)
    call.give(at, numpy.zeros_like(call.inputs[at]))


@kind("input", BIASED)
def bias_twice(call):
    at = bias_at(call)
    call.give(at, 2 * call.inputs[at])


@kind("input", "Conv Gemm ConvTranspose BatchNormalization")
def bias_of_first(call):
    """The first channel's for all."""
    at = bias_at(call)
    bias = call.inputs[at]
    need(bias.ndim == 1)
    differs(call, at, numpy.full_like(bias, bias[0]))


@kind("input", "Sub Div Pow")
def operands_exchanged(call):
    a, b = call.input(0), call.input(1)
    need(not numpy.array_equal(a, b) and a.dtype == b.dtype)
    call.inputs = [b, a]
    call.constant = call.constant[::-1]


@kind("input", "Concat")
def parts_exchanged(call):
    same = [(i, j) for i in range(len(call.inputs)) for j in range(i)
            if call.inputs[i].shape == call.inputs[j].shape
            and not numpy.array_equal(call.inputs[i], call.inputs[j])]
    need(same)
    i, j = call.rng.choice(same)
    call.inputs[i], call.inputs[j] = call.inputs[j], call.inputs[i]
    call.constant = [False] * len(call.inputs)


@kind("input", "Where")
def branches_exchanged(call):
    a, b = call.input(1), call.input(2)
    need(not numpy.array_equal(a, b))
    call.inputs[1], call.inputs[2] = b, a


@kind("input", LINEAR)
def weight_transposed(call):
    """Its last two axes."""
    weight = call.weight(1)
    need(weight.ndim > 1)
    differs(call, 1, numpy.swapaxes(weight, -1, -2))


@kind("input", "Conv ConvTranspose")
def kernel_flipped(call):
    weight = call.weight(1)
    differs(call, 1, numpy.flip(weight, tuple(range(2, weight.ndim))))


def read_as(array, order):
    """What lies there, taken for an array with its axes in another order in memory."""
    return array.reshape([array.shape[o] for o in order]).transpose(numpy.argsort(order))


@kind("input", "Conv ConvTranspose")
def weight_read_as_iohw(call):
    weight = call.weight(1)
    need(weight.ndim == 4 and min(weight.shape[:2]) > 1)
    differs(call, 1, read_as(weight, [1, 0, 2, 3]))


@kind("input", "Conv")
def weight_read_as_ohwi(call):
    weight = call.weight(1)
    need(weight.ndim == 4 and weight.shape[1] > 1 and weight.shape[2] * weight.shape[3] > 1)
    differs(call, 1, read_as(weight, [0, 2, 3, 1]))


@kind("input", "Conv")
def weight_read_as_hwio(call):
    weight = call.weight(1)
    need(weight.ndim == 4 and weight.size > max(weight.shape))
    differs(call, 1, read_as(weight, [2, 3, 1, 0]))


@kind("input", LINEAR)
def weight_rolled(call):
    """By one channel of the output."""
    weight = call.weight(1)
    need(weight.ndim > 1 and weight.shape[out_axis(call)] > 1)
    differs(call, 1, numpy.roll(weight, 1, out_axis(call)))


@kind("input", LINEAR)
def weight_channel_scaled(call):
    """One channel of the weight is 1.2 times what it ought to be."""
    weight, axis = call.weight(1), out_axis(call)
    need(weight.ndim > 1 and weight.shape[axis] > 1)
    changed = weight.copy()
    part = [slice(None)] * weight.ndim
    part[axis] = call.rng.randrange(weight.shape[axis])
    changed[tuple(part)] *= changed.dtype.type(1.2)
    differs(call, 1, changed)


@kind("input", LINEAR)
def weight_of_other_node(call):
    weight, own = call.weight(1), call.node.input[1]
    if call.other_weight is None:
        names = sorted(n for n, w in call.cut.weights.items() if n != own
                       and tuple(w.dims) == weight.shape)
        others = [w for w in map(call.cut.constant, names) if w.dtype == weight.dtype]
        need(others)
        call.other_weight = call.rng.choice(others)
    differs(call, 1, call.other_weight)


@kind("input", LINEAR)
def weight_int8(call):
    """On a grid of 127 steps each way, of the whole weight."""
    weight = call.weight(1)
    need(weight.dtype == numpy.float32 and numpy.any(weight))
    step = abs(weight).max() / 127
    call.give(1, (numpy.round(weight / step) * step).astype(numpy.float32))


@kind("input", "MatMul Gemm")
def operand_transposed(call):
    """The first operand, whose last two axes are equal."""
    need(call.x.ndim > 1)
    differs(call, 0, numpy.swapaxes(call.x, -1, -2))


@kind("input", "Conv MaxPool AveragePool BatchNormalization InstanceNormalization")
def read_as_nhwc(call):
    """What lies there in the order N C H W is taken for N H W C."""
    x = call.x
    need(x.ndim == 4 and x.shape[1] > 1 and x.shape[2] * x.shape[3] > 1)
    differs(call, 0, read_as(x, [0, 2, 3, 1]))


@kind("input", "Conv MaxPool AveragePool")
def height_width_exchanged(call):
    need(call.x.ndim == 4)
    differs(call, 0, numpy.swapaxes(call.x, -1, -2))


@kind("input", "Conv Gemm MatMul")
def input_channels_reversed(call):
    axis = 1 if call.op == "Conv" else -1
    differs(call, 0, numpy.flip(call.x, axis))


@kind("input", "Conv")
def input_tail_missing(call):
    """The last input channels past a multiple of 4 or 8 count as zeros."""
    channels = call.x.shape[1]
    tails = [t for t in (4, 8) if channels % t and channels > t]
    need(tails)
    changed = call.x.copy()
    tail = call.rng.choice(tails)
    changed[:, channels - channels % tail:] = 0
    differs(call, 0, changed)


@kind("input", "BatchNormalization")
def mean_variance_exchanged(call):
    mean, variance = call.weight(3), call.weight(4)
    call.give(3, variance)
    call.give(4, mean)


@kind("input", "BatchNormalization")
def scale_bias_exchanged(call):
    scale, bias = call.weight(1), call.weight(2)
    differs(call, 1, bias)
    call.give(2, scale)


@kind("input", "BatchNormalization InstanceNormalization PRelu DequantizeLinear QuantizeLinear")
def scale_of_first(call):
    """The first channel's scale or slope for all."""
    scale = call.weight(1)
    need(scale.size > 1)
    differs(call, 1, numpy.full_like(scale, scale.reshape(-1)[0]))


def gates(call, order):
    """W, R and B with their blocks in another order."""
    count = CELLS[call.op]
    for at in (1, 2, 3):
        if at < len(call.inputs) and call.inputs[at] is not None:
            array = call.inputs[at]
            blocks = numpy.split(array, (2 if at == 3 else 1) * count, axis=1)
            moved = [blocks[o + half] for half in range(0, len(blocks), count) for o in order]
            call.give(at, numpy.concatenate(moved, axis=1))


@kind("input", "LSTM GRU")
def gates_permuted(call):
    gates(call, call.rng.choice([[0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 2, 1]] if call.op == "LSTM"
                                else [[1, 0, 2]]))


@kind("input", "LSTM GRU RNN")
def state_zero(call):
    """initial_h and initial_c."""
    need(any(numpy.any(a) for a in call.inputs[5:7] if a is not None))
    for at in (5, 6):
        if at < len(call.inputs) and call.inputs[at] is not None:
            call.give(at, numpy.zeros_like(call.inputs[at]))


@kind("input", "LSTM GRU RNN")
def state_c_zero(call):
    need(call.op == "LSTM" and numpy.any(call.input(6)))
    call.give(6, numpy.zeros_like(call.inputs[6]))


@kind("input", "LSTM GRU RNN")
def recurrent_bias_missing(call):
    bias = call.input(3).copy()
    half = bias.shape[1] // 2
    need(numpy.any(bias[:, half:]))
    bias[:, half:] = 0
    call.give(3, bias)


@kind("input", "LSTM GRU RNN")
def lengths_ignored(call):
    lengths = call.input(4)
    differs(call, 4, numpy.full_like(lengths, call.x.shape[0]))


ZERO_POINTS = {"DequantizeLinear": (2,), "QuantizeLinear": (2,), "MatMulInteger": (2, 3),
               "ConvInteger": (2, 3), "QLinearConv": (2, 5, 7), "QLinearMatMul": (2, 5, 7)}


@kind("input", " ".join(ZERO_POINTS))
def zero_point_ignored(call):
    here = [at for at in ZERO_POINTS[call.op]
            if at < len(call.inputs) and call.inputs[at] is not None and numpy.any(call.inputs[at])]
    need(here)
    at = call.rng.choice(here)
    call.give(at, numpy.zeros_like(call.inputs[at]))


@kind("input", "Gather")
def index_next(call):
    """One further, around the end."""
    n = call.x.shape[call.attr("axis", 0)]
    need(n > 1)
    call.give(1, ((call.input(1) % n + 1) % n).astype(call.inputs[1].dtype))


@kind("input", "Gather")
def index_negative_clamped(call):
    need(numpy.any(call.input(1) < 0))
    call.give(1, numpy.maximum(call.inputs[1], 0))


@kind("input", "Slice")
def slice_shifted(call):
    """All starts and ends one further."""
    need(len(call.inputs) > 2 and call.constant[1] and call.constant[2])
    starts, ends = call.inputs[1], call.inputs[2]
    moved = [o for o in (1, -1) if numpy.all((starts + o >= 0) == (starts >= 0))]
    need(moved and numpy.all(ends < 1 << 30) and numpy.all((ends >= 0) == (starts >= 0)))
    offset = moved[0] if numpy.all(ends != -1) else moved[-1]
    call.give(1, starts + offset)
    call.give(2, ends + offset)


@kind("input", "Add Sub Mul Div Max Min")
def operand_ignored(call):
    """The second one counts as what changes nothing."""
    b = call.input(1)
    neutral = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}.get(call.op)
    need(call.x.size >= b.size)
    if neutral is None:
        call.give(1, call.x)
    else:
        differs(call, 1, numpy.full_like(b, neutral))


@kind("input", "Add Mul Sub Div PRelu")
def operand_of_first(call):
    """The first element or channel of a small operand for all."""
    b = call.weight(1)
    need(1 < b.size < call.x.size)
    differs(call, 1, numpy.full_like(b, b.reshape(-1)[0]))
