# SPDX-License-Identifier: MIT
"""A debugger for ONNX models: which node computes otherwise than the reference, and what instead.

>>> import onnxdbg
>>> onnxdbg.bisect("demo.onnx", "fault:offset,node=#7,amount=1@cpu").culprits[0].node
'/block/conv2/Conv'

It starts the command onnxdbg, which is in the package, and reads its JSON. The manual is
onnxdbg-python-package(7).
"""
from ._call import Inputs, Model
from ._errors import (Error, ExecutorError, Interrupted, Mismatch, ModelError, NotFound,
                      NotJudgedWarning, ReportWarning, UsageError)
from ._program import program
from ._report import Culprit, Explanation, Report, Value
from ._verbs import Result, assert_matches, bisect, command, read_model

__all__ = ["assert_matches", "bisect", "command", "program", "read_model", "Culprit", "Error",
           "ExecutorError", "Explanation", "Inputs", "Interrupted", "Mismatch", "Model",
           "ModelError", "NotFound", "NotJudgedWarning", "Report", "ReportWarning", "Result",
           "UsageError", "Value"]
