# SPDX-License-Identifier: GPL-3.0-or-later
"""held.py DUMP OUT LAYOUT [PREFIX]: what a dump has, as a tool records it that holds images otherwise.

LAYOUT is NHWC, or a number of channels in a block; some:N holds N values so and the others as they are.
"""
import os
import sys

import numpy as np


def held(array, layout):
    if array.ndim != 4:
        return array
    if layout == "NHWC":
        return array.transpose(0, 2, 3, 1)
    block = int(layout)
    n, c, h, w = array.shape
    padded = np.pad(array, ((0, 0), (0, -c % block), (0, 0), (0, 0)))
    return padded.reshape(n, -1, block, h, w).transpose(0, 1, 3, 4, 2)


dump, out, layout = sys.argv[1:4]
prefix = sys.argv[4] if len(sys.argv) > 4 else ""
left = int(layout[5:]) if layout.startswith("some:") else 1000000
os.makedirs(out)
for name in sorted(os.listdir(dump + "/outputs")):
    array = np.load(dump + "/outputs/" + name)
    if array.ndim == 4 and left:
        left -= 1
        array = held(array, "NHWC" if layout.startswith("some:") else layout)
    np.save(out + "/" + prefix + name.split("__", 1)[1], array.copy(order="C"))
for name in os.listdir(dump + "/inputs"):
    array = np.load(dump + "/inputs/" + name)
    np.save(out + "/" + name, (held(array, layout) if prefix == "i_" else array).copy(order="C"))
