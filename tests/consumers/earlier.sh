#!/usr/bin/env bash
# consumers/earlier.sh LIBRARY: programs that were compiled with the headers of an earlier release
# run with the present library, and get the same answers as with the present headers. tests/abi has
# an archive of the headers of each release; `made` is a release of the present ones, on which the
# script is tried. The program is that of tests/golden, on the CPU.
# shellcheck disable=SC2317 # functions are called through tell
set -u
library=$(realpath "${1:?}") || exit 2
cd "$(dirname "$0")/../.." || exit 2
CC=${CC:-cc} CXX=${CXX:-c++}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
ln -s "$library" "$tmp/libcertreg.so.0"
cat >"$tmp/main.c" <<'END'
#include "golden/others.h"
#include "golden/rows.h"
int main(int argc, char **argv)
{
    const rows_where cpu = {.name = "cpu", .constraints = CERTREG_CONSTRAINTS_ECGM};
    (void)argv;
    return others_print() || (argc == 1 && rows_print(&cpu));
}
END

builds() { # HEADERS NAME
    "$CC" -std=c11 -Wall -Werror -DCERTREG_EXPERIMENTAL -I"$1" -Itests tests/golden/rows.c \
        tests/golden/others.c "$tmp/main.c" -o "$tmp/$2" "$library" -lm
}
runs() { # NAME [few]; earlier headers lack the reason of an abstention
    LD_LIBRARY_PATH=$tmp "$tmp/$1" ${2:+"$2"} >"$tmp/raw" &&
        sed 's/ reason [0-9]*//' "$tmp/raw" >"$tmp/$1.out"
}
same() { runs "$1" "${2:-}" && diff "$tmp/now.out" "$tmp/$1.out"; }
agrees() { builds "$1" "$2" && same "$2"; } # HEADERS NAME
tell 'the program can be compiled with the present headers' builds include now
tell 'and run' runs now
[ "$bad" = 0 ] || exit 1

cpp_runs() { # RELEASE HEADERS: the example of that release
    "$CXX" -std=c++17 -O0 -I"$2" "$1/examples/quickstart.cpp" -o "$tmp/cpp" "$library" &&
        LD_LIBRARY_PATH=$tmp "$tmp/cpp"
}
cpp_agrees() { # RELEASE
    local before now
    before=$(cpp_runs "$1" "$1/include") && now=$(cpp_runs "$1" include) || return
    [ "$before" = "$now" ] && grep -q within <<<"$now"
}
mkdir -p "$tmp/releases/made/examples" && cp -r include "$tmp/releases/made" &&
    cp examples/quickstart.cpp "$tmp/releases/made/examples"
for archive in tests/abi/*.tar.gz; do
    [ ! -e "$archive" ] || tar xzf "$archive" -C "$tmp/releases" || exit 2
done
for release in "$tmp"/releases/*; do
    version=$(basename "$release")
    tell "a program of $version prints the same" agrees "$release/include" "$version"
    tell "one in C++ of $version too" cpp_agrees "$release"
done

# ---- that a break is found: headers of releases that had another interface than this library
headers=$tmp/releases/made/include
tell 'few rows are printed' runs now few
finds() { # FILE SED-SCRIPT
    rm -rf "$tmp/headers" && cp -r "$headers" "$tmp/headers"
    sed -i "$2" "$tmp/headers/certreg/$1"
    ! cmp -s "$tmp/headers/certreg/$1" "$headers/certreg/$1" || return
    builds "$tmp/headers" other && ! same other few >/dev/null
}
grown() { # STRUCT FIELD: a line that adds a field in front of FIELD, of this struct alone
    printf '%s' "/struct certreg_$1 {/,/} certreg_$1;/s/^ *[a-z0-9_]* $2[,;]/    double came;\n&/"
}
tell 'a field that was inserted is found' finds certreg.h "$(grown plan seed)"
tell 'also in a struct that the library writes' finds certreg.h "$(grown certificate radius)"
moved='/struct certreg_question {/,/} certreg_question;/{s/double tolerance;/double swapped;/'
tell 'a field that was moved is found' finds certreg.h \
    "$moved;s/double alpha;/double tolerance;/;s/double swapped;/double alpha;/}"
tell 'a constant that was changed is found' finds certreg.h \
    's/CERTREG_METHOD_ANYTIME = 3/CERTREG_METHOD_ANYTIME = 1/'
less='/struct certreg_coverage {/,/} certreg_coverage;/'
tell 'a size that is not accepted is found' finds interval.h "${less}{/calibration_samples;/d}"
exit "$bad"
