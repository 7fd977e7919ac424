# SPDX-License-Identifier: GPL-3.0-or-later
"""The value of something else: an input, another node, a neighbour applied or left out, zeros."""
import numpy
from onnx import helper

from mutations import floats, kind, need


def same_kind(call, array):
    y = call.right()
    return (isinstance(array, numpy.ndarray) and array.shape == y.shape and array.dtype == y.dtype
            and not numpy.array_equal(array, y))


def held(call, array):
    """That is what it makes."""
    need(same_kind(call, array))
    others = call.by_runtime()[1:] if len(call.node.output) > 1 else []
    call.compute = lambda c: [array.copy()] + others


@kind("elsewhere")
def skipped(call):
    """Its output is its first input."""
    need(call.right().size > 1)
    held(call, call.inputs[0].reshape(call.right().shape)
         if call.inputs and call.inputs[0] is not None
         and call.inputs[0].size == call.right().size else None)


@kind("elsewhere")
def skipped_to_second(call):
    need(len(call.inputs) > 1 and not call.constant[1] and call.right().size > 1)
    held(call, call.inputs[1])


@kind("elsewhere", "Conv Add Mul Gemm MatMul BatchNormalization Concat Sub")
def relu_applied(call):
    y = floats(call.right())
    need(numpy.any(y < 0) and numpy.any(y > 0))
    call.after(lambda y: numpy.maximum(y, 0))


@kind("elsewhere", "Conv Add Mul Gemm MatMul BatchNormalization Relu")
def sigmoid_applied(call):
    floats(call.right())
    call.after(lambda y: (1 / (1 + numpy.exp(-y.astype(numpy.float64)))))


@kind("elsewhere", "Conv Add Gemm MatMul BatchNormalization")
def next_applied(call):
    """The activation that follows is applied here already."""
    following = [n for n in call.cut.behind if call.node.output[0] in n.input]
    need(len(following) == 1 and following[0].op_type in ("Relu", "Tanh", "Sigmoid", "LeakyRelu"))
    floats(call.right())
    node = following[0]
    own = helper.make_node(node.op_type, ["x"], ["y"])
    own.attribute.extend(node.attribute)
    call.after(lambda y: call.by_nodes([own], {"x": y}))


@kind("elsewhere", "Relu Sigmoid Tanh LeakyRelu Clip PRelu HardSigmoid Softmax Elu HardSwish")
def activation_left_out(call):
    held(call, call.inputs[0])


@kind("elsewhere")
def zeros(call):
    y = call.right()
    need(y.size > 1 and numpy.any(y))
    call.after(numpy.zeros_like)


@kind("elsewhere", "Conv Gemm")
def bias_only(call):
    """The product is not computed."""
    bias = call.input(2)
    need(numpy.any(bias))
    call.give(1, numpy.zeros_like(call.inputs[1]))


def other_of(call):
    """An earlier value of the same shape and type, which it does not read."""
    if call.other is None:
        own = set(call.node.input) | call.cut.reached
        names = [n for n in sorted(call.values) if n not in own and same_kind(call, call.values[n])]
        need(names)
        call.other = call.rng.choice(names)
    need(call.other in call.values)
    return call.values[call.other]


@kind("elsewhere")
def other_value(call):
    """Its buffer holds another value of the graph."""
    need(call.right().size > 3)
    held(call, other_of(call))


@kind("elsewhere")
def overwritten_in_part(call):
    """The first half of its buffer holds another value."""
    other = other_of(call)
    need(call.right().size > 7 and same_kind(call, other))

    def half(y):
        flat = y.reshape(-1).copy()
        flat[:flat.size // 2] = other.reshape(-1)[:flat.size // 2]
        return flat.reshape(y.shape)
    need(not numpy.array_equal(half(call.right()), call.right()))
    call.after(half)


@kind("elsewhere")
def outputs_exchanged(call):
    """Its first two, of one shape."""
    need(len(call.node.output) > 1 and all(call.node.output[:2]))
    made = call.by_runtime()
    need(made[0].shape == made[1].shape and not numpy.array_equal(made[0], made[1]))
    call.compute = lambda c: [made[1], made[0]] + made[2:]


@kind("elsewhere", "MaxPool AveragePool GlobalAveragePool ReduceMean ReduceMax")
def other_pool(call):
    """Maximum for average, and the other way."""
    other = {"MaxPool": "AveragePool", "AveragePool": "MaxPool", "ReduceMean": "ReduceMax",
             "GlobalAveragePool": "GlobalMaxPool", "ReduceMax": "ReduceMean"}[call.op]
    need(len(call.node.output) == 1 and call.x.dtype == numpy.float32)
    call.op = other
    call.drop("storage_order", "dilations", "count_include_pad")


@kind("elsewhere", "Add Sub Mul Div Max Min")
def other_operator(call):
    call.op = {"Add": "Sub", "Sub": "Add", "Mul": "Div", "Div": "Mul",
               "Max": "Min", "Min": "Max"}[call.op]
