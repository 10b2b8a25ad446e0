#!/usr/bin/env bash
# run.sh: JOBS processes of tests/misses attack certificates for SECONDS_EACH, with seeds of their
# own, and lib/misses.csv gets what they found, the smallest p first. FROM: the first seed, to go on
# where an earlier run ended. The status is 1 if a setting misses more often than alpha.
# From make check-misses: OBJ, JOBS, SECONDS_EACH.
set -u
cd "$(dirname "$0")/../.." || exit 2
program=${OBJ:?run me by make check-misses}/tests/misses/misses
jobs=${JOBS:-1} bad=0
parts=$(mktemp -d) || exit 2
trap 'rm -rf "$parts"' EXIT
. tests/process_groups.sh
running=()
for ((i = 0; i < jobs; i++)); do
    apart "$program" --seconds "${SECONDS_EACH:-60}" --worker "$i" --workers "$jobs" \
        --from "${FROM:-1}" --table "$parts/$i.csv"
    running+=($!)
done
for process in "${running[@]}"; do wait "$process" || bad=1; done
[ -s "$parts/0.csv" ] || { echo 'not ok misses: nothing was attacked' >&2; exit 1; }
mkdir -p lib
{
    head -1 -q "$parts"/0.csv
    tail -q -n +2 "$parts"/*.csv | sort -t, -k1,1g
} >lib/misses.csv
awk -F, 'NR > 1 { settings++; certificates += $3; attained += $4
             if ($1 > 0 && ($1 < least || !least)) least = $1 }
    END { printf "%d settings, %d certificates, smallest p %s, %d attain alpha: lib/misses.csv\n",
                 settings, certificates, least, attained }' lib/misses.csv
# By family, without the numbers of samples, so that those attacked weakly are seen. attained: the
# largest part of alpha that was missed; silent: settings that claimed nothing in most of the runs.
awk -F'"' 'NR > 1 { split($1, field, ","); family = $2; part = field[6] / field[7]
             gsub(/ n=[0-9]*/, "", family); gsub(/served [0-9]*/, "served", family)
             gsub(/, (tiny |large )?pilot|, exact|, failures/, "", family)
             settings[family]++; certificates[family] += field[3]; runs[family] += field[8]
             exact[family] += $2 ~ /, exact/; silent[family] += field[10] > 0.5
             if (part > attained[family]) attained[family] = part }
    END { for (family in settings)
              printf "%.4f,%d,%d,%d,%d,%d,\"%s\"\n", attained[family], settings[family],
                     exact[family], certificates[family], runs[family], silent[family], family }' \
    lib/misses.csv | sort -g | {
    echo attained,settings,exact,certificates,runs,silent,family
    cat
} >lib/misses-families.csv
awk -F, 'NR > 1 { silent += $6 } NR > 1 && $1 < 0.2 { weak++; of += $2 }
    END { printf "%d families, %d of them (%d settings) below 0.2 alpha, %d settings silent: %s\n",
                 NR - 1, weak, of, silent, "lib/misses-families.csv" }' lib/misses-families.csv
exit "$bad"
