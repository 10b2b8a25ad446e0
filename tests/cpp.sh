#!/usr/bin/env bash
# cpp.sh [headers]: the header for C++ under several compilers and standards, without a warning;
# what it refuses, and in which words; and, unless "headers" is said, the program of tests/cpp as
# other compilers make it, and the programs of the guide and of the header.
# From tests/run.sh: OBJ (folder of objects).
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
: "${OBJ:?run me by make check}"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude'
wide="$strict -DCERTREG_EXPERIMENTAL"
has() { command -v "${1%% *}" >/dev/null || { echo "skip $1 is not installed"; return 1; }; }

# ---- the header alone, and twice
printf '#include <certreg/certreg.hpp>\n%.0s' 1 2 >"$tmp/all.cpp"
# shellcheck disable=SC2086 # flags and the compiler are lists of words
compiles() { $1 $strict -fsyntax-only "$tmp/all.cpp" && $1 $wide -fsyntax-only "$tmp/all.cpp"; }
for compiler in 'g++ -std=c++17' 'g++ -std=c++20' 'g++ -std=c++23' 'g++ -std=c++17 -fno-rtti' \
    'clang++ -std=c++17' 'clang++ -std=c++2b'; do
    has "$compiler" && tell "the header under $compiler" compiles "$compiler"
done

# ---- refused, with a sentence
refuses() { # SENTENCE FLAGS... FILE
    local said
    # shellcheck disable=SC2086 # a list of words
    said=$(g++ $strict -fsyntax-only "${@:2}" 2>&1) && echo 'it compiles' && return 1
    grep -qF -- "$1" <<<"$said" || { echo "$said"; return 1; }
}
model() { # NAME SENTENCE MODEL
    printf '#include <certreg/certreg.hpp>\nvoid f() { certreg::estimator e(%s, {}, {}); }\n' \
        "$3" >"$tmp/model.cpp"
    tell "refused: $1" refuses "$2" -std=c++17 "$tmp/model.cpp"
}
if has g++; then
    tell 'refused: an older standard' refuses 'needs C++17' -std=c++14 "$tmp/all.cpp"
    tell 'refused: no exceptions' refuses 'needs C++17' -std=c++17 -fno-exceptions \
        "$tmp/all.cpp"
    model 'a model of another form' 'lists how a model is called' '[](int) { return 1.0f; }'
    model 'a model that returns a bool' 'returns void, or an int' \
        '[](const certreg_batch &) { return true; }'
    model 'a matrix stored by columns' 'use Eigen::RowMajor' 'nullptr, {}, {});
        struct { enum { IsRowMajor = 0 }; float *data(); long rows(), cols(); } x;
        e.draw(0, x); e = certreg::estimator(nullptr'
fi
[ "${1:-}" != headers ] || exit "$bad"

# ---- the program of tests/cpp, here as one file, without the emulated device. GCC at -O1 knows
# much about functions that are not inline, and may know wrongly what the library reads.
library=$(realpath "$OBJ")
printf '#include "%s"\n' "$PWD"/tests/cpp/*.cpp | grep -v device.cpp >"$tmp/tests.cpp"
# shellcheck disable=SC2086 # flags and the compiler are lists of words
passes() {
    $1 $wide "$tmp/tests.cpp" -L"$library" -lcertreg -Wl,-rpath,"$library" -lpthread \
        -o "$tmp/program" && "$tmp/program"
}
for compiler in 'g++ -std=c++20 -O1' 'clang++ -std=c++17 -O1'; do
    has "$compiler" && tell "the tests under $compiler" passes "$compiler"
done

# ---- the program of the guide, and what it says that it prints (the indented lines below it); its
# function with Eigen; and the program at the top of certreg.hpp
awk -v out="$tmp/guide" '
    /^```cpp$/ { on = ++n; next }
    /^```$/ { on = 0; said = n; next }
    on { print >(out n ".cpp") }
    !on && /^    / { print substr($0, 5) >(out said ".said") }' docs/guide/cpp.md
awk '/^ \*     / { print substr($0, 8); next } /^ \* It is all inline/ { exit }' \
    include/certreg/certreg.hpp >"$tmp/top.cpp"
echo '0.870862, radius 0.407213' >"$tmp/top.said"
prints() {
    # shellcheck disable=SC2086 # a list of words
    g++ -std=c++17 $strict "$1.cpp" -L"$library" -lcertreg -Wl,-rpath,"$library" -lpthread \
        -o "$1" && "$1" | diff "$1.said" -
}
if has g++; then
    tell 'the program in certreg.hpp' prints "$tmp/top"
    tell 'the program in docs/guide/cpp.md' prints "$tmp/guide1"
    if [ -d /usr/include/eigen3 ]; then
        # shellcheck disable=SC2086 # a list of words
        tell 'its function with Eigen' g++ -std=c++17 $strict -isystem /usr/include/eigen3 \
            -fsyntax-only "$tmp/guide2.cpp"
    else echo 'skip matrices: the headers of Eigen are not installed (libeigen3-dev)'; fi
fi
exit "$bad"
