# SPDX-License-Identifier: GPL-3.0-or-later
"""The measures of tests/bench/compare.c by NumPy, as people write them: GB of both per second.

    compare_numpy.py [ELEMENTS]
"""
import sys
import time

import numpy as np

np.seterr(all="ignore")

EPS, TH = 1e-9, 1e-6


def old_metrics(e, b):
    """What dump_tools prints of a pair, as it computes it."""
    d = np.abs(e - b)
    a = np.abs(b)
    d3 = np.where(a > TH, d / (a + EPS), d)
    return (d.sum() / a.sum(), np.sqrt(np.sum((e - b) ** 2) / np.sum(b**2)), d3.max(), d3.mean(),
            (e > b).sum(), (e < b).sum(), (e.astype(np.int64) != b.astype(np.int64)).mean(),
            d.mean(), (d / (a + EPS)).mean(), (d * d).mean())


def all_metrics(e, b):
    """The same as `metrics, 30 measures`: in double, NaN and Inf counted."""
    x, y = e.astype(np.float64), b.astype(np.float64)
    nan = np.isnan(x), np.isnan(y)
    inf = np.isinf(x), np.isinf(y)
    odd = [(nan[0] & nan[1]).sum(), (nan[0] & ~nan[1]).sum(), (nan[1] & ~nan[0]).sum(),
           (inf[0] & inf[1]).sum(), (inf[0] & ~inf[1]).sum(), (inf[1] & ~inf[0]).sum()]
    d = np.abs(x - y)
    cosine = np.dot(x.ravel(), y.ravel()) / np.sqrt(np.dot(x.ravel(), x.ravel()) *
                                                    np.dot(y.ravel(), y.ravel()))
    relative = (d[y != 0] / np.abs(y[y != 0])).max()
    return old_metrics(x, y), odd, cosine, relative, d.max(), np.allclose(x, y)


def ulps(e, b):
    code = {2: np.int16, 4: np.int32, 8: np.int64}[e.itemsize]
    x, y = (v.view(code).astype(np.int64) for v in (e, b))
    least = np.iinfo(code).min
    x, y = (np.where(v < 0, least - v, v) for v in (x, y))
    d = np.abs(x - y)
    return d.max(), d.mean(), np.percentile(d, 99)


def ranks(e, b):
    top = [np.argpartition(v, -5, axis=1)[:, -5:] for v in (e, b)]
    return (e.argmax(1) == b.argmax(1)).mean(), np.sort(top[0]) == np.sort(top[1])


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 25
    rng = np.random.default_rng(1)
    for kind in ("float32", "float16", "float64"):
        b = rng.uniform(-1, 1, (n // 1024, 1024)).astype(kind)
        e = (b * (1 + 1e-6 * rng.integers(0, 7, b.shape))).astype(kind)
        for what, run in (("dump_tools' ten, in their type", old_metrics),
                          ("metrics and allclose, in double", all_metrics),
                          ("units in the last place", ulps), ("argmax and top 5 of rows", ranks)):
            best = 1e9
            for _ in range(2):
                begin = time.perf_counter()
                run(e, b)
                best = min(best, time.perf_counter() - begin)
            name = {"float32": "float", "float64": "double"}.get(kind, kind)
            print(f"{name:8} NumPy: {what:34} {(e.nbytes + b.nbytes) / best / 1e9:8.2f} GB/s")


main()
