#!/usr/bin/env bash
# enums.sh: what nobody implemented does not compile. A value is added to each enum by which the
# library decides what to compute; then every place that decides by it has to say so. No switch has
# a `default`, but for those about the error numbers of CUDA.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
CC=${CC:-cc}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
cp -r include src "$tmp"
added=()
add() { # FILE ENUM
    sed -i "s/^\(typedef \)\?enum $2 {/&\n    ADDED_TO_$2 = 77,/" "$tmp/$1"
    grep -q "ADDED_TO_$2" "$tmp/$1" || tell "there is an enum $2" false
    added+=("$2")
}
for name in output_kind statistic method center; do
    add include/certreg/certreg.h "certreg_$name"
done
add include/certreg/error.h certreg_status_code
add include/certreg/interval.h certreg_score
add src/statistics/score.h cr_score_kind
deciding=$(cd "$tmp" && grep -lE 'switch \(' src/*/*.c)
for file in $deciding; do
    "$CC" -std=c11 -I"$tmp/include" -I"$tmp/src" -D_POSIX_C_SOURCE=200809L \
        -DCERTREG_EXPERIMENTAL -Werror=switch -Werror=switch-enum -fsyntax-only "$tmp/$file"
done 2>"$tmp/said"
for name in "${added[@]}"; do
    tell "a value that is added to $name does not compile" \
        grep -q "error: enumeration value .ADDED_TO_$name. not handled" "$tmp/said"
done
tell_none 'no other error' "$(grep error: "$tmp/said" | grep -v 'not handled in switch')"
# Rows carry the names that refusals say.
for kind in statistic method center; do
    wanted=$(sed -n "s/^ *CERTREG_${kind^^}_\([A-Z_]*\) = .*/\1/p" include/certreg/certreg.h | sort)
    named=$(awk -v kind="cr_$kind" '/^static const/ { mine = $3 == kind } mine' \
        src/question/registry.c | grep -oE '\{"[A-Z_]+"' | tr -d '{"' | sort)
    tell "every $kind has a row of its name" test "$wanted" = "$named"
done
# Nothing else compares a statistic or its score by name; fuzzers, misses and golden rows draw each.
tell_none 'the row alone decides about a statistic' "$(
    grep -nE '([!=<]=|case) *CERTREG_STATISTIC_|statistic->score *[!=]=' src/*/*.[ch] \
        tests/fuzz/*.[ch] tests/misses/*.[ch] tests/golden/rows.c |
        grep -v '^src/question/registry.c')"
tell_none 'no switch has a default' "$(grep -n 'default:' src/*/*.[ch])"
exit "$bad"
