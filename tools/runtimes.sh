#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Fetches the runtimes that published bugs are replayed on, into vendor/runtimes: versions of ONNX
# Runtime, each known by the hash of its npm package, as ort-VERSION/libonnxruntime.so, and ONNX
# Runtime Web, ONNX.js and Dawn (WebGPU for Node.js) as web/node_modules. What is there already is left; what cannot be had is
# said, and the rest is fetched.
#
#     tools/runtimes.sh [VERSION…]     without versions: all of them, and the two for Node.js
set -u

here=$(cd "$(dirname "$0")/.." && pwd)
runtimes=$here/vendor/runtimes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

complain() { # WHAT
    echo "runtimes: $1" >&2
    status=1
}

fetch() { # VERSION SHA256
    to=$runtimes/ort-$1
    [ ! -e "$to/libonnxruntime.so" ] || return 0
    echo "runtimes: fetching onnxruntime-node $1"
    (cd "$work" && npm pack --ignore-scripts --silent "onnxruntime-node@$1") >/dev/null 2>&1
    package=$work/onnxruntime-node-$1.tgz
    [ -e "$package" ] || { complain "npm could not fetch onnxruntime-node $1" && return; }
    if ! echo "$2  $package" | sha256sum --check --status; then
        complain "what npm gave for onnxruntime-node $1 is not what it was; refused"
        return
    fi
    library=$(tar -tzf "$package" | grep '/linux/x64/libonnxruntime\.so\.1' | head -n 1)
    mkdir -p "$to" &&
        tar -xzOf "$package" "$library" >"$work/library" &&
        mv "$work/library" "$to/libonnxruntime.so" ||
        complain "onnxruntime-node $1 could not be unpacked"
    rm -f "$package"
}

command -v npm >/dev/null || { echo "runtimes: there is no npm; apt-get install npm" >&2 && exit 1; }
wanted=" $* "
while read -r version hash; do
    case $wanted in
    "  " | *" $version "*) fetch "$version" "$hash" ;;
    esac
done <<'END'
1.16.0 979d45a03dbb10b90841d077233094703ddeaaecbe11da68a32caef97d0faba3
1.16.3 5896383cd3449c5838a46fcf1490865ab90487773a3bb018ea6a5f12b17e2667
1.17.3 fd586d4ab53d89fdade19ffcc75b208fd66ab417b247cb6ae299be1bb40d76be
1.18.0 d9ffdc4b27fa5d65878153b6c6182c6634fad7102673eddba0cf12f919fb9edd
1.19.2 dbd3f1c72e91f783eea3e87b546fb064f75afffbb11a35264656f58eba4c784d
1.20.1 0d8e3928e14fd4e2bdcf4feabbd5db689ba980ccabb9c806f43a303cdc13c5a5
1.21.0 c711a4048a8b460a70de25a5008b1628e3773878ef9deec1dd4a4ccab46de01a
1.22.0 8007ce525b5b185b77d2b4103d3ec147ecef6d861eb14726d0bdda5e2947dbd7
1.23.2 fe70e8de46560c57c2dfb7170770da32dbb21684504a5c904346c44a56e154f2
1.24.3 aa1bb5fa261ea68de05dd53efbba210cd7adf2d2850f4c3a201054c74cc78040
1.25.1 582c44aac00414a5580fe9dcbebcb12c8bf1cc703ab3507203455db842e168f9
1.26.0 874e97b8840c16db3a3997a4cc75976ee46fb4828bc95dda909d8d4e134bed02
1.27.0 c3779c01c59832f8c03e2c392ac3af10bf08579f1822e8b1c63cc451edb302a2
1.29.0 cfdfb45ec4044b1fdca43e5d2e180fb6817e649ff8ad1e0dfc90e18e51b67037
1.30.0 6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75
END
if [ $# -eq 0 ] && [ ! -e "$runtimes/web/node_modules/webgpu" ]; then
    echo "runtimes: fetching onnxruntime-web 1.22.0, onnxjs 0.1.8 and webgpu 0.6.2"
    mkdir -p "$runtimes/web" &&
        npm install --prefix "$runtimes/web" --ignore-scripts --silent --no-audit --no-fund \
            onnxruntime-web@1.22.0 onnxjs@0.1.8 webgpu@0.6.2 >/dev/null 2>&1 ||
        complain "npm could not fetch onnxruntime-web, onnxjs and webgpu"
fi
exit "$status"
