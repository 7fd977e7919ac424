# SPDX-License-Identifier: MIT
"""A model on a target, as a test for pytest: onnxdbg-python-package(7)."""
import onnxdbg


def test_model_matches():
    onnxdbg.assert_matches("model.onnx", "ort")
