#!/usr/bin/env bash
# measure.sh [OBJ]: the size and shape of the library's sources. Circles of files need the folder of
# objects (lib/.obj/HASH). Nothing here passes or fails: rooms.sh, circles.sh and columns.sh do.
set -u
cd "$(dirname "$0")/.." || exit 2
obj=${1:-lib/.obj/$(cat lib/.obj/current 2>/dev/null)}
mapfile -t sources < <(find src -name '*.[ch]' -o -name '*.cu' | sort)
headers=(include/certreg/*.h)

row() { printf '%-28s %s\n' "$@"; }
quantiles() { # of the numbers on standard input
    sort -n | awk '{ v[NR] = $1 }
        END { printf "%d: median %d, 90 %% up to %d, at most %d\n",
                     NR, v[int((NR + 1) / 2)], v[int(NR * .9 + .999)], v[NR] }'
}

row 'lines of a file' "$(for f in "${sources[@]}"; do wc -l <"$f"; done | quantiles)"
# A function's body stands between braces in the first column.
row "lines of a function's body" "$(awk 'FNR == 1 { open = 0 } /^\{/ { open = FNR }
    /^\}/ && open { print FNR - open - 1; open = 0 }' "${sources[@]}" | quantiles)"
row 'lines over 100 columns' "$(cat "${sources[@]}" "${headers[@]}" |
    awk 'length > 100 { wide++ } END { printf "%d of %d (%.1f %%)", wide, NR, 100 * wide / NR }')"

prose() { # HEADER: the lines that have a part of a comment
    awk '/\/\*/ { inside = 1 } inside { print } /\*\// { inside = 0 }' "$1"
}
for header in "${headers[@]}"; do
    row "$(basename "$header")" \
        "$(wc -l <"$header") lines, $(prose "$header" | wc -l) of them with prose"
    row '  their columns' "$(prose "$header" | awk '{ print length }' | quantiles)"
done
row 'public functions' "$(cat "${headers[@]}" | grep -c '^CERTREG_API')"
fields() { # STRUCT
    cat "${headers[@]}" | sed -n "/^typedef struct $1 {/,/^} $1;/p" | sed '1d;$d' |
        perl -0pe 's{/\*.*?\*/}{}gs; s/\n//g' | tr ';' '\n' |
        awk 'NF { n += gsub(/,/, "") + 1 } END { print n }'
}
for struct in certreg_question certreg_certificate; do
    row "$struct" "$(fields $struct) fields"
done

echo 'rooms:'
for room in src/*/; do
    echo "$(find "$room" -type f -exec cat {} + | wc -l) $(basename "$room")"
done | sort -rn | awk '{ n[NR] = $1; name[NR] = $2; all += $1 }
    END { for (i = 1; i <= NR; i++) printf "  %-12s %6d %5.1f %%\n", name[i], n[i], 100 * n[i] / all
          printf "  %-12s %6d\n", "src", all }'
bash tests/circles.sh "$obj"
