#!/usr/bin/env bash
# refused.sh: platforms and flags for which the library must not be compiled are refused by a
# sentence that says why (src/base/platform_checks.h).
set -u
cd "$(dirname "$0")/../.." || exit 2
bad=0
refused() { # NAME WHAT-THE-ERROR-SAYS COMPILER FLAG...
    local name=$1 wanted=$2 said
    shift 2
    command -v "$1" >/dev/null || { echo "skip $name: there is no $1"; return; }
    said=$(echo '#include "base/platform_checks.h"' |
        "$@" -std=c11 -Isrc -fsyntax-only -x c - 2>&1) && said='it was compiled'
    if grep -qF -- "$wanted" <<<"$said"; then echo "ok $name is refused"; else
        head -5 <<<"$said"
        echo "not ok $name is refused: nothing says \"$wanted\""
        bad=1
    fi
}
cc=${CC:-cc}
# A target whose C library is not installed: the headers of the compiler are enough.
alone='-ffreestanding'
for compiler in gcc clang; do
    refused "-ffast-math ($compiler)" 'without -ffast-math' $compiler -ffast-math
    refused "-Ofast ($compiler)" 'without -ffast-math' $compiler -Ofast
    refused "-ffinite-math-only ($compiler)" 'without -ffast-math' $compiler -ffinite-math-only
    refused "32 bits ($compiler)" '64-bit sizes and pointers' $compiler -m32 $alone -msse2 \
        -mfpmath=sse
done
refused '-fassociative-math' 'without -ffast-math' gcc -fassociative-math -fno-signed-zeros \
    -fno-trapping-math
refused '-freciprocal-math' 'without -ffast-math' gcc -freciprocal-math
refused 'arithmetic of the x87' 'doubles in double' gcc -mfpmath=387
refused 'doubles of 32 bits' 'IEEE 754' clang --target=avr $alone
# Some compilers define no macro for these.
for flag in -funsafe-math-optimizations -fassociative-math -fno-honor-nans; do
    if grep -qF "without $flag" <<<"$(make -n CFLAGS="-O2 $flag" 2>&1)"; then
        echo "ok make CFLAGS=$flag is refused"
    else
        echo "not ok make CFLAGS=$flag is refused"
        bad=1
    fi
done
# What is as usual is not refused.
if echo '#include "base/platform_checks.h"' | "$cc" -std=c11 -Isrc -fsyntax-only -x c -; then
    echo 'ok this platform is not refused'
else
    echo 'not ok this platform is not refused'
    bad=1
fi
exit "$bad"
