# SPDX-License-Identifier: GPL-3.0-or-later
"""The package onnxdbg: what reports hold, targets of this process, exceptions, what is left behind.
Prints TAP lines without numbers for tests/check-python-package; runs in a folder with demo.onnx."""
import doctest
import gc
import glob
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
import xml.etree.ElementTree

import numpy as np

import onnxdbg
from onnxdbg._program import module

CONV, OUT = "/block/conv2/Conv", "/block/conv2/Conv_output_0"
SCALED = f"fault:scale,node={CONV},amount=2@cpu"
wire = module("onnxdbg_wire")
model_file = module("onnxdbg_model")
Numpy = module("onnxdbg_numpy").Numpy


class Skipped(Exception):
    """Something is not here."""


def raises(kind, function, *args, **options):
    """The exception, which is of exactly this class."""
    try:
        got = function(*args, **options)
    except Exception as error:
        if type(error) is not kind:
            raise
        return error
    raise AssertionError(f"{got!r} instead of {kind.__name__}")


class Off(Numpy):
    """NumPy's operators, with one that gives half as much again."""

    def execute(self, inputs, outputs):
        values = super().execute(inputs, outputs)
        return {name: 1.5 * array if name == OUT else array for name, array in values.items()}


def chain(*ops, dtype=1, shape=(4,), name="x"):
    """A model of operators one behind the other, as bytes: without the package onnx."""
    field, raw = wire.field, model_file.raw_name

    def value(text):
        dims = b"".join(field(1, field(1, n)) for n in shape)
        return field(1, raw(text)) + field(2, field(1, field(1, dtype) + field(2, dims)))

    graph, at = field(2, b"g"), name
    for i, op in enumerate(ops):
        to = f"<b>{i}"
        graph += field(1, model_file.node_bytes(f"<script>{i}", op, [at], to))
        at = to
    graph += field(11, value(name)) + field(12, value(at))
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


# --- reports -------------------------------------------------------------------------------------

def test_doctests():
    for name in ("", "._call", "._errors", "._program", "._report", "._verbs"):
        found = doctest.testmod(importlib.import_module("onnxdbg" + name))
        assert not found.failed and (found.attempted or name == ""), name
    assert doctest.testmod(onnxdbg).attempted


def test_a_report_holds_what_was_found():
    report = onnxdbg.bisect("demo.onnx", SCALED)
    assert report.diverges and not report.passed and report.verdict == "diverges"
    culprit = report.culprits[0]
    assert (culprit.index, culprit.node, culprit.operator, culprit.value) == (7, CONV, "Conv", OUT)
    assert culprit.error > 1e6 * culprit.noise and culprit.verified
    assert str(culprit.explanation) == "3 times the reference", culprit.explanation
    assert report.values[OUT].verdict == "fail" and report.values[OUT].node == 7
    assert CONV in str(report) and repr(report) == f"<onnxdbg.Report diverges: #7 {CONV} (Conv)>"
    suites = xml.etree.ElementTree.fromstring(report.to_junit())
    assert int(suites.get("failures")) > 0
    assert report.to_markdown().startswith("#") and "<html" in report.to_html()
    first, *rest = report.diagnosis().splitlines()
    assert first.startswith("diverges: #7 ") and "    explanation: 3 times the reference" in rest
    assert rest[-1] == f"repeat: onnxdbg bisect demo.onnx --target={SCALED}"


def test_a_report_is_neither_true_nor_false():
    for target in ("cpu", SCALED):
        raises(TypeError, bool, onnxdbg.bisect("demo.onnx", target))


def test_arrays_come_when_they_are_asked_for():
    image = np.linspace(-1, 1, 3 * 32 * 32, dtype=np.float32).reshape(1, 3, 32, 32)
    report = onnxdbg.bisect("demo.onnx", SCALED, inputs={"image": np.asfortranarray(image)})
    value = report.values[OUT]
    assert np.allclose(value.target, 3 * value.reference) and value.reference.any()
    assert (report.values["image"].reference == image).all()
    assert value.target is value.target
    assert (report.values["/stem/conv/Conv_output_0"].target ==
            report.values["/stem/conv/Conv_output_0"].reference).all()


def test_arrays_are_those_that_were_judged():
    report = onnxdbg.bisect("demo.onnx", over=f"cpu;{SCALED}", seed=3)
    value = report.values[OUT]
    assert report.diverges and np.allclose(value.target, 3 * value.reference)
    report = onnxdbg.bisect("demo.onnx", "cpu", reference="cpu:f16", golden="cpu:f16", tol="ulp:9")
    value = report.values[OUT]
    assert (value.reference == value.reference.astype(np.float16)).all()
    assert not (value.target == value.reference).all()
    fed = {"image": np.full((1, 3, 32, 32), 0.25, np.float32)}
    onnxdbg.command("run", "demo.onnx", target=SCALED, inputs=fed, save="recorded")
    report = onnxdbg.bisect("demo.onnx", "dump:recorded", fed)
    assert (report.values["probabilities"].target !=
            report.values["probabilities"].reference).any()
    for options in ({"samples": 2}, {"steps": 2}):
        value = onnxdbg.bisect("demo.onnx", SCALED, **options).values[OUT]
        assert "several" in str(raises(onnxdbg.Error, getattr, value, "reference"))
    value = onnxdbg.bisect("demo.onnx", against="demo.onnx").values[OUT]
    assert "against" in str(raises(onnxdbg.Error, getattr, value, "target"))


def test_files_go_with_a_report():
    def folders():
        return set(glob.glob(os.path.join(os.environ["TMPDIR"], "*")))

    gc.collect()
    before = folders()
    report = onnxdbg.bisect("demo.onnx", Off)
    assert folders() > before
    with report:
        pass
    assert folders() == before
    raises(onnxdbg.Error, getattr, report.values[OUT], "target")
    report = onnxdbg.bisect("demo.onnx", "cpu")
    del report
    assert folders() == before


def test_keep_leaves_what_repeats_a_search():
    image = np.ones((1, 3, 32, 32), np.float32)
    report = onnxdbg.bisect(pathlib.Path("demo.onnx").read_bytes(), SCALED, {"image": image})
    assert report.command is None and "keep=FOLDER" in report.diagnosis()
    report = onnxdbg.bisect(pathlib.Path("demo.onnx").read_bytes(), SCALED, {"image": image},
                            keep="kept")
    command = report.command
    report.close()
    done = subprocess.run(command.replace("onnxdbg", onnxdbg.program(), 1), shell=True,
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("#7 "), done


def test_html_is_escaped():
    report = onnxdbg.bisect(chain("Relu", "Sigmoid"), "fault:scale,node=#1,amount=3@cpu")
    text = report._repr_html_()
    assert "&lt;script&gt;1" in text and "<script>" not in text
    xml.etree.ElementTree.fromstring(text)


# --- what is judged ------------------------------------------------------------------------------

def test_what_was_not_judged_is_a_warning():
    class Final(Numpy):
        def execute(self, inputs, outputs):
            values = super().execute(inputs, outputs)
            return {name: None if name == OUT else values[name] for name in outputs}

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = onnxdbg.bisect("demo.onnx", Final)
    assert report.passed and [value.name for value in report.not_judged] == [OUT]
    assert [w.category for w in caught] == [onnxdbg.NotJudgedWarning]
    assert OUT in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not onnxdbg.bisect("demo.onnx", Numpy).not_judged
    assert not caught


def test_no_verdict_is_an_exception():
    error = raises(onnxdbg.ExecutorError, onnxdbg.bisect, "demo.onnx", "command:false")
    assert error.status == 4 and error.report.verdict == "none"
    assert not error.report.passed and not error.report.diverges
    assert str(error).startswith("no verdict: ")
    assert "; command: false exited with status 1" in str(error), error
    assert "<error" in error.report.to_junit()
    raises(onnxdbg.ExecutorError, onnxdbg.assert_matches, "demo.onnx", "command:false")


def test_every_exit_status_has_its_class():
    for kind, status, args, options in (
            (onnxdbg.UsageError, 2, ("demo.onnx", "nosuch"), {}),
            (onnxdbg.UsageError, 2, ("demo.onnx", "cpu"), {"tol": "nosuch"}),
            (onnxdbg.UsageError, 2, ("demo.onnx", "cpu"), {"nosuch": 1}),
            (onnxdbg.UsageError, 2, ("demo.onnx", "cpu", {"y": np.zeros(3)}), {}),
            (onnxdbg.ModelError, 3, ("nosuch.onnx", "cpu"), {}),
            (onnxdbg.ModelError, 3, ("demo.onnx", "cpu", {"image": np.zeros(3)}), {}),
            (onnxdbg.ModelError, 3, (b"no model", "cpu"), {})):
        error = raises(kind, onnxdbg.bisect, *args, **options)
        assert error.status == status and error.report is None, error
        assert not str(error).startswith("onnxdbg") and str(error), error
    raises(onnxdbg.UsageError, onnxdbg.bisect, "demo.onnx", "cpu", json="x.json")
    assert issubclass(onnxdbg.UsageError, ValueError)


def test_a_command_that_is_not_there():
    before = os.environ["ONNXDBG"]
    try:
        for path in ("/nosuch/onnxdbg", "/etc/passwd"):
            os.environ["ONNXDBG"] = path
            assert path in str(raises(onnxdbg.NotFound, onnxdbg.bisect, "demo.onnx", "cpu"))
        script = pathlib.Path("lacks")
        script.write_text("#!/bin/sh\necho libzip.so.4: cannot open >&2\nexit 127\n")
        script.chmod(0o755)
        os.environ["ONNXDBG"] = str(script)
        error = raises(onnxdbg.NotFound, onnxdbg.bisect, "demo.onnx", "cpu")
        assert str(error) == "libzip.so.4: cannot open", error
    finally:
        os.environ["ONNXDBG"] = before


# --- inputs and models ---------------------------------------------------------------------------

def test_inputs_of_all_types():
    identity = ("Identity",)
    types = module("onnxdbg_types")
    bits = types.as_bits(np.array([1, 2, 0x3F80, 4], np.uint16), "bfloat16")
    texts = np.array(["a", "", "\u00e9\n", "long " * 40], object)
    for dtype, array in ((1, np.arange(4, dtype=">f4")), (7, np.arange(4)), 
                         (9, np.eye(2).ravel() > 0), (10, np.arange(4, dtype=np.float16)),
                         (16, bits), (8, texts)):
        report = onnxdbg.bisect(chain(*identity, dtype=dtype), "cpu", {"x": array})
        got = report.values["<b>0"].target
        assert (np.asarray(got) == np.asarray(array)).all(), (dtype, got)
        assert getattr(got, "onnx_type", None) == getattr(array, "onnx_type", None)
    report = onnxdbg.bisect(chain(*identity, dtype=16), "cpu", {"x": bits})
    assert (types.widen(report.values["x"].reference)[2:3] == 1).all()


def test_names_of_all_kinds():
    for name in ("a=b", "a/b c", "x[0]", "max(x)", "\u00e9", "-x", "#1"):
        array = np.arange(4, dtype=np.float32)
        report = onnxdbg.bisect(chain("Neg", name=name), "cpu", {name: array})
        assert (report.values[name].reference == array).all(), name


def test_inputs_that_are_files():
    np.savez("in.npz", image=np.full((1, 3, 32, 32), 0.5, np.float32))
    report = onnxdbg.bisect("demo.onnx", "cpu", "in.npz")
    assert (report.values["image"].reference == 0.5).all()
    report = onnxdbg.bisect("demo.onnx", "cpu", {"image": "range(2,3)"}, seed=7)
    assert report.values["image"].reference.min() >= 2


def test_a_model_that_is_an_object():
    try:
        import onnx
    except ImportError:
        raise Skipped("no python3-onnx") from None
    model = onnx.load("demo.onnx")
    assert onnxdbg.bisect(model, SCALED).culprits[0].node == CONV
    os.makedirs("beside/data", exist_ok=True)
    onnx.save(model, "beside/model.onnx", save_as_external_data=True, location="data/weights.bin",
              size_threshold=64)
    bare = onnx.load("beside/model.onnx", load_external_data=False)
    error = raises(onnxdbg.UsageError, onnxdbg.bisect, bare, "cpu")
    assert "model_dir=DIR" in str(error)
    report = onnxdbg.bisect(bare, SCALED, model_dir="beside")
    assert report.culprits[0].node == CONV
    assert report.values[OUT].reference.any()
    assert onnxdbg.bisect("beside/model.onnx", Off).culprits[0].node == CONV
    outside = pathlib.Path("beside/data/weights.bin").read_bytes()
    for place in ("../weights.bin", os.path.abspath("beside/data/weights.bin"), "model.onnx"):
        for tensor in bare.graph.initializer:
            for entry in tensor.external_data:
                entry.value = place if entry.key == "location" else entry.value
        error = raises(onnxdbg.UsageError, onnxdbg.bisect, bare, "cpu", model_dir="beside")
        assert "give the model by its path" in str(error)
    assert pathlib.Path("beside/data/weights.bin").read_bytes() == outside


# --- targets of this process ---------------------------------------------------------------------

def test_targets_of_this_process():
    def function(path, inputs):
        made = Off()
        made.load_model(path)
        graph = model_file.read_model(path).graph
        return made.execute(inputs, list(graph.outputs))

    shared = Off()
    for target in (Off, shared, function):
        report = onnxdbg.bisect("demo.onnx", target)
        assert report.culprits[0].node == CONV, target
        value = report.values[OUT]
        assert np.allclose(value.target, 1.5 * value.reference, 1e-4, 1e-4)
        assert report.command is None and "object of this process" in report.diagnosis()
    assert "function in this process" in report.json["target_description"]
    assert onnxdbg.command("run", "demo.onnx", target=Numpy)["outputs"]
    long = os.path.join("long" * 30, "a,b=c@d")  # longer than a socket's path may be
    assert onnxdbg.bisect("demo.onnx", Numpy, keep=long).passed
    assert onnxdbg.bisect("demo.onnx", Numpy, keep="a,b=c@d").passed
    report = onnxdbg.bisect("demo.onnx", SCALED, {"image": report.values["image"].reference},
                            keep="a,b=c@d")
    assert (report.values["image"].reference != 0).any()


def test_the_target_runs_in_the_calling_thread_and_nothing_changes():
    threads, here = set(), os.getcwd()

    class Mine(Numpy):
        def execute(self, inputs, outputs):
            threads.add(threading.get_ident())
            return super().execute(inputs, outputs)

    onnxdbg.bisect(pathlib.Path("demo.onnx").read_bytes(), Mine)
    assert threads == {threading.get_ident()} and os.getcwd() == here
    got = []
    other = threading.Thread(target=lambda: got.append(onnxdbg.bisect("demo.onnx", Mine).passed))
    other.start()
    other.join()
    assert got == [True] and len(threads) == 2


def test_what_a_target_raises_reaches_the_user():
    def broken(_path, _inputs):
        return {}["boom"]

    error = raises(onnxdbg.ExecutorError, onnxdbg.bisect, "demo.onnx", broken)
    assert type(error.__cause__) is KeyError and error.status == 4
    frames = traceback.extract_tb(error.__cause__.__traceback__)
    assert [(f.name, f.filename) for f in frames] == [("broken", __file__)], frames
    assert "package_test.py" in str(error)

    class Lacks(Numpy):
        def load_model(self, path):
            super().load_model(path)
            if any(n.op_type == "Softmax" for n in model_file.read_model(path).graph.nodes):
                raise NotImplementedError("Softmax")

    error = raises(onnxdbg.ExecutorError, onnxdbg.bisect, "demo.onnx", Lacks)
    assert type(error.__cause__) is NotImplementedError and error.report.json["pieces"]["refused"]


def test_what_is_no_target_is_refused():
    class Nothing:
        pass

    for target in (3, Nothing, object()):
        raises(TypeError, onnxdbg.bisect, "demo.onnx", target)


def test_a_session_knows_no_target_of_this_process():
    error = raises(onnxdbg.UsageError, onnxdbg.bisect, "demo.onnx", Off, session="s.odb")
    assert "session" in str(error) and not os.path.exists("s.odb")
    assert onnxdbg.bisect("demo.onnx", Off, keep="twice").diverges
    class Again(Numpy):
        pass
    Again.__name__ = "Off"
    assert onnxdbg.bisect("demo.onnx", Again, keep="twice").passed
    assert raises(onnxdbg.ModelError, onnxdbg.bisect, "nosuch.onnx", keep="twice").report is None


# --- the end -------------------------------------------------------------------------------------

def children():
    """Processes that stem from this one."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,stat=,args="], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines()
            if os.environ["TMPDIR"] in line and line.split()[1][0] != "Z"]


def test_an_interrupt_leaves_nothing_behind():
    def slow(_path, _inputs):
        time.sleep(60)

    for target in (slow, f"fault:hang,node={CONV}@cpu"):
        before = set(os.listdir(os.environ["TMPDIR"]))
        begun = time.monotonic()
        threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            onnxdbg.bisect("demo.onnx", target, inputs={"image": "range(0,1)"}, keep=None)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("it was not interrupted")
        assert time.monotonic() - begun < 20
        for _ in range(50):
            if not children() and set(os.listdir(os.environ["TMPDIR"])) == before:
                break
            gc.collect()
            time.sleep(0.1)
        assert not children(), children()
        left = set(os.listdir(os.environ["TMPDIR"])) - before
        assert not left, left


# --- other commands ------------------------------------------------------------------------------

def test_other_commands():
    assert onnxdbg.command("info", "demo.onnx")["nodes"] == 54
    ran = onnxdbg.command("run", "demo.onnx", target="cpu", save="saved",
                          inputs={"image": np.zeros((1, 3, 32, 32), np.float32)})
    assert ran.status == 0 and ran["outputs"][0]["name"] == "probabilities"
    assert onnxdbg.command("sensitivity", "demo.onnx", type="f16")["nodes"]
    explained = onnxdbg.command("explain", "demo.onnx", CONV, target=SCALED)
    assert explained["explanations"][0]["text"] == "3 times the reference"
    least = onnxdbg.command("minimise", "demo.onnx", target=SCALED, output="least")
    assert least["reproduces"] and os.path.exists("least/model.onnx")
    np.save("a.npy", np.zeros(3))
    np.save("b.npy", np.ones(3))
    assert onnxdbg.command("compare", "a.npy", "b.npy").status == 1
    raises(onnxdbg.UsageError, onnxdbg.command, "nosuch")
    raises(onnxdbg.UsageError, onnxdbg.command, "info")


def main():
    """Runs what is named test_*, or the one that is named."""
    for name, function in list(globals().items()):
        if not name.startswith("test_") or sys.argv[1:] and name not in sys.argv[1:]:
            continue
        what = name[5:].replace("_", " ")
        try:
            function()
            print("ok", what, flush=True)
        except Skipped as why:
            print("skip", why, flush=True)
        except Exception:
            print("not ok", what, flush=True)
            traceback.print_exc()


if __name__ == "__main__":
    main()
