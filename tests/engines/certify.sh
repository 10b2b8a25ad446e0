#!/usr/bin/env bash
# certify.sh PROGRAM: the command of examples/engines/certify.c prints a prediction and a radius,
# and answers every mistake with one sentence, a status that is not 0, and no radius.
set -u
cd "$(dirname "$0")/../.." || exit 2
certify=${1:?}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
bad=0
models=lib/.obj/engines # which make_models.py writes

judge() { # STATUS NAME [DETAIL]
    [ "$1" = 0 ] && echo "ok $2" && return
    [ -z "${3:-}" ] || echo "$3"
    echo "not ok $2"
    bad=1
}

# Most of it is about ONNX files.
said=$("$certify" "$models/dense.onnx" --engine onnxruntime 0.25 1 2>&1)
case $said in
    *'make deps'*) echo "skip $said"; exit ;;
esac

absent() { # WHAT-WAS-SAID: whether an engine is missing
    grep -q 'built without the engine' <<<"$1"
}

certifies() { # NAME PATTERN ARGUMENT...: prints such a line; last digits may differ
    local said
    said=$("$certify" "${@:3}" 2>&1)
    if absent "$said"; then echo "skip $1: $said"; return; fi
    grep -qE -- "$2" <<<"$said"
    judge $? "$1" "$said"
}

mistake() { # PART-OF-THE-SENTENCE ARGUMENT...
    local status said
    said=$("$certify" "${@:2}" 2>&1 >"$tmp/out")
    status=$?
    [ "$status" != 0 ] && [ "$status" -lt 126 ] && [ "$(wc -l <<<"$said")" = 1 ] &&
        grep -qF -- "$1" <<<"$said" && ! grep -q radius "$tmp/out"
    judge $? "${*:2} is answered by a sentence" "status $status: $said"
}

# Inputs: bare numbers, a .npy file, and such that do not fit.
python3 - "$tmp" <<'EOF'
import struct, sys
folder = sys.argv[1]
numbers = struct.pack("<6f", 0.25, -0.5, 0.125, 1, -0.25, 0.5)
def npy(name, kind, fortran, data, version=b"\x01\x00"):
    head = f"{{'descr': {kind!r}, 'fortran_order': {fortran}, 'shape': (6,), }}"
    head = head.ljust(117) + "\n"
    with open(f"{folder}/{name}", "wb") as f:
        f.write(b"\x93NUMPY" + version + struct.pack("<H", len(head)) + head.encode() + data)
open(f"{folder}/bare", "wb").write(numbers)
open(f"{folder}/short", "wb").write(numbers[:20])
open(f"{folder}/long", "wb").write(numbers + b"\0")
open(f"{folder}/nan", "wb").write(numbers[:20] + struct.pack("<f", float("nan")))
npy("good.npy", "<f4", False, numbers)
npy("double.npy", "<f8", False, 2 * numbers)
npy("mixed.npy", [("a", "<f4"), ("b", "<i4")], False, numbers)
npy("fortran.npy", "<f4", True, numbers)
npy("later.npy", "<f4", False, numbers, b"\x02\x00")
npy("cut.npy", "<f4", False, numbers[:-1])
EOF

certifies "a network at zero" \
    '^output 1: -0\.8376[0-9]*, radius 0\.359[0-9]*$' "$models/dense.onnx" 0.25 1
certifies "the same by libtorch" '^output 1: -0\.8376[0-9]*, radius 0\.359[0-9]*$' \
    "$models/dense.pt" --shape 6 0.25 1
certifies "trees" '^output 0: 2\.0559[0-9]*, radius 0\.348[0-9]*$' "$models/trees.json" 0.25 1
fed=(--constant gain=1 --constant offset=1 --constant count=0 --constant many=0 --constant flag=1)
certifies "one column of a model with constants" '^output 0: 2\.0[0-9]*, radius 0\.4[0-9]*$' \
    "$models/fed.onnx" "${fed[@]}" --output wide --columns 1:2 --samples 1000 0.25 0.5
certifies "a model whose rows see each other, without a check" '^output 0: .* radius' \
    "$models/centred.onnx" 0.25 1 --no-check
certifies "a random model, after a remark" 'random.onnx: an output .* the same rows come again' \
    "$models/random.onnx" 0.25 1
"$certify" "$models/dense.onnx" --input "$tmp/bare" 0.25 1 >"$tmp/one" 2>&1 &&
    "$certify" "$models/dense.onnx" --input "$tmp/good.npy" 0.25 1 >"$tmp/two" 2>&1 &&
    cmp -s "$tmp/one" "$tmp/two" && ! grep -q 'output 1: -0\.8376' "$tmp/one"
judge $? "a .npy file and bare numbers are the same input" "$(cat "$tmp/one" "$tmp/two" 2>&1)"

"$certify" "$models/dense.onnx" 0.25 1 >/dev/full 2>"$tmp/full"
[ $? = 1 ] && grep -q 'cannot be printed' "$tmp/full"
judge $? "results that cannot be printed are an error" "$(cat "$tmp/full")"

own=${CERTREG_ORT:-}
export CERTREG_ORT=$tmp/no-such-library.so
mistake 'no-such-library.so' "$models/dense.onnx" --engine onnxruntime 0.25 1
mistake 'make deps' "$models/dense.onnx" 0.25 1
export CERTREG_ORT=libm.so.6
mistake 'the library found is not ONNX Runtime' "$models/dense.onnx" --engine onnxruntime 0.25 1
if [ -n "$own" ]; then CERTREG_ORT=$own; else unset CERTREG_ORT; fi

mistake 'usage: ' "$models/dense.onnx" 0.25
mistake 'usage: ' --help
mistake 'one word too many' "$models/dense.onnx" 0.25 1 2
mistake 'if other rows are beside it' "$models/centred.onnx" 0.25 1
mistake 'no value follows' "$models/dense.onnx" 0.25 1 --engine
mistake 'no value follows' "$models/dense.onnx" 0.25 1 --constant
mistake 'one word too many' "$models/dense.onnx" 0.25 1 --nonsense 3
mistake '--samples: it must be a whole number' "$models/dense.onnx" --samples 1.5 0.25 1
mistake '--samples: it must be a whole number' "$models/dense.onnx" --samples 1e10 0.25 1
mistake '--samples: it must be a number above 0' "$models/dense.onnx" --samples 0 0.25 1
mistake 'constant (' "$models/fed.onnx" --output wide 0.25 1
mistake 'output 0 is' "$models/beyond.onnx" 0.25 1
mistake 'SIGMA: it must be a number above 0' "$models/dense.onnx" 0 1
mistake 'SIGMA: it must be a number above 0' "$models/dense.onnx" -1 1
mistake 'SIGMA: it must be a number above 0' "$models/dense.onnx" inf 1
mistake 'TOLERANCE: it must be a number above 0' "$models/dense.onnx" 0.25 0
mistake 'TOLERANCE: it must be a number above 0' "$models/dense.onnx" 0.25 1e
mistake 'no engine is called' "$models/dense.onnx" --engine caffe 0.25 1
mistake 'no/such.onnx: No such file' no/such.onnx 0.25 1
mistake 'name an engine' README.md 0.25 1
mistake 'pip install xgboost' "$models/newer.json" 0.25 1
mistake 'output 1 is nan' "$models/nan.onnx" 0.25 1
mistake 'the input cannot be opened' "$models/dense.onnx" --input no/such 0.25 1
mistake 'needs 6 numbers of float32, the file has fewer' \
    "$models/dense.onnx" --input "$tmp/short" 0.25 1
mistake 'the file has more' "$models/dense.onnx" --input "$tmp/long" 0.25 1
mistake 'has fewer' "$models/dense.onnx" --input "$tmp/cut.npy" 0.25 1
mistake 'z[5]' "$models/dense.onnx" --input "$tmp/nan" 0.25 1
mistake 'does not hold float32 in C order' "$models/dense.onnx" --input "$tmp/double.npy" 0.25 1
mistake 'does not hold float32 in C order' "$models/dense.onnx" --input "$tmp/mixed.npy" 0.25 1
mistake 'does not hold float32 in C order' "$models/dense.onnx" --input "$tmp/fortran.npy" 0.25 1
mistake 'cannot be read' "$models/dense.onnx" --input "$tmp/later.npy" 0.25 1
exit $bad
