#!/bin/sh
# SPDX-License-Identifier: MIT
# Any command line that runs a model, as a program that stays: onnxdbg-server(7). It needs jq.
# onnxdbg bisect model.onnx --target "server:sh server.sh onnxdbg ort"
runtime=$1
target=$2
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

run() { # REQUEST
    saved=${model%/*}/saved
    set -- "$1" "$runtime" run "$model" --target "$target" --save "$saved"
    inputs=$(printf '%s' "$1" | jq -r '.inputs[] | .name + "=" + .file')
    outputs=$(printf '%s' "$1" | jq -r '.outputs[] | (.name | gsub("/"; "_")) + ".npy\t" + .file')
    shift
    while IFS= read -r input; do
        [ -z "$input" ] || set -- "$@" --input "$input"
    done <<END
$inputs
END
    "$@" >&2 2>"$errors" || return
    printf '%s\n' "$outputs" | while IFS='	' read -r name file; do
        mv "$saved/$name" "$file" 2>"$errors" || exit
    done
}

while IFS= read -r line; do # ends with our standard input
    case $(printf '%s' "$line" | jq -r .do) in
    load) # a runtime would compile it here
        model=$(printf '%s' "$line" | jq -r .model)
        echo '{"ok": true}' ;;
    run)
        if run "$line"; then
            echo '{"ok": true}'
        else
            jq -Rsc '{ok: false, kind: "failed", error: .}' "$errors"
        fi ;;
    *) echo '{"ok": false}' ;;
    esac
done
