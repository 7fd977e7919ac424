#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the wheel of the Python package and of the two programs, as `make stage` has installed them.
#
#   tools/wheel.sh STAGE BUILD SECONDS    writes BUILD/onnxdbg-VERSION-py3-none-PLATFORM.whl
#
# The programs run wherever a glibc is that is new enough, which is what PLATFORM says: all other
# libraries are inside. SECONDS since 1970 are the time of all files. Equal programs make equal bytes.
set -eu
stage=$(realpath "$1") build=$(realpath "$2")
export SOURCE_DATE_EPOCH="$3" LC_ALL=C
python=${WHEEL_PYTHON:-/usr/bin/python3}
umask 022

work=$build/wheel
package=$work/onnxdbg
rm -rf "$work" "$build"/onnxdbg-*.whl
mkdir -p "$package/bin" "$package/share" "$work/man" "$work/sboms"
install -m 644 python/pyproject.toml python/setup.py python/README.md "$work"
install -m 644 python/onnxdbg/*.py python/onnxdbg/py.typed "$package"
install -m 755 "$stage"/bin/* "$package/bin"
cp -r "$stage/share/onnxdbg" "$package/share"
rm -f "$package"/share/onnxdbg/dump_* # links, which a wheel has none of
install -m 644 "$stage"/share/man/man?/* "$work/man"
cp -r "$stage/share/doc/onnxdbg/licenses" "$work"
install -m 644 "$stage"/share/doc/onnxdbg/*.spdx.json "$work/sboms"

glibc=$(objdump -T "$package"/bin/* | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
ONNXDBG_PLATFORM=manylinux_2_${glibc#GLIBC_2.}_$(uname -m)
export ONNXDBG_PLATFORM
(cd "$work" && "$python" -m build --no-isolation --wheel --outdir "$build" . >"$work/log" 2>&1) || {
    tail -n 20 "$work/log" >&2
    exit 1
}
ls "$build"/onnxdbg-*.whl
