# SPDX-License-Identifier: MIT
"""What carries out a metric of the user's for `onnxdbg score`: python:FILE.py:CLASS.

The class is made anew for each score, with the options of the metric as keywords; then add(outputs,
label) is called for each sample that is picked, with the outputs as a dict of arrays, and score()
gives a number. `lower = True` in the class says that less is better.
"""
import inspect
import os
import traceback

import numpy as np

from onnxdbg_serve import load_file

TAKEN, PICKED, SCORE, LABEL = ("onnxdbg_taken", "onnxdbg_picked", "onnxdbg_score", "onnxdbg_label")


def find_class(module, name, path):
    """The class of that name, or the only one that scores."""
    classes = [c for c in vars(module).values()
               if inspect.isclass(c) and c.__module__ == module.__name__
               and callable(getattr(c, "add", None)) and callable(getattr(c, "score", None))]
    named = [c for c in classes if c.__name__ == name] if name else classes
    if len(named) != 1:
        raise ValueError("%s has %s" % (path, "no class '%s' with add() and score()" % name if name
                                        else "%d classes with add() and score(), and not one"
                                        % len(classes)))
    return named[0]


def in_file(path, error):
    """The error with its place in the user's file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if os.path.abspath(frame.filename) == os.path.abspath(path)]
    return RuntimeError("%s%s: %s: %s" % (os.path.basename(path),
                                          ":%d" % lines[-1] if lines else "",
                                          type(error).__name__, error))


class Score:
    """The samples that were taken, and scores of some of them."""

    def init(self, file, **options):
        """FILE.py or FILE.py:CLASS."""
        path, colon, name = file.rpartition(":")
        self.path, name = (path, name) if colon and path.endswith(".py") else (file, None)
        self.made = find_class(load_file(self.path), name, self.path)
        self.options = options
        self.samples = []

    def load_model(self, path):
        """What is to be done next is seen from what is wanted."""

    def execute(self, inputs, outputs):
        """Takes a sample, or scores those that are picked."""
        if outputs == [TAKEN]:
            label = inputs.pop(LABEL, None)
            if label is not None and label.dtype.kind in "OSU":
                label = label.item()
                label = label.decode() if isinstance(label, bytes) else label
            self.samples.append(({name: np.array(value) if isinstance(value, np.ndarray) else value
                                  for name, value in inputs.items()}, label))
            return {TAKEN: np.array(len(self.samples) - 1, np.int64)}
        try:
            metric = self.made(**self.options)
            for i in inputs[PICKED]:
                outputs, label = self.samples[i]
                metric.add({name: np.array(value) if isinstance(value, np.ndarray) else value
                            for name, value in outputs.items()}, label)
            lower = bool(getattr(metric, "lower", False))
            return {SCORE: np.array([float(metric.score()), lower], np.float64)}
        except Exception as error:
            raise in_file(self.path, error) from error
