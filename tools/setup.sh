#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what building and testing need on Debian 12: packages by name, and ONNX Runtime's library
# from its npm package, known by its hash, into vendor/. Does nothing where everything is there.
# Without npm or without a network the library is left out, and said so: the program works without
# it. ONNXDBG_ORT in the environment names a library that is there already.
set -u

here=$(cd "$(dirname "$0")/.." && pwd)
ort_version=1.22.0
ort_sha256=8007ce525b5b185b77d2b4103d3ec147ecef6d861eb14726d0bdda5e2947dbd7
packages="gcc g++ libc6-dev pkg-config protobuf-c-compiler libprotobuf-c-dev libopenblas-dev libmd-dev
libzip-dev libncurses-dev libreadline-dev libsqlite3-dev libjansson-dev
libxlsxwriter-dev libcmocka-dev
libvterm-dev libpcre2-dev libonnx-testdata python3-numpy python3-onnx python3-opencv python3-pil
python3-build python3-setuptools python3-wheel python3-venv python3-pytest python3-jsonschema cmake
libmagickwand-6.q16-6 openssh-client mandoc valgrind jq cmark-gfm zsh fish graphviz"

missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
fi

install() {
    if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
        echo "setup: root or sudo is needed to install: $*" >&2
        return 1
    fi
    $as_root apt-get update -qq &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
            -o DPkg::Lock::Timeout=120 --no-install-recommends "$@" >/dev/null
}

if [ -n "$missing" ]; then
    echo "setup: installing$missing"
    # shellcheck disable=SC2086
    install $missing || {
        echo "setup: apt-get could not install:$missing" >&2
        exit 1
    }
fi

# sshd, for the tests of ssh:. Its package would start it on a machine that starts services, so there
# the program alone is taken out of it.
sshd=vendor/openssh-server/usr/sbin/sshd
if [ ! -x /usr/sbin/sshd ] && [ ! -x "$here/$sshd" ]; then
    echo "setup: fetching sshd, which the tests start for themselves"
    if [ ! -d /run/systemd/system ] && [ "$(id -u)" -eq 0 ]; then
        export RUNLEVEL=1 # in which nothing is started
        install openssh-server || true
        unset RUNLEVEL
    else
        mkdir -p "$here/vendor/openssh-server" && (
            cd "$here/vendor/openssh-server" && install libwrap0 && apt-get download -qq openssh-server &&
                dpkg-deb -x openssh-server_*.deb . && rm -f openssh-server_*.deb
        ) >/dev/null 2>&1 || true
    fi
    if [ ! -x /usr/sbin/sshd ] && [ ! -x "$here/$sshd" ]; then
        echo "setup: no sshd; the tests of ssh: are left out" >&2
    fi
fi

# ONNX Runtime: one package, one version, known by its hash. What has another is not unpacked.
ort=vendor/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1
ort_tarball=onnxruntime-node-$ort_version.tgz
fetch_ort() { # FOLDER, which is empty
    (cd "$1" && npm pack --ignore-scripts --silent --fetch-retries=1 \
        --fetch-retry-mintimeout=1000 "onnxruntime-node@$ort_version") \
        >/dev/null 2>&1 && [ -e "$1/$ort_tarball" ] || return 0
    if ! echo "$ort_sha256  $1/$ort_tarball" | sha256sum --check --status; then
        echo "setup: what npm gave for onnxruntime-node $ort_version is not what it was; refused" >&2
        return 1
    fi
    mkdir -p "$here/vendor/node_modules/onnxruntime-node" &&
        tar -xzf "$1/$ort_tarball" -C "$here/vendor/node_modules/onnxruntime-node" \
            --strip-components=1 --no-same-owner package/package.json package/bin/napi-v6/linux ||
        rm -rf "$here/vendor/node_modules/onnxruntime-node"
}
if [ -z "${ONNXDBG_ORT:-}" ] && [ ! -e "$here/$ort" ]; then
    if ! command -v npm >/dev/null; then
        echo "setup: installing npm, to fetch ONNX Runtime"
        install npm >/dev/null 2>&1 || true
    fi
    if command -v npm >/dev/null; then
        echo "setup: fetching onnxruntime-node $ort_version"
        fetched=$(mktemp -d)
        trap 'rm -rf "$fetched"' EXIT
        fetch_ort "$fetched" || exit 1
    fi
    if [ ! -e "$here/$ort" ]; then
        echo "setup: no ONNX Runtime (npm could not be had or could not fetch it);" \
            "the executor 'ort' and its tests are left out" >&2
    fi
fi
exit 0
