#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `make serve CROSS=PREFIX`, `make tar` and `make wheel` link with, into vendor/cross/TRIPLET: the C
# library of an older Debian, and static libraries, out of Debian's signed packages. They come by an apt
# of their own, which knows nothing of this machine's, so no architecture is added here, and nothing is
# installed. Debian 11's, so that programs run there and on all that is newer; RISC-V is in Debian since
# 13. What each archive was made of is in TRIPLET/origins.tsv, for the list of parts (tools/sbom.py).
set -eu

triplet=${1:?usage: tools/cross.sh TRIPLET}
here=$(cd "$(dirname "$0")/.." && pwd)
root=$here/vendor/cross/$triplet
case $triplet in
x86_64-linux-gnu) arch=amd64 suite=bullseye ;;
aarch64-linux-gnu) arch=arm64 suite=bullseye ;;
arm-linux-gnueabihf) arch=armhf suite=bullseye ;;
riscv64-linux-gnu) arch=riscv64 suite=trixie ;;
*)
    echo "cross: no packages are known for $triplet; there are x86_64-linux-gnu, aarch64-linux-gnu," \
        "riscv64-linux-gnu and arm-linux-gnueabihf" >&2
    exit 2
    ;;
esac
packages="libc6 libc6-dev linux-libc-dev libprotobuf-c-dev libmd-dev libjansson-dev libpcre2-dev
zlib1g-dev"
sources=libzip
security="" native=""
if [ "$triplet" = "$(uname -m)-linux-gnu" ]; then # the debugger as well, and the licences of what it links
    native=1
    security=-security # whose packages for other processors the mirror of an old Debian lacks in part
    packages="$packages libsqlite3-dev libncurses-dev libtinfo6 libreadline-dev libreadline8"
    sources="$sources libxlsxwriter"
fi
for need in "$triplet-gcc gcc-$triplet" "cmake cmake" "apt-get apt" "dpkg-deb dpkg"; do
    command -v "${need% *}" >/dev/null || {
        echo "cross: ${need% *} is not here; install Debian's package ${need#* }" >&2
        exit 2
    }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/debs" "$work/root"
: >"$work/status"
key="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org"
cat >"$work/sources.list" <<END
deb $key/debian $suite main
${security:+deb $key/debian-security $suite$security main}
deb-src $key/debian bookworm main
END
fetch() {
    apt-get -qq -o Acquire::Retries=3 -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
        -o Dir::State="$work" -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" \
        -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" \
        -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Sandbox::User=root "$@" >&2
}
echo "cross: fetching the libraries of $triplet from Debian ($suite)"
fetch update
# shellcheck disable=SC2086
(cd "$work/debs" && fetch download $packages && fetch source --download-only $sources)
# An archive, a header or a start file, and what it comes from: archive, name, version, source, file, SHA-256.
origin() { # FILE NAME VERSION SOURCE OF
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5##*/}" \
        "$(sha256sum "$5" | cut -d ' ' -f 1)" >>"$work/root/origins.tsv"
}
for deb in "$work"/debs/*.deb; do
    dpkg-deb -x "$deb" "$work/root"
    name=$(dpkg-deb -f "$deb" Package) version=$(dpkg-deb -f "$deb" Version)
    source=$(dpkg-deb -f "$deb" Source | sed 's/ .*//')
    for file in $(dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -E '/(lib[^/]*\.a|[^/]*crt[1in]\.o)$'); do
        origin "${file##*/}" "$name" "$version" "${source:-$name}" "$deb"
    done
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
mkdir "$work/root" # origin() goes on there
mv "$root/origins.tsv" "$work/root"

# Debian's compiler has the C library of its own Debian; this is the same with that of $root.
include=$("$triplet-gcc" -print-file-name=include)
cat >"$root/cc" <<END
#!/bin/sh
exec $triplet-gcc --sysroot='$root' -nostdinc -isystem '$include' \\
    -isystem '$root/usr/include/$triplet' -isystem '$root/usr/include' \\
    -B'$root/usr/lib/$triplet/' -L'$root/usr/lib/$triplet' -L'$root/lib/$triplet' "\$@"
END
chmod +x "$root/cc"

# Debian has no archive of some: they are made of its sources, without its patches, and with zlib alone.
static() { # NAME CMAKE'S WORDS…
    name=$1
    shift
    mkdir "$work/$name"
    tar -xf "$work/debs/$name"_*.orig.tar.* -C "$work/$name" --strip-components=1
    cmake -S "$work/$name" -B "$work/$name/made" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER="$root/cc" -DCMAKE_INSTALL_PREFIX="$root/usr" -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_C_FLAGS="-fPIC -ffile-prefix-map=$work=." -DCMAKE_INSTALL_LIBDIR="lib/$triplet" \
        -DZLIB_LIBRARY="$root/usr/lib/$triplet/libz.a" -DZLIB_INCLUDE_DIR="$root/usr/include" \
        "$@" >"$work/log" 2>&1 &&
        cmake --build "$work/$name/made" >>"$work/log" 2>&1 &&
        cmake --install "$work/$name/made" >>"$work/log" 2>&1 || {
        tail -n 20 "$work/log" >&2
        echo "cross: $name could not be built" >&2
        exit 1
    }
    mkdir -p "$root/usr/share/doc/$name"
    tar -xOf "$work/debs/$name"_*.debian.tar.* debian/copyright >"$root/usr/share/doc/$name/copyright"
    orig=$(echo "$work/debs/$name"_*.orig.tar.*)
    version=${orig##*/"$name"_}
    origin "lib${name#lib}.a" "$name" "${version%.orig.tar.*}" "$name" "$orig"
}
static libzip -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
    -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF \
    -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF
[ -z "$native" ] || static libxlsxwriter -DUSE_STANDARD_TMPFILE=ON -DUSE_NO_MD5=ON
mv "$work/root/origins.tsv" "$root"
touch "$root/complete"
