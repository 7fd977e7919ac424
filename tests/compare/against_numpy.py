# SPDX-License-Identifier: GPL-3.0-or-later
"""Every measure of `onnxdbg compare` against NumPy, on random and on nasty arrays.

    against_numpy.py PROGRAM FOLDER

Prints a line "ok WHAT" or "not ok WHAT: WHY" for each pair. All here is written from the measures'
definitions, in float64 or wider, and knows nothing of the program's own ways.
"""
import csv
import json
import subprocess
import sys

import numpy as np

np.seterr(all="ignore")
DTYPE = {"bfloat16": 16, "float8e4m3fn": 17, "float8e5m2": 19}
EPS16 = {"float16", "bfloat16", "float8e4m3fn", "float8e5m2"}


def write_pb(path, array, kind, codes):
    """A TensorProto by hand: dims, data_type, raw_data."""

    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])

    data = codes.tobytes()
    out = b"".join(b"\x08" + varint(d) for d in array.shape)
    out += b"\x10" + varint(DTYPE[kind]) + b"\x4a" + varint(len(data)) + data
    with open(path, "wb") as f:
        f.write(out)


def decode_f8(codes, exponent, mantissa, finite_only):
    """Values of an 8-bit float, from its bits."""
    bias = 2 ** (exponent - 1) - 1
    sign = np.where(codes & 0x80, -1.0, 1.0)
    e = (codes >> mantissa) & (2**exponent - 1)
    m = codes & (2**mantissa - 1)
    v = np.where(e == 0, m * 2.0 ** (1 - bias - mantissa),
                 (1 + m / 2.0**mantissa) * 2.0 ** (e.astype(float) - bias))
    if finite_only:
        v = np.where((codes & 0x7F) == 0x7F, np.nan, v)
    else:
        v = np.where(e == 2**exponent - 1, np.where(m == 0, np.inf, np.nan), v)
    return sign * v


class Side:
    """An array in its own type, the file it went to, and its numbers in float64 and as codes."""

    def __init__(self, folder, name, array, kind=None):
        self.kind = kind or str(array.dtype)
        self.own = array
        if kind in DTYPE:
            self.file = f"{folder}/{name}.pb"
            write_pb(self.file, array, kind, array)
            if kind == "bfloat16":
                self.v = (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
            else:
                self.v = decode_f8(array, *((4, 3, True) if kind == "float8e4m3fn" else
                                            (5, 2, False)))
            self.codes = array
        else:
            self.file = f"{folder}/{name}.npy"
            np.save(self.file, array)
            self.v = None if array.dtype.kind in "US" else array.astype(
                array.dtype if array.dtype.kind == "c" else np.float64)
            bits = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}
            self.codes = np.ascontiguousarray(array).view(bits[self.kind]).reshape(
                array.shape) if self.kind in bits else None


def ordered(side):
    """The float's place among all of its type, as Python's integers."""
    bits = side.codes.dtype.itemsize * 8
    sign = 1 << (bits - 1)
    flat = [int(c) for c in side.codes.ravel()]
    return np.array([-(c & (sign - 1)) if c & sign else c for c in flat] or [0], object)[:len(flat)]


def whole(side):
    return side.own.dtype.kind in "iub" and side.kind not in DTYPE


def difference(e, b):
    """e - b in float64, of integers as Python subtracts them."""
    if whole(e) and whole(b):
        sides = [[int(v) for v in s.own.ravel()] for s in (e, b)]
        return np.array([p - q for p, q in zip(*sides)], object).astype(np.float64)
    x, y = e.v.ravel(), b.v.ravel()
    if x.dtype.kind == "c":
        x, y = x.view(x.real.dtype).astype(float), y.view(y.real.dtype).astype(float)
    return x - y


def expected(e, b):
    """What compare should say, by column; a column that is not there is not checked."""
    x, y = e.v.ravel(), b.v.ravel()
    if x.dtype.kind == "c":
        x, y = x.view(x.real.dtype).astype(float), y.view(y.real.dtype).astype(float)
    n = x.size
    minus = difference(e, b)
    # Integers of 64 bits differ where float64 does not.
    same = minus == 0 if whole(e) and whole(b) else (x == y) | (np.isnan(x) & np.isnan(y))
    d, a = np.abs(minus), np.abs(y)
    with_both = np.isfinite(x) & np.isfinite(y)
    fx, fy, fd, fa = x[with_both], y[with_both], d[with_both], a[with_both]
    nan_x, nan_y, inf_x, inf_y = np.isnan(x), np.isnan(y), np.isinf(x), np.isinf(y)
    th = 1e-4 if b.kind in EPS16 else 1e-6
    d3 = np.where(a > th, d / (a + 1e-9), d)
    odd = ~with_both
    d3[odd] = d[odd] / (a[odd] + 1e-9)
    wide = lambda v: v.astype(np.longdouble)
    s2, b2, e2 = ((wide(v) ** 2).sum() for v in (minus[with_both], fy, fx))
    rms = float(np.sqrt(b2 / max(len(fy), 1)))
    max_abs = fd.max(initial=0)
    out = {
        "count": n,
        "differing": int((~same).sum()),
        "nan_both": int((nan_x & nan_y).sum()),
        "nan_base_only": int((nan_y & ~nan_x).sum()),
        "nan_evaluated_only": int((nan_x & ~nan_y).sum()),
        "inf_both": int((inf_x & inf_y & (x == y)).sum()),
        "inf_base_only": int((inf_y & ~inf_x).sum()),
        "inf_evaluated_only": int((inf_x & ~inf_y).sum()),
        "inf_sign": int((inf_x & inf_y & (x != y)).sum()),
        "max_abs": max_abs,
        "max_rel": (fd[fa > 0] / fa[fa > 0]).max(initial=0),
        "rms": rms,
        "mae": d.mean() if n else np.nan,
        "mape": (d / (a + 1e-9)).mean() if n else np.nan,
        "diff1": d.sum() / a.sum(),
        "diff3_mean": d3.mean() if n else np.nan,
        "diff_acc": ((np.trunc(x) != np.trunc(y)) | (whole(e) & ~same))[~(nan_x & nan_y)].sum() / n
                    if n else np.nan,
        "error": 0 if max_abs == 0 else max_abs / np.float64(rms),
        "error_mean": 0 if max_abs == 0 else fd.mean() / np.float64(rms),
        "all_close": int(np.where(with_both, d <= th + th * a, (x == y) | (nan_x & nan_y)).all()),
    }
    differing = out["differing"]
    more, less = (minus > 0, minus < 0) if whole(e) else (x > y, x < y)
    out["diff4_more"] = more.sum() / differing if differing else -1
    out["diff4_less"] = less.sum() / differing if differing else -1
    if not odd.any():
        mse, ratio = s2 / n if n else np.nan, s2 / b2
        out["mse"], out["rmse"] = float(mse), float(np.sqrt(mse))
        out["diff2"], out["sqnr"] = float(np.sqrt(ratio)), float(-10 * np.log10(ratio))
        out["psnr"] = float(np.inf if mse == 0 else 20 * np.log10(fa.max(initial=0) / np.sqrt(mse)))
        out["diff3_max"] = d3.max(initial=0)
    if e2 > 0 and b2 > 0:
        out["cosine"] = float((wide(fx) * wide(fy)).sum() / np.sqrt(e2) / np.sqrt(b2))
    if e.codes is not None and e.kind == b.kind:
        steps = np.abs(ordered(e) - ordered(b))[with_both]
        if len(steps):
            out["ulp_max"] = float(max(steps))
            out["ulp_mean"] = float(sum(int(s) for s in steps) / len(steps))
            out["ulp_p99"] = float(sorted(steps)[len(steps) - len(steps) // 100 - 1])
    if n and e.v.dtype.kind != "c":
        own = lambda s: s.v if s.kind in DTYPE or s.own.dtype.kind == "f" else s.own
        rows = [own(s).reshape(-1, s.own.shape[-1] if s.own.ndim else 1) for s in (e, b)]
        out["argmax"] = float((rows[0].argmax(1) == rows[1].argmax(1)).mean())
        if not odd.any():
            # The largest first, of equal ones the first: a stable sort of the numbers turned round.
            turn = lambda r: np.argsort([[-int(v) for v in row] for row in r] if r.dtype.kind in
                                        "iub" else -r, axis=1, kind="stable")[:, :5]
            k = min(5, rows[0].shape[1])
            shared = [len(set(p) & set(q)) for p, q in zip(turn(rows[0]), turn(rows[1]))]
            out["top_k"] = sum(shared) / (k * len(shared))
    return out


def channels(e, b):
    """The worst index along the second of four axes, or along the last of fewer."""
    axis = 1 if e.v.ndim > 3 else e.v.ndim - 1
    d = np.abs(difference(e, b)).reshape(e.v.shape)
    d = d if whole(e) else np.where((e.v == b.v) | (np.isnan(e.v) & np.isnan(b.v)), 0, np.where(np.isnan(d), np.inf, d))
    worst = d.max(axis=tuple(i for i in range(d.ndim) if i != axis))
    return {"channels": d.shape[axis], "channel_worst": int(worst.argmax()),
            "channel_error": worst.max()}


def agrees(name, want, text):
    """Sums of many numbers are compared to 12 digits, the rest nearly exactly."""
    got = float(text)
    if np.isnan(want) or np.isnan(got):
        return np.isnan(want) and np.isnan(got)
    if np.isinf(want) or np.isinf(got):
        return want == got
    if name == "cosine":
        return abs(got - want) <= 1e-14
    if name in ("sqnr", "psnr"):
        return abs(got - want) <= 1e-9
    return abs(got - want) <= 2e-12 * abs(want)


def check(program, what, e, b, more=None):
    run = subprocess.run([program, "compare", e.file, b.file, "--format", "tsv"],
                         capture_output=True, text=True, check=False)
    rows = list(csv.DictReader(run.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if run.returncode not in (0, 1) or len(rows) != 1:
        print(f"not ok {what}: {run.stderr.strip()}")
        return
    want = dict(expected(e, b), **(more or {}))
    wrong = [f"{k} is {rows[0][k]}, not {v!r}" for k, v in want.items()
             if rows[0][k] == "" or not agrees(k, float(v), rows[0][k])]
    numpy_says = bool(np.allclose(e.v, b.v)) if e.v.dtype.kind in "fc" else None
    if numpy_says is not None and numpy_says != (rows[0]["verdict"] == "pass"):
        wrong.append(f"the verdict is {rows[0]['verdict']}, NumPy's allclose says {numpy_says}")
    print(f"not ok {what}: {'; '.join(wrong)}" if wrong else f"ok {what}")


def check_json(program, what, e, b):
    """The reader of JSON gets the doubles that the reader of TSV gets."""
    lines, text = (subprocess.run([program, "compare", e.file, b.file, "--format", form],
                                  capture_output=True, text=True, check=False).stdout
                   for form in ("tsv", "json"))
    row = next(csv.DictReader(lines.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    pair = json.loads(text)["pairs"][0]
    wrong = [k for k, v in pair.items() if isinstance(v, float) and k in row and v != float(row[k])]
    if pair["worst_evaluated"] != e.own.ravel()[int(pair["worst"].strip("[]"))]:
        wrong.append("worst_evaluated")
    print(f"not ok {what}: {', '.join(wrong)}" if wrong else f"ok {what}")


def tell(program, what, e, b, place, count):
    """Where the first of those that differ most is, with all digits; and tolerances judge exactly."""
    wrong = []
    for tol, passes in (("allclose:0,0", False), ("allclose:0,0.5", False), ("allclose:0,1", True),
                        ("decimal:1", False), ("decimal:0", True)):
        run = subprocess.run([program, "compare", e.file, b.file, "--json", "--tol", tol],
                             capture_output=True, text=True, check=False)
        pair = json.loads(run.stdout)["pairs"][0]
        if (run.returncode == 0) != passes or (pair["verdict"] == "pass") != passes:
            wrong.append(f"{tol}: {pair['verdict']}, exit status {run.returncode}")
    at = tuple(int(i) for i in place.strip("[]").split(","))
    facts = {"worst": place, "worst_evaluated": int(e.own[at]), "worst_base": int(b.own[at]),
             "differing": count, "max_abs": 1}
    wrong += [f"{k} is {pair[k]}, not {v}" for k, v in facts.items() if pair[k] != v]
    print(f"not ok {what}: {'; '.join(wrong)}" if wrong else f"ok {what}")


def nasty(kind, rng):
    """Numbers of a float type that trouble comparisons."""
    info = np.finfo(kind)
    tiny = info.smallest_subnormal
    return np.array([0, -0.0, 1, -1, tiny, -tiny, info.tiny, info.max, -info.max, np.inf, -np.inf,
                     np.nan, 1 + info.eps, 0.5, 1.5, 2.5, -2.5, *rng.standard_normal(7)], kind)


def main():
    program, folder = sys.argv[1:]
    rng = np.random.default_rng(7)
    names = iter(range(10**6))

    def pair(what, x, y, kind=None, with_channels=False):
        e, b = (Side(folder, f"{next(names)}", v, kind) for v in (x, y))
        check(program, what, e, b, channels(e, b) if with_channels else None)

    for kind in ("float16", "float32", "float64"):
        for shape in ((1000,), (3, 7, 11), (2, 5, 9, 8), (40001,)):
            y = rng.standard_normal(shape).astype(kind)
            x = (y + rng.standard_normal(shape) * np.finfo(kind).eps * 3).astype(kind)
            pair(f"{kind} {shape}, close", x, y, with_channels=len(shape) > 1)
            pair(f"{kind} {shape}, unrelated", rng.standard_normal(shape).astype(kind), y)
        odd = nasty(kind, rng)
        left, right = np.meshgrid(odd, odd)
        pair(f"{kind}, every nasty pair", left, right, with_channels=True)
        good = odd[np.isfinite(odd) & (np.abs(odd) < 1e3)]
        left, right = np.meshgrid(good, good)
        pair(f"{kind}, zeros and subnormals", left, right)
        pair(f"{kind}, NaN in the same places", np.array([1, np.nan, 3], kind),
             np.array([1, np.nan, 3], kind))
        for shape in ((0,), (3, 0), ()):
            pair(f"{kind} {shape}", np.ones(shape, kind), np.ones(shape, kind))
        pair(f"{kind}, zero base", np.ones(5, kind), np.zeros(5, kind))
        pair(f"{kind}, zeros", np.zeros(5, kind), np.zeros(5, kind))
        spread = np.ldexp(1.0, rng.integers(-14, 15, 3000)).astype(kind)
        pair(f"{kind}, far apart", spread, -spread[::-1])
    pair("float64, squares below all doubles", np.full(9, 3e-300), np.full(9, 1e-300))
    y = rng.standard_normal(500)
    check_json(program, "JSON has all digits", Side(folder, "e", y * (1 + 1e-7 * (y > 0))),
               Side(folder, "b", y))
    y = rng.standard_normal((70, 1024, 3)).astype(np.float32)
    pair("several blocks, equal", y, y, with_channels=True)
    for at in ((0, 0, 0), (69, 1023, 2), (30, 5, 1)):
        for value in (9.0, np.nan, np.inf):
            x = y.copy()
            x[at] = value
            pair(f"several blocks, {value} at {at}", x, y, with_channels=True)
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        info = np.iinfo(kind)
        values = np.array([info.min, info.max, info.max - 1, 0, 1, 7], kind)
        left, right = np.meshgrid(values, values)
        pair(f"{kind}, extremes", left, right)
        if info.bits == 64:
            # Neighbours that one double stands for: what differs, by how much, and where it begins.
            y = (rng.integers(0, 2**40, (2, 3, 1500)) + 2**60).astype(kind)
            x = y.copy()
            one = np.array(1, kind)  # a scalar of uint64 and an int would make a float
            x[1, 2, 700:] += one
            x[0, 1, 1] -= one
            pair(f"{kind}, one apart beyond 2^60", x, y, with_channels=True)
            tell(program, f"{kind}, one apart", Side(folder, f"{next(names)}", x),
                 Side(folder, f"{next(names)}", y), "[0,1,1]", 801)
            left, right = np.meshgrid(np.arange(2**53 - 3, 2**53 + 4, dtype=kind),
                                      np.arange(2**53 - 3, 2**53 + 4, dtype=kind))
            pair(f"{kind}, around 2^53", left, right)
        y = rng.integers(0, 100, (6, 50)).astype(kind)
        pair(f"{kind}, random", (y + rng.integers(0, 2, y.shape)).astype(kind), y)
    big = np.array([2**63 - 1, 2**62 + 1, 5, 2**60], np.int64)
    pair("int64 against uint64", big, np.array([2**63, 2**62, 5, 2**64 - 1], np.uint64))
    flags = rng.integers(0, 2, 300).astype(bool)
    pair("bool", flags, rng.integers(0, 2, 300).astype(bool))
    pair("bool, equal", flags, flags)
    for kind in ("complex64", "complex128"):
        y = (rng.standard_normal(200) + 1j * rng.standard_normal(200)).astype(kind)
        pair(kind, (y * (1 + 1e-3)).astype(kind), y)
    codes = np.arange(256, dtype=np.uint8)
    for kind in ("float8e4m3fn", "float8e5m2"):
        pair(f"{kind}, all codes against the next", np.roll(codes, 1), codes, kind)
        finite = np.arange(0x70, dtype=np.uint8)
        pair(f"{kind}, positive ones", finite[::-1].copy(), finite, kind)
    codes = np.arange(0, 65536, 7, dtype=np.uint16)
    pair("bfloat16, codes against their neighbours", codes ^ 1, codes, "bfloat16")
    y = (rng.standard_normal(5000).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    pair("bfloat16, random", y + rng.integers(0, 3, y.shape).astype(np.uint16), y, "bfloat16")


main()
