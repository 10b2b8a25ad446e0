#!/usr/bin/env bash
# abi.sh LIBRARY: the functions of every release are still there, with the same parameters.
# tests/abi/VERSION.abi describes those of a release; `abi.sh LIBRARY record` prints what the file
# of the present version will hold. That a break is found is tried on a release made of the present
# library. Structs and constants: tests/python/test_abi.py.
# shellcheck disable=SC2317 # functions are called through tell
set -u
library=$(realpath "$1") || exit 2
cd "$(dirname "$0")/.." || exit 2
command -v abidiff >/dev/null ||
    { echo 'skip ABI: abidiff is not installed (Debian: abigail-tools)'; exit 0; }
readelf -SW "$library" | grep -q '\.debug_info' ||
    { echo 'skip ABI: the library was built without -g'; exit 0; }
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh

record() {
    abidw --drop-private-types --exported-interfaces-only --headers-dir "$PWD/include" \
        --no-corpus-path --no-comp-dir-path --short-locs --no-parameter-names --no-elf-needed \
        --type-id-style hash "$library"
}
if [ "${2:-}" = record ]; then
    record
    exit
fi
# Not --headers-dir2: types of the C library, such as uint32_t, would count as private, and another
# one in their place would not be reported.
keeps() { # DESCRIPTION
    abidiff --suppressions tests/abi/growth.suppr --no-added-syms --exported-interfaces-only "$1" \
        "$library"
}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
record >"$tmp/made.abi"
for released in tests/abi/*.abi "$tmp/made.abi"; do
    [ ! -e "$released" ] || tell "functions of $(basename "$released" .abi)" keeps "$released"
done

# That a break is found: releases that had another function, and other types of one.
finds() { # SED-SCRIPT
    sed -E "$1" "$released" >"$tmp/other.abi"
    ! cmp -s "$released" "$tmp/other.abi" && ! keeps "$tmp/other.abi"
}
id() { sed -n "s/.*<typedef-decl name='$1' .* id='\([^']*\)'.*/\1/p" "$released"; }
of() { # FUNCTION return|parameter TYPE
    echo "/<function-decl name='$1'/,/<\/function-decl>/s/<$2 type-id='[^']*'/<$2 type-id='$3'/"
}
tell 'a function that is gone is found' finds 's/certreg_version/certreg_gone/'
tell 'so is another type of a result' finds "$(of certreg_version return "$(id uint64_t)")"
tell 'and of a parameter' finds "$(of certreg_status_text parameter "$(id uint64_t)")"
exit "$bad"
