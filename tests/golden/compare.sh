#!/usr/bin/env bash
# compare.sh PROGRAM [FILE [exact]]: what golden prints against FILE, tests/data/golden.txt unless
# another one is given. With "exact", byte for byte: for rearrangements, with a FILE that the same
# machine recorded before. Otherwise numbers agree within 1e-9, since mathematical libraries differ
# in last bits, which the solver hardly enlarges.
set -u
cd "$(dirname "$0")/../.." || exit 2
kept=${2:-tests/data/golden.txt}
[ -r "$kept" ] || { echo "not ok there is no $kept: make golden-base, before the change"; exit 1; }
said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
"${1:?}" >"$said" || { echo "not ok golden ended with an error"; exit 1; }
paste -d '\n' "$kept" "$said" | awk -v exact="${3:-}" '
    function size(x) { return x < 0 ? -x : x }
    function alike(a, b) {
        if (a == b "") return 1
        if (exact || a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/)
            return 0
        return size(a - b) <= 1e-9 * (size(a) + size(b)) / 2 }
    NR % 2 { fields = split($0, want); line = $0; next }
    { rows++; same = fields == NF
      for (i = 1; same && i <= NF; i++) same = alike(want[i], $i "")
      if (!same) { differ++; if (differ <= 5) printf "was %.300s\nnow %.300s\n", line, $0 } }
    END { if (differ || !rows) {
              print "not ok " differ + 0 " of " rows + 0 " golden lines differ"; exit 1 }
          print "ok " rows " golden lines are as they were" }'
