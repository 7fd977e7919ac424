# SPDX-License-Identifier: MIT
"""bisect(), command() and assert_matches(): what this package is for."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Optional, Union

from ._call import Finished, Folder, Inputs, Model, option_words
from ._errors import Error, Mismatch, UsageError, error_of
from ._program import module
from ._report import Report

Keep = Union[None, str, "os.PathLike[str]"]

# A plugin may name a folder for the files of a mismatch, and hears of each report.
keeps: List[Callable[[], Keep]] = []
hears: List[Callable[[Report], None]] = []


class Result(Dict[str, Any]):
    """The JSON of a command, as a dict; status is the exit status, 0 or 1."""

    status: int = 0


def failed(done: Finished, folder: Folder, report: Optional[Report] = None) -> Error:
    """The exception for a call that came to no result; what a target raised is its cause."""
    why = done.why
    if report is not None:
        first, why = done.out.partition("\n")[0], report.json["failure"] or ""
        why = first if why in first else f"{first}; {why}"
    error = error_of(done.status, why, report)
    error.__cause__ = folder.cause()
    return error


def search(model: Model, target: Any, inputs: Inputs, keep: Keep,
           model_dir: Union[None, str, "os.PathLike[str]"], options: Dict[str, Any]) -> Report:
    """bisect(), without its warnings."""
    __tracebackhide__ = True
    folder = Folder(keep)
    session = options.pop("session", None)
    if session is not None and not isinstance(target, (str, type(None))):
        raise UsageError("a session cannot know whether a target of this process has changed; "
                         "leave session= away")
    own, page = folder.path / "session.odb", folder.path / "report.json"
    for file in (own, page):  # of a search before, in a folder that is kept
        if file.exists():
            file.unlink()
    if "json" in options or "j" in options:
        raise UsageError("the JSON is Report.json")
    words = ["bisect", *folder.model(model, model_dir), *folder.inputs(inputs),
             *option_words(options)]
    kept = ["--session=" + os.fspath(session or own), f"--json={page}"]
    done = folder.run([*words, *kept], target)
    json = folder.json(page.name)
    if json is None:
        raise failed(done, folder)
    report = Report(folder, json, done.out, words, target, os.fspath(session or own))
    if report.verdict == "none" or done.status not in (0, 1):
        raise failed(done, folder, report)
    return report


def bisect(model: Model, target: Any = None, inputs: Inputs = None, *, keep: Keep = None,
           model_dir: Union[None, str, "os.PathLike[str]"] = None, **options: Any) -> Report:
    """Runs a model on the reference and on a target, and finds the nodes at fault.

    model: a path, bytes, or an onnx.ModelProto, whose external data is looked for in model_dir.
    target: a spec, as "ort,opt=all"; or an object of this process: function(path, inputs), which
    returns a dict of arrays, or a class or an object with the methods of onnxdbg-python(7). None:
    what the command takes by itself.
    inputs: a dict of arrays, or of sources as `--input` has them, by name; or a path, as
    `--inputs-from` has it. What is not given is generated.
    keep: a folder for the files of this search, which stay there.
    options: those of `onnxdbg bisect`: tol="allclose:1e-3", dim={"batch": 2}, strict=True.

    Returns a Report whose verdict is "pass" or "diverges". Without a verdict there is an exception:
    UsageError, ModelError, ExecutorError, Interrupted. What was not judged is a NotJudgedWarning.

    >>> report = bisect("demo.onnx", "fault:scale,node=/block/conv2/Conv,amount=2@cpu")
    >>> report.verdict
    'diverges'
    >>> culprit = report.culprits[0]
    >>> culprit.index, culprit.node, culprit.operator, culprit.kind
    (7, '/block/conv2/Conv', 'Conv', 'introduced')
    >>> print(culprit.explanation.text)
    3 times the reference
    >>> value = report.values[culprit.value]
    >>> float((value.target / value.reference).max().round(3))
    3.0
    >>> if report: print("right")
    Traceback (most recent call last):
    TypeError: a Report is neither true nor false; ask for .passed or .diverges
    """
    report = search(model, target, inputs, keep, model_dir, options)
    report._warn(2)
    return report


def assert_matches(model: Model, target: Any = None, inputs: Inputs = None, *, keep: Keep = None,
                   model_dir: Union[None, str, "os.PathLike[str]"] = None,
                   **options: Any) -> Report:
    """The same for tests: raises Mismatch, an AssertionError whose text is the diagnosis, where the
    model diverges. In pytest the files of a search are in its tmp_path, and stay as long as that.

    >>> assert_matches("demo.onnx", "cpu")
    <onnxdbg.Report pass>
    """
    __tracebackhide__ = True
    if keep is None and keeps:
        keep = keeps[-1]()
    report = search(model, target, inputs, keep, model_dir, options)
    for hear in hears:
        hear(report)
    if not report.passed:
        raise Mismatch(report.diagnosis(), report)
    report._warn(2)
    return report


def read_model(path: Union[str, "os.PathLike[str]"]) -> Any:
    """A model for targets that run it node by node, without the package onnx; its parts are those
    of onnxdbg-python(7).

    >>> graph = read_model("demo.onnx").graph
    >>> graph.nodes[0].op_type, list(graph.inputs)
    ('Conv', ['image'])
    """
    return module("onnxdbg_model").read_model(os.fspath(path))


def command(verb: str, *args: Any, target: Any = None, inputs: Inputs = None,
            model_dir: Union[None, str, "os.PathLike[str]"] = None, **options: Any) -> Result:
    """Any other command that has JSON, which is what it returns. The first of args is its model or
    file, as bisect() takes it; the other words and the options are the command's own.

    >>> command("info", "demo.onnx")["nodes"]
    54
    >>> command("run", "demo.onnx", target="cpu:f16")["outputs"][0]["name"]
    'probabilities'
    """
    folder = Folder()
    words = [verb]
    if args:
        words += folder.model(args[0], model_dir)
        words += [os.fspath(arg) if isinstance(arg, os.PathLike) else str(arg) for arg in args[1:]]
    words += folder.inputs(inputs) + option_words(options)
    done = folder.run([*words, f"--json={folder.path / 'out.json'}"], target)
    json = folder.json("out.json")
    if done.status not in (0, 1) or json is None:
        raise failed(done, folder)
    result = Result(json)
    result.status = done.status
    return result
