#!/usr/bin/env bash
# check.sh NAME PROGRAM [EMULATOR...]: whether a platform has the bits of tests/platforms/bits.txt,
# and a libm that is as accurate as the margins of certificates ask for.
set -u
cd "$(dirname "$0")/../.." || exit 2
name=$1 program=$2
shift 2
bad=0
if said=$("$@" "$program" bits tests/platforms/record.bin |
    diff tests/platforms/bits.txt - 2>&1); then
    echo "ok $name: noise, sums, records and digests have the same bits"
else
    head -10 <<<"$said"
    echo "not ok $name: bits differ"
    bad=1
fi
if said=$("$@" "$program" libm); then
    echo "ok $name: libm is as accurate as certificates need"
else
    printf '%s\n' "$said"
    echo "not ok $name: libm is less accurate than certificates need"
    bad=1
fi
exit "$bad"
