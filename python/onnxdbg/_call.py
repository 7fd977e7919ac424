# SPDX-License-Identifier: MIT
"""One call of the command: Python's objects as words and files, a child process, its end."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Protocol, Sequence, Union

import numpy as np

from ._errors import Error, NotFound, UsageError
from ._program import environment, module, program

GRACE = 5.0  # seconds in which a child that is told to end puts its things away
SOCKET_MAX = 107  # bytes of a path that a socket can have


class ModelProto(Protocol):
    """What is needed of onnx.ModelProto; the package onnx is not."""

    def SerializeToString(self) -> bytes:
        """The model's bytes."""


Model = Union[str, "os.PathLike[str]", bytes, ModelProto]
Inputs = Union[None, str, "os.PathLike[str]", Mapping[str, Any]]


def option_words(options: Mapping[str, Any]) -> List[str]:
    """Options of the command: True is a flag, None and False are nothing, a list repeats the
    option, and a dict does so with KEY=VALUE.

    >>> option_words({"at_step": 3, "strict": True, "session": None, "dim": {"batch": 2, "n": 8}})
    ['--at-step=3', '--strict', '--dim=batch=2', '--dim=n=8']
    """
    def words(key: str, value: Any) -> Iterator[str]:
        if value is True:
            yield key
        elif isinstance(value, Mapping):
            for name, part in value.items():
                yield f"{key}={name}={part}"
        elif isinstance(value, (list, tuple)):
            for part in value:
                yield from words(key, part)
        elif value is not None and value is not False:
            yield f"{key}={value}"

    return [word for key, value in options.items()
            for word in words("--" + key.rstrip("_").replace("_", "-"), value)]


def spec_text(path: str) -> str:
    r"""A path as it stands in a spec.

    >>> print(spec_text("/tmp/a,b@c"))
    /tmp/a\,b\@c
    """
    return re.sub(r"([,=@\\])", r"\\\1", path)


class Finished:
    """What a call has left: exit status, standard output, and why it failed, where it did."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out = status, out
        said = re.findall(r"^onnxdbg: (.*)", err, re.M)  # before the last, what was chosen
        self.why = said[-1] if said else err.strip()


class Folder:
    """The files of a call, and of what is asked about it later. They go with the object, unless the
    folder is the user's."""

    def __init__(self, keep: Union[None, str, os.PathLike[str]] = None) -> None:
        self.kept = keep is not None
        if keep is not None:
            self.path = Path(keep).resolve()
            self.path.mkdir(parents=True, exist_ok=True)
        else:
            self.path = Path(tempfile.mkdtemp(prefix="onnxdbg-"))
            self.close = weakref.finalize(self, shutil.rmtree, str(self.path), True)
        self.exceptions: List[BaseException] = []  # of targets of this process
        self._sockets: Optional[Path] = None

    # --- files ----------------------------------------------------------------------------------

    def model(self, model: Model, beside: Union[None, str, os.PathLike[str]]) -> List[str]:
        """The words for a model. An object becomes a file; what it names as external data lies in
        the folder beside, and is read there."""
        if isinstance(model, (str, os.PathLike)):
            path = os.fspath(model)
            return ["./" + path if path.startswith("-") else path]
        data = model if isinstance(model, bytes) else model.SerializeToString()
        home = self.path / "model"  # where nothing else lies
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        (home / "model.onnx").write_bytes(data)
        names = module("onnxdbg_model").external_files(data)
        for name in names:
            link = Path(os.path.abspath(home / name))
            origin = Path(beside or ".").resolve() / name
            if home not in link.parents or link == home / "model.onnx":
                raise UsageError(f"external data '{name}' cannot lie below a folder beside "
                                 "model.onnx; give the model by its path")
            if not origin.exists():
                raise UsageError(f"external data '{name}' is not in {Path(beside or '.').resolve()}"
                                 "; name the model's folder: model_dir=DIR")
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():  # by another name
                link.symlink_to(origin)
        return [str(home / "model.onnx")] + ["--follow-links"] * bool(names)

    def input(self, at: int, name: str, value: Any) -> str:
        """NAME=SOURCE for an array, or for a text or path that is a source already."""
        if isinstance(value, (str, os.PathLike)):
            return f"{name}={os.fspath(value)}"
        types = module("onnxdbg_types")
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
        file = self.path / f"input_{at}"
        plain = getattr(array, "onnx_type", None) is None
        if plain and array.dtype.newbyteorder("=") in types.NATIVE:
            np.save(file.with_suffix(".npy"), array)
            return f"{name}={file.with_suffix('.npy')}"
        try:
            dtype = types.dtype_of(array)
            proto = module("onnxdbg_wire").Message(name=name, dims=array.shape, data_type=dtype)
            if dtype == types.STRING:
                proto.string_data = [text if isinstance(text, bytes) else
                                     str(text).encode("utf-8", "surrogateescape")
                                     for text in array.reshape(-1).tolist()]
            else:
                proto.raw_data = bytes(types.to_bytes(array, dtype))
        except types.Refused as error:
            raise UsageError(f"input '{name}': {error}") from None
        schema = module("onnxdbg_model").TENSOR_PROTO
        file.with_suffix(".pb").write_bytes(module("onnxdbg_wire").encode(schema, proto))
        return f"{name}={file.with_suffix('.pb')}"

    def inputs(self, inputs: Inputs) -> List[str]:
        """The words for inputs: a dict by name, or what --inputs-from reads."""
        if inputs is None:
            return []
        if isinstance(inputs, (str, os.PathLike)):
            return ["--inputs-from=" + os.fspath(inputs)]
        return ["--input=" + self.input(at, name, value)
                for at, (name, value) in enumerate(inputs.items())]

    # --- processes --------------------------------------------------------------------------------

    def run(self, words: Sequence[str], target: Any = None, args: Sequence[str] = ()) -> Finished:
        """Runs the command with these words, with --target, and with args, which are no options.
        Whatever ends this, no process stays behind."""
        if not self.path.is_dir():
            raise Error(f"{self.path} is gone, and with it what is asked for")
        self.exceptions = []
        behind = ["--", *args] if args else []
        if target is None or isinstance(target, str):
            given = [] if target is None else ["--target=" + target]
            return self._run([*words, *given, *behind], None)
        path = self._socket(target)
        try:
            with module("onnxdbg_host").Host(target, path) as host:
                self.exceptions = host.exceptions
                return self._run([*words, "--target=python:" + spec_text(path), *behind], host)
        finally:
            if os.path.lexists(path):
                os.remove(path)

    def cause(self) -> Optional[BaseException]:
        """The first exception that a target of this process raised in the last run."""
        return self.exceptions[0] if self.exceptions else None

    def _socket(self, target: Any) -> str:
        """Where onnxdbg finds a target of this process: always at one place, for it is its name."""
        name = getattr(target, "__name__", type(target).__name__)
        name = re.sub(r"\W", "_", name, flags=re.ASCII)[:40]
        if self._sockets is None:
            self._sockets = self.path
            if len(os.fsencode(self.path)) + 1 + len(name) > SOCKET_MAX:
                self._sockets = Path(tempfile.mkdtemp(prefix="onnxdbg-", dir="/tmp"))
                weakref.finalize(self, shutil.rmtree, str(self._sockets), True)
        return str(self._sockets / name)

    def _run(self, words: Sequence[str], host: Any) -> Finished:
        with open(self.path / "out", "w+b") as out, open(self.path / "err", "w+b") as err:
            try:
                child = subprocess.Popen([program(), *words], stdin=subprocess.DEVNULL, stdout=out,
                                         stderr=err, env=environment())
            except OSError as error:
                raise NotFound(f"{program()} cannot be started: {error.strerror}") from error
            try:
                if host is not None:
                    ended = os.pidfd_open(child.pid)
                    try:
                        host.serve(ended)
                    finally:
                        os.close(ended)
                child.wait()
            finally:
                stop(child)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
        return Finished(child.returncode, *texts)

    def json(self, name: str) -> Optional[Dict[str, Any]]:
        """An object that the command has written here; None: it has not."""
        try:
            with open(self.path / name, encoding="utf-8") as file:
                value: Dict[str, Any] = json.load(file)
                return value
        except FileNotFoundError:
            return None


def stop(child: subprocess.Popen[bytes]) -> None:
    """Ends a child that has not come to its end: what it has started goes with it."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
