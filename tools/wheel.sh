#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the wheel of the Python package of the two programs, which `make wheel` has linked for it.
#
#   tools/wheel.sh BUILD SECONDS    writes BUILD/onnxdbg-VERSION-py3-none-PLATFORM.whl
#
# The programs run wherever a glibc is that is new enough: all other libraries come along, as they
# are on this machine, each with its licence. SECONDS since 1970 are the time of all files. Equal
# sources and libraries make equal bytes.
set -eu
build=$(realpath "$1")
export SOURCE_DATE_EPOCH="$2" LC_ALL=C
python=${WHEEL_PYTHON:-/usr/bin/python3}
umask 022

stage=$build/wheel/stage
package=$stage/onnxdbg
rm -rf "$stage" "$build"/onnxdbg-*.whl
mkdir -p "$package/bin" "$package/lib" "$package/share/onnxdbg/python" \
    "$package/share/onnxdbg/node" "$stage/licenses" "$stage/man"
install -m 644 python/pyproject.toml python/setup.py python/README.md "$stage"
install -m 644 python/onnxdbg/*.py python/onnxdbg/py.typed "$package"
install -m 755 "$build/wheel/bin/onnxdbg" "$build/wheel/bin/onnxdbg-serve" "$package/bin"
install -m 644 share/python/*.py "$package/share/onnxdbg/python"
install -m 644 share/node/*.js "$package/share/onnxdbg/node"
install -m 644 LICENSES/* "$stage/licenses"
install -m 644 man/*.[17] "$stage/man"
"$package/bin/onnxdbg" manual --save="$stage/manual"
install -m 644 "$stage"/manual/man1/*.1 "$stage/man"

# The licence of a file of Debian's.
licence() { # FILE
    owner=$(dpkg -S "$1" 2>/dev/null || dpkg -S "/usr$1" 2>/dev/null) || {
        echo "wheel: $1 belongs to no package, so its licence is not known" >&2
        return 1
    }
    owner=${owner%%:*}
    install -m 644 "/usr/share/doc/$owner/copyright" "$stage/licenses/$owner.copyright"
}

ldd "$package/bin/onnxdbg" "$package/bin/onnxdbg-serve" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
    while read -r library; do
        case ${library##*/} in
        libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.*) continue ;; # glibc
        esac
        install -m 644 "$(realpath "$library")" "$package/lib/${library##*/}"
        licence "$library"
    done

glibc=$(objdump -T "$package"/bin/* "$package"/lib/* | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
glibc=${glibc#GLIBC_2.}
ONNXDBG_PLATFORM=manylinux_2_${glibc}_$(uname -m)
export ONNXDBG_PLATFORM
(cd "$stage" && "$python" -m build --no-isolation --wheel --outdir "$build" . >"$build/wheel/log" 2>&1) || {
    tail -n 20 "$build/wheel/log" >&2
    exit 1
}
ls "$build"/onnxdbg-*.whl
