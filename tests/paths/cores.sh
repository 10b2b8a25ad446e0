#!/usr/bin/env bash
# cores.sh: the names that OPENBLAS_CORETYPE can have here: one for every kernel of OpenBLAS that
# this processor can run.
has() { # FLAG...
    local flag
    for flag; do grep -qm 1 "^flags.* $flag\( \|$\)" /proc/cpuinfo || return 1; done
}
[ "$(uname -m)" = x86_64 ] || exit 0
echo Prescott
has ssse3 sse4_2 && echo Nehalem
has avx && echo Sandybridge
has avx2 fma && echo Haswell Zen
has avx512f avx512bw avx512vl avx512dq && echo SkylakeX
exit 0
