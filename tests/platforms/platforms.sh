#!/usr/bin/env bash
# platforms.sh: builds the program of this folder with other compilers, for other processors and
# another C library, runs it, under emulators where necessary, and compares what it prints with what
# NATIVE prints: bits by bits, certificates within 1e-9. From the Makefile: NATIVE and ULP
# (programs), MAKE, JOBS.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${NATIVE:?run me by make check-platforms}"
export -n NATIVE ULP
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
. tests/apart.sh
jobs=${JOBS:-2}

# Prints the largest relative difference of two numbers, and where it is.
compare() { # NAME: its rows with those of this machine
    paste -d '\n' "$tmp/native.rows" "$tmp/$1.rows" | awk -v name="$1" '
        function size(x) { return x < 0 ? -x : x }
        NR % 2 { fields = split($0, want); line = $0; next }
        { rows++; apart = 0; broken = fields != NF
          for (i = 1; i <= NF && !broken; i++) {
              if (want[i] == $i "") continue
              number = "^-?[0-9.]+(e[-+]?[0-9]+)?$"
              if (want[i] !~ number || $i !~ number) { broken = 1; break }
              here = size(want[i] - $i) / (size(want[i]) + size($i)) * 2
              if (here > apart) apart = here
              if (here > worst) { worst = here; where = substr(line, 1, 60) "..., field " i } }
          differ += apart > 0
          if (broken || apart > 1e-9) {
              if (bad++ < 5) printf "    here  %.200s\n    there %.200s\n", line, $0 } }
        END { printf "%s %s: %d of %d rows of numbers differ, by at most %.1e%s\n", \
                  bad || !rows ? "not ok" : "ok", name, differ, rows, worst, \
                  worst ? ": " where : ""
              exit bad || !rows }'
}

run() { # NAME PROGRAM [EMULATOR...]
    local name=$1 program=$2 bad=0
    bash tests/platforms/check.sh "$@" || bad=1
    shift 2
    "$@" "$program" rows >"$tmp/$name.rows" || { echo "not ok $name: rows end early"; bad=1; }
    compare "$name" || bad=1
    if "$@" "$program" libm | "$ULP" >"$tmp/$name.ulp"; then
        echo "ok $name: libm is as accurate as the margins of certificates ask for"
    else
        cat "$tmp/$name.ulp"
        echo "not ok $name: libm is less accurate than the margins of certificates ask for"
        bad=1
    fi
    [ "$bad" = 0 ] || echo failed >>"$tmp/failed"
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

"$NATIVE" rows >"$tmp/native.rows" || { echo "not ok the native program ends early"; exit 1; }
run native "$NATIVE" | grep -v ' 0 of '
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
echo 'largest errors of libm, in units of the last place:'
for part in "$tmp"/*.ulp; do
    printf '%-14s' "$(basename "$part" .ulp)"
    awk '{ printf " %s %s", $1, $2 }' "$part"
    echo
done
bash tests/platforms/refused.sh || echo failed >>"$tmp/failed"
[ ! -e "$tmp/failed" ]
