#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws the pictures of the README from real runs: the screen after the demo's search, and the value
# that shows the fault.
#
#   tools/picture.sh BUILD FOLDER
set -eu
build=$1
folder=$2
program=./onnxdbg
[ "$build" = build ] || program=$build/onnxdbg
export ONNXDBG_FROZEN_CLOCK=1 OPENBLAS_CORETYPE=Prescott
unset NO_COLOR
mkdir -p "$folder"
"$build/drive" -s 116x34 - -- "$program" "$build/demo.onnx" -x bisect \
    --target 'fault:scale,node=/block/conv2/Conv,amount=1e-2@cpu' <<END
wait "1 culprit" 60
settle
svg $folder/screen.svg
keys :open /block/conv2/Conv_output_0<Enter>
wait "worst"
settle
svg $folder/tensor.svg
keys Q
expect-exit 0
END
echo "drawn: $folder/screen.svg $folder/tensor.svg"
