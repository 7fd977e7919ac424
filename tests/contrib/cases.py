# SPDX-License-Identifier: GPL-3.0-or-later
"""Random calls of operators of com.microsoft in the layout of ONNX's backend tests, with outputs by
NumPy: written from what the operators are documented to do, in float64, element by element where
that is plainest. They know nothing of the kernels.

    cases.py FOLDER SEED COUNT [OPERATOR…]

Below FOLDER stand folders f32, f16 and bf16, for the type that a call's floats have.
"""
import math
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int8): 3,
         np.dtype(np.int32): 6, np.dtype(np.int64): 7, np.dtype(np.float16): 10}
BF16 = 16
E4M3, E8M0 = 17, 24


class Raw:
    """A tensor of an element type that NumPy lacks: its bytes, and the numbers they stand for."""

    def __init__(self, code, bits, values):
        self.code, self.bits, self.values = code, bits, values
        self.shape = values.shape


def bfloat16(values):
    """The numbers, rounded to bfloat16."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return Raw(BF16, bits.astype(np.uint16),
               (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64))


def proto(name, t):
    if isinstance(t, Raw):
        out = TensorProto(name=name, data_type=t.code, dims=t.shape)
        out.raw_data = t.bits.tobytes()
        return out
    return numpy_helper.from_array(np.ascontiguousarray(t), name)


def code(t):
    return t.code if isinstance(t, Raw) else TYPES[np.dtype(t.dtype)]


def num(t):
    """The numbers of a tensor, as float64; None stays None."""
    if t is None:
        return None
    return t.values if isinstance(t, Raw) else np.asarray(t, np.float64)


class Draw:
    """One call: what is drawn for it."""

    def __init__(self, rng):
        self.rng = rng
        self.type = [np.float32, np.float32, np.float16, "bf16"][rng.integers(4)]
        self.attrs, self.inputs, self.outputs = {}, [], []

    def int(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))

    def chance(self, percent):
        return bool(self.rng.integers(100) < percent)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def as_type(self, values, kind=None):
        kind = kind or self.type
        return bfloat16(values) if kind == "bf16" else np.asarray(values).astype(kind)

    def floats(self, *shape, lo=-2.0, hi=2.0, kind=None):
        return self.as_type(self.rng.uniform(lo, hi, shape), kind)

    def put(self, t):
        """An input; gives its numbers."""
        self.inputs.append(t)
        return num(t)

    def maybe(self, percent, t):
        return self.put(t if self.chance(percent) else None)

    def give(self, values, kind=None):
        self.outputs.append(None if values is None else self.as_type(values, kind))

    def attr(self, name, default, *others):
        """An attribute that is left out where it is what it is without it."""
        value = self.pick(default, *others)
        if value != default or self.chance(50):
            self.attrs[name] = value
        return value


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms(x, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


# --- gates -----------------------------------------------------------------------------------------


def BiasSoftmax(d):
    if d.type == "bf16":
        d.type = np.float32
    rank = d.int(2, 4)
    shape = [d.int(1, 4) for _ in range(rank)]
    axis = d.int(1, rank - 1)
    split = d.int(0, axis)
    inner = d.chance(50)
    bias = list(shape)
    for i in range(split, axis) if inner else range(split):
        bias[i] = 1
    while not inner and len(bias) > 1 and bias[0] == 1 and d.chance(50):
        bias.pop(0)
    x, b = d.put(d.floats(*shape)), d.put(d.floats(*bias))
    if axis != 1 or d.chance(50):
        d.attrs["axis"] = axis - (rank if d.chance(30) else 0)
    d.attrs["is_inner_broadcast"] = int(inner)
    y = softmax((x + b).reshape(*shape[:axis], -1))
    d.give(y.reshape(shape))


def GatedAdd(d):
    shape = [d.int(1, 4) for _ in range(d.int(1, 3))]
    x, y = d.put(d.floats(*shape)), d.put(d.floats(*shape))
    gate = d.put(d.floats(*shape[:-1], 1))
    d.give(x + num(d.as_type(y * gate)))


def GatedRMSNorm(d):
    lead = [d.int(1, 3) for _ in range(d.int(0, 2))]
    heads, size = d.int(1, 3), d.int(1, 6)
    x = d.put(d.floats(*lead, heads * size))
    scale = d.put(d.floats(size))
    gate = d.put(d.floats(*lead, heads * size))
    epsilon = d.attr("epsilon", 1e-5, 0.1)
    y = rms(x.reshape(-1, size), epsilon) * scale
    d.give(y.reshape(x.shape) * silu(gate))


def LinearAttentionGate(d):
    b, t, h = d.int(1, 2), d.int(0, 4), d.int(1, 4)
    a = d.put(d.floats(b, t, h))
    bias = d.put(d.floats(h, kind=np.float32))
    scale = d.put(d.floats(h, kind=np.float32))
    d.give(scale * np.log1p(np.exp(a + bias)))
    if d.chance(60):
        d.give(sigmoid(d.put(d.floats(b, t, h))))


def EngramGate(d):
    b, t, h, n = d.int(1, 2), d.int(0, 3), d.int(1, 3), d.int(1, 6)
    key, query = d.put(d.floats(b, t, h, n)), d.put(d.floats(b, t, h, n))
    value = d.put(d.floats(b, t, n))
    ks, qs = d.put(d.floats(h, n)), d.put(d.floats(h, n))
    epsilon = d.attr("epsilon", 1e-5, 0.1)
    dot = (rms(key, epsilon) * ks * rms(query, epsilon) * qs).sum(-1) / np.sqrt(n)
    gate = sigmoid(np.sign(dot) * np.sqrt(np.maximum(abs(dot), 1e-6)))
    y = gate[..., None] * value[:, :, None, :]
    d.give(y)
    if d.chance(30):
        d.give(rms(y, epsilon) * d.put(d.floats(h, n)))


# --- experts ---------------------------------------------------------------------------------------

ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0), "silu": silu, "identity": lambda x: x,
               "gelu": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))}


def unpack(data, bits, count):
    """Numbers of few bits along the last axis, the first in the lowest."""
    parts = [(data >> at) & ((1 << bits) - 1) for at in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*data.shape[:-1], -1)[..., :count].astype(np.float64)


def experts(d, x, scores, given, first, second, third, act):
    """Token by token: first, second and third are an expert's (matrix, bias)."""
    k = d.attr("k", 1, *range(1, scores.shape[1] + 1))
    normalise = d.attr("normalize_routing_weights", 0, 1)
    y = np.zeros_like(x)
    for t in range(len(x)):
        order = sorted(range(scores.shape[1]), key=lambda e: (-scores[t, e], e))[:k]
        shares = (softmax(scores[t]) if given is None else given[t])[order]
        if normalise:
            shares = shares / shares.sum()
        for share, e in zip(shares, order):
            h = first[0][e] @ x[t] + first[1][e]
            l = third[0][e] @ x[t] + third[1][e] if third else None
            y[t] += share * (second[0][e] @ act(h, l) + second[1][e])
    return y


def draw_activation(d, third):
    """The function, and how many times as wide as the inner size the first matrix is."""
    kind = d.attr("activation_type", "relu", *ACTIVATIONS, "swiglu", "swiglu", "swiglu")
    if kind != "swiglu":
        return lambda h, l: ACTIVATIONS[kind](h) * (1 if l is None else l), 1
    fusion = 0 if third else d.pick(1, 1, 2)
    if fusion or d.chance(50):
        d.attrs["swiglu_fusion"] = fusion
    limit = d.pick(np.inf, 1.0)
    if limit < np.inf:
        d.attrs["swiglu_limit"] = limit
    alpha = d.attr("activation_alpha", 1.0, 1.75)
    beta = d.attr("activation_beta", 0.0, 1.0)

    def swiglu(h, l):
        g, l = (h, l) if fusion == 0 else (h[::2], h[1::2]) if fusion == 1 else np.split(h, 2)
        g, l = np.minimum(g, limit), np.clip(l, -limit, limit)
        return g * sigmoid(alpha * g) * (l + beta)
    return swiglu, 2 if fusion else 1


def draw_tokens(d, hidden, n):
    lead = d.pick([d.int(0, 4)], [d.int(1, 2), d.int(1, 3)])
    x = d.put(d.floats(*lead, hidden))
    tokens = int(np.prod(lead))
    # scores far enough from each other that no rounding decides between them
    scores = np.array([d.rng.permutation(n) for _ in range(tokens)]).reshape(tokens, n) / 2.0
    return x, d.put(d.as_type(scores)), tokens


def MoE(d):
    hidden, inner, n = d.int(1, 6), d.int(1, 6), d.int(1, 4)
    x, scores, _ = draw_tokens(d, hidden, n)
    has_third = d.chance(30)
    act, wide = draw_activation(d, has_third)

    def layer(rows, columns):
        w = d.put(d.floats(n, rows, columns))
        b = d.maybe(50, d.floats(n, rows))
        return w, np.zeros((n, rows)) if b is None else b
    first, second = layer(wide * inner, hidden), layer(hidden, inner)
    third = layer(inner, hidden) if has_third else None
    y = experts(d, x.reshape(-1, hidden), scores, None, first, second, third, act)
    d.give(y.reshape(x.shape))


def QMoE(d):
    bits = d.attr("expert_weight_bits", 4, 8, 2)
    pack, block = 8 // bits, d.pick(0, 16, 32)
    zero = d.chance(50)
    step = block * (pack if zero else 1) if block else 8
    hidden, inner, n = step * d.int(2, 3), step * d.int(2, 3), d.int(1, 4)
    if block:
        d.attrs["block_size"] = block
    x, scores, tokens = draw_tokens(d, hidden, n)
    has_third = d.chance(30)
    act, wide = draw_activation(d, has_third)
    zeros = []

    def layer(rows, columns, there=True):
        if not there:
            for _ in range(3):
                d.put(None)
            zeros.append(None)
            return None
        codes = d.rng.integers(0, 256, (n, rows, columns // pack), dtype=np.uint8)
        d.put(codes)
        blocks = columns // block if block else 1
        scale = d.put(d.floats(*((n, rows, blocks) if block else (n, rows)), lo=0.02, hi=0.2))
        at = np.full((n, rows, blocks), 2.0 ** (bits - 1))
        shape = (n, rows, (blocks + pack - 1) // pack) if block else (n, (rows + pack - 1) // pack)
        zeros.append(d.rng.integers(0, 256, shape, dtype=np.uint8) if zero else None)
        if zero:
            at = unpack(zeros[-1], bits, blocks if block else rows).reshape(n, rows, blocks)
        b = d.maybe(50, d.floats(n, rows))
        repeat = block or columns
        w = (unpack(codes, bits, columns) - at.repeat(repeat, -1)) * \
            scale.reshape(n, rows, blocks).repeat(repeat, -1)
        return w, np.zeros((n, rows)) if b is None else b
    first, second = layer(wide * inner, hidden), layer(hidden, inner)
    third = layer(inner, hidden, has_third)
    for t in zeros:
        d.put(t)
    given = d.maybe(30, d.floats(tokens, n, lo=0.1, hi=1))
    y = experts(d, x.reshape(-1, hidden), scores, given, first, second, third, act)
    d.give(y.reshape(x.shape))


# --- states ----------------------------------------------------------------------------------------


def recurrence(q, k, v, state, decay, beta, scale):
    """Of one head: q, k [steps, size], v [steps, wide], state [size, wide]; decay [steps, size] or
    None, beta [steps] or None. Gives the outputs and the state after each step."""
    y, states = [], []
    for t in range(len(q)):
        if decay is not None:
            state = np.diag(np.exp(decay[t])) @ state
        new = v[t] if beta is None else beta[t] * (v[t] - state.T @ k[t])
        state = state + np.outer(k[t], new)
        states.append(state)
        y.append(scale * (state.T @ q[t]))
    return y, states


def window(past, states, slots, shape):
    """What is kept of the states: the last one, or as many slots as there are."""
    if not slots:
        return states[-1] if states else past
    kept = states[-slots:]
    return np.stack([np.zeros(shape)] * (slots - len(kept)) + kept)


def LinearAttention(d):
    b, t, size, wide = d.int(1, 2), d.int(1, 5), d.int(1, 4), d.int(1, 4)
    group, inverse = d.pick((1, 1), (2, 1), (1, 2), (1, 3))
    some = d.int(1, 2)
    qh, vh = some * group, some * inverse
    kh = vh if group > 1 or d.chance(50) else qh
    slots = d.attr("state_window", 0, 0, d.int(1, 8))
    rule = d.attr("update_rule", "gated_delta", "linear", "gated", "delta")
    scale = d.attr("scale", 0.0, 0.5)
    if d.chance(30):
        d.attrs["chunk_size"] = 32
    d.attrs["q_num_heads"], d.attrs["kv_num_heads"] = qh, vh
    q = d.put(d.floats(b, t, qh * size))
    k = d.put(d.floats(b, t, kh * size, lo=-1, hi=1))
    v = d.put(d.floats(b, t, vh * wide))
    shape = (b, vh, size, wide)
    past = d.maybe(50, d.floats(*((slots,) if slots else ()), *shape))
    decay = beta = None
    if "gated" in rule:
        each = d.pick(1, size)
        decay = d.put(d.floats(b, t, vh * each, lo=-1, hi=0)).reshape(b, t, vh, each)
    else:
        d.put(None)
    if "delta" in rule:
        beta = d.put(d.floats(b, t, d.pick(1, vh), lo=0, hi=1))
    state = np.zeros(shape) if past is None else past[-1] if slots else past
    y, states = np.zeros((b, t, max(qh, vh), wide)), np.zeros((t, *shape))
    for i in range(b):
        for h in range(max(qh, vh)):
            vhead = h * vh // max(qh, vh)
            out, after = recurrence(
                q[i].reshape(t, qh, size)[:, h * qh // max(qh, vh)],
                k[i].reshape(t, kh, size)[:, vhead * kh // vh],
                v[i].reshape(t, vh, wide)[:, vhead], state[i, vhead],
                None if decay is None else np.broadcast_to(decay[i, :, vhead], (t, size)),
                None if beta is None else beta[i, :, vhead % beta.shape[2]],
                scale or size ** -0.5)
            y[i, :, h] = out
            states[:, i, vhead] = after
    d.give(y.reshape(b, t, -1))
    d.give(window(state, list(states), slots, shape))


def convolve(x, w, bias, past, dilation, act):
    """x [steps, channels], w [channels, taps], past [before, channels]; and all that was read."""
    taps = w.shape[1]
    line = np.concatenate([past, x])
    y = np.stack([bias + sum(w[:, j] * line[t + j * dilation] for j in range(taps))
                  for t in range(len(x))]) if len(x) else x
    return (y if act == "none" else silu(y)), line


def CausalConvWithState(d):
    b, t, taps = d.int(1, 2), d.int(1, 6), d.int(1, 4)
    last = d.attr("channels_last", 0, 1)
    inner = [d.int(1, 3) for _ in range(d.int(1, 2) if last else 1)]
    channels = int(np.prod(inner))
    dilation = d.attr("dilation", 1, 1, 2, 3)
    slots = d.attr("state_window", 0, 0, d.int(1, 8))
    act = d.attr("activation", "none", "silu", "swish")
    if d.chance(30):
        d.attrs["ndim"] = 1
    before = (taps - 1) * dilation
    x = d.put(d.floats(b, t, *inner) if last else d.floats(b, channels, t))
    w = d.put(d.floats(channels, 1, taps))[:, 0]
    bias = d.maybe(50, d.floats(channels))
    shape = (b, before, *inner) if last else (b, channels, before)
    past = d.maybe(50, d.floats(*((slots,) if slots else ()), *shape))
    old = np.zeros(shape) if past is None else past[-1] if slots else past

    def rows(a, n):  # (batch, n, channels)
        return a.reshape(b, n, channels) if last else a.transpose(0, 2, 1)

    def back(a):
        return a.reshape(b, -1, *inner) if last else a.transpose(0, 2, 1)
    y, lines = zip(*[convolve(rows(x, t)[i], w, 0 if bias is None else bias,
                              rows(old, before)[i], dilation, act) for i in range(b)])
    line = np.stack(lines)
    states = [back(line[:, i + 1:i + 1 + before]).reshape(shape) for i in range(t)]
    d.give(back(np.stack(y)))
    d.give(window(old, states, slots, shape))


def draw_lengths(d, least):
    lengths = [d.int(least, 4) for _ in range(d.int(1, 3))]
    return lengths, np.cumsum([0] + lengths).astype(np.int32)


def VarlenCausalConvWithState(d):
    lengths, offsets = draw_lengths(d, 1)
    channels, taps, n = d.int(1, 4), d.int(1, 4), len(lengths)
    dilation = d.attr("dilation", 1, 2)
    act = d.attr("activation", "none", "silu", "swish")
    capacity = d.attr("state_update_capacity", 0, 1, 3, 8)
    before = (taps - 1) * dilation
    x = d.put(d.floats(offsets[-1], channels))
    w = d.put(d.floats(channels, 1, taps))[:, 0]
    d.put(offsets)
    bias = d.maybe(50, d.floats(channels))
    past = d.put(d.floats(n, channels, before))
    y, final = [], []
    for i in range(n):
        out, line = convolve(x[offsets[i]:offsets[i + 1]], w, 0 if bias is None else bias,
                             past[i].T, dilation, act)
        y.append(out)
        final.append(line[len(line) - before:].T)
    d.give(np.concatenate(y))
    d.give(np.stack(final))
    if capacity:
        count = d.rng.integers(-1, 6, n).astype(np.int32)
        d.put(count)
        update = np.zeros((n, capacity, channels))
        for i in range(n):
            m = min(max(count[i], 0), capacity, lengths[i])
            update[i, :m] = x[offsets[i]:offsets[i] + m]
        d.give(update)


def GatedDeltaNet(d):
    heads, times, size, wide = d.int(1, 2), d.int(1, 3), d.int(1, 4), d.int(1, 4)
    vh, f32 = heads * times, np.float32
    ragged = d.chance(60)
    lengths, offsets = draw_lengths(d, 0) if ragged else ([d.int(1, 4)] * d.int(1, 3), None)
    n, tokens = len(lengths), sum(lengths)
    lead = (n, lengths[0]) if not ragged and d.chance(50) else (tokens,)
    rule = d.attr("update_rule", "gated_delta", "linear", "gated", "delta")
    scale = d.attr("scale", 0.0, 0.5)
    unit = d.attr("qk_l2_norm", 0, 1)
    q = d.put(d.floats(*lead, heads, size)).reshape(tokens, heads, size)
    k = d.put(d.floats(*lead, heads, size, lo=-1, hi=1)).reshape(tokens, heads, size)
    v = d.put(d.floats(*lead, vh, wide)).reshape(tokens, vh, wide)
    d.put(offsets)
    decay = beta = None
    if "gated" in rule:
        each = d.pick((), (size,))
        decay = d.put(d.floats(*lead, vh, *each, lo=-1, hi=0, kind=f32))
        decay = decay.reshape(tokens, vh, *(each or (1,)))
    else:
        d.put(None)
    if "delta" in rule:
        beta = d.put(d.floats(*lead, vh, lo=0, hi=1, kind=f32)).reshape(tokens, vh)
        if d.attr("beta_activation", "none", "sigmoid") == "sigmoid":
            beta = sigmoid(beta)
    else:
        d.put(None)
    initial = d.maybe(50 if ragged else 100, d.floats(n, vh, wide, size, kind=f32))
    if decay is not None and d.attr("gate_activation", "none", "qwen") == "qwen":
        log, bias = d.put(d.floats(vh, kind=f32)), d.put(d.floats(vh, kind=f32))
        decay = -np.exp(log)[:, None] * np.log1p(np.exp(decay + bias[:, None]))
    if unit:
        q, k = (a / np.sqrt((a * a).sum(-1, keepdims=True) + 1e-6) for a in (q, k))
    y, final = np.zeros((tokens, vh, wide)), np.zeros((n, vh, wide, size))
    at = 0
    for i, m in enumerate(lengths):
        part = slice(at, at + m)
        for h in range(vh):
            state = np.zeros((size, wide)) if initial is None else initial[i, h].T
            out, states = recurrence(
                q[part, h // times], k[part, h // times], v[part, h], state,
                None if decay is None else np.broadcast_to(decay[part, h], (m, size)),
                None if beta is None else beta[part, h], scale or size ** -0.5)
            if m:
                y[part, h], state = out, states[-1]
            final[i, h] = state.T
        at += m
    d.give(y.reshape(*lead, vh, wide))
    d.give(final, f32)


# --- positions -------------------------------------------------------------------------------------


def MRotaryEmbedding(d):
    b, t, heads, half = d.int(1, 2), d.int(1, 4), d.int(1, 3), d.int(1, 6)
    longest, four = d.int(1, 6), d.chance(50)
    size = 2 * half
    if d.chance(40):
        size += d.int(0, 3)
        d.attrs["rotary_embedding_dim"] = 2 * half
        d.attrs["num_heads"] = heads
    elif not four or d.chance(50):
        d.attrs["num_heads"] = heads
    layout = d.attr("mrope_layout", 0, 1)
    pairs = d.attr("interleaved", 0, 1)
    cuts = sorted(d.int(0, half) for _ in range(2))
    section = [cuts[0], cuts[1] - cuts[0], half - cuts[1]]
    d.attrs["mrope_section"] = section
    x = d.put(d.floats(*((b, heads, t, size) if four else (b, t, heads * size))))
    x = x if four else x.reshape(b, t, heads, size).transpose(0, 2, 1, 3)
    ids = d.rng.integers(0, longest, (3, b, t))
    d.put(ids)
    table = [d.put(d.floats(longest, half, lo=-1, hi=1)) for _ in range(2)]
    # the axis of each column: laid out in a list, as whoever trains such models does
    if layout == 0:
        axes = [0] * section[0] + [1] * section[1] + [2] * section[2]
    else:
        axes = [0] * half
        for axis in (1, 2):
            for j in range(axis, min(3 * section[axis], half), 3):
                axes[j] = axis
    cos, sin = (np.stack([a[ids[axis], j] for j, axis in enumerate(axes)], -1)[:, None]
                for a in table)
    y = x.copy()
    one, two = ((slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if pairs else
                (slice(0, half), slice(half, 2 * half)))
    y[..., one] = x[..., one] * cos - x[..., two] * sin
    y[..., two] = x[..., two] * cos + x[..., one] * sin
    d.give(y if four else y.transpose(0, 2, 1, 3).reshape(b, t, heads * size))


# --- weights of a few bits -------------------------------------------------------------------------


def nbits(d, bits, block, rows, columns):
    """Draws weights and scales; the matrix that they stand for."""
    blocks = -(-columns // block)
    codes = d.rng.integers(0, 256, (rows, blocks, block * bits // 8), dtype=np.uint8)
    d.put(codes)
    scales = d.put(d.floats(rows, blocks, lo=0.02, hi=0.2))
    w = (unpack(codes, bits, block) - 2.0 ** (bits - 1)) * scales[..., None]
    return w.reshape(rows, -1)[:, :columns]


def products(d, norm, names, widths):
    """The shared input, normalised, times each of the matrices; and the sum before that."""
    lead, columns = [d.int(1, 3) for _ in range(d.int(1, 2))], d.int(1, 40)
    bits, block = d.attr("bits", 4, 8, 2), d.pick(16, 32)
    d.attrs.update(K=columns, block_size=block, **dict(zip(names, widths)))
    if d.chance(30):
        d.attrs["accuracy_level"] = 1
    a = d.put(d.floats(*lead, columns))
    skip = d.maybe(50 if norm else 0, d.floats(*lead, columns))
    total = a if skip is None else a + skip
    scale = d.put(d.floats(columns) if norm else None)
    epsilon = 1e-5
    if norm and (len(widths) == 3 or d.chance(50)):
        epsilon = d.attrs["epsilon"] = d.pick(1e-5, 0.1)
    x = rms(total, epsilon) * scale if norm else total
    out = []
    for n in widths:
        y = x @ nbits(d, bits, block, n, columns).T
        bias = d.maybe(50, d.floats(n))
        out.append(y if bias is None else y + bias)
    return out, None if skip is None else total


def MatMulNBitsMlp(d):
    n = d.int(1, 6)
    d.attrs["activation"] = "silu"
    (gate, up), total = products(d, d.chance(70), ["N", "N"], [n, n])
    d.give(silu(gate) * up)
    if total is not None and d.chance(50):
        d.give(total)


def MatMulNBitsQkv(d):
    q, kv = d.int(1, 6), d.int(1, 6)
    out, total = products(d, True, ["Nq", "Nkv"], [q, kv, kv])
    for y in out:
        d.give(y)
    if total is not None and d.chance(50):
        d.give(total)


def e4m3(code):
    """What a byte stands for: sign, four bits of exponent, three of mantissa."""
    code = np.asarray(code, np.int64)
    sign, exponent, mantissa = 1 - 2.0 * (code >> 7), (code >> 3) & 15, code & 7
    return sign * np.where(exponent == 0, mantissa / 8 * 2.0 ** -6,
                           (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))


def to_e4m3(x):
    """The nearest number of that type, of two the one with an even mantissa."""
    codes = np.arange(0x7F)
    table = e4m3(codes)
    size = np.minimum(abs(x), 448.0)[..., None]
    far = abs(size - table)
    far[..., 1::2] += 1e-12 * (1 + table[1::2])
    return np.sign(x) * table[far.argmin(-1)]


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def halves_only(d):
    if d.type == np.float32:
        d.type = d.pick(np.float16, "bf16")


def MatMulBlockQuantizedFp4Weight(d):
    halves_only(d)
    lead, n, columns = [d.int(1, 3) for _ in range(d.int(0, 2))], d.int(1, 5), 2 * d.int(1, 24)
    block = d.attr("block_size", 16, 32)
    blocks = -(-columns // block)
    a = d.put(d.floats(*lead, columns))
    codes = d.rng.integers(0, 256, (n, columns // 2), dtype=np.uint8)
    d.put(codes)
    scales = d.rng.integers(0x28, 0x48, (n, blocks), dtype=np.uint8)
    d.put(scales)
    whole = d.put(d.as_type(np.float32(d.rng.uniform(0.05, 0.5)), np.float32))
    d.maybe(30, np.float32(0.5))
    bias = d.maybe(50, d.floats(n))
    nibbles = unpack(codes, 4, columns).astype(int)
    w = np.where(nibbles & 8, -1.0, 1.0) * E2M1[nibbles & 7]
    w = num(d.as_type(w * e4m3(scales).repeat(block, 1)[:, :columns] * whole))
    d.give(a @ w.T + (0 if bias is None else bias))


def MatMulBlockQuantizedFp8Weight(d):
    halves_only(d)
    lead, n, columns = [d.int(1, 3) for _ in range(d.int(0, 2))], d.int(1, 5), d.int(1, 40)
    block = d.attr("block_size", 128, 16)
    blocks = -(-columns // block)
    a = d.put(d.floats(*lead, columns))
    codes = d.rng.integers(0, 0x7F, (n, columns), dtype=np.uint8)
    codes |= d.rng.integers(0, 2, codes.shape, dtype=np.uint8) << 7
    d.put(Raw(E4M3, codes, e4m3(codes)))
    scales = d.put(d.floats(n, blocks, lo=0.001, hi=0.01, kind=np.float32))
    scale = d.maybe(50, np.float32(2.0 ** -d.int(2, 9)))
    bias = d.maybe(50, d.floats(n))
    if scale is not None:
        a = to_e4m3(a / scale) * scale
    w = e4m3(codes) * scales.repeat(block, 1)[:, :columns]
    d.give(a @ w.T + (0 if bias is None else bias))


# --- attention -------------------------------------------------------------------------------------


def PagedAttention(d):
    halves_only(d)
    kv, group, size = d.int(1, 2), d.int(1, 3), 2 * d.int(1, 3)
    heads, block, n = kv * group, d.pick(1, 2, 4), d.int(1, 3)
    lengths, offsets = draw_lengths(d, 0)
    n, tokens = len(lengths), int(offsets[-1])
    past = d.rng.integers(0, 6, n).astype(np.int32)
    need = [-(-int(p + m) // block) for p, m in zip(past, lengths)]
    blocks = sum(need) + d.int(0, 2) or 1
    order = list(d.rng.permutation(blocks))
    table = np.full((n, max(max(need), 1)), -1, np.int32)
    for b in range(n):
        for j in range(need[b]):
            table[b, j] = order.pop()
    d.attrs.update(num_heads=heads, kv_num_heads=kv)
    cap, scale = d.attr("softcap", 0.0, 1.5), d.attr("scale", 0.0, 0.7)
    window, causal = d.attr("local_window_size", -1, 1, 3), d.attr("is_causal", 1, 0)
    packed = d.chance(40)
    if packed:
        q, k, v = np.split(d.put(d.floats(tokens, (heads + 2 * kv) * size)),
                           [heads * size, (heads + kv) * size], 1)
        d.put(None)
        d.put(None)
    else:
        q, k, v = (d.put(d.floats(tokens, h * size)) for h in (heads, kv, kv))
    keys, values = (d.put(d.floats(blocks, block, kv, size)).copy() for _ in range(2))
    d.put(offsets)
    d.put(past)
    d.put(table)
    rotary = d.chance(50)
    half = d.int(1, size // 2) if rotary else 0
    cos, sin = (d.put(d.floats(12, half, lo=-1, hi=1) if rotary else None) for _ in range(2))
    q, k, v = q.reshape(tokens, heads, size), k.reshape(tokens, kv, size), v.reshape(tokens, kv, size)
    place = [past[b] + i for b in range(n) for i in range(lengths[b])]
    slot = [table[b, p // block] * block + p % block
            for b in range(n) for p in range(past[b], past[b] + lengths[b])]
    if d.chance(30):  # some are not written
        slot = [-1 if d.chance(30) else s for s in slot]
        d.put(np.array(slot, np.int32))
    else:
        d.put(None)
    sink = d.maybe(40, d.floats(heads))
    if d.chance(40):
        epsilon = d.attr("qk_norm_epsilon", 1e-6, 0.1)
        q, k = rms(q, epsilon) * d.put(d.floats(size)), rms(k, epsilon) * d.put(d.floats(size))
    if rotary:
        d.attrs["do_rotary"] = 1
        pairs = d.attr("rotary_interleaved", 0, 1)
        one, two = ((slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if pairs else
                    (slice(0, half), slice(half, 2 * half)))
        for x in q, k:
            c, s = (a[place][:, None] for a in (cos, sin))
            a, b = x[..., one].copy(), x[..., two].copy()
            x[..., one], x[..., two] = a * c - b * s, b * c + a * s
    for t, at in enumerate(slot):
        if at >= 0:
            keys.reshape(-1, kv, size)[at] = num(d.as_type(k[t]))
            values.reshape(-1, kv, size)[at] = v[t]
    y = np.zeros((tokens, heads, size))
    t = 0
    for b in range(n):
        for i in range(lengths[b]):
            p = int(past[b]) + i
            line = [j for j in range(int(past[b]) + lengths[b])
                    if (not causal or j <= p) and (window < 0 or j > p - window)]
            for h in range(heads):
                row = [(table[b, j // block], j % block, h // group) for j in line]
                score = np.array([q[t, h] @ keys[r] for r in row]) * (scale or size ** -0.5)
                if cap:
                    score = cap * np.tanh(score / cap)
                share = softmax(score if sink is None else np.append(score, sink[h]))
                y[t, h] = sum(w * values[r] for w, r in zip(share, row))
            t += 1
    d.give(y.reshape(tokens, heads * size))
    d.give(keys)
    d.give(values)


# --- tokens ----------------------------------------------------------------------------------------


def hashes(d, varlen):
    """Tokens of some sequences, hashed; what a token does not see is padding."""
    d.type = np.float32
    kind = d.pick(np.int32, np.int64)
    most, heads, pad = d.int(2, 4), d.int(1, 3), d.int(0, 9)
    limit = d.pick(20, 2 ** 31 - 1)
    if varlen:
        lengths, offsets = draw_lengths(d, 1)
        shape = (sum(lengths),)
    else:
        lengths = [d.int(0, 5)] * d.int(1, 2)
        shape = (len(lengths), lengths[0])
    b, columns = len(lengths), (most - 1) * heads

    def draw(lo, hi, shape, of=None):
        return d.rng.integers(lo, hi, shape).astype(of or kind)

    ids = d.inputs.append(draw(0, limit, shape)) or d.inputs[-1]
    factors = d.inputs.append(draw(1, limit, most + d.int(0, 1))) or d.inputs[-1]
    sizes = d.inputs.append(draw(1, 1000, columns)) or d.inputs[-1]
    if varlen:
        d.inputs.append(offsets)
    newer = d.chance(60)
    past = draw(0, limit, (b, most - 1)) if d.chance(50) else None
    shifts = draw(0, limit, columns) if newer and d.chance(50) else None
    end = draw(0, 9, ()) if newer and d.chance(60) else None
    segments = draw(0, 2, shape, np.int32) if newer and d.chance(60) else None
    before = draw(0, 2, (b, most - 1), np.int32) if segments is not None and varlen and \
        d.chance(50) else None
    d.inputs += [past, shifts, end, segments] + ([before] if varlen else [])
    d.attrs.update(max_ngram_size=most, n_head_per_ngram=heads, pad_id=pad)
    resets = d.attr("reset_on_eos", 0, 1) and end is not None
    padding = pad if end is None else int(end)
    wrap = 2 ** (8 * np.dtype(kind).itemsize)
    rows, states, parts = [], [], []
    flat, at = ids.reshape(-1), 0
    for i, n in enumerate(lengths):
        line = list(past[i] if past is not None else [padding] * (most - 1)) + list(flat[at:at + n])
        own = [] if segments is None else list(segments.reshape(-1)[at:at + n])
        part = [] if not own else (list(before[i]) if before is not None
                                   else [own[0]] * (most - 1)) + own
        for j in range(most - 1, most - 1 + n):
            seen, mix = True, 0
            for s in range(most):  # as whole numbers of any size, cut to the type's
                p = j - s
                if s and ((resets and line[p] == padding) or (part and part[p] != part[p + 1])):
                    seen = False
                mix ^= (int(line[p]) if seen else padding) * int(factors[s])
                mix = (mix + wrap // 2) % wrap - wrap // 2
                for h in range(heads if s else 0):
                    column = (s - 1) * heads + h
                    v = mix % int(sizes[column]) + (0 if shifts is None else int(shifts[column]))
                    rows.append((v + wrap // 2) % wrap - wrap // 2)
        states.append(line[n:])
        parts.append(part[n:])
        at += n
    d.outputs.append(np.array(rows, kind).reshape(*shape, columns))
    if d.chance(60):
        d.outputs.append(np.array(states, kind).reshape(b, most - 1))
        if varlen and segments is not None and d.chance(60):
            d.outputs.append(np.array(parts, np.int32).reshape(b, most - 1))


def NGramHashMapping(d):
    hashes(d, False)


def VarlenNGramHashMapping(d):
    hashes(d, True)


# --- a recurrence, pools ---------------------------------------------------------------------------


def AttnLSTM(d):
    d.type = np.float32
    steps, batch, width, hidden = d.int(1, 4), d.int(1, 3), d.int(1, 4), d.int(1, 4)
    rows, depth, score, layer = d.int(1, 4), d.int(1, 3), d.int(1, 3), d.int(1, 3)
    direction = d.attr("direction", "forward", "reverse", "bidirectional")
    dirs = 1 + (direction == "bidirectional")
    has_layer = d.chance(50)
    wide = layer if has_layer else depth
    d.attrs["hidden_size"] = hidden
    x = d.put(d.floats(steps, batch, width))
    w = d.put(d.floats(dirs, 4 * hidden, width + wide, lo=-1, hi=1))
    r = d.put(d.floats(dirs, 4 * hidden, hidden, lo=-1, hi=1))
    bias = d.maybe(60, d.floats(dirs, 8 * hidden))
    ends = d.rng.integers(1, steps + 1, batch).astype(np.int32) if d.chance(50) else None
    d.put(ends)
    h0 = d.maybe(50, d.floats(dirs, batch, hidden))
    c0 = d.maybe(50, d.floats(dirs, batch, hidden))
    peep = d.maybe(50, d.floats(dirs, 3 * hidden))
    qw, mw = d.put(d.floats(dirs, hidden, score)), d.put(d.floats(dirs, depth, score))
    v, memory = d.put(d.floats(dirs, score)), d.put(d.floats(batch, rows, depth))
    known = d.rng.integers(1, rows + 1, batch).astype(np.int32) if d.chance(50) else None
    d.put(known)
    aw = d.put(d.floats(dirs, depth + hidden, wide) if has_layer else None)
    y = np.zeros((steps, dirs, batch, hidden))
    y_h, y_c = np.zeros((dirs, batch, hidden)), np.zeros((dirs, batch, hidden))
    for k in range(dirs):
        for b in range(batch):
            h = np.zeros(hidden) if h0 is None else h0[k, b]
            c = np.zeros(hidden) if c0 is None else c0[k, b]
            p = np.zeros((3, hidden)) if peep is None else peep[k].reshape(3, hidden)
            attended = np.zeros(wide)
            n = steps if ends is None else int(ends[b])
            m = memory[b, :rows if known is None else int(known[b])]
            turn = direction == "reverse" or k == 1
            for t in range(n)[::-1] if turn else range(n):
                g = w[k] @ np.concatenate([x[t, b], attended]) + r[k] @ h
                if bias is not None:
                    g = g + bias[k, :4 * hidden] + bias[k, 4 * hidden:]
                i, o, f, z = g.reshape(4, hidden)
                i, f = sigmoid(i + p[0] * c), sigmoid(f + p[2] * c)
                c = f * c + i * np.tanh(z)
                h = sigmoid(o + p[1] * c) * np.tanh(c)
                y[t, k, b] = h
                shares = softmax(np.tanh(m @ mw[k] + h @ qw[k]) @ v[k])
                attended = shares @ m
                if aw is not None:
                    attended = np.concatenate([h, attended]) @ aw[k]
            y_h[k, b], y_c[k, b] = h, c
    for out in y, y_h, y_c:
        d.give(out)


def MaxpoolWithMask(d):
    d.type = np.float32
    rank = d.int(1, 3)
    shape = [d.int(3, 6) for _ in range(rank)]
    kernel, strides = [d.int(1, 3) for _ in range(rank)], [d.int(1, 2) for _ in range(rank)]
    pads = [d.int(0, k - 1) for k in kernel] + [d.int(0, k - 1) for k in kernel]
    x = d.put(d.floats(d.int(1, 2), d.int(1, 2), *shape))
    mask = (d.rng.uniform(size=(1, 1, *shape)) < 0.7).astype(np.int32)
    d.put(mask)
    d.attrs.update(kernel_shape=kernel, strides=strides, pads=pads)
    out = [(s + pads[i] + pads[i + rank] - kernel[i]) // strides[i] + 1
           for i, s in enumerate(shape)]
    y = np.full((*x.shape[:2], *out), float(np.finfo(np.float32).min))
    for at in np.ndindex(*y.shape):
        starts = [at[2 + i] * strides[i] - pads[i] for i in range(rank)]
        spans = [range(max(s, 0), min(s + kernel[i], shape[i])) for i, s in enumerate(starts)]
        for row in np.ndindex(*[len(s) for s in spans[:-1]]):
            place = tuple(spans[i][j] for i, j in enumerate(row))
            for last in spans[-1]:
                first = rank > 1 and not any(place) and last == 0
                if mask[(0, 0, *place, last)] == 0 and not first:
                    break
                y[at] = max(y[at], x[(*at[:2], *place, last)])
    d.give(y)


def LongformerAttention(d):
    if d.type == "bf16":
        d.type = np.float32
    heads, size, around, batch = d.int(1, 2), d.int(1, 4), d.int(1, 2), d.int(1, 2)
    length, hidden = 2 * around * d.int(1, 2), heads * size
    d.attrs.update(num_heads=heads, window=around)
    x = d.put(d.floats(batch, length, hidden))
    near = d.put(d.floats(hidden, 3 * hidden, lo=-1, hi=1)), d.put(d.floats(3 * hidden))
    masked = d.rng.uniform(size=(batch, length)) < 0.2
    mask = d.put(d.as_type(np.where(masked, -10000.0, 0.0)))
    far = d.put(d.floats(hidden, 3 * hidden, lo=-1, hi=1)), d.put(d.floats(3 * hidden))
    chosen = (d.rng.uniform(size=(batch, length)) < 0.3).astype(np.int32)
    d.put(chosen)
    y = np.zeros((batch, length, hidden))
    for b in range(batch):
        for i in range(length):
            if masked[b, i]:
                continue
            w, bias = far if chosen[b, i] else near
            q, k, v = np.split(x[b] @ w + bias, 3, -1)
            reach = [j for j in range(length)
                     if chosen[b, i] or chosen[b, j] or abs(i - j) <= around]
            for h in range(heads):
                part = slice(h * size, (h + 1) * size)
                scores = k[reach, part] @ q[i, part] / np.sqrt(size) + mask[b, reach]
                y[b, i, part] = softmax(scores) @ v[reach, part]
    d.give(y)


# --- int8 in the orders of cuBLAS ------------------------------------------------------------------


def level(v):
    return np.clip(np.rint(v), -128, 127).astype(np.int8)


def off_ties(d, draw, levels):
    """Draws until no level is near the middle of two, where honest rounding differs."""
    while True:
        drawn = draw()
        v = levels(*drawn)
        if np.all(np.abs(v - np.floor(v) - 0.5) > 1e-3):
            return drawn, level(v)


def in_order(v, order):
    """The numbers as they lie in an order of cuBLAS, in a tensor of the matrix's shape."""
    rows, columns = v.shape[-2:]
    if order == 0:
        return np.swapaxes(v, -1, -2).reshape(v.shape)
    if order == 2:
        tiles = v.reshape(*v.shape[:-2], rows, columns // 32, 32)
        return np.swapaxes(tiles, -2, -3).reshape(v.shape)
    return v


def scale(d):
    return np.float32(d.rng.uniform(0.02, 0.2))


def QuantizeWithOrder(d):
    d.type = np.float32
    order, shape = d.pick(0, 1, 2), [d.int(1, 3), d.int(1, 4), 32 * d.int(1, 2)][d.int(0, 1):]
    s = scale(d)
    (x,), y = off_ties(d, lambda: (d.floats(*shape, lo=-30, hi=30),), lambda x: num(x) / s)
    d.put(x)
    d.put(s)
    d.attrs.update(order_input=1, order_output=order)
    d.outputs.append(in_order(y, order))


def DequantizeWithOrder(d):
    d.type = np.float32
    order, shape = d.pick(1, 2), [d.int(1, 3), d.int(1, 4), 32 * d.int(1, 2)][d.int(0, 1):]
    x, s = d.rng.integers(-128, 128, shape).astype(np.int8), scale(d)
    d.put(in_order(x, order))
    d.put(s)
    d.attrs.update(order_input=order, order_output=1, to=1)
    d.give(x.astype(np.float64) * s)


def QOrderedMatMul(d):
    d.type = np.float32
    batch, rows, inner, columns = d.int(1, 2), d.int(1, 3), d.int(1, 6), d.int(1, 4)
    lead, b_lead = ([], []) if d.chance(30) else ([batch], [batch] if d.chance(30) else [])
    a_scale, y_scale, c_scale = scale(d), scale(d) * np.float32(5), scale(d)
    b_scale = d.rng.uniform(0.02, 0.2, d.pick([], [columns])).astype(np.float32)
    bias = d.floats(columns) if d.chance(50) else None
    add = d.chance(50)

    def draw():
        return [d.rng.integers(-128, 128, shape).astype(np.int8)
                for shape in ((*lead, rows, inner), (*b_lead, inner, columns),
                              (*lead, rows, columns))]

    def levels(a, b, c):
        y = a.astype(float) @ b.astype(float) * a_scale * b_scale.astype(float) / float(y_scale)
        return y + (0 if bias is None else num(bias)) + \
            (c.astype(float) * c_scale / float(y_scale) if add else 0)

    (a, b, c), y = off_ties(d, draw, levels)
    for t in a, a_scale, in_order(b, 0), b_scale, y_scale, bias:
        d.put(t)
    if add:
        d.put(c)
        d.put(c_scale)
    d.attrs.update(order_A=1, order_B=0, order_Y=1)
    d.outputs.append(y)


def QOrderedGelu(d):
    d.type = np.float32
    x_scale, y_scale = scale(d), scale(d)
    erf = np.vectorize(math.erf)

    def levels(x):
        v = x.astype(float) * x_scale
        return 0.5 * v * (1 + erf(v / np.sqrt(2))) / y_scale

    (x,), y = off_ties(d, lambda: (d.rng.integers(-128, 128, (d.int(1, 3), d.int(1, 5)))
                                   .astype(np.int8),), levels)
    for t in x, x_scale, y_scale:
        d.put(t)
    d.attr("order_X", 1, 2 if x.shape[-1] % 32 == 0 else 1)
    d.outputs.append(y)


def QOrderedLayerNormalization(d):
    d.type = np.float32
    n, x_scale, y_scale = d.int(3, 8), scale(d), scale(d)
    gamma = d.floats(n)
    beta = d.floats(n) if d.chance(60) else None
    epsilon = d.attr("epsilon", 1e-5, 1e-2)

    def levels(x):
        v = x.astype(float) * x_scale
        v = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + epsilon)
        return (v * num(gamma) + (0 if beta is None else num(beta))) / y_scale

    (x,), y = off_ties(d, lambda: (d.rng.integers(-128, 128, (d.int(1, 3), n)).astype(np.int8),),
                       levels)
    for t in x, x_scale, gamma, beta, y_scale:
        d.put(t)
    d.outputs.append(y)


OPERATORS = [BiasSoftmax, GatedAdd, GatedRMSNorm, LinearAttentionGate, EngramGate, MoE, QMoE, LinearAttention,
             CausalConvWithState, VarlenCausalConvWithState, GatedDeltaNet, MRotaryEmbedding,
             MatMulNBitsMlp, MatMulNBitsQkv, MatMulBlockQuantizedFp4Weight,
             MatMulBlockQuantizedFp8Weight, PagedAttention, NGramHashMapping,
             VarlenNGramHashMapping, AttnLSTM, MaxpoolWithMask, LongformerAttention,
             QuantizeWithOrder, DequantizeWithOrder, QOrderedMatMul, QOrderedGelu,
             QOrderedLayerNormalization]


# --- files -----------------------------------------------------------------------------------------


def write(folder, op, d):
    while d.inputs and d.inputs[-1] is None:
        d.inputs.pop()
    ins = ["" if t is None else f"i{i}" for i, t in enumerate(d.inputs)]
    outs = ["" if t is None else f"o{i}" for i, t in enumerate(d.outputs)]

    def infos(names, tensors):
        return [helper.make_tensor_value_info(n, code(t), t.shape)
                for n, t in zip(names, tensors) if n]

    node = helper.make_node(op, ins, outs, domain="com.microsoft", **d.attrs)
    graph = helper.make_graph([node], op, infos(ins, d.inputs), infos(outs, d.outputs))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                    helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 10
    sets = os.path.join(folder, "test_data_set_0")
    os.makedirs(sets)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(model.SerializeToString())
    for word, names, tensors in ("input", ins, d.inputs), ("output", outs, d.outputs):
        at = 0
        for name, t in zip(names, tensors):
            if name:
                with open(os.path.join(sets, f"{word}_{at}.pb"), "wb") as f:
                    f.write(proto(name, t).SerializeToString())
                at += 1


def main(folder, seed, count, *only):
    for number, draw in enumerate(OPERATORS):
        if only and draw.__name__ not in only:
            continue
        for i in range(int(count)):
            d = Draw(np.random.default_rng([int(seed), number, i]))
            draw(d)
            name = d.type if d.type == "bf16" else {4: "f32", 2: "f16"}[np.dtype(d.type).itemsize]
            write(os.path.join(folder, name, f"{draw.__name__}_{i}"), draw.__name__, d)


if __name__ == "__main__":
    with np.errstate(over="ignore"):
        main(*sys.argv[1:])
