#!/usr/bin/env bash
# check.sh NAME PROGRAM [EMULATOR...]: a platform has the bits of tests/platforms/bits.txt, and a
# libm that is as accurate as the margins of certificates require. VALUES: arguments of each
# function. NATIVE: the program that compares, if PROGRAM needs an emulator.
set -u
cd "$(dirname "$0")/../.." || exit 2
name=$1 program=$2
shift 2
bad=0
if said=$(for threads in 0 4; do
    "$@" "$program" bits tests/platforms/record.bin $threads |
        diff tests/platforms/bits.txt - 2>&1 || exit
done); then
    echo "ok $name: noise, sums, records and digests have the same bits, on a thread and on 4"
else
    head -10 <<<"$said"
    echo "not ok $name: bits differ"
    bad=1
fi
count=${VALUES:-60000}
if said=$("$@" "$program" values "$count" | "${NATIVE:-$program}" errors "$count"); then
    echo "ok $name: the largest errors of libm's functions: $said"
else
    printf '%s\n' "$said"
    echo "not ok $name: libm is less accurate than certificates need"
    bad=1
fi
exit "$bad"
