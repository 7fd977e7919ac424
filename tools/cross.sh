#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `make serve CROSS=PREFIX` links with, into vendor/cross/TRIPLET: the C library and the child's
# libraries of another processor, out of Debian's signed packages. They come by an apt of their own,
# which knows nothing of this machine's, so no architecture is added here, and nothing is installed.
# Debian 11's, so that the child runs there and on all that is newer; RISC-V is in Debian since 13.
set -eu

triplet=${1:?usage: tools/cross.sh TRIPLET}
here=$(cd "$(dirname "$0")/.." && pwd)
root=$here/vendor/cross/$triplet
case $triplet in
aarch64-linux-gnu) arch=arm64 suite=bullseye ;;
riscv64-linux-gnu) arch=riscv64 suite=trixie ;;
arm-linux-gnueabihf)
    echo "cross: $triplet has addresses of 32 bits, and tensors' sizes and NumPy's random numbers" \
        "take 64; there are aarch64-linux-gnu and riscv64-linux-gnu" >&2
    exit 2
    ;;
*)
    echo "cross: no packages are known for $triplet; there are aarch64-linux-gnu and" \
        "riscv64-linux-gnu" >&2
    exit 2
    ;;
esac
packages="libc6 libc6-dev linux-libc-dev libprotobuf-c-dev libmd-dev libjansson-dev libpcre2-dev
zlib1g-dev uthash-dev"
[ ! -e "$root/complete" ] || exit 0
for need in "$triplet-gcc gcc-$triplet" "cmake cmake" "apt-get apt" "dpkg-deb dpkg"; do
    command -v "${need% *}" >/dev/null || {
        echo "cross: ${need% *} is not here; install Debian's package ${need#* }" >&2
        exit 2
    }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/debs" "$work/root"
: >"$work/status"
for line in "deb $suite" "deb-src bullseye"; do
    echo "${line% *} [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "http://deb.debian.org/debian ${line#* } main"
done >"$work/sources.list"
fetch() {
    apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
        -o Dir::State="$work" -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" \
        -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" \
        -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Sandbox::User=root "$@" >&2
}
echo "cross: fetching the libraries of $triplet from Debian ($suite)"
fetch update
# shellcheck disable=SC2086
(cd "$work/debs" && fetch download $packages && fetch source --download-only libzip)
for deb in "$work"/debs/*.deb; do
    dpkg-deb -x "$deb" "$work/root"
done
[ -e "$work/root/lib" ] || ln -s usr/lib "$work/root/lib"
# Absolute links would leave the folder.
find "$work/root" -type l | while read -r link; do
    to=$(readlink "$link")
    case $to in /*) ln -sfn "$work/root$to" "$link" && ln -sfnr "$(readlink "$link")" "$link" ;; esac
done
rm -rf "$root"
mkdir -p "$(dirname "$root")"
mv "$work/root" "$root"

# Debian's cross compiler has the C library of its own Debian; this is the same with that of $root.
include=$("$triplet-gcc" -print-file-name=include)
cat >"$root/cc" <<END
#!/bin/sh
exec $triplet-gcc --sysroot='$root' -nostdinc -isystem '$include' \\
    -isystem '$root/usr/include/$triplet' -isystem '$root/usr/include' \\
    -B'$root/usr/lib/$triplet/' -L'$root/usr/lib/$triplet' -L'$root/lib/$triplet' "\$@"
END
chmod +x "$root/cc"

# Debian has no libzip to link in: it is made of its source, with zlib alone.
mkdir "$work/libzip"
tar -xf "$work"/debs/libzip_*.orig.tar.* -C "$work/libzip" --strip-components=1
cmake -S "$work/libzip" -B "$work/libzip/build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER="$root/cc" -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$root/usr" \
    -DCMAKE_C_FLAGS="-fPIC -ffile-prefix-map=$work=." -DCMAKE_INSTALL_LIBDIR="lib/$triplet" \
    -DZLIB_LIBRARY="$root/usr/lib/$triplet/libz.a" -DZLIB_INCLUDE_DIR="$root/usr/include" \
    -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
    -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF \
    -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF >"$work/log" 2>&1 &&
    cmake --build "$work/libzip/build" >>"$work/log" 2>&1 &&
    cmake --install "$work/libzip/build" >>"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    echo "cross: libzip could not be built" >&2
    exit 1
}
touch "$root/complete"
