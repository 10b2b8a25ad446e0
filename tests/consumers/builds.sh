#!/usr/bin/env bash
# consumers/builds.sh: what make would run with other settings, without running it.
# shellcheck disable=SC2016,SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
runs() { MAKEFLAGS=$loud make -Bn --no-print-directory V=1 NVCC= "$@" all; }
with() { runs "${@:2}" | grep -e "$1" >/dev/null; } # PATTERN SETTING...
without() {
    local said
    said=$(runs "${@:2}") && grep 'libcertreg\.so' <<<"$said" >/dev/null &&
        ! grep -e "$1" <<<"$said"
}

blas='openblas\|lapacke'
tell 'the library has OpenBLAS' with "$blas" BLAS=1
tell 'with BLAS=0 nothing of it is built or linked' without "$blas" BLAS=0

for machine in x86_64 aarch64; do
    printf '#!/bin/sh\ncase $1 in -dumpmachine) echo %s-linux-gnu ;; -print-*) ;; esac\n' $machine \
        >"$tmp/$machine-cc"
    chmod +x "$tmp/$machine-cc"
done
tell 'kernels for x86 are made for x86' with '-mavx2' CC="$tmp/x86_64-cc"
tell 'and by a compiler for another processor without' without '-mavx2' CC="$tmp/aarch64-cc"
exit "$bad"
