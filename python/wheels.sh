#!/usr/bin/env bash
# wheels.sh: make wheels, with PYTHON, ZIG and JOBS. Writes the wheel of every platform to dist/,
# without OpenBLAS, and checks them.
set -euo pipefail
cd "$(dirname "$0")/.."
"$ZIG" -c 'import ziglang' 2>/dev/null ||
    { echo "make wheels: $ZIG has no ziglang: run make deps-all" >&2 && exit 1; }
major=$(sed -n 's/^#define CERTREG_VERSION_NUMBER \([0-9]*\).*/\1/p' include/certreg/certreg.h)
major=$((major / 10000))
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p dist
wheel() { # TARGET-OF-ZIG PLATFORM LIBRARY
    local library
    library=$(bash python/cross.sh "$ZIG" "$1" "lib/cross/$1")
    cp "$library" "$made/$3"
    CERTREG_LIBRARY=$made/$3 CERTREG_PLATFORM=$2 "$PYTHON" -m pip wheel -q --no-deps \
        --no-build-isolation -w dist .
}
wheel x86_64-linux-gnu.2.28 manylinux_2_28_x86_64 "libcertreg.so.$major"
wheel aarch64-linux-gnu.2.28 manylinux_2_28_aarch64 "libcertreg.so.$major"
wheel aarch64-macos.11.0 macosx_11_0_arm64 "libcertreg.$major.dylib"
wheel x86_64-macos.11.0 macosx_11_0_x86_64 "libcertreg.$major.dylib"
wheel x86_64-windows-gnu win_amd64 libcertreg.dll
version=$(sed -n 's/.*  Version \(.*\)$/\1/p' include/certreg/certreg.h)
exec "$PYTHON" tests/wheels.py "${version/-dev/.dev0}"
