# SPDX-License-Identifier: MIT
"""OpenCV's DNN module as a target, as short as it can be: onnxdbg-adapter(7).

    onnxdbg bisect model.onnx --target python:opencv_adapter.py,static
"""
import os

import cv2
import numpy as np
from onnxdbg_model import read_model, with_outputs, with_weights
from onnxdbg_types import TENSOR, Unsupported


class OpenCV:
    def load_model(self, path):
        self.graph = read_model(path).graph
        for name, kind in self.graph.inputs.items():
            if kind != (TENSOR, 1) and name not in self.graph.initializers:
                raise Unsupported("unsupported type: OpenCV takes inputs of float, not " + name)
            if len(self.graph.shapes[name] or ()) == 3:  # it would take them for an image's rows
                raise Unsupported("unsupported shape: OpenCV has no inputs of 3 dimensions")
        # Fused layers lose their outputs: an Identity behind each is a value that is there.
        self.names = {name: "probe:%d" % i for i, name in enumerate(self.graph.outputs)}
        with open(path, "rb") as file:
            data = with_weights(file.read(), os.path.dirname(path))
        while not self.read(with_outputs(data, self.names)):
            pass

    def read(self, data):
        try:
            self.net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
            return True
        except cv2.error as error:
            for name, probe in self.names.items():
                if probe + ")" in str(error):  # OpenCV made a constant of it: there is no value
                    del self.names[name]
                    return False
            raise Unsupported("OpenCV does not read it: " + str(error)) from error

    def execute(self, inputs, outputs):
        for name, array in inputs.items():
            self.net.setInput(np.array(array), name)  # a copy: ours may not be written to
        there = [name for name in outputs if name in self.names]
        results = self.net.forward([self.names[name] for name in there])
        values = {name: self.fit(name, result) for name, result in zip(there, results)}
        return {name: values.get(name) for name in outputs}  # None: untested

    def fit(self, name, result):
        if result.dtype == np.int8:  # its uint8 is that, with 128 less
            raise Unsupported("unsupported type: integers of 8 bits are OpenCV's own")
        shape = self.graph.shapes[name]
        if shape is None and result.ndim <= 2:  # it has two at least, also where the model has less
            return None
        fits = shape is not None and result.size == np.prod(shape)
        return result.reshape(shape) if fits else result

    def capabilities(self):
        return {"types": "value"}  # it computes integers in float

    def describe(self):
        return "OpenCV " + cv2.__version__
