#!/usr/bin/env bash
# cross.sh: the library for macOS and Windows compiles and links, by CMake and zig's compiler, and
# exports the functions of the headers. A program runs with the Windows one if wine is installed.
# From the Makefile: ZIG, a Python with the package ziglang, and JOBS.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
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
for target in aarch64-macos.11.0 x86_64-macos.11.0 x86_64-windows-gnu; do
    tell "$target: compiles and links" bash python/cross.sh "$ZIG" "$target" "lib/cross/$target"
    library=$(find "lib/cross/$target" -maxdepth 1 -type f -name 'libcertreg*.d[yl]*' ! -name '*.a')
    tell_none "$target: exports the functions of the headers" \
        "$(diff tests/abi/symbols.txt <(exported "$library"))"
done
if command -v wine >/dev/null; then
    run() {
        local tmp=lib/cross/wine
        mkdir -p "$tmp" && cp "$library" "$tmp" &&
            "lib/cross/$target/cc" examples/quickstart.c -Iinclude "$library.a" \
                -o "$tmp/quickstart.exe" &&
            WINEDEBUG=-all wine "$tmp/quickstart.exe" | tr -d '\r' | grep -x "$(sed -n \
                's/^    \(within 0.5 of .*\)/\1/p' README.md)"
    }
    tell 'x86_64-windows-gnu: quickstart under wine' run
else
    echo 'skip programs for Windows: there is no wine; it was compiled and linked only'
fi
echo 'skip programs for macOS: nothing here runs them; they were compiled and linked only'
exit "$bad"
