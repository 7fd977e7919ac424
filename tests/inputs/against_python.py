# SPDX-License-Identifier: GPL-3.0-or-later
"""What inputs are made of, against NumPy's own generators and Pillow's own pictures, bit for bit.

    against_python.py PROGRAM FOLDER

Prints "ok WHAT" or "not ok WHAT: WHY". Without Pillow, "skip" once.
"""
import struct
import subprocess
import sys
import zlib

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


def write_png16(path, pixels):
    """uint16 [height, width, 1 or 3], which Pillow 9 does not write in colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    h, w, c = pixels.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n")
        out.write(chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 16, 2 if c == 3 else 0, 0, 0, 0)))
        out.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def deep_pictures(r, image_module):
    """16 bits per channel: all of them are kept."""
    rng = np.random.default_rng(7)
    pixels = rng.integers(0, 65536, (37, 53, 3)).astype(np.uint16)
    middle = (pixels // 4 + 20000).astype(np.uint16)
    colour, grey, mild, flat = (f"{r.folder}/{n}16.png" for n in ("rgb", "grey", "mild", "flat"))
    write_png16(colour, pixels)
    write_png16(grey, pixels[:, :, :1])
    write_png16(mild, middle)
    write_png16(flat, np.full((37, 53, 1), 0x4141, np.uint16))
    chw = lambda p: p.transpose(2, 0, 1)[None]
    deep, plain = [("x", "uint16", (1, 3, 37, 53))], [("x", "float32", (1, 3, 37, 53))]
    one = [("x", "uint16", (1, 1, 37, 53))]
    unit = chw(pixels).astype(np.float32) / np.float32(65535)
    r.same("16 bits, colour", chw(pixels), deep, ["--input", f"x={colour}"])
    r.same("16 bits, BGR", chw(pixels)[:, ::-1], deep, ["--input", f"x=image({colour},order=bgr)"])
    r.same("16 bits, grey", chw(pixels[:, :, :1]), one, ["--input", f"x={grey}"])
    r.same("16 bits, grey as Pillow reads it",
           np.asarray(image_module.open(grey)).astype(np.uint16)[None, None], one,
           ["--input", f"x={grey}"])
    luma = (pixels.astype(np.uint64) @ np.array([19595, 38470, 7471], np.uint64) + 0x8000) >> 16
    r.same("16 bits, colour made grey", luma.astype(np.uint16)[None, None], one,
           ["--input", f"x={colour}"])
    r.same("16 bits, 0 to 1", unit, plain, ["--input", f"x={colour}"])
    r.same("16 bits of which 8 would do", np.full((1, 1, 37, 53), 0x4141 / np.float32(65535),
                                                 np.float32),
           [("x", "float32", (1, 1, 37, 53))], ["--input", f"x={flat}"])
    r.same("16 bits, mean and std", (unit - np.float32(0.5)) / np.float32(0.25), plain,
           ["--input", f"x=image({colour},mean=0.5,std=0.25)"])
    r.same("16 bits, a scale of its own", chw(pixels).astype(np.float32) / np.float32(255), plain,
           ["--input", f"x=image({colour},scale=255)"])
    r.same("16 bits, the middle", chw(pixels[8:28, 16:36]), [("x", "uint16", (1, 3, 20, 20))],
           ["--input", f"x=image({colour},crop=20)"])
    # Pillow resizes 16 bits as it does 32-bit integers, channel by channel.
    for h, w in ((20, 20), (80, 53), (37, 90), (11, 101)):
        for name, code in (("bilinear", image_module.BILINEAR), ("bicubic", image_module.BICUBIC),
                           ("nearest", image_module.NEAREST)):
            planes = [image_module.fromarray(middle[:, :, k].astype(np.int32)).resize((w, h), code)
                      for k in range(3)]
            want = np.stack([np.asarray(p).astype(np.uint16) for p in planes])[None]
            r.same(f"16 bits, {name} to {h} x {w}", want, [("x", "uint16", (1, 3, h, w))],
                   ["--input", f"x=image({mild},resize={h}x{w},filter={name})"])
    step = np.zeros((4, 8, 1), np.uint16)
    step[:, 4:] = 65535
    write_png16(f"{r.folder}/step16.png", step)
    got = r.given([("x", "uint16", (1, 1, 4, 16))],
                  ["--input", f"x=image({r.folder}/step16.png,resize=4x16,filter=bicubic)"])
    good = not isinstance(got, str) and (np.diff(got[0, 0].astype(int), axis=1) >= 0).all()
    print("ok" if good else "not ok", "16 bits, no overshoot wraps round")
    r.refused("16 bits into 8", "16 bits per channel does not fit into uint8; scale=257",
              [("x", "uint8", (1, 3, 37, 53))], ["--input", f"x={colour}"])
    r.refused("16 bits into int16", "does not fit into int16", [("x", "int16", (1, 3, 37, 53))],
              ["--input", f"x={colour}"])


def batches(r, image_module):
    """Several pictures are one input."""
    rng = np.random.default_rng(8)
    pictures = [rng.integers(0, 256, (20, 30, 3)).astype(np.uint8) for _ in range(3)]
    files = [f"{r.folder}/batch{i}.png" for i in range(3)]
    for pixels, file in zip(pictures, files):
        image_module.fromarray(pixels).save(file)
    stack, all_three = np.stack(pictures), ",".join(files)
    r.same("a batch", stack.transpose(0, 3, 1, 2), [("x", "uint8", (3, 3, 20, 30))],
           ["--input", f"x={all_three}"])
    r.same("a batch whose size the pictures give", stack, [("x", "uint8", ("n", "h", "w", 3))],
           ["--input", f"x={all_three}"])
    want = np.stack([np.asarray(image_module.fromarray(p).resize((12, 10), image_module.BILINEAR))
                     for p in pictures]).transpose(0, 3, 1, 2).astype(np.float32)
    r.same("a batch with options", want / np.float32(255) - np.float32(0.5),
           [("x", "float32", ("n", 3, 10, 12))],
           ["--input", f"x=image({all_three},resize=10x12,mean=0.5)"])
    other, comma = f"{r.folder}/other.png", f"{r.folder}/a,b.png"
    image_module.fromarray(pictures[0][:15]).save(other)
    image_module.fromarray(pictures[0]).save(comma)
    r.same("a comma in a name", stack[:1], [("x", "uint8", (1, 20, 30, 3))], ["--input", f"x={comma}"])
    r.same("a batch of other sizes, made one", np.stack([np.asarray(image_module.open(f).resize(
        (9, 8), image_module.NEAREST)) for f in (files[0], other)]), [("x", "uint8", (2, 8, 9, 3))],
           ["--input", f"x=image({files[0]},{other},filter=nearest)"])
    free = [("x", "uint8", ("n", "h", "w", 3))]
    r.refused("sizes that differ",
              "other.png: the image is 30 x 15, and the first of the batch 30 x 20; make them of one",
              free, ["--input", f"x={files[0]},{other}"])
    r.refused("a picture that is not there", "batch9.png: No such file", free,
              ["--input", f"x={files[0]},{r.folder}/batch9.png"])
    r.refused("too few for the batch", "the batch is 4, and 3 images are given",
              [("x", "uint8", (4, 20, 30, 3))], ["--input", f"x={all_three}"])
    r.refused("several for one", "an input of 3 dimensions takes one image, not 3",
              [("x", "uint8", (20, 30, 3))], ["--input", f"x={all_three}"])
    deep = f"{r.folder}/batch16.png"
    write_png16(deep, pictures[1].astype(np.uint16) * 257)
    r.same("a batch of 8 and 16 bits", stack[:2].astype(np.float32) / np.float32(255),
           [("x", "float32", (2, 20, 30, 3))], ["--input", f"x={files[0]},{deep}"])


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
    deep_pictures(r, Image)
    batches(r, Image)


main()
print("ok all of it was asked")
