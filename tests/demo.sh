#!/usr/bin/env bash
# demo.sh: the demo with few images and calls: what it prints and plots, that neither depends on the
# number of processes, and that a mistake is answered by one sentence. From tests/run.sh: OBJ,
# PYTHON.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
[ -n "${PYTHON:-}" ] || { echo "skip demo: no interpreter with NumPy was found (make deps)"; exit; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
export CERTREG_LIB=$OBJ/libcertreg.so PYTHONPATH=$PWD/python:$PWD/lib/deps PYTHONDONTWRITEBYTECODE=1

demo() { # OPTION...: the last of each counts
    "$PYTHON" examples/demo/demo.py --digits "$OBJ/libdigits.so" --images 2 --samples 100 \
        --out "$tmp" "$@"
}
run() { # PROCESSES: writes to $tmp/PROCESSES
    demo --jobs "$1" --out "$tmp/$1" >"$tmp/$1.out" 2>"$tmp/err" || { cat "$tmp/err"; false; }
}
same() { # without the times
    diff <(grep -v ' s in all' "$tmp/1.out") <(grep -v ' s in all' "$tmp/2.out")
    diff <(curves "$tmp/1/radii.svg") <(curves "$tmp/2/radii.svg")
}
curves() { grep -E '^(L| *<path d=)' "$1"; } # other lines have random names
rows() { # COUNT PATTERN: so many lines of the output fit
    [ "$(grep -cE "$2" "$tmp/1.out")" = "$1" ] || { cat "$tmp/1.out"; false; }
}
plotted() {
    "$PYTHON" -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/1/radii.svg" &&
        grep -q "the paper's, sigma" "$tmp/1/radii.svg"
}
refused() { # PART-OF-THE-SENTENCE OPTION...
    local said
    said=$(demo "${@:2}" 2>&1 >/dev/null) && return 1
    [[ $(tail -1 <<<"$said") = *"$1"* && $said != *Traceback* ]] || { echo "$said"; false; }
}

said=$(run 1) || [[ $said != *'make deps'* ]] || { echo "skip demo: $said"; exit; }
tell 'the demo runs' run 1
tell 'it runs in two processes' run 2
tell 'both print and plot the same' same
tell 'a line for each certificate, with radii and the best one' \
    rows 4 "^  the [a-z', ]+( +[0-9]+\.[0-9]{3}){7}\$"
tell 'a line for the predictions' rows 1 '^  median( +[0-9]+\.[0-9]){6}$'
tell 'at most 25 lines' test "$(wc -l <"$tmp/1.out")" -le 25
tell 'what to do next' rows 1 '^    certreg certify model'
tell 'a plot' plotted
tell 'no such network' refused 'there is no file' --model no/such.onnx
tell 'no network' refused 'cannot be opened as an ONNX model' --model README.md
tell 'too few calls' refused 'samples' --samples 9
tell 'no images' refused 'is no whole number above 0' --images 0
tell 'no folder' refused '/dev/null' --out /dev/null/folder
exit "$bad"
