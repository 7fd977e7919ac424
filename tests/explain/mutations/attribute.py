# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes ignored, exchanged, of another default, or as an older opset means them."""
import numpy
from onnx import helper

from mutations import kind, need

WINDOWS = "Conv MaxPool AveragePool"
NORMS = ("BatchNormalization InstanceNormalization LayerNormalization GroupNormalization "
         "SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization")
RESIZES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
SOFTMAXES = "Softmax LogSoftmax"


def rank_of(call):
    rank = call.x.ndim - 2
    need(rank > 0 and call.attr("auto_pad", b"NOTSET") == b"NOTSET")
    return rank


def pads_of(call):
    return list(call.attr("pads", [0] * 2 * rank_of(call)))


def begin_at(call, begins):
    """Windows begin there; there is room behind for as many as there were."""
    rank, pads = rank_of(call), pads_of(call)
    kernel = call.attr("kernel_shape") or call.input(1).shape[2:]
    dilations = call.attr("dilations", [1] * rank)
    need(not call.attr("ceil_mode", 0) and begins != pads[:rank])
    room = [a + b + d * k for a, b, d, k in zip(pads, pads[rank:], dilations, kernel)]
    if call.op != "Conv":  # pools have no pads as wide as the kernel
        room = [min(r, k - 1) for r, k in zip(room, kernel)]
        need(all(b < k for b, k in zip(begins, kernel)))
    call.put("pads", list(begins) + room)
    crop(call)


def crop(call):
    """The first elements along each axis, as many as there ought to be."""
    shape = call.right().shape

    def first(y):
        need(all(have >= want for have, want in zip(y.shape, shape)))
        return y[tuple(slice(n) for n in shape)]
    call.after(first)


@kind("attribute", "Conv")
def dilations_ignored(call):
    rank = rank_of(call)
    need(max(call.attr("dilations", [1])) > 1)
    call.put("dilations", [1] * rank)
    crop(call)


@kind("attribute", "Conv")
def dilations_ignored_centred(call):
    """The window keeps its middle."""
    rank, kernel, pads = rank_of(call), call.input(1).shape[2:], pads_of(call)
    dilations = call.attr("dilations", [1] * rank)
    need(max(dilations) > 1)
    less = [(d - 1) * (k - 1) // 2 for d, k in zip(dilations, kernel)]
    begins = [p - n for p, n in zip(pads, less)]
    need(min(begins) >= 0)
    call.put("dilations", [1] * rank)
    call.put("pads", begins + pads[rank:])
    crop(call)


@kind("attribute", WINDOWS)
def pads_exchanged(call):
    rank, pads = rank_of(call), pads_of(call)
    begin_at(call, pads[rank:])


@kind("attribute", WINDOWS)
def pads_all_behind(call):
    """No pads before the first element."""
    begin_at(call, [0] * rank_of(call))


@kind("attribute", WINDOWS)
def pads_interleaved(call):
    need(rank_of(call) == 2)
    pads = pads_of(call)
    begin_at(call, [pads[0], pads[2]])


@kind("attribute", "Conv")
def pads_one_less(call):
    begin_at(call, [max(0, p - 1) for p in pads_of(call)[:rank_of(call)]])


@kind("attribute", "AveragePool")
def count_include_pad(call):
    need(any(pads_of(call)))
    call.put("count_include_pad", 1 - call.attr("count_include_pad", 0))


@kind("attribute", "MaxPool")
def pads_of_zero(call):
    """MaxPool's pads count as zeros."""
    rank, pads = rank_of(call), pads_of(call)
    need(any(pads) and len(call.node.output) == 1 and not call.attr("ceil_mode", 0))
    call.give(0, numpy.pad(call.x, [(0, 0), (0, 0)] + list(zip(pads, pads[rank:]))))
    call.put("pads", [0] * 2 * rank)


@kind("attribute", "ConvTranspose")
def transposed_pads_exchanged(call):
    rank, pads = rank_of(call), pads_of(call)
    need(pads[:rank] != pads[rank:])
    call.put("pads", pads[rank:] + pads[:rank])


@kind("attribute", "Conv")
def group_order(call):
    """The channels of the output: m*G + g for g*M + m."""
    groups, channels = call.attr("group", 1), call.input(1).shape[0]
    need(1 < groups < channels)
    order = numpy.arange(channels).reshape(groups, -1).T.reshape(-1)
    call.after(lambda y: y[:, order])


@kind("attribute", SOFTMAXES)
def softmax_axis(call):
    """Another one, of one axis only."""
    new = call.opset >= 13
    rank = call.x.ndim
    axis = call.attr("axis", -1 if new else 1) % rank
    others = [a for a in range(rank) if a != axis and call.x.shape[a] > 1]
    need(others and (new or axis == rank - 1))
    along(call, call.rng.choice(others))


def along(call, axis):
    """Softmax of that axis alone, whatever the opset."""
    x = numpy.moveaxis(call.x, axis, -1)
    node = helper.make_node(call.op, ["x"], ["y"], axis=x.ndim - 1)
    call.compute = lambda c: [numpy.moveaxis(c.by_nodes([node], {"x": x}), -1, axis)]


@kind("attribute", SOFTMAXES)
def softmax_before_13(call):
    """The axis, by default 1, and all axes behind it together."""
    need(call.opset >= 13)
    axis = call.attr("axis", 1) % call.x.ndim
    need(axis < call.x.ndim - 1)
    flat = call.x.reshape(int(numpy.prod(call.x.shape[:axis])), -1)
    node = helper.make_node(call.op, ["x"], ["y"], axis=1)
    call.compute = lambda c: [c.by_nodes([node], {"x": flat}).reshape(c.x.shape)]


@kind("attribute", SOFTMAXES)
def softmax_since_13(call):
    """The last axis by default, and that alone."""
    need(call.opset < 13 and call.attr("axis", 1) % call.x.ndim < call.x.ndim - 1)
    along(call, call.x.ndim - 1)


@kind("attribute", NORMS)
def epsilon(call):
    was = call.attr("epsilon", 1e-5)
    call.put("epsilon", call.rng.choice([e for e in (1e-3, 1e-5, 1e-12) if abs(e - was) > e / 10]))


@kind("attribute", "LeakyRelu Elu ThresholdedRelu HardSigmoid Celu")
def alpha_default(call):
    """The default; where it is that, another that is common."""
    default = {"LeakyRelu": 0.01, "HardSigmoid": 0.2}.get(call.op, 1.0)
    other = {"LeakyRelu": 0.2, "HardSigmoid": 1 / 6, "Elu": 0.1}.get(call.op, 0.5)
    plain = abs(call.attr("alpha", default) - default) < 1e-6
    call.put("alpha", other if plain else default)


@kind("attribute", "Gemm")
def gemm_alpha_ignored(call):
    need(abs(call.attr("alpha", 1.0) - 1) > 1e-3)
    call.drop("alpha")


@kind("attribute", "Gemm")
def gemm_beta_ignored(call):
    call.input(2)
    need(abs(call.attr("beta", 1.0) - 1) > 1e-3)
    call.drop("beta")


@kind("attribute", "Resize")
def resize_coordinates(call):
    was = call.attr("coordinate_transformation_mode", b"half_pixel").decode()
    need(call.opset >= 11)
    call.put("coordinate_transformation_mode", call.rng.choice([m for m in RESIZES if m != was]))


@kind("attribute", "Resize")
def resize_nearest(call):
    need(call.opset >= 11 and call.attr("mode", b"nearest") == b"nearest")
    was = call.attr("nearest_mode", b"round_prefer_floor").decode()
    modes = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    call.put("nearest_mode", call.rng.choice([m for m in modes if m != was]))


@kind("attribute", "Resize Upsample")
def resize_mode(call):
    """Nearest for linear, and the other way."""
    need(call.attr("mode", b"nearest") != b"cubic")
    call.put("mode", "linear" if call.attr("mode", b"nearest") == b"nearest" else "nearest")


@kind("attribute", "Resize")
def cubic_coefficient(call):
    need(call.attr("mode", b"nearest") == b"cubic")
    plain = abs(call.attr("cubic_coeff_a", -0.75) + 0.75) < 1e-3
    call.put("cubic_coeff_a", -0.5 if plain else -0.75)


@kind("attribute", "Pad")
def pad_mode(call):
    was = call.attr("mode", b"constant").decode()
    call.put("mode", call.rng.choice([m for m in ("constant", "reflect", "edge") if m != was]))


@kind("attribute", "Pad")
def pad_value_lost(call):
    value = call.attr("value", 0.0) if len(call.inputs) < 2 else call.input(2)
    need(call.attr("mode", b"constant") == b"constant" and numpy.any(value != 0))
    if len(call.inputs) < 2:
        call.drop("value")
    else:
        call.give(2, numpy.zeros_like(value))


@kind("attribute", "CumSum")
def cumsum_reverse(call):
    call.put("reverse", 1 - call.attr("reverse", 0))


@kind("attribute", "CumSum")
def cumsum_exclusive(call):
    call.put("exclusive", 1 - call.attr("exclusive", 0))


@kind("attribute", "DepthToSpace")
def depth_mode(call):
    need(call.opset >= 11)
    call.put("mode", "CRD" if call.attr("mode", b"DCR") == b"DCR" else "DCR")


@kind("attribute", "Transpose")
def transpose_not_done(call):
    """The shape alone has changed."""
    call.compute = lambda c: [c.x.reshape(c.right().shape).copy()]


@kind("attribute", "Transpose")
def transpose_inverse(call):
    perm = call.attr("perm", list(range(call.x.ndim))[::-1])
    other = list(numpy.argsort(perm))
    need(other != list(perm))
    shape = call.right().shape
    call.compute = lambda c: [numpy.ascontiguousarray(c.x.transpose(other)).reshape(shape)]


@kind("attribute", "Gelu")
def gelu_other(call):
    call.put("approximate", "none" if call.attr("approximate", b"none") == b"tanh" else "tanh")


@kind("attribute", "TopK")
def topk_smallest(call):
    need(call.opset >= 11)
    call.put("largest", 1 - call.attr("largest", 1))


@kind("attribute", "ArgMax ArgMin")
def select_last(call):
    need(call.opset >= 12)
    call.put("select_last_index", 1 - call.attr("select_last_index", 0))


@kind("attribute", "Mod")
def mod_fmod(call):
    need(call.x.dtype.kind == "i")
    call.put("fmod", 1 - call.attr("fmod", 0))


@kind("attribute", "LRN")
def lrn_alpha(call):
    """Not divided by the size."""
    call.put("alpha", call.attr("alpha", 1e-4) * call.attr("size"))


@kind("attribute", "LRN")
def lrn_radius(call):
    call.put("size", 2 * call.attr("size") + 1)


@kind("attribute", "GRU")
def linear_before_reset(call):
    call.put("linear_before_reset", 1 - call.attr("linear_before_reset", 0))


@kind("attribute", "GridSample")
def align_corners(call):
    call.put("align_corners", 1 - call.attr("align_corners", 0))


@kind("attribute", "GridSample")
def grid_padding(call):
    was = call.attr("padding_mode", b"zeros").decode()
    call.put("padding_mode",
             call.rng.choice([m for m in ("zeros", "border", "reflection") if m != was]))


@kind("attribute", "ReduceMean ReduceSum ReduceMax ReduceMin")
def reduce_all(call):
    """Over all axes, whatever was asked for."""
    y = call.right()
    need(y.size > 1)
    whole = {"ReduceMean": numpy.mean, "ReduceSum": numpy.sum, "ReduceMax": numpy.max,
             "ReduceMin": numpy.min}[call.op]
    call.after(lambda y: numpy.full_like(y, whole(floats_of(call.x))))


def floats_of(x):
    return x.astype(numpy.float64) if x.dtype.kind == "f" else x


@kind("attribute", "BatchNormalization")
def batch_statistics(call):
    """As in training: mean and variance of what it is given."""
    need(call.x.ndim > 2 and call.x[:, 0].size > 3)
    axes = (0,) + tuple(range(2, call.x.ndim))
    call.give(3, call.x.mean(axes, dtype=numpy.float64).astype(call.x.dtype))
    call.give(4, call.x.var(axes, dtype=numpy.float64).astype(call.x.dtype))


@kind("attribute", "Clip")
def clip_upper_lost(call):
    if len(call.inputs) > 2:
        call.input(2)
        call.inputs[2] = None
    else:
        need(call.attr("max") is not None)
        call.drop("max")


@kind("attribute", "LpPool LpNormalization")
def lp_other(call):
    call.put("p", 3 - min(2, call.attr("p", 2)))
