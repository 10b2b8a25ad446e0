#!/usr/bin/env bash
# compare.sh PROGRAM [exact]: what golden prints against tests/data/golden.txt. Numbers agree within
# 1e-9, since mathematical libraries differ in last bits; with "exact", bit for bit, as they have to
# after a rearrangement on one machine. Where a change is meant:
#     PROGRAM > tests/data/golden.txt
set -u
cd "$(dirname "$0")/../.." || exit 2
kept=tests/data/golden.txt
said=$(mktemp) || exit 2
trap 'rm -f "$said"' EXIT
"${1:?}" >"$said" || { echo "not ok golden ended with an error"; exit 1; }
paste -d '\n' "$kept" "$said" | awk -v tolerance="$([ "${2:-}" = exact ] && echo 0 || echo 1e-9)" '
    function size(x) { return x < 0 ? -x : x }
    function alike(a, b) {
        if (a == b "") return 1
        if (a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) return 0
        return size(a - b) <= tolerance * (size(a) + size(b)) }
    NR % 2 { fields = split($0, want); line = $0; next }
    { rows++; same = fields == NF
      for (i = 1; same && i <= NF; i++) same = alike(want[i], $i "")
      if (!same) { differ++; if (differ <= 5) printf "was %.300s\nnow %.300s\n", line, $0 } }
    END { if (differ || !rows) {
              print "not ok " differ + 0 " of " rows + 0 " golden rows differ"; exit 1 }
          print "ok " rows " golden rows are as they were" }'
