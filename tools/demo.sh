#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The demo: a small model, a target that is wrong by 1 % at one node, and the search for that node.
# On a terminal the screen opens and searches; elsewhere the search is printed.
#
#   tools/demo.sh PROGRAM MODEL
set -u
program=$1
model=$2
if "$program" executors | grep -q '^ort  *available'; then
    inner=ort
else
    inner=cpu
    echo "# no ONNX Runtime here: the target is the CPU reference with a fault in it"
fi
node=/block/conv2/Conv
spec="fault:scale,node=$node,amount=1e-2@$inner"
if [ -t 0 ] && [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    "$program" "$model" --target "$spec" -x bisect
    status=$?
    echo "That was:  $program $model --target '$spec' -x bisect"
    exit "$status"
fi
echo "\$ onnxdbg bisect $model --target '$spec'"
"$program" bisect "$model" --target "$spec"
status=$?
if [ "$status" -eq 1 ]; then
    exit 0 # a divergence was found, as it should be
fi
echo "demo: expected a divergence, got exit status $status" >&2
exit 1
