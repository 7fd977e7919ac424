# SPDX-License-Identifier: MIT
"""ONNX's operators in terms of torch's, for onnxdbg_torch.py: a table from (domain, name) to a
function that takes a Call and returns a tensor, or a tuple of them.

Functions see floats of the precision asked for (on a CPU, float32 at least). What a function does
not handle is Unsupported, never a guess.
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

from onnxdbg_types import TYPES, Unsupported

OPERATORS = {}
TORCH_TYPES = {
    1: torch.float32, 2: torch.uint8, 3: torch.int8, 5: torch.int16, 6: torch.int32,
    7: torch.int64, 9: torch.bool, 10: torch.float16, 11: torch.float64, 14: torch.complex64,
    15: torch.complex128, 16: torch.bfloat16}


def torch_type(number):
    """torch's type for TensorProto.DataType."""
    if number not in TORCH_TYPES:
        raise Unsupported("PyTorch has no type for %s" % TYPES.get(number, ("this",))[0])
    return TORCH_TYPES[number]


def from_array(array):
    """A tensor with a copy of an array."""
    if getattr(array, "onnx_type", None) == "bfloat16":
        return torch.from_numpy(np.array(array).view(np.int16)).view(torch.bfloat16)
    if array.dtype == object or getattr(array, "onnx_type", None):
        raise Unsupported("tensors of %s are not taken here" %
                          (getattr(array, "onnx_type", None) or "strings"))
    try:
        return torch.from_numpy(np.array(array))
    except TypeError as error:
        raise Unsupported("PyTorch has no type for %s" % array.dtype) from error


class Call:
    """One call of an operator: inputs (tensors, None where omitted) and attributes."""

    def __init__(self, executor, node, inputs, values):
        self.executor, self.node, self.inputs, self.values = executor, node, inputs, values
        self.opset = executor.model.opsets.get(node.domain, 1)

    def attr(self, name, default=None):
        """An attribute's value."""
        return self.node.attributes.get(name, default)

    def input(self, i):
        """An input, None where it is omitted."""
        return self.inputs[i] if i < len(self.inputs) else None

    def numbers(self, i):
        """An input that is a parameter (axes, sizes, scales) as a list, never rounded; None: it is
        omitted."""
        value = self.input(i)
        if value is None:
            return None
        exact = self.executor.constants.get(self.node.inputs[i])
        return (exact if exact is not None else value.cpu().numpy()).reshape(-1).tolist()

    def axes(self, i=1):
        """Axes, from an attribute or, since they are one, from an input."""
        return self.attr("axes") if "axes" in self.node.attributes else self.numbers(i)

    def operand(self, i):
        """An input that is an operand of a product."""
        value = self.input(i)
        return value if value is None else self.executor.operand(value)

    def wants(self, i):
        """Whether somebody reads an output."""
        return i < len(self.node.outputs) and self.node.outputs[i] != ""


def operator(*names, domain=""):
    """Enters a function into the table."""
    def enter(function):
        for name in names:
            OPERATORS[domain, name] = function
        return function
    return enter


def plain(name, function):
    """An operator whose inputs are the arguments of a function."""
    OPERATORS["", name] = lambda call: function(*call.inputs)


# --- elementwise ------------------------------------------------------------------------------

for _name, _function in {
        "Abs": torch.abs, "Neg": torch.neg, "Sqrt": torch.sqrt, "Exp": torch.exp,
        "Log": torch.log, "Reciprocal": torch.reciprocal, "Floor": torch.floor,
        "Ceil": torch.ceil, "Round": torch.round, "Sign": torch.sign, "Sin": torch.sin,
        "Cos": torch.cos, "Tan": torch.tan, "Asin": torch.asin, "Acos": torch.acos,
        "Atan": torch.atan, "Sinh": torch.sinh, "Cosh": torch.cosh, "Asinh": torch.asinh,
        "Acosh": torch.acosh, "Atanh": torch.atanh, "Erf": torch.erf, "Tanh": torch.tanh,
        "Sigmoid": torch.sigmoid, "Relu": torch.relu, "Softsign": F.softsign,
        "HardSwish": F.hardswish, "Mish": F.mish, "IsNaN": torch.isnan,
        "Identity": lambda x: x, "Not": torch.logical_not, "And": torch.logical_and,
        "Or": torch.logical_or, "Xor": torch.logical_xor, "Equal": torch.eq, "Less": torch.lt,
        "LessOrEqual": torch.le, "Greater": torch.gt, "GreaterOrEqual": torch.ge,
        "Where": torch.where, "Det": torch.det, "BitwiseAnd": torch.bitwise_and,
        "BitwiseOr": torch.bitwise_or, "BitwiseXor": torch.bitwise_xor,
        "BitwiseNot": torch.bitwise_not}.items():
    plain(_name, _function)


def old_broadcast(call):
    """Two inputs; before opset 7 the second one lay along an axis of the first."""
    a, b = call.inputs
    if call.opset < 7 and call.attr("broadcast") and "axis" in call.node.attributes:
        b = b.reshape(tuple(b.shape) + (1,) * (a.dim() - call.attr("axis") - b.dim()))
    return a, b


def divide(a, b):
    """Integers are truncated."""
    return torch.div(a, b, rounding_mode=None if a.is_floating_point() else "trunc")


for _name, _function in {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul,
                         "Div": divide}.items():
    OPERATORS["", _name] = lambda call, f=_function: f(*old_broadcast(call))


@operator("Pow")
def power(call):
    """The result has the base's type."""
    a, b = old_broadcast(call)
    return torch.pow(a, b).to(a.dtype)


@operator("Max", "Min", "Sum", "Mean")
def variadic(call):
    """Any number of inputs."""
    function = {"Max": torch.maximum, "Min": torch.minimum}.get(call.node.op_type, torch.add)
    out = call.inputs[0]
    for value in call.inputs[1:]:
        out = function(out, value)
    return out / len(call.inputs) if call.node.op_type == "Mean" else out


@operator("Mod")
def modulo(call):
    """As in Python, or as in C with fmod."""
    a, b = call.inputs
    return torch.fmod(a, b) if call.attr("fmod", 0) else torch.remainder(a, b)


@operator("LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Softplus", "Gelu",
          "HardSigmoid")
def activation(call):
    """Activations with parameters."""
    x = call.inputs[0]
    alpha = call.attr("alpha")

    def a(default):
        return default if alpha is None else alpha

    kind = call.node.op_type
    if kind == "LeakyRelu":
        return F.leaky_relu(x, a(0.01))
    if kind == "Elu":
        return F.elu(x, a(1.0))
    if kind == "Selu":
        gamma = call.attr("gamma", 1.0507010221481323)
        return gamma * torch.where(x > 0, x, a(1.6732631921768188) * (torch.exp(x) - 1))
    if kind == "Celu":
        return F.celu(x, a(1.0))
    if kind == "ThresholdedRelu":
        return torch.where(x > a(1.0), x, torch.zeros_like(x))
    if kind == "Softplus":
        return F.softplus(x)
    if kind == "Gelu":
        return F.gelu(x, approximate=call.attr("approximate", "none"))
    return torch.clamp(a(0.2) * x + call.attr("beta", 0.5), 0, 1)


@operator("PRelu")
def prelu(call):
    """The slope is broadcast."""
    x, slope = call.inputs
    return torch.where(x < 0, slope * x, x)


@operator("Clip")
def clip(call):
    """Bounds are attributes, or inputs since opset 11."""
    x = call.inputs[0]
    if call.opset < 11:
        return torch.clamp(x, call.attr("min"), call.attr("max")) if call.node.attributes else x
    low, high = call.input(1), call.input(2)
    x = x if low is None else torch.maximum(x, low.to(x.dtype))
    return x if high is None else torch.minimum(x, high.to(x.dtype))


@operator("IsInf")
def is_inf(call):
    """Of one sign or both."""
    x = call.inputs[0]
    out = torch.isinf(x)
    if not call.attr("detect_positive", 1):
        out &= x < 0
    return out if call.attr("detect_negative", 1) else out & (x > 0)


@operator("Cast")
def cast(call):
    """To another type; the executor sees to the precision."""
    return call.inputs[0].to(torch_type(call.attr("to")))


@operator("CastLike")
def cast_like(call):
    """To the type of another tensor."""
    return call.inputs[0].to(call.inputs[1].dtype)


@operator("Dropout")
def dropout(call):
    """Nothing is dropped; the mask says so."""
    training = call.input(2)
    if training is not None and bool(training):
        raise Unsupported("training mode is a matter of chance")
    x = call.inputs[0]
    mask = torch.ones(x.shape, dtype=torch.bool, device=x.device) if call.wants(1) else None
    return x, mask


# --- shapes -----------------------------------------------------------------------------------

@operator("Constant")
def constant(call):
    """The one attribute that is there."""
    (name, value), = call.node.attributes.items()
    if name == "sparse_value" or "string" in name:
        raise Unsupported("a constant of %s" % name)
    kind = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64,
            "value_ints": np.int64}.get(name)
    return from_array(np.array(value, kind) if kind else value).to(call.executor.device)


@operator("ConstantOfShape")
def constant_of_shape(call):
    """One value everywhere."""
    value = call.attr("value")
    value = from_array(value if value is not None else np.zeros(1, np.float32)).reshape(())
    return value.to(call.executor.device).expand([int(d) for d in call.numbers(0)]).clone()


@operator("Shape")
def shape(call):
    """Dimensions from start to end."""
    dims = list(call.inputs[0].shape)[call.attr("start", 0):call.attr("end")]
    return torch.tensor(dims, dtype=torch.int64, device=call.executor.device)


@operator("Size")
def size(call):
    """The number of elements."""
    return torch.tensor(call.inputs[0].numel(), device=call.executor.device)


@operator("Reshape")
def reshape(call):
    """0 keeps a dimension."""
    x = call.inputs[0]
    dims = call.attr("shape") if call.opset < 5 else call.numbers(1)
    if not call.attr("allowzero", 0):
        dims = [x.shape[i] if d == 0 else d for i, d in enumerate(dims)]
    return x.reshape(dims)


@operator("Flatten")
def flatten(call):
    """To two dimensions."""
    x, axis = call.inputs[0], call.attr("axis", 1)
    axis = axis + x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), -1)


@operator("Squeeze")
def squeeze(call):
    """Without axes all dimensions of 1 go."""
    x, axes = call.inputs[0], call.axes()
    gone = [i for i, d in enumerate(x.shape) if d == 1] if axes is None else [
        a % x.dim() for a in axes]
    return x.reshape([d for i, d in enumerate(x.shape) if i not in gone])


@operator("Unsqueeze")
def unsqueeze(call):
    """Axes are those of the result."""
    x, axes = call.inputs[0], call.axes()
    for axis in sorted(a % (x.dim() + len(axes)) for a in axes):
        x = x.unsqueeze(axis)
    return x


@operator("Transpose")
def transpose(call):
    """Reversed without perm."""
    x = call.inputs[0]
    return x.permute(call.attr("perm", list(range(x.dim()))[::-1]))


@operator("Concat")
def concat(call):
    """Along an axis."""
    return torch.cat(call.inputs, call.attr("axis", 1))


@operator("Split")
def split(call):
    """Into parts as given, or equal ones."""
    x, axis = call.inputs[0], call.attr("axis", 0)
    sizes = call.attr("split") if call.opset < 13 else call.numbers(1)
    if not sizes:
        n = len(call.node.outputs)
        each = -(-x.shape[axis] // n)
        sizes = [each] * (n - 1) + [x.shape[axis] - each * (n - 1)]
    return tuple(torch.split(x, sizes, axis))


@operator("Slice")
def slice_(call):
    """Bounds are clamped; steps may be negative."""
    x = call.inputs[0]
    if call.opset < 10:
        starts, ends, axes, steps = call.attr("starts"), call.attr("ends"), call.attr("axes"), None
    else:
        starts, ends, axes, steps = (call.numbers(i) for i in (1, 2, 3, 4))
    axes = axes or list(range(len(starts)))
    for start, end, axis, step in zip(starts, ends, axes, steps or [1] * len(starts)):
        n = x.shape[axis]
        low, high = (0, n) if step > 0 else (-1, n - 1)
        start = min(max(start + n if start < 0 else start, max(low, 0)), high)
        end = min(max(end + n if end < 0 else end, low), high)
        end = end if (end - start) * step > 0 else start
        index = torch.arange(start, end, step, device=x.device)
        x = x.index_select(axis, index)
    return x


def positive(index, n):
    """Indices from the end as indices from the beginning."""
    return torch.where(index < 0, index + n, index).long()


@operator("Gather")
def gather(call):
    """Slices by index."""
    x, index = call.inputs
    axis = call.attr("axis", 0) % x.dim()
    flat = x.index_select(axis, positive(index, x.shape[axis]).reshape(-1))
    return flat.reshape([*x.shape[:axis], *index.shape, *x.shape[axis + 1:]])


@operator("GatherElements")
def gather_elements(call):
    """Elements by index."""
    x, index = call.inputs
    axis = call.attr("axis", 0)
    return torch.gather(x, axis, positive(index, x.shape[axis]))


def nd_index(index, dims):
    """Tuples of indices as places in a flat tensor of dims."""
    place = torch.zeros(index.shape[:-1], dtype=torch.int64, device=index.device)
    for i in range(index.shape[-1]):
        place = place * dims[i] + positive(index[..., i], dims[i])
    return place


@operator("GatherND")
def gather_nd(call):
    """Slices by tuples of indices."""
    x, index = call.inputs
    batch = call.attr("batch_dims", 0)
    depth = index.shape[-1]
    outer, inner = x.shape[:batch], x.shape[batch + depth:]
    n = math.prod(outer)
    flat = x.reshape([n, math.prod(x.shape[batch:batch + depth]), *inner])
    place = nd_index(index, x.shape[batch:]).reshape(n, -1)
    rows = torch.arange(n, device=x.device)[:, None]
    return flat[rows, place].reshape([*index.shape[:-1], *inner])


@operator("ScatterND")
def scatter_nd(call):
    """Slices put at tuples of indices."""
    x, index, update = call.inputs
    kind = call.attr("reduction", "none")
    if kind not in ("none", "add"):
        raise Unsupported("reduction=%s" % kind)
    inner = x.shape[index.shape[-1]:]
    flat = x.reshape([math.prod(x.shape[:index.shape[-1]]), *inner]).clone()
    place = nd_index(index, x.shape).reshape(-1)
    update = update.reshape([place.numel(), *inner])
    return flat.index_put_((place,), update, kind == "add").reshape(x.shape)


@operator("ScatterElements", "Scatter")
def scatter_elements(call):
    """Elements put at indices."""
    x, index, update = call.inputs
    axis, kind = call.attr("axis", 0), call.attr("reduction", "none")
    if kind not in ("none", "add"):
        raise Unsupported("reduction=%s" % kind)
    index = positive(index, x.shape[axis])
    return x.scatter_add(axis, index, update) if kind == "add" else x.scatter(axis, index, update)


@operator("Expand")
def expand(call):
    """To the shape that both have in common."""
    x = call.inputs[0]
    return x.expand(torch.broadcast_shapes(x.shape, [int(d) for d in call.numbers(1)]))


@operator("Tile")
def tile(call):
    """Repeats."""
    return call.inputs[0].repeat([int(n) for n in call.numbers(1)])


@operator("Pad")
def pad(call):
    """Constant, or indices that reflect, repeat or wrap."""
    x, mode = call.inputs[0], call.attr("mode", "constant")
    pads = call.attr("pads", call.attr("paddings")) if call.opset < 11 else call.numbers(1)
    axes = call.numbers(3) or list(range(x.dim()))
    n = len(axes)
    if mode == "constant":
        value = call.attr("value", 0.0) if call.opset < 11 else (call.numbers(2) or [0])[0]
        both = [(0, 0)] * x.dim()
        for i, axis in enumerate(axes):
            both[axis] = (int(pads[i]), int(pads[n + i]))
        return F.pad(x, [p for pair in both[::-1] for p in pair], value=value)
    for i, axis in enumerate(axes):
        d = x.shape[axis]
        at = torch.arange(-int(pads[i]), d + int(pads[n + i]), device=x.device)
        if mode == "reflect":
            at = (at % (2 * d - 2) if d > 1 else at * 0)
            at = torch.where(at >= d, 2 * d - 2 - at, at)
        elif mode == "edge":
            at = at.clamp(0, d - 1)
        else:
            at = at % d
        x = x.index_select(axis, at)
    return x


@operator("Range")
def range_(call):
    """From start to limit by delta."""
    start, limit, delta = (v.reshape(()).item() for v in call.inputs)
    n = max(math.ceil((limit - start) / delta), 0)
    x = call.inputs[0]
    steps = torch.arange(n, device=x.device)
    return (start + steps * delta).to(x.dtype)


@operator("OneHot")
def one_hot(call):
    """A new axis with one element on."""
    index, values = call.inputs[0], call.inputs[2]
    depth = int(call.numbers(1)[0])
    axis = call.attr("axis", -1)
    axis = axis + index.dim() + 1 if axis < 0 else axis
    at = positive(index, depth).unsqueeze(axis)
    grid = torch.arange(depth, device=index.device).reshape(
        [-1 if i == axis else 1 for i in range(index.dim() + 1)])
    return torch.where(at == grid, values[1], values[0])


@operator("NonZero")
def non_zero(call):
    """Coordinates, a row per dimension."""
    return torch.nonzero(call.inputs[0]).T


@operator("TopK")
def top_k(call):
    """Values and their places; of equal ones the first."""
    x, axis = call.inputs[0], call.attr("axis", -1)
    k = call.attr("k") if call.opset < 10 else int(call.numbers(1)[0])
    values, index = torch.sort(x, dim=axis, descending=bool(call.attr("largest", 1)), stable=True)
    return values.narrow(axis, 0, k), index.narrow(axis, 0, k)


@operator("Trilu")
def trilu(call):
    """The upper or the lower triangle."""
    k = int((call.numbers(1) or [0])[0])
    return (torch.triu if call.attr("upper", 1) else torch.tril)(call.inputs[0], k)


@operator("DepthToSpace")
def depth_to_space(call):
    """Channels to blocks."""
    x, b = call.inputs[0], call.attr("blocksize")
    n, c, h, w = x.shape
    if call.attr("mode", "DCR") == "DCR":
        x = x.reshape(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2)
    else:
        x = x.reshape(n, c // b // b, b, b, h, w).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(n, c // b // b, h * b, w * b)


@operator("SpaceToDepth")
def space_to_depth(call):
    """Blocks to channels."""
    x, b = call.inputs[0], call.attr("blocksize")
    n, c, h, w = x.shape
    x = x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * b * b, h // b, w // b)


# --- reductions -------------------------------------------------------------------------------

def reduction(function, before=None, after=None):
    """An operator that reduces axes."""
    def run(call):
        x, axes = call.inputs[0], call.axes()
        if not axes and call.attr("noop_with_empty_axes", 0):
            return x
        axes = list(range(x.dim())) if not axes else [a % x.dim() for a in axes]
        x = before(x) if before else x
        if axes:
            x = function(x, axes, bool(call.attr("keepdims", 1)))
        return after(x) if after else x
    return run


def product(x, axes, keep):
    """A product in the type of its factors; torch.prod takes one axis."""
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis, keep, dtype=x.dtype)
    return x


def total(x, axes, keep):
    """A sum in the type of its terms."""
    return torch.sum(x, axes, keep, dtype=x.dtype)


for _name, _function in {
        "ReduceSum": reduction(total), "ReduceMean": reduction(torch.mean),
        "ReduceMax": reduction(torch.amax), "ReduceMin": reduction(torch.amin),
        "ReduceProd": reduction(product), "ReduceSumSquare": reduction(total, torch.square),
        "ReduceL1": reduction(total, torch.abs),
        "ReduceL2": reduction(total, torch.square, torch.sqrt),
        "ReduceLogSum": reduction(total, None, torch.log),
        "ReduceLogSumExp": reduction(torch.logsumexp)}.items():
    OPERATORS["", _name] = _function


@operator("ArgMax", "ArgMin")
def arg_max(call):
    """The first place of the extreme, or the last."""
    x, axis = call.inputs[0], call.attr("axis", 0)
    best = (torch.amax if call.node.op_type == "ArgMax" else torch.amin)(x, axis, True)
    grid = torch.arange(x.shape[axis], device=x.device).reshape(
        [-1 if i == axis % x.dim() else 1 for i in range(x.dim())])
    keep = bool(call.attr("keepdims", 1))
    if call.attr("select_last_index", 0):
        return torch.where(x == best, grid, -1).amax(axis, keep)
    return torch.where(x == best, grid, x.shape[axis]).amin(axis, keep)


@operator("CumSum")
def cumsum(call):
    """Running sums."""
    x, axis = call.inputs[0], int(call.numbers(1)[0])
    x = x.flip(axis) if call.attr("reverse", 0) else x
    out = torch.cumsum(x, axis, dtype=x.dtype)
    if call.attr("exclusive", 0):
        out = torch.cat([torch.zeros_like(out.narrow(axis, 0, 1)),
                         out.narrow(axis, 0, out.shape[axis] - 1)], axis)
    return out.flip(axis) if call.attr("reverse", 0) else out


@operator("Softmax", "LogSoftmax")
def softmax(call):
    """Before opset 13 over everything from the axis on."""
    x = call.inputs[0]
    function = F.softmax if call.node.op_type == "Softmax" else F.log_softmax
    if call.opset >= 13:
        return function(x, call.attr("axis", -1))
    axis = call.attr("axis", 1) % max(x.dim(), 1)
    return function(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(x.shape)


# --- products ---------------------------------------------------------------------------------

@operator("MatMul")
def matmul(call):
    """As in numpy."""
    return torch.matmul(call.operand(0), call.operand(1))


@operator("Gemm")
def gemm(call):
    """alpha * A * B + beta * C."""
    a, b, c = call.operand(0), call.operand(1), call.input(2)
    a = a.T if call.attr("transA", 0) else a
    b = b.T if call.attr("transB", 0) else b
    out = torch.matmul(a, b)
    alpha, beta = call.attr("alpha", 1.0), call.attr("beta", 1.0)
    out = out if alpha == 1 else alpha * out
    if c is None:
        return out
    return out + (c if beta == 1 else beta * c)


@operator("Einsum")
def einsum(call):
    """torch's own."""
    return torch.einsum(call.attr("equation"), *map(call.executor.operand, call.inputs))


@operator("MatMulInteger")
def matmul_integer(call):
    """Integers with zero points."""
    a, b = (call.inputs[i].to(torch.int32) for i in (0, 1))
    if call.input(2) is not None:
        zero = call.input(2).to(torch.int32)
        a = a - (zero[:, None] if zero.dim() == 1 and zero.numel() > 1 else zero)
    if call.input(3) is not None:
        b = b - call.input(3).to(torch.int32)
    return torch.matmul(a.double(), b.double()).to(torch.int32)


def same_pads(call, sizes, kernel, strides, dilations):
    """(begin, end) of every axis, as auto_pad or pads say."""
    n = len(kernel)
    mode = call.attr("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = call.attr("pads", [0] * (2 * n))
        return list(zip(pads[:n], pads[n:]))
    if mode == "VALID":
        return [(0, 0)] * n
    both = []
    for d, k, s, w in zip(sizes, kernel, strides, dilations):
        whole = max((-(-d // s) - 1) * s + (k - 1) * w + 1 - d, 0)
        both.append((whole // 2, whole - whole // 2) if mode == "SAME_UPPER" else
                    (whole - whole // 2, whole // 2))
    return both


def flat_pads(both):
    """Pads in the order of F.pad."""
    return [p for pair in both[::-1] for p in pair]


@operator("Conv")
def conv(call):
    """One, two or three dimensions."""
    return convolve(call, call.operand(0), call.operand(1), call.input(2))


def convolve(call, x, w, bias):
    """The convolution itself."""
    n = x.dim() - 2
    if n not in (1, 2, 3):
        raise Unsupported("a convolution over %d axes" % n)
    strides = call.attr("strides", [1] * n)
    dilations = call.attr("dilations", [1] * n)
    both = same_pads(call, x.shape[2:], w.shape[2:], strides, dilations)
    padding = [begin for begin, _ in both]
    if any(begin != end for begin, end in both):
        x, padding = F.pad(x, flat_pads(both)), [0] * n
    function = (F.conv1d, F.conv2d, F.conv3d)[n - 1]
    return function(x, w, bias, strides, padding, dilations, call.attr("group", 1))


@operator("ConvInteger")
def conv_integer(call):
    """Integers with zero points, in doubles, which hold them exactly."""
    x, w = (call.inputs[i].double() for i in (0, 1))
    x = x if call.input(2) is None else x - call.input(2).double()
    if call.input(3) is not None:
        w = w - call.input(3).double().reshape(-1, *[1] * (w.dim() - 1))
    return convolve(call, x, w, None).to(torch.int32)


@operator("ConvTranspose")
def conv_transpose(call):
    """The whole of it, cut as the pads say."""
    x, w, bias = call.operand(0), call.operand(1), call.input(2)
    n = x.dim() - 2
    if n not in (1, 2, 3):
        raise Unsupported("a convolution over %d axes" % n)
    strides = call.attr("strides", [1] * n)
    dilations = call.attr("dilations", [1] * n)
    more = call.attr("output_padding", [0] * n)
    function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1]
    out = function(x, w, None, strides, 0, 0, call.attr("group", 1), dilations)
    sizes = call.attr("output_shape")
    mode = call.attr("auto_pad", "NOTSET")
    if sizes is None and mode.startswith("SAME"):
        sizes = [d * s for d, s in zip(x.shape[2:], strides)]
    pads = call.attr("pads", [0] * (2 * n))
    both = list(zip(pads[:n], pads[n:]))
    if sizes is not None:
        cut = [f + m - s for f, m, s in zip(out.shape[2:], more, sizes)]
        both = [(c // 2, c - c // 2) if mode == "SAME_UPPER" else (c - c // 2, c // 2)
                for c in cut]
    out = F.pad(out, flat_pads([(-b, m - e) for (b, e), m in zip(both, more)]))
    return out if bias is None else out + bias.reshape(-1, *[1] * n)


def pool_pads(call, x):
    """kernel, strides, dilations, pads, and what a last partial window needs beyond them."""
    n = x.dim() - 2
    kernel = call.attr("kernel_shape")
    strides = call.attr("strides", [1] * n)
    dilations = call.attr("dilations", [1] * n)
    both = same_pads(call, x.shape[2:], kernel, strides, dilations)
    extra = [0] * n
    if call.attr("ceil_mode", 0):
        for i, (d, k, s, w) in enumerate(zip(x.shape[2:], kernel, strides, dilations)):
            span = d + sum(both[i]) - (k - 1) * w - 1
            count = -(-span // s) + 1
            if (count - 1) * s >= d + both[i][0]:
                count -= 1
            extra[i] = max((count - 1) * s - span, 0)
    return kernel, strides, dilations, both, extra


@operator("MaxPool")
def max_pool(call):
    """Pads never win."""
    if call.wants(1):
        raise Unsupported("the indices of the maxima are not given here")
    x = call.inputs[0]
    n = x.dim() - 2
    kernel, strides, dilations, both, extra = pool_pads(call, x)
    low = -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
    x = F.pad(x, flat_pads([(b, e + m) for (b, e), m in zip(both, extra)]), value=low)
    function = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
    return function(x, kernel, strides, 0, dilations)


@operator("AveragePool")
def average_pool(call):
    """Sums over windows, by the number of elements that count."""
    x = call.inputs[0]
    n = x.dim() - 2
    kernel, strides, dilations, both, extra = pool_pads(call, x)
    if any(d != 1 for d in dilations):
        raise Unsupported("an average pool with dilations")
    function = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[n - 1]
    if not any(sum(pair) for pair in both) and not any(extra):
        return function(x, kernel, strides)
    counts = torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device)
    inside = flat_pads(both)
    beyond = flat_pads([(0, m) for m in extra])
    counts = F.pad(F.pad(counts, inside, value=float(call.attr("count_include_pad", 0))), beyond)
    x = F.pad(F.pad(x, inside), beyond)
    return function(x, kernel, strides) / function(counts, kernel, strides)


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(call):
    """Over all axes but two."""
    x = call.inputs[0]
    function = torch.mean if call.node.op_type == "GlobalAveragePool" else torch.amax
    return function(x, list(range(2, x.dim())), True)


# --- normalisation ----------------------------------------------------------------------------

@operator("BatchNormalization")
def batch_normalization(call):
    """With the statistics that are given."""
    if call.attr("training_mode", 0) or not call.attr("spatial", 1):
        raise Unsupported("only the inference over channels is done here")
    x, scale, bias, mean, variance = call.inputs[:5]
    return F.batch_norm(x, mean, variance, scale, bias, eps=call.attr("epsilon", 1e-5))


@operator("InstanceNormalization")
def instance_normalization(call):
    """Every channel of every item by itself."""
    x, scale, bias = call.inputs
    return F.instance_norm(x, weight=scale, bias=bias, eps=call.attr("epsilon", 1e-5))


@operator("LayerNormalization")
def layer_normalization(call):
    """Over the axes from axis on."""
    if call.wants(1):
        raise Unsupported("mean and deviation are not given here")
    x, scale, bias = call.inputs[0], call.inputs[1], call.input(2)
    axes = x.shape[call.attr("axis", -1) % x.dim():]
    out = F.layer_norm(x, axes, None, None, call.attr("epsilon", 1e-5)) * scale
    return out if bias is None else out + bias


@operator("GroupNormalization")
def group_normalization(call):
    """Since opset 21 scales are per channel."""
    if call.opset < 21:
        raise Unsupported("GroupNormalization before opset 21")
    x, scale, bias = call.inputs
    return F.group_norm(x, call.attr("num_groups"), scale, bias, call.attr("epsilon", 1e-5))


@operator("RMSNormalization")
def rms_normalization(call):
    """By the root of the mean square."""
    x, scale = call.inputs
    axes = list(range(call.attr("axis", -1) % x.dim(), x.dim()))
    return x * torch.rsqrt(x.square().mean(axes, True) + call.attr("epsilon", 1e-5)) * scale


@operator("LRN")
def lrn(call):
    """Across channels."""
    x, n = call.inputs[0], call.attr("size")
    squares = F.pad(x.square(), [0, 0] * (x.dim() - 2) + [(n - 1) // 2, n // 2])
    sums = sum(squares.narrow(1, i, x.shape[1]) for i in range(n))
    alpha, beta = call.attr("alpha", 1e-4), call.attr("beta", 0.75)
    return x / (call.attr("bias", 1.0) + alpha / n * sums) ** beta


@operator("LpNormalization")
def lp_normalization(call):
    """By the first or the second norm."""
    x, axis = call.inputs[0], call.attr("axis", -1)
    norm = torch.norm(x, call.attr("p", 2), axis, True)
    return torch.where(norm == 0, torch.zeros_like(x), x / norm)


# --- recurrent cells --------------------------------------------------------------------------

def lstm_step(gates, recurrent, bias, state):
    """i, o, f, c as ONNX orders them."""
    h, c = state
    i, o, f, g = (gates + recurrent(h) + bias).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru_step(linear_before_reset):
    """z, r, h as ONNX orders them."""
    def step(gates, recurrent, bias, state):
        h, = state
        n = 2 * h.shape[-1]
        if linear_before_reset:
            hidden = recurrent(h) + bias
            z, r = torch.sigmoid(gates[..., :n] + hidden[..., :n]).chunk(2, -1)
            new = torch.tanh(gates[..., n:] + r * hidden[..., n:])
        else:
            z, r = torch.sigmoid(gates[..., :n] + recurrent(h, 0, n) + bias[..., :n]).chunk(2, -1)
            new = torch.tanh(gates[..., n:] + recurrent(r * h, n) + bias[..., n:])
        return ((1 - z) * new + z * h,)
    return step


def rnn_step(gates, recurrent, bias, state):
    """The plain one."""
    return (torch.tanh(gates + recurrent(state[0]) + bias),)


@operator("LSTM", "GRU", "RNN")
def recurrent_layer(call):
    """Time steps one by one, in one direction or both."""
    kind, n = call.node.op_type, call.attr("hidden_size")
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[kind]
    way = call.attr("direction", "forward")
    ways = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[way]
    activations = call.attr("activations", usual * len(ways))
    if activations != usual * len(ways) or call.attr("clip") or call.attr("input_forget", 0):
        raise Unsupported("other activations, clipping or coupled gates")
    if call.attr("layout", 0) or call.input(7) is not None:
        raise Unsupported("batches first, or peepholes")
    x, length = call.operand(0), call.numbers(4)
    if length is not None and any(at != x.shape[0] for at in length):
        raise Unsupported("sequences of several lengths")
    step = {"LSTM": lstm_step, "GRU": gru_step(call.attr("linear_before_reset", 0)),
            "RNN": rnn_step}[kind]
    initial = [call.input(5)] + ([call.input(6)] if kind == "LSTM" else [])
    sides = []
    for d, back in enumerate(ways):
        state = [x.new_zeros(x.shape[1], n) if s is None else s[d] for s in initial]
        sides.append(run_cell(call, d, back, step, state))
    out = torch.stack([y for y, _ in sides], 1)
    last = [torch.stack([state[i] for _, state in sides]) for i in range(len(initial))]
    return (out, *last)


def run_cell(call, d, back, step, state):
    """One direction: all outputs, and the last state."""
    x, w, r = call.operand(0), call.operand(1)[d], call.operand(2)[d]
    bias = call.input(3)
    of_x, of_h = (0, w.new_zeros(w.shape[0])) if bias is None else bias[d].chunk(2)

    def recurrent(h, begin=0, end=None):
        return torch.matmul(call.executor.operand(h), r[begin:end].T)

    gates = torch.matmul(x, w.T) + of_x
    outputs = [None] * x.shape[0]
    for t in reversed(range(x.shape[0])) if back else range(x.shape[0]):
        state = step(gates[t], recurrent, of_h, state)
        outputs[t] = state[0]
    return torch.stack(outputs), state


# --- resizing ---------------------------------------------------------------------------------

def source_points(mode, n_in, n_out, scale):
    """Where the elements of an axis come from."""
    at = np.arange(n_out, dtype=np.float64)
    if mode == "align_corners":
        return at * (n_in - 1) / (n_out - 1) if n_out > 1 else at * 0
    if mode == "asymmetric":
        return at / scale
    if mode == "pytorch_half_pixel" and n_out <= 1:
        return at * 0
    if mode == "half_pixel_symmetric":
        adjust = n_out / (scale * n_in)
        return n_in / 2 * (1 - adjust) + (at + 0.5) / scale - 0.5
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (at + 0.5) / scale - 0.5
    raise Unsupported("coordinate_transformation_mode=%s" % mode)


def taps(call, mode, points, n_in, nearest):
    """Indices and weights, a column each, that make an axis."""
    base = np.floor(points)
    if mode == "nearest":
        places = {"floor": base, "ceil": np.ceil(points),
                  "round_prefer_floor": np.ceil(points - 0.5),
                  "round_prefer_ceil": np.floor(points + 0.5)}[nearest][:, None]
        weights = np.ones_like(places)
    elif mode == "linear":
        places = np.stack([base, base + 1], 1)
        weights = np.stack([1 - (points - base), points - base], 1)
    else:
        a = call.attr("cubic_coeff_a", -0.75)
        places = base[:, None] + np.arange(-1, 3)
        d = np.abs(points[:, None] - places)
        weights = np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1,
                           ((a * d - 5 * a) * d + 8 * a) * d - 4 * a)
        if call.attr("exclude_outside", 0):
            weights = np.where((places < 0) | (places >= n_in), 0, weights)
            weights /= weights.sum(1, keepdims=True)
    return np.clip(places, 0, n_in - 1).astype(np.int64), weights


@operator("Resize", "Upsample")
def resize(call):
    """Axis by axis, as sums of weighted elements."""
    x, kind = call.inputs[0], call.node.op_type
    old = kind == "Upsample" or call.opset < 11
    if call.attr("antialias", 0) or call.attr("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise Unsupported("antialias and aspect ratios are not done here")
    sizes = None if old else call.numbers(3)
    scales = call.attr("scales") or call.numbers(1 if old else 2)
    axes = call.attr("axes", list(range(x.dim())))
    transform = "asymmetric" if old else call.attr("coordinate_transformation_mode", "half_pixel")
    nearest = "floor" if old else call.attr("nearest_mode", "round_prefer_floor")
    mode = {"bilinear": "linear"}.get(call.attr("mode", "nearest"), call.attr("mode", "nearest"))
    for i, axis in enumerate(axes):
        n_in = x.shape[axis]
        n_out = int(sizes[i]) if sizes else int(math.floor(n_in * scales[i]))
        scale = n_out / n_in if sizes else scales[i]
        if n_out == n_in and scale == 1:
            continue
        places, weights = taps(call, mode, source_points(transform, n_in, n_out, scale), n_in,
                               nearest)
        x = sum_taps(x, axis, places, weights, mode == "nearest")
    return x


def sum_taps(x, axis, places, weights, exact):
    """The elements of an axis as weighted sums of others."""
    dims = [-1 if i == axis % x.dim() else 1 for i in range(x.dim())]
    out = None
    for t in range(places.shape[1]):
        part = x.index_select(axis, torch.from_numpy(places[:, t].copy()).to(x.device))
        if not exact:
            part = part * torch.from_numpy(weights[:, t].copy()).to(x.device, x.dtype).reshape(dims)
        out = part if out is None else out + part
    return out


# --- quantisation -----------------------------------------------------------------------------

def along(value, x, axis):
    """A scale or zero point per slice, shaped for x."""
    if value.dim() == 0 or value.numel() == 1:
        return value.reshape(())
    return value.reshape([-1 if i == axis % x.dim() else 1 for i in range(x.dim())])


def saturate(x, dtype):
    """Rounded to the nearest integer that a type has."""
    info = torch.iinfo(dtype)
    return torch.clamp(torch.round(x), info.min, info.max).to(dtype)


@operator("QuantizeLinear")
def quantize_linear(call):
    """Per tensor or along an axis."""
    x, scale, zero = call.inputs[0], call.inputs[1], call.input(2)
    if call.attr("block_size", 0):
        raise Unsupported("blocks")
    axis, dtype = call.attr("axis", 1), torch.uint8 if zero is None else zero.dtype
    if dtype not in (torch.uint8, torch.int8, torch.int16, torch.int32):
        raise Unsupported("quantised to %s" % dtype)
    out = torch.round(x / along(scale, x, axis))
    return saturate(out if zero is None else out + along(zero, x, axis), dtype)


@operator("DequantizeLinear")
def dequantize_linear(call):
    """Per tensor or along an axis."""
    x, scale, zero = call.inputs[0], call.inputs[1], call.input(2)
    if call.attr("block_size", 0):
        raise Unsupported("blocks")
    axis = call.attr("axis", 1)
    wide = x.to(torch.int32)
    wide = wide if zero is None else wide - along(zero, x, axis).to(torch.int32)
    return wide.to(scale.dtype) * along(scale, x, axis)


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(call):
    """The range is that of the values, and 0."""
    x = call.inputs[0]
    low, high = x.amin().clamp(max=0), x.amax().clamp(min=0)
    scale = (high - low) / 255
    zero = saturate(-low / scale, torch.uint8)
    return saturate(torch.round(x / scale) + zero, torch.uint8), scale, zero


# --- bodies -----------------------------------------------------------------------------------

def run_body(call, body, inputs=()):
    """The outputs of a body, which sees all values around it."""
    values = dict(call.values)
    values.update((n, call.executor.put(a)) for n, a in body.initializers.items())
    call.executor.constants.update(body.initializers)
    values.update(zip(body.inputs, inputs))
    call.executor.run(body.nodes, values)
    return [values[name] for name in body.outputs]


@operator("If")
def if_(call):
    """One of two bodies."""
    body = call.attr("then_branch") if bool(call.inputs[0]) else call.attr("else_branch")
    return tuple(run_body(call, body))


@operator("Loop")
def loop(call):
    """A body again and again; what it gives beyond the carried values is stacked."""
    most, go = call.input(0), call.input(1)
    carried, scans, body = call.inputs[2:], [], call.attr("body")
    n, device = len(call.inputs) - 2, call.executor.device
    i = 0
    go = True if go is None else bool(go)
    while go and (most is None or i < int(most)):
        step = torch.tensor(i, device=device)
        again, *out = run_body(call, body, [step, torch.tensor(go, device=device), *carried])
        go, carried = bool(again), out[:n]
        scans.append(out[n:])
        i += 1
    if not scans and len(body.outputs) > n + 1:
        raise Unsupported("a loop that is never entered has no shape for what it collects")
    return (*carried, *(torch.stack(parts) for parts in zip(*scans)))


# --- com.microsoft ----------------------------------------------------------------------------

@operator("Gelu", domain="com.microsoft")
def contrib_gelu(call):
    """The exact one."""
    return F.gelu(call.inputs[0])


@operator("FastGelu", "BiasGelu", domain="com.microsoft")
def bias_gelu(call):
    """With a bias before it."""
    x = call.inputs[0] if call.input(1) is None else call.inputs[0] + call.inputs[1]
    return F.gelu(x, approximate="tanh" if call.node.op_type == "FastGelu" else "none")


@operator("FusedMatMul", domain="com.microsoft")
def fused_matmul(call):
    """Products of transposed operands, scaled."""
    if call.attr("transBatchA", 0) or call.attr("transBatchB", 0):
        raise Unsupported("transposed batches")
    a, b = call.operand(0), call.operand(1)
    a = a.transpose(-1, -2) if call.attr("transA", 0) and a.dim() > 1 else a
    b = b.transpose(-1, -2) if call.attr("transB", 0) and b.dim() > 1 else b
    return call.attr("alpha", 1.0) * torch.matmul(a, b)


@operator("SkipLayerNormalization", domain="com.microsoft")
def skip_layer_normalization(call):
    """The normalised sum, and the sum itself as the fourth output."""
    if call.wants(1) or call.wants(2):
        raise Unsupported("mean and deviation are not given here")
    x, skip, gamma = call.inputs[:3]
    beta, bias = call.input(3), call.input(4)
    total_ = x + skip if bias is None else x + skip + bias
    out = F.layer_norm(total_, total_.shape[-1:], gamma, beta, call.attr("epsilon", 1e-12))
    return out, None, None, total_ if call.wants(3) else None


@operator("EmbedLayerNormalization", domain="com.microsoft")
def embed_layer_normalization(call):
    """Embeddings of words, positions and segments, added and normalised."""
    words, segments, table, places, kinds = call.inputs[:5]
    gamma, beta, mask = call.inputs[5], call.inputs[6], call.input(7)
    where = call.input(8)
    if where is None:
        where = torch.arange(words.shape[1], device=words.device)[None].expand(words.shape)
    total_ = F.embedding(words.long(), table) + F.embedding(where.long(), places)
    if segments is not None:
        total_ = total_ + F.embedding(segments.long(), kinds)
    out = F.layer_norm(total_, total_.shape[-1:], gamma, beta, call.attr("epsilon", 1e-12))
    counts = (torch.zeros(words.shape[0], dtype=torch.int32, device=words.device) if mask is None
              else mask.sum(1).to(torch.int32))
    return out, counts, total_ if call.wants(2) else None


@operator("Attention", domain="com.microsoft")
def contrib_attention(call):
    """Self-attention with packed weights; masks of keys, raw or by length."""
    for name in ("do_rotary", "unidirectional", "past_present_share_buffer"):
        if call.attr(name, 0):
            raise Unsupported("%s=1" % name)
    if any(call.input(i) is not None for i in (4, 5, 6)) or call.attr("qkv_hidden_sizes"):
        raise Unsupported("past keys, a bias of the scores or sizes of their own")
    x, bias, mask = call.operand(0), call.inputs[2], call.input(3)
    batch, length, _ = x.shape
    heads = call.attr("num_heads")
    packed = torch.matmul(x, call.operand(1)) + bias
    q, k, v = (p.reshape(batch, length, heads, -1).transpose(1, 2)
               for p in packed.chunk(3, dim=-1))
    operand = call.executor.operand
    scale = call.attr("scale", 0.0) or 1 / math.sqrt(q.shape[-1])
    scores = torch.matmul(operand(q), operand(k).transpose(-1, -2)) * scale
    if mask is not None:
        scores = scores + key_mask(call, mask, batch, length).to(scores.dtype)
    out = torch.matmul(operand(torch.softmax(scores, -1)), operand(v))
    return out.transpose(1, 2).reshape(batch, length, -1)


def key_mask(call, mask, batch, length):
    """What is added to scores: nothing where a key counts."""
    if mask.dim() == 1 and mask.shape[0] == batch:
        keep = torch.arange(length, device=mask.device)[None] < mask[:, None]
    elif tuple(mask.shape) == (batch, length):
        keep = mask != 0
    else:
        raise Unsupported("a mask of shape %s" % list(mask.shape))
    away = call.attr("mask_filter_value", -10000.0)
    return torch.where(keep, 0.0, away)[:, None, None, :]
