#!/usr/bin/env bash
# cross.sh PYTHON TARGET FOLDER: builds the shared library, without modules, for another system by
# CMake and zig's compiler (the package ziglang of PYTHON), and prints its path. TARGET is a name of
# zig: x86_64-linux-gnu.2.28, aarch64-macos.11.0, x86_64-windows-gnu.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1 target=$2 folder=$3
mkdir -p "$folder"
folder=$(realpath "$folder")
for tool in cc ar ranlib rc; do
    printf '#!/bin/sh\nexec "%s" -m ziglang %s %s"$@"\n' "$(realpath -s "$python")" "$tool" \
        "$([ $tool != cc ] || echo "-target $target ")" >"$folder/$tool"
    chmod +x "$folder/$tool"
done
case $target in
    *-macos*) system=Darwin library='libcertreg.*.dylib' ;;
    *-windows*) system=Windows library=libcertreg.dll ;;
    *) system=Linux library='libcertreg.so.*.*' ;;
esac
rm -f "$folder"/libcertreg.*
{
    cmake -S . -B "$folder" -DCMAKE_SYSTEM_NAME=$system -DCMAKE_SYSTEM_PROCESSOR="${target%%-*}" \
        -DCMAKE_C_COMPILER="$folder/cc" -DCMAKE_AR="$folder/ar" -DCMAKE_RANLIB="$folder/ranlib" \
        -DCMAKE_RC_COMPILER="$folder/rc" -DCMAKE_INSTALL_NAME_TOOL=/bin/true \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 \
        -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" \
        -DCMAKE_SHARED_LINKER_FLAGS=-s -DCERTREG_BLAS=OFF
    cmake --build "$folder" -j "${JOBS:-2}" --target certreg_shared
} >"$folder/log" 2>&1 || { tail -20 "$folder/log" >&2 && exit 1; }
find "$folder" -maxdepth 1 -type f -name "$library"
