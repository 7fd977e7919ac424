#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demo: a small model, a target that is wrong by 1 % at one node, and who did it.
set -u
model=$1
if ./onnxdbg executors | grep -q '^ort .*available'; then
    inner=ort
else
    inner=cpu
fi
spec="fault:scale,node=block2_conv2,amount=1e-2@$inner"
echo "\$ onnxdbg bisect $model --target '$spec'"
./onnxdbg bisect "$model" --target "$spec"
status=$?
if [ "$status" -eq 1 ]; then
    exit 0 # a divergence was found, as it should be
fi
echo "demo: expected a divergence, got exit status $status" >&2
exit 1
