#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""For every row of the catalogue that one operator can show: an output that NumPy makes so, as files.

    rows.py DIR [PREFIX]  writes them, and prints a line for each as files.py does: the variant that
                          is to be found, a tab, and what explain is given
    rows.py --untested    prints the rows of the catalogue that nothing here shows

A row is called after the function that makes its choices, as several have one name.
"""
import os
import re
import sys

import numpy as np

import files
from files import F, RANDOM, case, floats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../contrib"))
import cases as contrib  # noqa: E402

CATALOGUE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/explain/catalogue")
# What files.py shows.
SHOWN = {"attribute_choose_value": files.softmaxes, "number_choose_reciprocal": files.quantisers,
         "number_choose_rounding": files.quantisers, "input_choose_nibbles": files.halves,
         "number_choose_operand": files.halves,
         "input_choose_broadcast": files.broadcasts, "input_choose_batch": files.broadcasts,
         "elsewhere_choose_repeated": files.broadcasts}


def shows(*rows):
    """This function makes cases of these rows."""
    def note(make):
        SHOWN.update({row: make for row in rows})
        return make
    return note


def windows(x, size, top, left, fill=0, mode="constant"):
    """[N, C, H, W, size, size] of x, padded so far that each place has one."""
    with_mode = {"constant_values": fill} if mode == "constant" else {"mode": mode}
    p = np.pad(x.astype(float), ((0, 0), (0, 0), (top, size), (left, size)), **with_mode)
    v = np.lib.stride_tricks.sliding_window_view(p, (size, size), (2, 3))
    return v[:, :, :x.shape[2], :x.shape[3]]


def conv(x, w, top=1, left=1, scale=1.0, mode="constant"):
    return np.einsum("ncijhw,ochw->noij", windows(x, w.shape[2], top, left, 0, mode), w * scale).astype(F)


# --- attribute ------------------------------------------------------------------------------------

@shows("attribute_choose_default", "attribute_choose_list")
def attributes():
    a, b = floats(4, 6), floats(6, 5)
    case("attribute/alpha=default", "Gemm --attr alpha=0.5", a, b, a @ b)
    x = floats(2, 3, 3, 4)
    case("attribute/perm=reversed", "Transpose --attr perm=0,2,3,1", x[:, :, :, :3],
         np.ascontiguousarray(x[:, :, :, :3].transpose(1, 3, 2, 0)))
    x, w = floats(1, 3, 9, 8), floats(4, 3, 3, 3)
    case("attribute/pads=begin and end exchanged", "Conv --attr pads=0,2,2,0", x, w, conv(x, w, 2, 0))


@shows("attribute_choose_formula")
def formulas():
    x = floats(2, 7, 3, 4)
    near = np.pad(x.astype(float) ** 2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    near = sum(near[:, k:k + 7] for k in range(5))
    case("attribute/alpha=times size", "LRN --attr size=5 --attr alpha=0.1", x,
         (x / (1 + 0.1 * near) ** 0.75).astype(F))


@shows("attribute_choose_begin", "padded_choose", "attribute_choose_all_axes")
def paddings():
    x, w = floats(1, 3, 9, 8), floats(4, 3, 3, 3)
    case("attribute/pads=begin 0", "Conv --attr pads=1,1,1,1", x, w, conv(x, w, 0, 0))
    x = -np.abs(floats(1, 3, 6, 7)) - F(1)
    case("attribute/pads=zeros", "MaxPool --attr kernel_shape=3,3 --attr pads=1,1,1,1", x,
         windows(x, 3, 1, 1, 0).max((4, 5)).astype(F))
    for mode in ("edge", "reflect", "wrap"):
        x, w = floats(1, 3, 9, 8), floats(4, 3, 5, 5)
        case("attribute/pads=" + mode, "Conv --attr pads=2,2,2,2", x, w, conv(x, w, 2, 2, mode=mode))
        case("attribute/pads=" + mode, "Conv --attr auto_pad=SAME_LOWER", x, w[:, :, :4, :4],
             conv(x, w[:, :, :4, :4], 2, 2, mode=mode))
        for counted in "01":
            case("attribute/pads=" + mode, "AveragePool --attr kernel_shape=5,5 --attr pads=2,2,2,2 "
                 "--attr count_include_pad=" + counted, x,
                 windows(x, 5, 2, 2, mode=mode).mean((4, 5)).astype(F))
    case("attribute/pads=reflect", "MaxPool --attr kernel_shape=2,2 --attr auto_pad=SAME_UPPER", x,
         windows(x, 2, 0, 0, mode="reflect").max((4, 5)).astype(F))
    x = floats(3, 4, 5)
    case("attribute/axes=all", "ReduceMax --attr axes=1 --attr keepdims=1 --opset 13", x,
         np.full((3, 1, 5), x.max(), F))


@shows("attribute_choose_opset", "attribute_choose_opset_axis")
def versions():
    x = floats(2, 3, 4)
    flat = files.softmax(x.reshape(2, 12), 1).reshape(x.shape)
    case("attribute/opset=1", "Softmax --attr axis=1 --opset 13", x, flat)
    flat = files.softmax(x.reshape(6, 4), 1).reshape(x.shape)
    case("attribute/opset=1,axis=2", "Softmax --attr axis=1 --opset 13", x, flat)


@shows("nans_choose", "nans_choose_bound")
def nans():
    """Comparisons with NaN are false."""
    x = floats(3, 5, 7)
    for at in ((0, 1, 3), (0, 2, 0), (1, 0, 6), (1, 4, 2), (2, 3, 5), (2, 3, 6)):
        x[at] = np.nan

    def least(beats):
        y = x[:, :, 0]
        for k in range(1, 7):
            y = np.where(beats(y, x[:, :, k]), y, x[:, :, k])
        return np.ascontiguousarray(y)

    words = "ReduceMin --attr axes=2 --attr keepdims=0 --opset 13"
    case("input/NaN=begins again", words, x, least(lambda y, new: y < new))
    case("input/NaN=first alone", words, x, least(lambda y, new: ~(new < y)))
    case("input/NaN=passed over", words, x, np.nanmin(x, 2))
    case("input/NaN=begins again", "Max", x, x[::-1].copy(),
         np.where(x > x[::-1], x, x[::-1]))
    alone = x.copy()
    alone[2, 3, 6] = 1
    case("input/NaN=passed over", "MaxPool --attr kernel_shape=2", alone,
         np.fmax(alone[:, :, :-1], alone[:, :, 1:]))
    low, high = F(-0.5), F(0.75)
    case("output/nan=lower bound", "Clip", x, low, high, np.fmin(np.fmax(x, low), high))
    case("output/nan=upper bound", "Clip", x, low, high, np.fmax(np.fmin(x, high), low))


@shows("input_choose_panels")
def panels():
    """A matrix in memory as a kernel lays it out, and as another one takes it."""
    a, b = floats(5, 9), floats(9, 20)
    wide = np.pad(b, ((0, 0), (0, 12))).reshape(9, 2, 16).transpose(1, 0, 2)
    read = wide.reshape(8, 9, 4).transpose(1, 0, 2).reshape(9, 32)[:, :20]
    case("input/B=panels of 16 read by 4", "MatMul", a, b, a @ read)


@shows("input_choose_scaled")
def scaled():
    x, w, b = floats(1, 3, 9, 8), floats(4, 3, 3, 3), floats(4)
    case("input/W=scaled", "Conv --attr pads=1,1,1,1", x, w, b, conv(x, w, scale=0.5) + b[:, None, None])


@shows("input_choose_gaps")
def gaps():
    """Three zero points of four bits in a row, which take two bytes."""
    stored = RANDOM.integers(0, 256, (10, 24)).astype(np.uint8)
    zeros = RANDOM.integers(0, 256, (10, 2)).astype(np.uint8)
    scales, ids = (RANDOM.random((10, 3)) + 0.5).astype(F), np.array([3, 0, 7, 9])
    codes = np.stack([stored & 15, stored >> 4], -1).reshape(10, 48).astype(float)
    halves = np.stack([zeros & 15, zeros >> 4], -1)
    words = ("GatherBlockQuantized --domain com.microsoft --attr bits=4 --attr block_size=16 "
             "--attr gather_axis=0 --attr quantize_axis=1")

    def rows(points):
        return ((codes - np.repeat(points, 16, 1)) * np.repeat(scales, 16, 1))[ids].astype(F)

    case("right", words, stored, ids, scales, zeros, rows(halves.reshape(10, 4)[:, :3]))
    case("input/zero points=without gaps", words, stored, ids, scales, zeros,
         rows(halves.ravel()[:30].reshape(10, 3)))
    case("input/zero points=0", words, stored, ids, scales, rows(np.zeros((10, 3))))


# --- operators of com.microsoft -------------------------------------------------------------------

def drawn(op, holds, said, variant, swap=lambda inputs: inputs, kind=F):
    """A call that tests/contrib/cases.py draws and computes, for which holds() is true; explain is told
    other attributes (said: name to value; None: none), or inputs that swap() makes of its own."""
    for seed in range(2000):
        d = contrib.Draw(np.random.default_rng([seed, 5]))
        d.type = kind
        getattr(contrib, op)(d)
        if d.type is kind and sum(y is not None and y.size for y in d.outputs) >= 24 and holds(d):
            break
    else:
        raise ValueError(f"{op}: no such call in 2000")
    attrs = {k: v for k, v in {**d.attrs, **said}.items() if v is not None}
    words = [f"--attr {k}={','.join(map(str, v)) if isinstance(v, list) else v}"
             for k, v in attrs.items()]
    inputs = swap(list(d.inputs))
    while inputs[-1] is None:
        inputs.pop()
    case(variant, f"{op} --domain com.microsoft {' '.join(words)}", *inputs, out=d.outputs)


def experts():
    def several(d):
        return d.attrs.get("k", 1) > 1 and d.inputs[1].shape[1] > d.attrs["k"]
    drawn("MoE", lambda d: several(d) and not d.attrs.get("normalize_routing_weights"),
          {"normalize_routing_weights": 1}, "attribute/normalize_routing_weights=default")
    drawn("MoE", lambda d: several(d) and d.attrs["k"] == 2, {"k": 1}, "attribute/k=2")
    drawn("MoE", lambda d: d.attrs.get("activation_type") == "silu", {"activation_type": "gelu"},
          "attribute/activation_type=silu")
    drawn("MoE", lambda d: d.attrs.get("swiglu_fusion") == 1 and d.inputs[4].shape[2] > 1,
          {"swiglu_fusion": 2}, "attribute/swiglu_fusion=1")

    def exchanged(inputs):
        return [t << 4 | t >> 4 if i in (2, 5, 8) and t is not None else t
                for i, t in enumerate(inputs)]
    drawn("QMoE", lambda d: d.attrs.get("expert_weight_bits", 4) == 4, {},
          "input/weights=nibbles exchanged", exchanged)


def swiglu(x, scores, first, second, k, fusion, alpha, beta, limit):
    """MoE with shares of the softmax over all experts, which are not normalised."""
    y = np.zeros(x.shape)
    shares = np.exp(scores - scores.max(-1, keepdims=True)).astype(float)
    shares /= shares.sum(-1, keepdims=True)
    for t, row in enumerate(x.astype(float)):
        for e in np.argsort(-scores[t], kind="stable")[:k]:
            h = first[e] @ row
            gate, linear = (h[0::2], h[1::2]) if fusion == 1 else np.split(h, 2)
            gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
            y[t] += shares[t, e] * (second[e] @ (gate * sigmoid(alpha * gate) * (linear + beta)))
    return y.astype(F)


@shows("attribute_choose_model")
def published():
    """Bugs of kernels of MoE: onnxruntime #28738, and hip-ep #146."""
    x, scores, first, second = 2 * floats(6, 5), floats(6, 4), 2 * floats(4, 8, 5), floats(4, 5, 4)
    words = "MoE --domain com.microsoft --attr activation_type=swiglu --attr k=2 --attr swiglu_fusion=2"
    plain = x, scores, first, None, second

    def made(fusion, alpha, beta, limit):
        return swiglu(x, scores, first, second, 2, fusion, alpha, beta, limit)
    case("right", words, *plain, made(2, 1, 0, np.inf))
    case("attribute/swiglu=of gpt-oss", words, *plain, made(1, 1.702, 1, 7))
    case("attribute/activation_alpha=0", words, *plain, made(2, 0, 0, np.inf))
    case("attribute/swiglu_limit=7", words, *plain, made(2, 1, 0, 7))


@shows("input_choose_zeros", "input_choose_gate")
def states():
    experts()
    a, codes = floats(4, 64), RANDOM.integers(0, 256, (6, 4, 8)).astype(np.uint8)
    scales = np.abs(floats(24)) + F(0.1)
    weights = np.stack([codes & 15, codes >> 4], -1).reshape(6, 64) * np.repeat(scales.reshape(6, 4), 16, 1)
    case("input/zero points=0", "MatMulNBits --domain com.microsoft --attr K=64 --attr N=6 --attr bits=4 "
         "--attr block_size=16", a, codes, scales, (a @ weights.astype(F).T).astype(F))
    x, scale, gate = floats(6, 8), floats(8), floats(6, 8)
    words = "GatedRMSNorm --domain com.microsoft --attr epsilon=0.001"

    def norm(v, epsilon=0.001):
        return v / np.sqrt((v.astype(float) ** 2).mean(-1, keepdims=True) + epsilon) * scale
    silu = gate * sigmoid(gate)
    case("input/gate=before the norm", words, x, scale, gate, norm(x * silu).astype(F))
    case("attribute/epsilon=1e-06", words, x * F(0.02), scale, gate,
         (norm(x * F(0.02), 1e-6) * silu).astype(F))
    drawn("LinearAttention", lambda d: d.attrs.get("update_rule") == "gated" and d.inputs[0].shape[1] > 1,
          {"update_rule": "linear"}, "attribute/update_rule=gated")
    drawn("GatedDeltaNet", lambda d: d.attrs.get("qk_l2_norm") == 1, {"qk_l2_norm": 0},
          "attribute/qk_l2_norm=1")
    drawn("CausalConvWithState", lambda d: d.attrs.get("activation", "none") == "none",
          {"activation": "silu"}, "attribute/activation=default")
    drawn("PagedAttention", lambda d: not d.attrs.get("softcap"), {"softcap": 0.5},
          "attribute/softcap=default", kind=np.float16)
    drawn("PagedAttention", lambda d: d.attrs.get("local_window_size") == 3, {"local_window_size": 2},
          "attribute/local_window_size=one more", kind=np.float16)
    drawn("MRotaryEmbedding", lambda d: d.attrs.get("mrope_layout") == 1, {"mrope_layout": 0},
          "attribute/mrope_layout=1")


# --- input ----------------------------------------------------------------------------------------

@shows("input_choose_missing", "input_choose_map", "input_choose_first", "input_choose_exchanged")
def operands():
    a, b, c = floats(4, 6), floats(6, 5), floats(5)
    case("input/C=missing", "Gemm", a, b, c, a @ b)
    case("input/C=doubled", "Gemm", a, b, c, a @ b + 2 * c)
    case("input/C=first for all", "Gemm", a, b, c, a @ b + c[0])
    a, b = floats(4, 5), floats(4, 5)
    case("input/exchanged=A,B", "Sub", a, b, b - a)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, r, b, hidden, order="iofc", initial=None):
    """Y_h of one direction; the gates of the weights stand in this order."""
    h = np.zeros((x.shape[1], hidden)) if initial is None else initial[0].astype(float)
    c = np.zeros((x.shape[1], hidden))
    for step in x.astype(float):
        all_ = step @ w[0].T + h @ r[0].T + b[0, :4 * hidden] + b[0, 4 * hidden:]
        gates = dict(zip(order, np.split(all_, 4, 1)))
        c = sigmoid(gates["f"]) * c + sigmoid(gates["i"]) * np.tanh(gates["c"])
        h = sigmoid(gates["o"]) * np.tanh(c)
    return h[None].astype(F)


@shows("input_choose_gates", "input_choose_cell", "input_choose_state")
def recurrent():
    hidden = 3
    x, w, r, b = floats(5, 2, 4), floats(1, 12, 4), floats(1, 12, 3), floats(1, 24)
    words = "LSTM --attr hidden_size=3"
    for named, order in (("icof", "ifco"), ("ifco", "icof")):
        y = lstm(x, w, r, b, hidden, order)
        case("input/gates=" + named, words, x, w, r, b, out=[None, y])
    half = b.copy()
    half[0, 12:] = 0
    case("input/B=without Rb", words, x, w, r, b, out=[None, lstm(x, w, r, half, hidden)])
    h, c = floats(1, 2, 3), floats(1, 2, 3)
    case("input/states=0", words, x, w, r, b, None, h, c, out=[None, lstm(x, w, r, b, hidden)])


@shows("attribute_choose_activations")
def activations():
    """HardSigmoid whose alpha and beta are 0."""
    x, w, r, b = floats(5, 2, 4), floats(1, 3, 4), floats(1, 3, 3), floats(1, 6)
    case("attribute/activation_alpha,activation_beta=0",
         "RNN --attr hidden_size=3 --attr activations=HardSigmoid", x, w, r, b,
         out=[None, np.zeros((1, 2, 3), F)])


@shows("input_choose_exponent")
def powers():
    x = floats(4, 6)
    case("input/Y=2", "Pow", x, np.array(3, F), x * x)


@shows("input_choose_statistics", "input_choose_indices", "input_choose_off")
def statistics():
    x, scale, bias, mean, var = floats(4, 3, 5), floats(3), floats(3), floats(3), np.abs(floats(3)) + F(1)
    own = (x - x.mean((0, 2), keepdims=True)) / np.sqrt(x.var((0, 2), keepdims=True) + 1e-5)
    case("input/statistics=of the batch", "BatchNormalization", x, scale, bias, mean, var,
         (own * scale[:, None] + bias[:, None]).astype(F))
    x, i = floats(9, 4), np.array([3, -1, 0, -4, 5])
    case("input/indices=negative as 0", "Gather", x, i, x[np.maximum(i, 0)])
    i = np.array([3, 1, 2, 7, 5])
    case("input/indices=+1", "Gather", x, i, x[i + 1])


@shows("input_choose_tail", "input_choose_signs", "input_choose_flipped", "input_choose_transposed")
def weights():
    x, w = floats(1, 12, 6, 7), floats(4, 12, 3, 3)
    cut = x.copy()
    cut[:, 8:] = 0
    case("input/X=tail of 8", "Conv --attr pads=1,1,1,1", x, w, conv(cut, w))
    case("input/W=flipped", "Conv --attr pads=1,1,1,1", x, w, conv(x, w[:, :, ::-1, ::-1]))
    a, b = floats(5, 5), floats(5, 5)
    case("input/B=transposed", "MatMul", a, b, a @ b.T)
    a = RANDOM.integers(0, 256, (4, 6)).astype(np.uint8)
    b = RANDOM.integers(0, 128, (6, 5)).astype(np.uint8)
    case("input/A=int8", "MatMulInteger", a, b, a.astype(np.int8).astype(np.int32) @ b.astype(np.int32))


@shows("input_choose_order", "input_choose_along")
def layouts():
    x, w = floats(1, 3, 6, 5), floats(4, 3, 1, 1)
    read = x.ravel().reshape(1, 6, 5, 3).transpose(0, 3, 1, 2)
    case("input/X=NHWC", "Conv", x, w, conv(np.ascontiguousarray(read), w, 0, 0))
    case("input/X=reversed,axis=1", "Conv", x, w, conv(x[:, ::-1], w, 0, 0))


# --- number ---------------------------------------------------------------------------------------

def half(x):
    return x.astype(np.float16).astype(F)


@shows("number_choose_operands", "number_choose_results", "number_choose_both", "number_choose_sum")
def types():
    a, b = floats(8, 40), floats(40, 7)
    case("number/operands=f16", "MatMul", a, b, (half(a).astype(float) @ half(b)).astype(F))
    case("number/results=f16", "MatMul", a, b, half(a.astype(float) @ b))
    case("number/all=f16", "MatMul", a, b, half(half(a).astype(float) @ half(b)))
    total = np.zeros((8, 7), np.float16)
    for k in range(40):
        total = (total.astype(F) + a[:, k:k + 1] * b[k]).astype(np.float16)
    case("number/sum=f16", "MatMul", a, b, total.astype(F))


@shows("number_choose_function", "number_choose_clamp", "stepwise_choose")
def functions():
    x = floats(4, 50) * F(3)
    cube = np.sqrt(2 / np.pi) * (x + 0.044715 * x.astype(float) ** 3)
    case("number/function=tanh", "Gelu", x, (0.5 * x * (1 + np.tanh(cube))).astype(F))
    case("number/clamp=3", "Tanh", x, np.tanh(np.clip(x, -3, 3)))
    h = x.astype(np.float16)
    e = np.exp(h - h.max(1, keepdims=True))
    total = np.zeros((4, 1), np.float16)
    for k in range(50):
        total = total + e[:, k:k + 1]
    case("number/steps=f16", "Softmax --attr axis=1", x, (e / total).astype(F))


@shows("number_choose_pairs", "number_choose_tail", "number_choose_division", "number_choose_requantised")
def integers():
    a = RANDOM.integers(100, 256, (4, 8)).astype(np.uint8)
    b = RANDOM.integers(60, 128, (8, 5)).astype(np.int8)
    wide = a.astype(int)[:, :, None] * b.astype(int)[None]
    pairs = np.clip(wide[:, 0::2] + wide[:, 1::2], -32768, 32767).sum(1)
    case("number/pairs=int16", "MatMulInteger", a, b, pairs.astype(np.int32))
    a, b = floats(4, 21), floats(21, 5)
    case("number/tiles=8", "MatMul", a, b, (a[:, :16].astype(float) @ b[:16]).astype(F))
    a, b = RANDOM.integers(-90, 90, 60), RANDOM.integers(2, 9, 60)
    case("number/quotients=floor", "Div", a, b, a // b)
    a, b = (RANDOM.integers(0, 256, s).astype(np.uint8) for s in ((6, 9), (9, 7)))
    one, zero = np.array(F(0.0625)), np.array(128, np.uint8)
    out = np.array(F(0.5))
    real = (a.astype(int) - 128) @ (b.astype(int) - 128) * (0.0625 * 0.0625 / 0.5)
    case("number/requantised=floor", "QLinearMatMul", a, one, zero, b, one, zero, out, zero,
         np.clip(np.floor(real) + 128, 0, 255).astype(np.uint8))


# --- output ---------------------------------------------------------------------------------------

@shows("output_choose_nan", "output_choose_line", "output_choose_clamp", "output_choose_constant",
       "output_choose_steps")
def fitted():
    x = floats(4, 50)
    case("output/nan=0", "Log", x, np.where(x < 0, 0, np.log(np.abs(x))).astype(F))
    y = np.abs(x)
    case("output/scale", "Abs", x, y * F(1.25))
    case("output/offset", "Abs", x, y + F(0.5))
    case("output/affine", "Exp", x, np.exp(x) * F(0.5) + F(2))
    case("output/clamped", "Abs", x, np.minimum(y, F(1.5)))
    case("output/steps", "Abs", x, np.rint(y * F(10)) * F(0.1))
    y = y.copy()
    y[1, 10:20] = 7
    case("output/constant=7", "Abs", x, y)


@shows("output_choose_move", "output_choose_flat", "output_choose_layout", "output_choose_misread",
       "output_choose_permuted", "output_choose_channels")
def orders():
    x = floats(1, 8, 5, 6)
    y = np.exp(x)
    case("output/reversed,axis=2", "Exp", x, np.ascontiguousarray(y[:, :, ::-1]))
    case("output/rolled in memory by 1", "Exp", x, np.roll(y, 1))
    case("output/layout=nChw4c", "Exp", x, y.reshape(1, 2, 4, 5, 6).transpose(0, 1, 3, 4, 2).reshape(x.shape))
    case("output/taken for NHWC", "Exp", x, y.reshape(1, 5, 6, 8).transpose(0, 3, 1, 2).reshape(x.shape))
    case("output/permuted,axis=1", "Exp", x, y[:, [0, 4, 2, 3, 1, 5, 7, 6]])
    case("output/channels=scale,axis=1", "Exp", x, y * (1 + RANDOM.random(8).astype(F))[:, None, None])


@shows("output_choose_shape")
def shapes():
    x = floats(4, 5)
    case("output/shape", "Exp", x, np.exp(x).reshape(20))


@shows("output_choose_lanes", "output_choose_border")
def places():
    x = floats(1, 4, 10, 12)
    y = np.exp(x)
    lane = y.copy()
    lane.ravel()[3::4] = 0
    case("output/lanes=4", "Exp", x, lane)
    border = np.zeros_like(y)
    border[:, :, 1:-1, 1:-1] = y[:, :, 1:-1, 1:-1]
    case("output/border=1", "Exp", x, border)


# --- elsewhere ------------------------------------------------------------------------------------

@shows("elsewhere_choose_skipped", "elsewhere_choose_operator", "elsewhere_choose_zero",
       "elsewhere_choose_function", "elsewhere_choose_outputs")
def otherwise():
    x, z = floats(4, 30), floats(4, 30)
    case("elsewhere/skipped=0", "Tanh", x, x)
    case("elsewhere/operator=Sub", "Add", x, z, x - z)
    case("elsewhere/zero", "Tanh", x, np.zeros_like(x))
    case("elsewhere/applied=Relu", "Sin", x, np.maximum(np.sin(x), 0))
    case("elsewhere/outputs=0,1", "Split --attr num_outputs=2", x, out=[x[2:], x[:2]])


def rows():
    """The rows of the catalogue, each after its function."""
    found = []
    for name in sorted(os.listdir(CATALOGUE)):
        with open(os.path.join(CATALOGUE, name)) as f:
            table = f.read().split("const struct variant_row variants_")
        found += [row for part in table[1:] for row in re.findall(r"\b\w+_choose(?:_\w+)?\b", part)]
        found += ["output_choose_" + word for part in table[1:]
                  for word in re.findall(r'OUTPUT_MOVES\("[^"]*", (\w+)\)', part)]
    return list(dict.fromkeys(row for row in found if not row.endswith("_choose_")))


def main():
    if sys.argv[1] == "--untested":
        print("\n".join(row for row in rows() if row not in SHOWN))
        return
    files.begin(*sys.argv[1:3])
    for make in dict.fromkeys(SHOWN.values()):
        if make.__module__ != "files":
            make()


if __name__ == "__main__":
    main()
