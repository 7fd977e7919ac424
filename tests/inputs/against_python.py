# SPDX-License-Identifier: GPL-3.0-or-later
"""What inputs are made of, against NumPy's own generators and Pillow's own pictures, bit for bit.

    against_python.py PROGRAM FOLDER

Prints "ok WHAT" or "not ok WHAT: WHY". Without Pillow, "skip" once.
"""
import subprocess
import sys

import numpy as np

TYPE = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
        "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13}


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    """A field of bytes, or a number."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def model(inputs):
    """An ONNX file with a node Identity for every input (name, type, dims; a word for a symbol)."""
    graph = b""
    for name, kind, dims in inputs:
        graph += field(1, field(1, name) + field(2, "of_" + name) + field(4, "Identity"))
    graph += field(2, "g")
    for prefix, number in (("", 11), ("of_", 12)):
        for name, kind, dims in inputs:
            shape = b"".join(field(1, field(1 if isinstance(d, int) else 2, d)) for d in dims)
            tensor = field(1, field(1, TYPE[kind]) + field(2, shape))
            graph += field(number, field(1, prefix + name) + field(2, tensor))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def given(self, inputs, options, name=None):
        """The value of an input as the program makes it, or what it says."""
        path, out = f"{self.folder}/m.onnx", f"{self.folder}/out.npy"
        with open(path, "wb") as f:
            f.write(model(inputs))
        run = subprocess.run([self.program, "print", path, name or inputs[0][0], "--save", out,
                              *options], capture_output=True, text=True, check=False)
        return run.stderr.strip() if run.returncode else np.load(out)

    def same(self, what, want, inputs, options, name=None):
        got = self.given(inputs, options, name)
        if isinstance(got, str):
            print(f"not ok {what}: {got}")
        elif got.dtype != want.dtype or got.shape != want.shape:
            print(f"not ok {what}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")
        elif got.tobytes() != np.ascontiguousarray(want).tobytes():
            at = np.flatnonzero(got.ravel() != want.ravel())
            print(f"not ok {what}: {len(at)} of {got.size} differ, first {at[:1]}: "
                  f"{got.ravel()[at[:1]]}, not {want.ravel()[at[:1]]}")
        else:
            print(f"ok {what}")

    def refused(self, what, words, inputs, options):
        got = self.given(inputs, options)
        good = isinstance(got, str) and words in got
        print(f"ok {what}" if good else f"not ok {what}: {got}")


def generated(r):
    """The one stream of the legacy generator, and a fresh PCG64 for each range."""
    shapes = [("a", "float32", (2, 3, 5)), ("b", "float32", (7,)), ("c", "float64", (3, 4))]
    for seed in (42, 0, 4294967295):
        legacy = np.random.RandomState(seed)
        for name, kind, shape in shapes:
            r.same(f"RandomState({seed}), input {name}", legacy.uniform(-1, 1, shape).astype(kind),
                   shapes, ["--seed", str(seed)], name)
    legacy = np.random.RandomState(42)
    mixed = [("i", "int64", (50,)), ("x", "float32", (9,))]
    r.same("RandomState's randint for integers", legacy.randint(0, 2, 50), mixed, [], "i")
    r.same("and what the stream gives after", legacy.uniform(-1, 1, 9).astype("float32"), mixed, [],
           "x")
    for kind, low, high in (("float32", 0, 1), ("float32", -3, 12.5), ("float64", 1e-3, 1e3),
                            ("float16", -2, 2)):
        for seed in (42, 7):
            want = np.random.default_rng(seed).uniform(low, high, (5, 101)).astype(kind)
            r.same(f"default_rng({seed}).uniform({low}, {high}) as {kind}", want,
                   [("x", kind, (5, 101))], ["--input", f"x=range({low},{high},{seed})"])
    for kind, low, high in (("int64", 0, 100), ("int32", -5, 5), ("uint8", 0, 255),
                            ("int8", -128, 127), ("int64", 0, 2**32 - 1), ("int64", 0, 2**32),
                            ("int64", -(2**40), 2**50), ("uint16", 3, 3), ("int64", 0, 2**31),
                            ("uint32", 0, 4294967295), ("int64", 0, 3 * 2**30)):
        want = np.random.default_rng(11).integers(low, high, 1003, endpoint=True).astype(kind)
        r.same(f"default_rng.integers({low}, {high}) as {kind}", want, [("x", kind, (1003,))],
               ["--input", f"x=range({low},{high},11)"])


def raw(r):
    rng = np.random.default_rng(3)
    path = f"{r.folder}/x,1.bin"
    for kind in ("float32", "float16", "int64", "uint8", "float64"):
        want = rng.integers(-9 if kind != "uint8" else 0, 9, (2, 3, 4)).astype(kind)
        want.tofile(path)
        comma = path.replace(",", "\\,")
        r.same(f"bytes of {kind}", want, [("x", kind, (2, 3, 4))], ["--input", f"x={path}"])
        r.same("a dimension that follows from their number", want, [("x", kind, ("n", 3, 4))],
               ["--input", f"x={path}"])
        r.same("type and shape given", want, [("x", kind, ("n", "m", 4))],
               ["--input", f"x=raw({comma},{kind},2x3x4)"])
    one = [("x", "float64", (2, 3, 4))]
    r.refused("too few bytes", "192", [("x", "float64", (2, 3, 5))], ["--input", f"x={path}"])
    r.refused("another type", "the values are float, the model declares", one,
              ["--input", f"x=raw({comma},float32,2x3x8)"])
    r.refused("two dimensions that are not known", "more than one dimension",
              [("x", "float64", ("n", "m"))], ["--input", f"x={path}"])
    r.refused("one that any number of bytes has", "tells no other",
              [("x", "float64", (0, "n"))], ["--input", f"x={path}"])
    r.refused("a shape that is none", "the shape as 1x3x224x224", one,
              ["--input", f"x=raw({comma},float64,2x-3)"])
    r.refused("a file that is not there", "No such file", one, ["--input", "x=nowhere.bin"])


def pictures(r, image_module):
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:61, 0:83]
    smooth = np.stack([x * 3, y * 4, (x + y) * 2 % 256], -1)
    pixels = (np.clip(smooth + rng.integers(-20, 20, smooth.shape), 0, 255)).astype(np.uint8)
    picture = image_module.fromarray(pixels)
    plain, u8 = [("x", "float32", (1, 3, 61, 83))], [("x", "uint8", (1, 3, 61, 83))]
    save = {"rgb.png": (picture, {}), "palette.png": (picture.convert("P"), {}),
            "rgba.png": (picture.convert("RGBA"), {}), "low.jpg": (picture, {"quality": 30}),
            "grey.png": (picture.convert("L"), {}), "grey.jpg": (picture.convert("L"), {}),
            "full.jpg": (picture, {"quality": 95, "subsampling": 0}),
            "progressive.jpeg": (picture, {"progressive": True}), "x.bmp": (picture, {})}
    # What is transparent keeps its colour, and a picture that says it lies on its side stays there.
    clear = picture.copy()
    clear.putalpha(image_module.fromarray((x * 3 % 256).astype(np.uint8)))
    turned = image_module.Exif()
    turned[0x0112] = 6
    save |= {"clear.png": (clear, {}), "clear-grey.png": (clear.convert("LA"), {}),
             "turned.jpg": (picture, {"quality": 90, "exif": turned})}
    for name, (what, options) in save.items():
        what.save(f"{r.folder}/{name}", **options)
    path = lambda name: f"{r.folder}/{name}"
    load = lambda name, mode="RGB": image_module.open(path(name)).convert(mode)
    chw = lambda image: np.asarray(image).transpose(2, 0, 1)[None]
    for name in save:
        r.same(f"{name}, its pixels", chw(load(name)), u8, ["--input", f"x={path(name)}"])
    unit = chw(picture).astype(np.float32) / np.float32(255)
    file = path("rgb.png")
    r.same("floats from 0 to 1", unit, plain, ["--input", f"x={file}"])
    mean, std = (np.array(v, np.float32).reshape(1, 3, 1, 1)
                 for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    norm = "mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
    r.same("mean and std", (unit - mean) / std, plain, ["--input", f"x=image({file},{norm})"])
    r.same("BGR, each channel's own mean", (unit[:, ::-1] - mean) / std, plain,
           ["--input", f"x=image({file},order=bgr,{norm})"])
    r.same("another scale", chw(picture).astype(np.float32) - np.float32(127.5), plain,
           ["--input", f"x=image({file},scale=1,mean=127.5)"])
    r.same("float16", unit.astype(np.float16), [("x", "float16", (1, 3, 61, 83))],
           ["--input", f"x={file}"])
    r.same("NHWC", np.asarray(picture)[None], [("x", "uint8", (1, 61, 83, 3))],
           ["--input", f"x={file}"])
    r.same("NHWC by name", np.asarray(picture)[None], [("x", "uint8", ("n", "h", "w", "c"))],
           ["--input", f"x=image({file},layout=nhwc)"])
    r.same("no batch", chw(picture)[0], [("x", "uint8", (3, 61, 83))], ["--input", f"x={file}"])
    r.same("one channel", np.asarray(picture.convert("L"))[None, None],
           [("x", "uint8", (1, 1, 61, 83))], ["--input", f"x={file}"])
    r.same("two dimensions", np.asarray(picture.convert("L")), [("x", "uint8", (61, 83))],
           ["--input", f"x={file}"])
    r.same("sizes that the image gives", chw(picture), [("x", "uint8", ("n", 3, "h", "w"))],
           ["--input", f"x={file}"])
    filters = {"bilinear": image_module.BILINEAR, "bicubic": image_module.BICUBIC,
               "nearest": image_module.NEAREST}
    for h, w in ((32, 32), (61, 20), (200, 83), (150, 171), (1, 1), (61, 83), (31, 167)):
        for name, code in filters.items():
            want = chw(picture.resize((w, h), code))
            r.same(f"{name} to {h} x {w}", want, [("x", "uint8", (1, 3, h, w))],
                   ["--input", f"x=image({file},resize={h}x{w},filter={name})"])
    r.same("as large as the model wants it", chw(picture.resize((24, 40), filters["bilinear"])),
           [("x", "uint8", (1, 3, 40, 24))], ["--input", f"x={file}"])
    r.same("as large as --dim says", chw(picture.resize((24, 40), filters["bilinear"])),
           [("x", "uint8", (1, 3, "h", "w"))],
           ["--input", f"x={file}", "--dim", "h=40", "--dim", "w=24"])
    # Resize and CenterCrop as torchvision's transforms compute sizes and margins.
    for short, crop in ((40, 32), (48, 33), (61, 24), (30, 29), (37, 30)):
        w, h = picture.size
        size = (int(short * w / h), short) if h <= w else (short, int(short * h / w))
        resized = picture.resize(size, filters["bilinear"])
        left, top = (int(round((s - crop) / 2.0)) for s in size)
        want = chw(resized.crop((left, top, left + crop, top + crop)))
        r.same(f"shorter side {short}, the middle {crop}", want, [("x", "uint8", (1, 3, crop, crop))],
               ["--input", f"x=image({file},resize={short},crop={crop})"])
    with open(path("broken.png"), "wb") as f:
        f.write(open(file, "rb").read()[:200])
    deep = np.arange(6, dtype=np.uint16).reshape(2, 3) * 9999
    image_module.fromarray(deep).save(path("deep.png"))
    r.refused("half a file", "no image that can be decoded", u8,
              ["--input", f"x={path('broken.png')}"])
    r.refused("16 bits per channel", "16 bits per channel", u8, ["--input", f"x={path('deep.png')}"])
    picture.convert("CMYK").save(path("cmyk.jpg"))
    r.refused("CMYK", "an image in CMYK", u8, ["--input", f"x={path('cmyk.jpg')}"])
    r.refused("a crop that is too large", "smaller than the crop", u8,
              ["--input", f"x=image({file},crop=84)"])
    r.refused("another size", "the shape is (1, 3, 40, 54), the model declares", u8,
              ["--input", f"x=image({file},resize=40)"])
    r.refused("an option that there is not", "'men=1' is no option of an image", u8,
              ["--input", f"x=image({file},men=1)"])
    r.refused("std of 0", "std is one number or three", u8, ["--input", f"x=image({file},std=0)"])
    r.refused("a batch", "the batch is 2", [("x", "uint8", (2, 3, 61, 83))],
              ["--input", f"x={file}"])
    r.refused("four channels", "the input has 4", [("x", "uint8", (1, 4, 61, 83))],
              ["--input", f"x=image({file},layout=nchw)"])
    r.refused("no channels", "where the channels are", [("x", "uint8", (1, 61, 83, 7))],
              ["--input", f"x={file}"])
    r.refused("something else", "image(FILE) or raw(FILE", u8, ["--input", "x=cat.gif"])
    r.refused("no bracket at the end", "')' is missing", u8, ["--input", f"x=image({file}"])


def main():
    r = Runner(*sys.argv[1:])
    generated(r)
    raw(r)
    try:
        from PIL import Image
    except ImportError:
        print("skip no Pillow here (Debian: python3-pil)")
        return
    pictures(r, Image)


main()
print("ok all of it was asked")
