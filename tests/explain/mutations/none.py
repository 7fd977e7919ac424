# SPDX-License-Identifier: GPL-3.0-or-later
"""What no catalogue has: an explanation of these is wrong whatever it says."""
import numpy

from mutations import floats, kind, need


@kind("none")
def noise(call):
    """1 % of each element, at random, another each time the node runs on other values."""
    y = floats(call.right())
    need(y.size > 15)

    def spoil(y):
        seed = int(abs(float(numpy.nansum(y.astype(numpy.float64)))) * 1e6) % 2 ** 32
        return y * (1 + 0.01 * numpy.random.RandomState(seed).uniform(-1, 1, y.shape))
    call.after(spoil)


@kind("none")
def noise_that_stays(call):
    """1 % of each element, at random, the same each time."""
    y = floats(call.right())
    need(y.size > 15)
    factors = 1 + 0.01 * numpy.random.RandomState(call.rng.randrange(1000)).uniform(-1, 1, y.shape)
    call.after(lambda y: y * factors)


@kind("none")
def elements_shuffled(call):
    y = call.right()
    need(y.size > 15 and y.dtype.kind in "fiu")
    order = numpy.random.RandomState(call.rng.randrange(1000)).permutation(y.size)
    need(not numpy.array_equal(y.reshape(-1)[order], y.reshape(-1)))
    call.after(lambda y: y.reshape(-1)[order].reshape(y.shape))


@kind("none", "Conv Add Gemm MatMul Mul BatchNormalization Concat")
def odd_curve(call):
    """x + sin(3 x) / 5."""
    floats(call.right())
    call.after(lambda y: y + numpy.sin(3 * y) / 5)


@kind("none", "Conv Add Gemm MatMul Mul BatchNormalization Concat")
def ramp(call):
    """Grows along all elements, from 1 to 1.1 times."""
    y = floats(call.right())
    need(y.size > 15)
    call.after(lambda y: y * numpy.linspace(1, 1.1, y.size).reshape(y.shape))


@kind("none", "Conv Gemm MatMul")
def weight_noise(call):
    weight = call.weight(1)
    need(weight.dtype == numpy.float32 and weight.size > 7)
    random = numpy.random.RandomState(call.rng.randrange(1000)).uniform(-1, 1, weight.shape)
    call.give(1, (weight * (1 + 0.02 * random)).astype(numpy.float32))


@kind("none")
def some_elements_wrong(call):
    """One in fifty, at random places."""
    y = floats(call.right())
    need(y.size > 150)
    random = numpy.random.RandomState(call.rng.randrange(1000))
    places = random.rand(y.size) < 0.02
    amounts = random.uniform(0.5, 1.5, y.size) * places

    def spoil(y):
        return y + (amounts * numpy.std(y.astype(numpy.float64))).reshape(y.shape)
    call.after(spoil)
