# SPDX-License-Identifier: GPL-3.0-or-later
"""A right result, spoilt: scaled, moved, in another order or layout, not finished."""
import numpy

from mutations import floats, kind, need


def changed(call, change, least=2):
    """Applied to a result of so many elements, where that makes a difference."""
    y = call.right()
    need(y.size >= least and y.dtype.kind in "fiu")
    other = change(y)
    need(other.shape == y.shape and not numpy.array_equal(other, y))
    call.after(change)


def axis_of(call, least=2):
    """One that is long enough, not the batch where there is another."""
    y = call.right()
    axes = [a for a in range(y.ndim) if y.shape[a] >= least]
    need(axes)
    return call.rng.choice([a for a in axes if a] or axes)


def channels(call, least=2):
    y = call.right()
    need(y.ndim > 1 and y.shape[1] >= least)
    return y.shape[1]


def by_channel(y, values):
    return numpy.asarray(values).reshape((-1,) + (1,) * (y.ndim - 2))


@kind("output")
def scaled(call):
    """By 1.01."""
    floats(call.right())
    changed(call, lambda y: y * y.dtype.type(1.01))


@kind("output")
def doubled(call):
    floats(call.right())
    changed(call, lambda y: 2 * y)


@kind("output")
def halved(call):
    floats(call.right())
    changed(call, lambda y: y / 2)


@kind("output")
def scaled_by_channel(call):
    n = channels(call)
    floats(call.right())
    factors = [1 + call.rng.uniform(-0.3, 0.3) for _ in range(n)]
    changed(call, lambda y: y * by_channel(y, factors))


@kind("output")
def offset(call):
    floats(call.right())
    changed(call, lambda y: y + y.dtype.type(0.125))


@kind("output")
def offset_by_channel(call):
    n = channels(call)
    floats(call.right())
    amounts = [call.rng.uniform(-0.5, 0.5) for _ in range(n)]
    changed(call, lambda y: y + by_channel(y, amounts))


@kind("output")
def one_channel_scaled(call):
    n = channels(call)
    floats(call.right())
    factors = numpy.ones(n)
    factors[call.rng.randrange(n)] = 1.5
    changed(call, lambda y: y * by_channel(y, factors))


@kind("output")
def sign(call):
    floats(call.right())
    changed(call, lambda y: -y)


@kind("output")
def absolute(call):
    floats(call.right())
    changed(call, abs)


def shift(y, axis, by):
    """Moved along an axis; zeros come in."""
    moved = numpy.zeros_like(y)
    to, frm = [slice(None)] * y.ndim, [slice(None)] * y.ndim
    to[axis], frm[axis] = slice(by, None), slice(None, -by)
    moved[tuple(to)] = y[tuple(frm)]
    return moved


@kind("output")
def shifted(call):
    axis = axis_of(call, 3)
    changed(call, lambda y: shift(y, axis, 1))


@kind("output")
def rolled(call):
    axis = axis_of(call, 3)
    by = call.rng.choice([1, -1])
    changed(call, lambda y: numpy.roll(y, by, axis))


@kind("output")
def rolled_in_memory(call):
    """All elements one further, over the ends of rows."""
    changed(call, lambda y: numpy.roll(y.reshape(-1), 1).reshape(y.shape), 5)


@kind("output")
def reversed_(call):
    axis = axis_of(call, 3)
    changed(call, lambda y: numpy.flip(y, axis))


@kind("output")
def axes_exchanged(call):
    """Elements in the order of the result with its last two axes transposed."""
    y = call.right()
    need(y.ndim > 1 and min(y.shape[-2:]) > 1)
    changed(call, lambda y: numpy.swapaxes(y, -1, -2).reshape(y.shape))


@kind("output")
def written_as_nhwc(call):
    y = call.right()
    need(y.ndim == 4 and y.shape[1] > 1 and y.shape[2] * y.shape[3] > 1)
    changed(call, lambda y: y.transpose(0, 2, 3, 1).reshape(y.shape))


@kind("output")
def read_from_nhwc(call):
    y = call.right()
    need(y.ndim == 4 and y.shape[1] > 1 and y.shape[2] * y.shape[3] > 1)
    n, c, h, w = y.shape
    changed(call, lambda y: y.reshape(n, h, w, c).transpose(0, 3, 1, 2))


def blocked(y, block):
    """N C H W as N C/b H W b, read in the order it lies there."""
    n, c, rest = y.shape[0], y.shape[1], y.shape[2:]
    parts = y.reshape((n, c // block, block) + rest)
    return numpy.moveaxis(parts, 2, -1).reshape(y.shape)


@kind("output", "Conv MaxPool AveragePool Relu Add Mul Clip BatchNormalization Resize Sigmoid PRelu")
def blocked_layout(call):
    n = channels(call, 4)
    y = call.right()
    need(y.ndim == 4 and y.shape[2] * y.shape[3] > 1)
    blocks = [b for b in (4, 8, 16) if n % b == 0]
    need(blocks)
    block = call.rng.choice(blocks)
    changed(call, lambda y: blocked(y, block))


@kind("output")
def channels_exchanged(call):
    n = channels(call)
    a, b = call.rng.sample(range(n), 2)
    order = list(range(n))
    order[a], order[b] = b, a
    changed(call, lambda y: y[:, order])


@kind("output")
def channels_shuffled(call):
    """Another order altogether."""
    n = channels(call, 5)
    order = list(range(n))
    call.rng.shuffle(order)
    changed(call, lambda y: y[:, order])


@kind("output")
def channel_zero(call):
    n = channels(call)
    lost = call.rng.randrange(n)
    factors = [0 if i == lost else 1 for i in range(n)]
    changed(call, lambda y: y * by_channel(y, factors).astype(y.dtype))


@kind("output")
def clamped(call):
    """To a range that most elements are in."""
    y = floats(call.right())
    limits = [c for c in (1, 2, 6) if 0.002 < numpy.mean(abs(y) > c) < 0.5]
    need(limits)
    limit = limits[-1]
    changed(call, lambda y: numpy.clip(y, -limit, limit), 20)


@kind("output")
def relu6(call):
    y = floats(call.right())
    need(numpy.any(y > 6))
    changed(call, lambda y: numpy.clip(y, 0, 6), 20)


@kind("output")
def tail_zero(call):
    """The last columns past a multiple of 4, 8 or 16 are not written."""
    y = call.right()
    n = y.shape[-1] if y.ndim else 0
    tiles = [t for t in (4, 8, 16) if n % t and n > t]
    need(tiles)
    end = n - n % call.rng.choice(tiles)

    def cut(y):
        y = y.copy()
        y[..., end:] = 0
        return y
    changed(call, cut)


@kind("output")
def tail_channels_zero(call):
    n = channels(call)
    tiles = [t for t in (4, 8, 16) if n % t and n > t]
    need(tiles)
    end = n - n % call.rng.choice(tiles)

    def cut(y):
        y = y.copy()
        y[:, end:] = 0
        return y
    changed(call, cut)


@kind("output")
def last_row_zero(call):
    y = call.right()
    need(y.ndim > 1 and y.shape[-2] > 3)

    def cut(y):
        y = y.copy()
        y[..., -1, :] = 0
        return y
    changed(call, cut)


@kind("output")
def every_fourth_zero(call):
    """A lane is lost."""
    lane = call.rng.randrange(4)

    def lose(y):
        y = y.copy()
        y.reshape(-1)[lane::4] = 0
        return y
    changed(call, lose, 16)


@kind("output")
def first_of_batch(call):
    """The first item of the batch for all."""
    need(call.right().ndim > 1 and call.right().shape[0] > 1)
    changed(call, lambda y: numpy.repeat(y[:1], len(y), 0))


@kind("output")
def nan_as_zero(call):
    y = floats(call.right())
    need(numpy.any(numpy.isnan(y)) and not numpy.all(numpy.isnan(y)))
    call.after(lambda y: numpy.where(numpy.isnan(y), 0, y))


@kind("output")
def border_zero(call):
    """The outermost rows and columns."""
    y = call.right()
    need(y.ndim == 4 and min(y.shape[2:]) > 4)

    def cut(y):
        kept = numpy.zeros_like(y)
        kept[..., 1:-1, 1:-1] = y[..., 1:-1, 1:-1]
        return kept
    changed(call, cut)
