# SPDX-License-Identifier: MIT
"""What a compiler's team fills in to have it debugged: a class that compiles each model that the
debugger cuts out, keeps what came of it, and runs it on the device.

    from onnxdbg_compiler import Compiler

    class Mine(Compiler):
        def init(self, device="0", **common):
            super().init(**common)
            self.device = open_device(device)

        def key(self): ...             what compiling depends on: version, flags, device
        def compile(self, path, out): ...       the model at path into files below out
        def run(self, artifact, inputs, outputs): ...
        def text(self, artifact): ...           the compiler's IR, for people

    $ onnxdbg bisect model.onnx --target python:mine.py:Mine,device=1

onnxdbg_tvm.py is one. A search asks for dozens of models, most of them asked for again by the next
search; so what was compiled is kept by the hash of the model, its weights and key().
"""
import abc
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time

from onnxdbg_model import external_files
from onnxdbg_types import WrongOption

KEY = re.compile("[0-9a-f]{64}")
STALE = 60  # seconds from making a folder to locking it, and many more


def cache_home():
    """Where caches of this user are."""
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def hash_file(digest, path):
    """Adds a file's length and content."""
    with open(path, "rb") as file:
        digest.update(b"%d\n" % os.fstat(file.fileno()).st_size)
        while True:
            piece = file.read(1 << 20)
            if not piece:
                return
            digest.update(piece)


class Compiler(abc.ABC):
    """A target that compiles. Options of its own are arguments of init(), which passes the rest
    on: cache=DIR or cache=off, and cache_size=BYTES, beyond which what was not used for longest
    goes."""

    def init(self, cache="", cache_size=str(4 << 30)):
        """Finds the cache."""
        if not cache_size.isdigit():
            raise WrongOption("cache_size=%s is no number of bytes" % cache_size)
        self.limit = int(cache_size)
        self.own = cache == "off"
        self.cache = (tempfile.mkdtemp(prefix="compiled-") if self.own else os.path.abspath(
            cache or os.path.join(cache_home(), "onnxdbg", type(self).__name__)))
        os.makedirs(self.cache, exist_ok=True)
        self.artifact = self.model = None
        self.compiled = self.found = 0
        self.weights = {}

    @abc.abstractmethod
    def key(self):
        """A text that changes with whatever else changes what compile() makes."""

    @abc.abstractmethod
    def compile(self, path, out):
        """Compiles the model at path into files below the directory out."""

    @abc.abstractmethod
    def run(self, artifact, inputs, outputs):
        """Runs what compile() has put into the directory artifact; as execute()."""

    def text(self, artifact):
        """The compiler's own text of the model, "" where there is none."""
        return ""

    def load(self, artifact):
        """Called once before the runs of an artifact."""

    def load_model(self, path):
        """Finds the model in the cache, or compiles it into the cache."""
        home = os.path.join(self.cache, self.hash_model(path))
        if os.path.isdir(home):
            self.found += 1
            os.utime(home)
        else:
            self.compiled += 1
            out = tempfile.mkdtemp(prefix=".new-", dir=self.cache)
            held = os.open(out, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_SH)  # as long as we live
            try:
                self.compile(path, out)
                os.rename(out, home)  # whole or not at all
            except OSError:
                if not os.path.isdir(home):  # which another child may have been faster with
                    raise
            finally:
                shutil.rmtree(out, ignore_errors=True)
                os.close(held)
            self.shrink(home)
        self.artifact = home
        self.load(home)

    def hash_model(self, path):
        """The name of what a model compiles to."""
        digest = hashlib.sha256()
        digest.update(b"%s\n%s\n" % (type(self).__name__.encode(), self.key().encode()))
        hash_file(digest, path)
        with open(path, "rb") as file:
            beside = external_files(file.read())
        for name in beside:
            digest.update(self.hash_weights(os.path.join(os.path.dirname(path), name)))
        return digest.hexdigest()

    def hash_weights(self, path):
        """The hash of a file that many models have their weights in, computed once."""
        state = os.stat(path)
        known = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
        if known not in self.weights:
            digest = hashlib.sha256()
            hash_file(digest, path)
            self.weights[known] = digest.digest()
        return self.weights[known]

    def sweep(self, path):
        """Removes what is of a child that was killed: nobody has it locked."""
        try:
            held = os.open(path, os.O_RDONLY)
        except OSError:  # another was faster
            return
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if time.time() - os.fstat(held).st_mtime > STALE:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(held)

    def shrink(self, keep):
        """Removes what was not used for longest until the rest is within the limit."""
        entries = []
        for entry in os.scandir(self.cache):
            if entry.name.startswith(".new-") and entry.is_dir(follow_symlinks=False):
                self.sweep(entry.path)
            if entry.is_dir() and KEY.fullmatch(entry.name):  # DIR may hold other things too
                size = sum(os.path.getsize(os.path.join(where, name))
                           for where, _, names in os.walk(entry.path) for name in names)
                entries.append((entry.stat().st_mtime, size, entry.path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                return
            if path != keep:
                shutil.rmtree(path, ignore_errors=True)
                total -= size

    def execute(self, inputs, outputs):
        """One run."""
        return self.run(self.artifact, inputs, outputs)

    def account(self):
        """The IR, and what the cache was good for."""
        return {"text": self.text(self.artifact) if self.artifact else "",
                "notes": ["%d models compiled, %d found in %s" % (self.compiled, self.found,
                                                                  self.cache)]}

    def release(self):
        """The end."""
        if self.own:
            shutil.rmtree(self.cache, ignore_errors=True)
