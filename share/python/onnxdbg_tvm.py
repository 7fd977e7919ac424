# SPDX-License-Identifier: MIT
"""Apache TVM as a target of onnxdbg: a template, to be made yours.

    $ onnxdbg bisect model.onnx --target python:onnxdbg_tvm.py:TVM,target=llvm,opt_level=3

Written along TVM's documentation of the relay interface (0.8 to 0.18) and never run by those who
wrote it, who had no TVM to run it with. What surrounds it, onnxdbg_compiler.py, is tested with
another compiler. For a device of yours change target, device() and, where runs are remote, run().
"""
import os

import numpy as np

from onnxdbg_compiler import Compiler
from onnxdbg_types import Refused


class TVM(Compiler):
    """Compiles with relay, runs with the graph executor."""

    def init(self, target="llvm", opt_level="3", device="", **common):
        """target as TVM spells it; device as tvm.device() does, else what belongs to target."""
        try:
            import onnx
            import tvm
            from tvm import relay
            from tvm.contrib import graph_executor
        except ImportError as error:
            raise Refused("TVM cannot be imported: %s" % error,
                          "install it and the package onnx for this Python") from error
        super().init(**common)
        self.onnx, self.tvm, self.relay, self.executor = onnx, tvm, relay, graph_executor
        self.target, self.opt_level = target, int(opt_level)
        self.place = device

    def key(self):
        return "%s %s %d" % (self.tvm.__version__, self.target, self.opt_level)

    def device(self):
        """Where runs are: tvm.rpc sessions of a board would give theirs."""
        return self.tvm.device(self.place or self.target.split()[0], 0)

    def compile(self, path, out):
        module, weights = self.relay.frontend.from_onnx(self.onnx.load(path),
                                                        freeze_params=True)
        with self.tvm.transform.PassContext(opt_level=self.opt_level):
            library = self.relay.build(module, target=self.target, params=weights)
        library.export_library(os.path.join(out, "model.so"))
        with open(os.path.join(out, "relay.txt"), "w", encoding="utf-8") as file:
            file.write(module.astext(show_meta_data=False))

    def load(self, artifact):
        library = self.tvm.runtime.load_module(os.path.join(artifact, "model.so"))
        self.module = self.executor.GraphModule(library["default"](self.device()))
        self.names = None

    def load_model(self, path):
        super().load_model(path)
        self.names = [v.name for v in self.onnx.load(path, load_external_data=False).graph.output]

    def run(self, artifact, inputs, outputs):
        self.module.run(**{name: np.array(value) for name, value in inputs.items()})
        return {name: self.module.get_output(self.names.index(name)).numpy() for name in outputs}

    def text(self, artifact):
        with open(os.path.join(artifact, "relay.txt"), encoding="utf-8") as file:
            return file.read()

    def describe(self):
        """Version, target, level."""
        return "TVM %s, %s, level %d" % (self.tvm.__version__, self.target, self.opt_level)
