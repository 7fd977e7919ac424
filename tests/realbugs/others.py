# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks that OpenCV, ONNX.js or ONNX Runtime Web compute wrongly."""
