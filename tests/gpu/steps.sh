# shellcheck shell=bash
# steps.sh: what first.sh and second.sh of the bundle share: FOLDER [SECONDS]. No step stops
# another: each may take its share of SECONDS, or as long as it likes if they are not given.
# Everything printed goes to FOLDER/NAME.log too; FOLDER/NAME.csv has a row "step,status,seconds"
# for each step.
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$0" .sh)
out=${1:?give a folder for what is found} budget=${2:-0}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
log=$out/$name.log table=$out/$name.csv
: >"$log"
echo 'step,status,seconds' >"$table"

# CUDA's libraries are the machine's: beside cuBLAS, whose path is not always known to the loader.
cublas=$(find / -path /proc -prune -o -name 'libcublas.so.1[23]' -print 2>/dev/null | head -n 1)
export LD_LIBRARY_PATH=$here/libs:${cublas:+${cublas%/*}:}${LD_LIBRARY_PATH:-}
export CERTREG_LIB=$here/libcertreg.so.0 PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1

say() { printf '%s\n' "$*" | tee -a "$log"; }
step() { # NAME SHARE COMMAND...: the share is in parts of 240; a limit of 0 is none
    local title=$1 limit=$(((budget * $2 + 239) / 240)) began=$SECONDS said=$out/.step status word
    shift 2
    say "== $title"
    if command -v "$1" >/dev/null; then
        timeout -k 5 "$limit" "$@" </dev/null 2>&1 | tee "$said" | tee -a "$log"
        status=${PIPESTATUS[0]}
        case $status in
        0) word=ok && ! grep -qE '^[A-Za-z0-9_]*:? ?skipped' "$said" || word=skipped ;;
        124 | 137) word='out of time' ;;
        *) word="failed ($status)" ;;
        esac
        rm -f "$said"
    else
        word=missing
        say "$1 is not on this machine"
    fi
    echo "$title,$word,$((SECONDS - began))" >>"$table"
}
finish() { # Prints the table. The status is 1 if a step failed or had too little time.
    say "== steps of $name"
    awk -F, '{ printf "%-14s %-12s %s\n", $1, $2, $3 }' "$table" | tee -a "$log"
    ! grep -qE ',(failed|out of time)' "$table"
}
