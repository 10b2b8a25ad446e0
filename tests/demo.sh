#!/usr/bin/env bash
# demo.sh PROGRAM: the demo with few images and calls: what it prints and writes, that neither
# depends on the number of threads, and that a mistake is answered by one sentence.
set -u
cd "$(dirname "$0")/.." || exit 2
demo=${1:?}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
unset "${!DEMO_@}" CERTREG_MNIST
export DEMO_IMAGES=2 DEMO_N=100 DEMO_SIGMA=0.25,0.5
bad=0

judge() { # STATUS NAME [DETAIL]
    [ "$1" = 0 ] && echo "ok $2" && return
    [ -z "${3:-}" ] || echo "$3"
    echo "not ok $2"
    bad=1
}

run() { # NAME THREADS: writes to $tmp/NAME
    DEMO_OUT=$tmp/$1 DEMO_THREADS=$2 "$demo" >"$tmp/$1.out" 2>"$tmp/$1.err"
    judge $? "the demo runs, $1" "$(cat "$tmp/$1.err")"
}

same() { # NAME NAME
    diff -r "$tmp/$1" "$tmp/$2" >"$tmp/differences"
    judge $? "the same files, $1 and $2" "$(head -5 "$tmp/differences")"
}

rows() { # FILE EXPECTED
    local found
    found=$(($(wc -l <"$tmp/1-thread/$1") - 1))
    [ "$found" = "$2" ]
    judge $? "$1 has $2 rows" "it has $found"
}

mistake() { # PART-OF-THE-SENTENCE VARIABLE=VALUE...
    local status said
    DEMO_OUT=$tmp/out env "${@:2}" "$demo" >"$tmp/mistake.out" 2>"$tmp/mistake.err"
    status=$?
    said=$(cat "$tmp/mistake.err")
    [ "$status" != 0 ] && [ "$(wc -l <<<"$said")" = 1 ] && [ ! -s "$tmp/mistake.out" ] &&
        grep -qF -- "$1" <<<"$said"
    judge $? "${*:2} is answered by a sentence" "status $status: $said"
}

said=$(DEMO_MODEL=no/such.onnx "$demo" 2>&1)
[[ $said != *'make deps'* ]] || { echo "skip $said"; exit; }
run 1-thread 1
run 3-threads 3
same 1-thread 3-threads
rows certificates.csv $((2 * 2 * 13))
! grep -q $'\r' "$tmp/1-thread.err"
judge $? "progress overwrites nothing where there is no terminal"

# Lines come through a pipe as they are printed: the first is here long before the last.
exec 3< <(DEMO_OUT=$tmp/full DEMO_IMAGES=100 DEMO_N=10000 DEMO_SIGMA='' exec "$demo" 2>/dev/null)
pid=$!
read -r -t 60 full <&3
kill $pid
exec 3<&-
[[ $full =~ ^'Full protocol: 100 images x 6 sigmas x 10000 calls, about '[0-9]+' min'$ ]]
judge $? "the full protocol is announced" "$full"
read -r reduced <"$tmp/1-thread.out"
[[ $reduced =~ ^'Reduced protocol: 2 images x 2 sigmas x 100 calls. '.*'make demo-full, about ' ]]
judge $? "the first line names the protocol and the full one" "$reduced"

python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/1-thread/radii.svg" &&
    [ "$(grep -c "<path fill='none' stroke='#[0-9a-f]*' .*H.*V" "$tmp/1-thread/radii.svg")" = 13 ]
judge $? "radii.svg is XML with 13 curves"

mistake 'run make deps' CERTREG_ORT="$tmp/no-such-library.so"
mistake 'no/such' DEMO_MODEL=no/such.onnx
mistake 'name an engine' DEMO_MODEL=README.md
mistake 'DEMO_N must be' DEMO_N=many
mistake 'DEMO_N must be' DEMO_N=79
mistake 'DEMO_THREADS must be' DEMO_THREADS=0
mistake 'DEMO_SIGMA must be' DEMO_SIGMA=0.5,-1
mistake 'no/such/folder' CERTREG_MNIST=no/such/folder
mistake 'DEMO_OUT' DEMO_OUT=/dev/null/folder
exit $bad
