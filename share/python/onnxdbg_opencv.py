# SPDX-License-Identifier: MIT
"""OpenCV's DNN module as a target of onnxdbg: the kind `opencv`.

OpenCV fuses layers and knows values by the names of its own layers. So that every output can be
answered by its ONNX name, whatever OpenCV makes of the graph, each gets an Identity node of its own
behind it before OpenCV sees the model.
"""
import os
import re

import cv2
import numpy as np

from onnxdbg_model import (external_files, read_model, with_outputs, with_reshaped_inputs,
                           with_weights)
from onnxdbg_types import TENSOR, TYPES, Refused, Unsupported, WrongOption

UINT8 = 2


def choices(prefix):
    """What OpenCV has constants for: {"cpu": 0, ...}."""
    return {name[len(prefix):].lower(): value for name, value in vars(cv2.dnn).items()
            if name.startswith(prefix)}


def choose(what, table, name):
    """The constant of that name."""
    if name not in table:
        raise WrongOption("%s=%s is none that OpenCV has" % (what, name),
                          "choose one of " + ", ".join(sorted(table)))
    return table[name]


def reason(error):
    """OpenCV's own words without files and functions of its source."""
    text = " ".join(str(error).replace("\n>", " ").split())
    node = re.search(r"Node \[(\w+)@?\S*\]:\((\S+)\)", text)
    last = re.split(r"error: \(-\d+:[^)]*\) ?", text)[-1]
    last = re.sub(r"in function '[^']*'", "", last).strip(" >")
    name = node.group(2).split("!", 1)[-1] if node else ""
    return "%s '%s': %s" % (node.group(1), name, last) if node else last or text


class OpenCV:
    """One net of OpenCV."""

    def init(self, backend="opencv", target="cpu", fusion="on", threads=""):
        """backend and target as OpenCV names them in DNN_BACKEND_ and DNN_TARGET_."""
        self.where = "%s/%s" % (backend, target)
        self.backend = choose("backend", choices("DNN_BACKEND_"), backend)
        self.target = choose("target", choices("DNN_TARGET_"), target)
        self.fusion = choose("fusion", {"on": True, "off": False}, fusion)
        if self.target not in cv2.dnn.getAvailableTargets(self.backend):
            raise Refused("this OpenCV cannot run on %s" % self.where,
                          "opencv/cpu is always there")
        if threads:
            cv2.setNumThreads(int(threads))

    def load_model(self, path):
        """Reads the model; what OpenCV has no layer for is refused with OpenCV's reason."""
        with open(path, "rb") as file:
            data = file.read()
        if external_files(data):  # of which OpenCV knows nothing
            data = with_weights(data, os.path.dirname(path))
        graph = read_model(path).graph
        self.inputs = [name for name in graph.inputs if name not in graph.initializers]
        for name in self.inputs:
            if graph.inputs[name] != (TENSOR, 1):
                kind = graph.inputs[name]
                word = TYPES[kind[1]][0] if kind and kind[0] == TENSOR else "no tensor"
                raise Unsupported("the input '%s' is %s: OpenCV takes float only" % (name, word))
        self.graph = graph
        solid = {name: ("onnxdbg-in:%d" % i, [1, *graph.shapes[name]], graph.shapes[name])
                 for i, name in enumerate(self.inputs) if len(graph.shapes[name] or ()) == 3}
        data = with_reshaped_inputs(data, solid)  # three dimensions would be rows of pixels
        self.ports = {name: solid[name][0] if name in solid else name for name in self.inputs}
        self.names = {name: "onnxdbg:%d" % i for i, name in enumerate(graph.outputs)}
        while not self.read_net(data):
            pass
        self.net.setPreferableBackend(self.backend)
        self.net.setPreferableTarget(self.target)
        self.net.enableFusion(self.fusion)

    def read_net(self, data):
        """Reads the model. False: one of the outputs wanted is nothing that OpenCV computes when it
        runs, but a constant or inside a layer, and now it is no longer wanted."""
        try:
            data = with_outputs(data, self.names)
            self.net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
            return True
        except cv2.error as error:
            what = reason(error)
            for name, node in self.names.items():
                if what.startswith("Identity '%s'" % node):
                    del self.names[name]
                    return False
            raise Unsupported("OpenCV does not read %s" % what) from error

    def execute(self, inputs, outputs):
        """One forward pass."""
        try:
            for name in self.inputs:
                value = np.array(inputs[name])
                port = self.ports[name]
                self.net.setInput(value if port == name else value[None], port)
            there = [name for name in outputs if name in self.names]
            results = self.net.forward([self.names[name] for name in there])
        except cv2.error as error:
            raise Refused("OpenCV: " + reason(error)) from error
        values = {name: self.fit(name, result) for name, result in zip(there, results)}
        return {name: values.get(name) for name in outputs}

    def fit(self, name, result):
        """The array that the model declares, as far as it is OpenCV's way of holding the same: it
        has no tensors of less than two dimensions, and uint8 is int8 with 128 less."""
        shape = self.graph.shapes[name]
        if self.graph.outputs[name] == (TENSOR, UINT8) and result.dtype == np.int8:
            result = result.view(np.uint8) ^ np.uint8(128)
        if shape is None or [d for d in shape if d != 1] != [d for d in result.shape if d != 1]:
            return result
        return result.reshape(shape)

    def describe(self):
        """Version and place."""
        return "OpenCV %s, %s, fusion %s" % (cv2.__version__, self.where,
                                            "on" if self.fusion else "off")

    def account(self):
        """The net as OpenCV has it, fused layers included; it knows that once it has run."""
        try:
            text = self.net.dump()
        except cv2.error:
            text = ""
        return {"text": text}
