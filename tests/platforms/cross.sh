#!/usr/bin/env bash
# cross.sh: the library for macOS and Windows compiles and links, by CMake and zig's compiler, and
# exports the functions of the headers. If wine is installed, programs run with the Windows one:
# bits and certificates are the kept ones, modules and careless C libraries are refused by name.
# From the Makefile: ZIG, a Python with the package ziglang; NATIVE, the program of this folder,
# which measures libm; JOBS.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
: "${NATIVE:?run me by make check-platforms}"
for tool in cmake llvm-nm llvm-readobj; do
    command -v $tool >/dev/null || { echo "skip macOS and Windows: there is no $tool"; exit 0; }
done
"$ZIG" -c 'import ziglang' 2>/dev/null ||
    { echo "skip macOS and Windows: $ZIG has no ziglang (make deps-all)"; exit 0; }
exported() { # LIBRARY
    case $1 in
        *.dll) llvm-readobj --coff-exports "$1" | sed -n 's/^ *Name: //p' ;;
        # zig's linker adds two names of the system.
        *) llvm-nm -gU --format=posix "$1" | sed 's/^_//; s/ .*//' |
            grep -vx '__dso_handle\|_mh_dylib_header' ;;
    esac | sort
}
declared() {
    cat include/certreg/*.h | tr '\n' ' ' | grep -o 'CERTREG_API [^(;]*(' |
        sed -n 's/.*\b\(certreg_\w*\)($/\1/p' | sort
}
for target in aarch64-macos.11.0 x86_64-macos.11.0 x86_64-windows-gnu; do
    tell "$target: compiles and links" bash python/cross.sh "$ZIG" "$target" "lib/cross/$target"
    library=$(find "lib/cross/$target" -maxdepth 1 -type f -name 'libcertreg*.d[yl]*' ! -name '*.a')
    tell_none "$target: exports the functions of the headers" \
        "$(diff <(declared) <(exported "$library"))"
done
windows=lib/cross/$target made=lib/cross/wine
flags="-std=c11 -O2 -D_POSIX_C_SOURCE=200809L -DCERTREG_EXPERIMENTAL -Iinclude -Isrc -Itests"
compile() { # PROGRAM SOURCE...
    # shellcheck disable=SC2086 # several words
    "$windows/cc" $flags "${@:2}" -o "$made/$1"
}
text_of() { wine "$@" | tr -d '\r'; } # what a program prints
export -f text_of
built() {
    local golden=tests/golden
    mkdir -p "$made" && cp "$library" "$made" &&
        cmake --build "$windows" -j "${JOBS:-2}" --target certreg_static &&
        compile quickstart.exe examples/quickstart.c "$library.a" &&
        compile platform.exe tests/platforms/platform.c "$windows/libcertreg.a" &&
        compile old_module.dll -shared tests/modules/old_module.c &&
        compile golden.exe -Itests/emulated "$golden"/{golden,rows,others}.c \
            "$windows/libcertreg.a" -x c - <<<'int emulated_enqueue(void) { return 1; }'
}
quickstart() {
    text_of "$made/quickstart.exe" |
        grep -x "$(sed -n 's/^    \(within 0.5 of .*\)/\1/p' README.md)"
}
refused() { # MODULE WORDS
    text_of "$made/platform.exe" module "$1" | grep -F "$2"
}
careless() {
    # shellcheck disable=SC2086
    x86_64-w64-mingw32-gcc $flags src/base/{handle,error,os}.c -x c - \
        -o "$made/careless.exe" <<'END' && text_of "$made/careless.exe" | grep 'expm1 errs by'
#include "base/handle.h"
#include <stdio.h>
int main(void)
{
    certreg_error why = {.struct_size = sizeof why};
    return cr_libm_check(&why) == CERTREG_OK || puts(why.text) < 0;
}
END
}
if ! command -v wine >/dev/null; then
    echo 'skip programs for Windows: there is no wine; it was compiled and linked only'
else
    export WINEPREFIX=$PWD/lib/cross/wineprefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
    trap 'wineserver -k' EXIT
    tell 'Windows: programs compile' built
    tell 'Windows: quickstart under wine' quickstart
    bash tests/platforms/check.sh 'Windows, wine' "$made/platform.exe" wine || bad=1
    bash tests/golden/compare.sh "$made/golden.exe" tests/data/golden.txt 1e-12 \
        bash -c 'text_of "$0"' || bad=1
    tell 'Windows: a missing module is refused' refused ./none.dll 'Windows cannot open it'
    tell 'Windows: an old module is refused' refused "./$made/old_module.dll" 'another version'
    if command -v x86_64-w64-mingw32-gcc >/dev/null; then
        tell "Windows: mingw-w64's libm is refused" careless
    else
        echo "skip mingw-w64's libm: there is no x86_64-w64-mingw32-gcc"
    fi
fi
echo 'skip programs for macOS: nothing here runs them; they were compiled and linked only'
exit "$bad"
