#!/usr/bin/env bash
# jobs.sh PROGRAM: the program of examples/mpi under mpirun: the same bits on any number of ranks, a
# target radius, what SIGKILL leaves, and a sentence for every mistake. From tests/run.sh: CC.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(realpath "${1:?}" 2>/dev/null)
if [ ! -x "$program" ] || ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "skip MPI: Open MPI is not installed (make deps-all)"
    exit 0
fi
# shellcheck source=tests/tell.sh
. tests/tell.sh
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
${CC:-cc} -shared -fPIC -Iinclude tests/mpi/before.c -o "$tmp/before.so" -ldl || exit 2
cd "$tmp" || exit 2
python3 - <<'END'
import struct
rows = [[((7 * i + 3 * j) % 11 - 5) / 16 for j in range(5)] for i in range(40)]
rows[17][4] = 100  # where the model fails
open("x", "wb").write(b"".join(struct.pack("<5f", *row) for row in rows))
END
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader # looking for networks takes two seconds each time
ask=(x rows .25 .2 3000 --seed 7 --chunk 2)
mpi() { mpirun --allow-run-as-root --oversubscribe -q "$@" 2>&1; }
job() { mpi -n "$1" "$program" "${@:2}"; } # RANKS ARGUMENT...
ends() { # SETTING SETTING: rank 1 of two has them, and what reads them
    mpi -n 1 "$program" "${asked[@]}" : -n 1 -x LD_PRELOAD="$tmp/before.so" -x "$1" -x "$2" \
        "$program" "${asked[@]}"
}
one() { "$program" "$@"; } # without mpirun: one rank
same() { diff <(sort "$1" | sed 's/"rank":[0-9]*//') <(sort "$2" | sed 's/"rank":[0-9]*//'); }
says() { # TEXT COMMAND...: fails, and says it
    local said
    said=$("${@:2}" 2>&1) && echo "$said" && return 1
    grep -qF -- "$1" <<<"$said" || { echo "$said" && false; }
}

# ---- rows
tell 'a model that fails is a sentence with row and rank' \
    says 'row 17, rank 1: the model returned 7' job 2 "${ask[@]}"
tell 'also where its samples are handed out' \
    says 'row 17, rank 1: the model failed among samples 0 to 511' \
    job 2 x fails "${ask[@]:2}" --row 17
tell 'the other rows are certified' [ "$(grep -c '"certificate"' rows)" = 39 ]
for ranks in 1 4; do
    job $ranks x "rows$ranks" "${ask[@]:2}" >/dev/null
    tell "rows of $ranks ranks have the same bits" same rows "rows$ranks"
done

# ---- the samples of one input
hard=(x hard .25 .2 30000 --seed 7 --chunk 2 --row 3)
job 1 x all .25 .2 30000 --seed 7 >/dev/null
for ranks in 1 2 4; do
    rm -f hard hard.record
    job $ranks "${hard[@]}" >/dev/null
    tell "samples over $ranks ranks: the certificate of one" \
        same hard <(sed -n '1p;/"row":3,/p' all)
    job $ranks x "near$ranks" "${hard[@]:2}" --target .2 >/dev/null
    tell "a target stops $ranks ranks at the same look" cmp near1 "near$ranks"
done
proved() {
    sed -n 's/.*"stop":1,"radius":0.2[0-9]*,.*"samples":"\([0-9]*\)".*/\1/p' near1 | grep .
}
tell 'when it is proved, before all samples' [ "$(proved || echo 30000)" -lt 30000 ]
tell 'looks lie beyond the pilot' job 2 x few .25 .2 20000 --row 3 --target .2 --chunk 8
tell 'a target out of reach stops them too' \
    [ "$(job 2 x far "${hard[@]:2}" --target 1 >/dev/null; grep -c '"stop":2' far)" = 1 ]

# ---- SIGKILL, of a rank and of mpirun
gone() { while one x "$1" .3 .2 3000 2>&1 | grep -q 'another job'; do sleep .1; done; }
for whom in END_RANK END_MPIRUN; do
    rm -f killed one one.record
    asked=(x killed "${ask[@]:2}")
    ends END_AT=7 $whom=1 >/dev/null
    gone killed
    left=$(grep -c . killed)
    tell "$whom: rows that were written stay" [ "$left" = 7 ]
    printf '{"row":39,"certif' >>killed
    job 2 "${asked[@]}" >said
    tell "$whom: they are not computed again" grep "40 rows, 6 of them from an earlier job" said
    tell "$whom: half a row is dropped" same killed rows
    asked=(x one "${hard[@]:2}")
    ends END_AT=40 $whom=1 >/dev/null
    gone one
    job 2 "${asked[@]}" >said
    tell "$whom: samples go on at the last look" grep -v ', 0 of them' said
    tell "$whom: with the same certificate" same one hard
done

# ---- mistakes
asked=("${ask[@]}")
tell 'another version' says 'rank 1: it differs from rank 0 in its version' \
    ends OTHER_VERSION=1 NONE=1
differ() { mpi -n 1 "$program" "${ask[@]}" : -n 1 "$program" "${ask[@]}" "$@"; }
tell 'another model' says 'rank 1: it differs from rank 0 in its model' differ --slope 2
tell 'another seed' says 'rank 1: it differs from rank 0 in its seed' differ --seed 8
tell 'other arguments' says 'rank 1: it differs from rank 0 in its arguments' differ --chunk 3
cp rows before
tell 'another seed than the file' says 'rows: its "seed" is not' one "${ask[@]}" --seed 8
tell 'another sigma' says '"sigma" is not that' one x rows .3 .2 3000
tell 'another model than its' says '"model" is not that' one x rows .25 .2 3000 --slope 2
sed '1s/"library":[0-9]*/"library":1/' rows >older
tell 'a file of another version' says 'older: its "library" is not' one x older "${ask[@]:2}"
tell 'no file of this program' says 'no output file of this program' one x x "${ask[@]:2}"
sed '5s/^{"row"/{"raw"/' rows >damaged
tell 'a damaged row' says 'it is damaged behind byte' one x damaged "${ask[@]:2}"
locked='import fcntl, subprocess, sys
f = open("rows", "r+"); fcntl.lockf(f, fcntl.LOCK_EX); sys.exit(subprocess.call(sys.argv[1:]))'
tell 'two jobs on one file' says 'another job writes to it (process' \
    python3 -c "$locked" "$program" "${ask[@]}"
tell 'nothing of it has changed the rows' cmp rows before
tell 'a full disk' says '/dev/full: No space left on device' job 2 x /dev/full "${ask[@]:2}"
ln -s /dev/full full.record.new
tell 'a full disk for a record' says 'full.record: No space left' one x full "${hard[@]:2}"
head -c 5000 hard.record >half.record
tell 'a truncated record' says 'half.record: ' one x half "${hard[@]:2}"
cp hard.record other.record
tell 'a record of another seed' says 'other.record: ' one x other "${hard[@]:2}" --seed 8
tell 'what is done is done' one "${hard[@]}"
tell 'no such row' says 'there is no such row' one "${ask[@]}" --row 40
head -c 30 x >part
tell 'half a row of inputs' says 'does not hold five numbers' one part none "${ask[@]:2}"
exit "$bad"
