#!/usr/bin/env bash
# measure.sh [OBJ]: the size and shape of the library's sources. Circles of files need the folder of
# objects (lib/.obj/...). Nothing here passes or fails; tests/rooms.sh, circles.sh and columns.sh do.
set -u
obj=$(realpath "${1:-$(dirname "$0")/../lib/.obj/$(cat "$(dirname "$0")/../lib/.obj/current" 2>/dev/null)}")
cd "$(dirname "$0")/.." || exit 2
mapfile -t sources < <(find src -name '*.[ch]' -o -name '*.cu' | sort)
headers=(include/certreg/*.h)

quantiles() { # LABEL: of the numbers on standard input
    sort -n | awk -v label="$1" '{ v[NR] = $1 }
        END { printf "%-28s %d: median %d, 90 %% up to %d, at most %d\n", label, NR, v[int((NR + 1) / 2)],
                     v[int(NR * .9 + .999)], v[NR] }'
}

wc -l "${sources[@]}" | awk '$2 != "total" { print $1 }' | quantiles "lines of a file"
# A function's body stands between braces in the first column.
awk 'FNR == 1 { open = 0 } /^\{/ { open = FNR } /^\}/ && open { print FNR - open - 1; open = 0 }' \
    "${sources[@]}" | quantiles "lines of a function's body"
awk '{ n++; if (length > 100) wide++ } END { printf "%-28s %d of %d (%.1f %%)\n", "lines over 100 columns", wide, n, 100 * wide / n }' \
    "${sources[@]}" "${headers[@]}"

for header in "${headers[@]}"; do
    awk -v name="$(basename "$header")" '
        { n++; was = inside; if (/\/\*/) inside = 1
          if (was || inside) { prose++; width[++w] = length }
          if (/\*\//) inside = 0 }
        END { for (i = 2; i <= w; i++) { x = width[i]; for (j = i; j > 1 && width[j - 1] > x; j--) width[j] = width[j - 1]; width[j] = x }
              printf "%-28s %d lines, %.0f %% with prose, 90 %% of those up to %d columns\n", name, n, 100 * prose / n, width[int(w * .9)] }' "$header"
done
printf '%-28s %d\n' "public functions" "$(cat "${headers[@]}" | grep -c '^CERTREG_API')"
for struct in certreg_question certreg_certificate; do
    printf '%-28s %d fields\n' "$struct" "$(cat "${headers[@]}" | sed -n "/^typedef struct $struct {/,/^} $struct;/p" |
        perl -0pe 's{/\*.*?\*/}{}gs' | sed '1d;$d' | tr -d '\n' | tr ';' '\n' | awk 'NF { print gsub(/,/, "") + 1 }' |
        awk '{ n += $1 } END { print n }')"
done

echo "rooms:"
for room in src/*/; do printf '%s %s\n' "$(find "$room" -type f -exec cat {} + | wc -l)" "$(basename "$room")"; done |
    sort -rn | awk '{ n[NR] = $1; name[NR] = $2; all += $1 }
        END { for (i = 1; i <= NR; i++) printf "  %-12s %6d %5.1f %%\n", name[i], n[i], 100 * n[i] / all; printf "  %-12s %6d\n", "src", all }'
bash tests/circles.sh "$obj"
