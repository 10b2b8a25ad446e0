#!/usr/bin/env bash
# compare.sh PROGRAM [FILE [TOLERANCE [EMULATOR...]]]: what golden prints against FILE,
# tests/data/golden.txt unless another one is given. TOLERANCE "exact": byte for byte, for
# rearrangements, with a FILE that the same machine recorded before. Otherwise numbers agree within
# TOLERANCE, 1e-9 by default, since mathematical libraries differ in last bits, which the solver
# hardly enlarges; the lines with other bits are counted.
set -u
cd "$(dirname "$0")/../.." || exit 2
program=${1:?} kept=${2:-tests/data/golden.txt} tolerance=${3:-1e-9}
shift $(($# < 3 ? $# : 3))
[ -r "$kept" ] || { echo "not ok there is no $kept: make golden-base, before the change"; exit 1; }
said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
"$@" "$program" >"$said" || { echo "not ok golden ended with an error"; exit 1; }
more=$(($(wc -l <"$said") - $(wc -l <"$kept")))
[ "$more" = 0 ] || {
    echo "not ok $more more lines than $kept: make golden-base, then diff it with lib/golden.txt"
    exit 1
}
paste -d '\n' "$kept" "$said" | awk -v tolerance="$tolerance" '
    BEGIN { number = "^-?[0-9.]+(e[-+]?[0-9]+)?$" }
    function size(x) { return x < 0 ? -x : x }
    function alike(a, b) {
        if (a == b "") return 1
        if (tolerance == "exact" || a !~ number || b !~ number) return 0
        off = 2 * size(a - b) / (size(a) + size(b))
        if (off > largest) largest = off
        return off <= tolerance + 0 }
    NR % 2 { fields = split($0, want); line = $0; next }
    { rows++; same = fields == NF; other += line != $0
      for (i = 1; same && i <= NF; i++) same = alike(want[i], $i "")
      if (!same) { differ++; if (differ <= 5) printf "was %.300s\nnow %.300s\n", line, $0 } }
    END { if (differ || !rows) {
              print "not ok " differ + 0 " of " rows + 0 " golden lines differ"; exit 1 }
          printf "ok %d golden lines are as they were; %d in other bits, by at most %.2g\n", rows,
                 other, largest }'
