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

tell 'make install refuses other variables' says 'was built with other variables' \
    make install OPT=-O3 PREFIX="$tmp"

# $O is named in the objects, the libraries and what describes them.
tell 'O= is the folder of everything that is built' without '[ =]lib/' O=elsewhere

tell "32 bits are refused in a sentence" says 'needs 64-bit sizes and pointers: build it' \
    runs CFLAGS=-m32

# Hardening is what the compiler, the C library and the other flags allow (src/harden.mk).
branches='-fcf-protection' checked='-D_FORTIFY_SOURCE=[23]'
tell 'branches are marked on x86' with "$branches" HARDEN=1 CC="$tmp/x86_64-cc"
tell 'and not for another processor' without "$branches" CC="$tmp/aarch64-cc"
if echo '#include <features.h>' | cc -dM -E -x c - 2>/dev/null | grep -q '__GLIBC__ '; then
    tell 'calls are checked where the compiler optimizes' with "$checked" HARDEN=1 OPT=-O2
fi
tell 'not at -O0' without "$checked" OPT=-O0
tell 'nor where CFLAGS end in it' without "$checked" OPT=-O2 CFLAGS=-O0
tell 'nor under sanitizers' without "$checked" EXTRA=-fsanitize=address
tell 'nor where somebody does so already' without "$checked" CPPFLAGS=-D_FORTIFY_SOURCE=1
tell 'HARDEN=0 leaves all of it out' without '-fstack\|-fcf\|FORTIFY' HARDEN=0
cat >"$tmp/plain-cc" <<'EOF'
#!/bin/sh
for flag; do case $flag in -fstack* | -fcf*) exit 1 ;; esac; done
exec cc "$@"
EOF
chmod +x "$tmp/plain-cc"
tell 'a compiler gets no flag that it does not know' without '-fstack\|-fcf' CC="$tmp/plain-cc"
exit "$bad"
