#!/usr/bin/env bash
# platforms.sh: builds the program of this folder with other compilers, for other processors and
# another C library, runs it, under emulators where necessary, and compares its bits with those that
# are kept, and measures its libm. From the Makefile: NATIVE (its program here), MAKE, JOBS.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${NATIVE:?run me by make check-platforms}"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
. tests/process_groups.sh
jobs=${JOBS:-2}

export VALUES=1000000 NATIVE
run() { # NAME PROGRAM [EMULATOR...]
    bash tests/platforms/check.sh "$@" || echo failed >>"$tmp/failed"
}

# Skipped where a tool or a C library is missing. The last words are settings of make.
platform() { # NAME "EMULATOR" "TOOLS" CC=COMPILER SETTING...
    local name=$1 emulator=$2 tool program
    for tool in $3; do
        command -v "$tool" >/dev/null || { echo "skip $name: there is no $tool"; return; }
    done
    shift 3
    echo '#include <stdlib.h>' | "${1#CC=}" -fsyntax-only -x c - 2>/dev/null ||
        { echo "skip $name: ${1#CC=} finds no headers of a C library"; return; }
    if ! "$MAKE" --no-print-directory -j"$jobs" NVCC= BLAS=0 "$@" platform-program \
        >"$tmp/$name.make" 2>&1; then
        tail -5 "$tmp/$name.make"
        echo "not ok $name: does not build"
        echo failed >>"$tmp/failed"
        return
    fi
    program=$(sed -n 's/^program //p' "$tmp/$name.make")
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
    # shellcheck disable=SC2086 # a command line
    apart run "$name" "$program" $emulator >"$tmp/$name.out"
}

run native "$NATIVE"
# The slow ones first.
platform s390x 'qemu-s390x -L /usr/s390x-linux-gnu' 's390x-linux-gnu-gcc qemu-s390x' \
    CC=s390x-linux-gnu-gcc
platform aarch64 'qemu-aarch64 -L /usr/aarch64-linux-gnu' 'aarch64-linux-gnu-gcc qemu-aarch64' \
    CC=aarch64-linux-gnu-gcc
platform musl '' musl-gcc CC=musl-gcc LDFLAGS=-static
platform clang-O3 '' clang CC=clang OPT=-O3
platform gcc-O3-native '' gcc CC=gcc OPT='-O3 -march=native'
platform gcc-O0 '' gcc CC=gcc OPT=-O0
wait
for name in gcc-O0 gcc-O3-native clang-O3 musl aarch64 s390x; do
    cat "$tmp/$name.out" 2>/dev/null
done
bash tests/platforms/cross.sh || echo failed >>"$tmp/failed"
bash tests/platforms/refused.sh || echo failed >>"$tmp/failed"
[ ! -e "$tmp/failed" ]
