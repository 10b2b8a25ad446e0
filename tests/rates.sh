#!/usr/bin/env bash
# rates.sh PROGRAM...: runs the programs that count how often claims are false, REFEREE (4) times as
# long as make check, and with half and twice of each alpha. Writes every row to lib/rates.md, and a
# summary into docs/testing.md. The status is 1 if a program fails. From make rates.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
rows=lib/rates.md page=docs/testing.md bad=0
heading='## Rates attained'
export REFEREE=${REFEREE:-4}
mkdir -p lib
echo '| program | law | alpha | expected | measured | of alpha | at half | at twice |
|---|---|---|---|---|---|---|---|' >"$rows"
for program; do
    "$program" | sed -n "s:^rate |:| ${program##*/} |:p" >>"$rows" || bad=1
done
[ "$bad" = 0 ] || { echo "not ok rates: a program failed; see $rows" >&2; exit 1; }
# The rows by the share of alpha that is missed, and those at which both faults were noticed.
summary=$(awk -F' *[|] *' 'NR > 2 {
        sub(/ *[|] *$/, ""); part = $(NF - 2); name = $2
        if (!(name in rows)) order[++programs] = name
        rows[name]++; near[name] += part >= 0.85; half[name] += part >= 0.5
        noticed[name] += !/not noticed/
    }
    END { for (i = 1; i <= programs; i++) { name = order[i]
        printf "| `%s` | %d | %d | %d | %d |\n", name, rows[name], near[name], half[name],
            noticed[name] } }' "$rows")
awk -v heading="$heading" -v summary="$summary" '
    $0 == heading { print; inside = 1; next }
    inside && /^\|---/ { print; print summary; next }
    inside && /^\| `/ { next }
    inside && /^## / { inside = 0 }
    { print }' "$page" >"$page.new" && mv "$page.new" "$page"
echo "$(($(wc -l <"$rows") - 2)) rows: $rows"
