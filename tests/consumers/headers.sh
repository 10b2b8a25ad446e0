#!/usr/bin/env bash
# consumers/headers.sh: every header alone, under several compilers and standards; the program at
# the top of certreg.h; headers that are experimental say so where nobody asked for them.
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
strict='-DCERTREG_EXPERIMENTAL -Wall -Wextra -Werror -pedantic -Iinclude -fsyntax-only'
# shellcheck disable=SC2086 # flags and the compiler are lists of words
header() { # NAME COMPILER STANDARD ENDING
    command -v "${2%% *}" >/dev/null || { echo "skip $2 is not installed"; return; }
    printf '#include <certreg/%s>\nint nothing(void);\n%s\n' "$1" \
        'int nothing(void) { return (int)sizeof(certreg_error) % 8; }' >"$tmp/header.$4"
    tell "$1 under $2 -std=$3" $2 -std=$3 $strict "$tmp/header.$4"
}
for name in include/certreg/*.h; do
    name=${name##*/}
    for standard in c99 c11 c2x; do header "$name" "$CC" "$standard" c; done
    header "$name" "clang -Wdocumentation" c11 c
    for standard in c++11 c++20; do header "$name" g++ "$standard" cpp; done
    header "$name" clang++ c++11 cpp
done
plain() { # what cffi and LuaJIT read
    local said
    said=$(printf '#include <certreg/%s>\n' question.h sampling.h backend.h solver.h |
        $CC -std=c99 -E -P -Iinclude -x c -) && grep -q certreg_certify <<<"$said" &&
        ! grep -E '__(attribute|declspec|alignof)' <<<"$said"
}
tell 'preprocessed headers are declarations alone' plain
awk '/^ \*     / { print substr($0, 8); next } /^ \* That is the whole/ { exit }' \
    include/certreg/certreg.h | sed -n '/#include/,$p' >"$tmp/top.c"
# shellcheck disable=SC2086
tell 'the program in certreg.h' $CC -std=c11 $strict "$tmp/top.c"
refused() {
    ! $CC -Iinclude -fsyntax-only -x c "$1" 2>"$tmp/said" && grep -q stability "$tmp/said"
}
for name in attack denoiser interval worst_function; do
    tell "$name.h says that it is experimental" refused "include/certreg/$name.h"
done
exit "$bad"
