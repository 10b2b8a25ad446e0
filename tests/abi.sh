#!/usr/bin/env bash
# abi.sh LIBRARY: the functions of every release are still there, with the same parameters.
# tests/abi/VERSION.abi describes those of a release. `abi.sh LIBRARY record` writes the file of the
# present version, once, when it is released. Structs and constants: tests/python/test_abi.py.
# shellcheck disable=SC2317 # functions are called through tell
set -u
library=$(realpath "$1") || exit 2
cd "$(dirname "$0")/.." || exit 2
command -v abidiff >/dev/null ||
    { echo 'skip ABI: abidiff is not installed (Debian: abigail-tools)'; exit 0; }
readelf -SW "$library" | grep -q '\.debug_info' ||
    { echo 'skip ABI: the library was built without -g'; exit 0; }
# shellcheck source=tests/tell.sh
. tests/tell.sh

public=(--drop-private-types --exported-interfaces-only)
if [ "${2:-}" = record ]; then
    version=${library##*/libcertreg.so.}
    abidw "${public[@]}" --headers-dir "$PWD/include" --no-corpus-path --no-comp-dir-path \
        --short-locs --no-parameter-names --no-elf-needed --type-id-style hash \
        --out-file "tests/abi/$version.abi" "$library"
    exit
fi
keeps() {
    abidiff --suppressions tests/abi/growth.suppr --no-added-syms "${public[@]}" \
        --headers-dir2 "$PWD/include" "$1" "$library"
}
for released in tests/abi/*.abi; do
    tell "functions of $(basename "$released" .abi)" keeps "$released"
done
exit "$bad"
