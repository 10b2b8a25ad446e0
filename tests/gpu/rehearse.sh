#!/usr/bin/env bash
# rehearse.sh FOLDER [PYTHON]: first.sh and second.sh run to their end on the emulated device, whose
# bundle is in FOLDER, so that no minute of a real one is lost to a mistake. Tools that only a
# machine with a device has are stood in for: they check their options and run the program.
set -u
cd "$(dirname "$0")/../.." || exit 2
bundle=$(cd "${1:?}" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
export CK_RUN_CASE=short # the contract has tests of its own on this device
bad=0

stand_in() { # NAME: a program that reads its options from the standard input of this function
    { echo '#!/bin/sh'; cat; } >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}
mkdir "$tmp/bin"
[ -z "${2:-}" ] || stand_in python3 <<<"exec $(command -v "$2") \"\$@\""
stand_in nvidia-smi <<<'echo "the emulated device"'
stand_in compute-sanitizer <<'END'
[ "$1 $2 $3" = "--error-exitcode 9 --tool" ] && [ -x "$5" ] || exit 2
[ "$4" != memcheck ] || exec "$5"
END
stand_in ncu <<'END'
[ "$1 $2 $3 $4 $5" = "--clock-control none --set full -k" ] || exit 2
case ${6#regex:} in
draw_kernel | replay_kernel | project_kernel | direction_kernel) ;;
*) exit 2 ;;
esac
[ "$7 $8 $9 ${10} ${11} ${12}" = "-s 2 -c 1 --kill yes" ] && [ -x "${13}" ]
END
rehearsed() { # NAME STEP-OF-ONE-WORD...: each of these steps ended well, the others were skipped
    local script=$1 step
    shift
    # Without a budget of seconds: here a processor computes, which may be loaded.
    PATH=$tmp/bin:$PATH bash "$bundle/$script.sh" "$tmp/$script" >"$tmp/said" 2>&1 && step= ||
        step="a step failed"
    for step in ${step:+"$step"} "$@"; do
        grep -q "^$step,ok," "$tmp/$script/$script.csv" && continue
        bad=1
        cat "$tmp/said"
        echo "not ok $script.sh: $step"
        return
    done
    echo "ok $script.sh"
}
rehearsed first driver libraries check_gpu sqrt_all bench_gpu
rehearsed second memcheck racecheck synccheck initcheck 'ncu draw' 'ncu direction'
cut -d, -f1 "$tmp/first/gpu.csv" | grep -qx finite_gradient_12288_ms ||
    { bad=1; echo "not ok the figures of first.sh end early"; }
# A step that fails, one that takes too long and one whose program is missing are lines.
cat >"$tmp/three.sh" <<END
. "$bundle/steps.sh"
step wrong 9999 false
step slow 1 sleep infinity
step absent 9999 no-such-program
finish
END
bash "$tmp/three.sh" "$tmp/three" 240 >/dev/null && { bad=1; echo "not ok a failed step passes"; }
wanted='wrong,failed (1) slow,out of time absent,missing'
if [ "$(cut -d, -f1,2 "$tmp/three/three.csv" | tail -n 3 | paste -sd' ')" = "$wanted" ]; then
    echo "ok steps that fail"
else
    bad=1
    cat "$tmp/three/three.csv"
    echo "not ok steps that fail"
fi
exit $bad
