# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after tests/tap.sh: realbugs [WORD…] runs bench.py, by a Python that can make models.
# shellcheck shell=sh
python=${ONNXDBG_PYTHON:-python3}
"$python" -c 'import onnx' 2>/dev/null || python=/usr/bin/python3

realbugs() {
    PROGRAM=$program B=$B SHARED=$shared SCRATCH=$scratch "$python" -B tests/realbugs/bench.py "$@"
}
