#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws the pictures of README.md and of doc/design/screen.md from real runs: a film of the hunt, the
# screen after the demo's search, and the value that shows the fault.
#
#   tools/picture.sh BUILD FOLDER
set -eu
build=$(realpath "$1")
folder=$(realpath "$2")
program=$(realpath onnxdbg)
[ "$1" = build ] || program=$build/onnxdbg
target='fault:scale,node=/block/conv2/Conv,amount=1e-2@ort'
"$program" executors | grep -q '^ort  *available' || {
    echo "$0: ONNX Runtime is needed; tools/setup.sh fetches it" >&2
    exit 1
}
export ONNXDBG_FROZEN_CLOCK=1
unset NO_COLOR
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$build/demo.onnx" "$scratch"
cd "$scratch"
export XDG_STATE_HOME="$scratch/state" # nobody's own
"$build/drive" -s 116x34 - -- "$program" demo.onnx -x bisect --target "$target" <<END
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
"$build/drive" -s 100x28 - -- "$program" demo.onnx --target "$target" <<END
settle
caption A network that is right on the CPU. Is it on the target?
hold 1300
caption F: find the fault
keys F
film 18 70
wait "1 culprit" 60
settle
caption Node 7 introduces the error. The others inherit it
hold 1500
caption Enter: what it does, and the evidence
keys <Enter>
settle
hold 1800
caption Enter: the numbers of its output
keys <Enter>
settle
hold 1200
caption H: where in the output
keys H
settle
hold 1400
keys <Backspace><Backspace>
settle
caption x: a small model that shows it
keys x
wait "re-run" 60
settle
hold 2000
film-to $folder/demo.svg
keys Q
expect-exit 0
END
echo "drawn: $folder/screen.svg $folder/tensor.svg $folder/demo.svg"
