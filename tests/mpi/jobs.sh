#!/usr/bin/env bash
# jobs.sh PROGRAM: the program of examples/mpi under mpirun: the same bits on any number of ranks,
# and a sentence for every mistake. From tests/run.sh: CC.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/../.." || exit 2
program=$(realpath "${1:?}" 2>/dev/null)
if [ ! -x "$program" ] || ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "skip MPI: Open MPI is not installed (make deps-all)"
    exit 0
fi
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
library=$(dirname "$program")/../..
sed 's/0.3f/0.4f/' examples/mpi/model.c >"$tmp/model.c"
OMPI_CC=${CC:-cc} mpicc -Iinclude -Iexamples/mpi -D_POSIX_C_SOURCE=200809L "$tmp/model.c" \
    examples/mpi/certify.c -L"$library" -Wl,-rpath,"$library" -lcertreg -lm -o "$tmp/other" ||
    exit 2
cd "$tmp" || exit 2
python3 - <<'END'
import struct
rows = [[((7 * i + 3 * j) % 11 - 5) / 16 for j in range(5)] for i in range(40)]
rows[17][4] = 100  # where the model fails
open("x", "wb").write(b"".join(struct.pack("<5f", *row) for row in rows))
END
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader # looking for networks takes two seconds each time
ask=(.25 .2 3000 --seed 7 --chunk 2)
mpi() { mpirun --allow-run-as-root --oversubscribe -q "$@" 2>&1; }
job() { mpi -n "$1" "$program" "${@:2}"; } # RANKS ARGUMENT...
differ() { mpi -n 1 "$program" x none "${ask[@]}" : -n 1 "$1" x none "${ask[@]}" "${@:2}"; }
one() { "$program" "$@"; } # without mpirun: one rank
small() { # files up to 1 kB, without those that Open MPI makes itself
    (trap '' XFSZ; export PMIX_MCA_gds=hash; ulimit -f 1; one x small "${ask[@]}")
}
same() { diff <(sort "$1") <(sort "$2"); }
says() { # TEXT COMMAND...: fails, and says it
    local said
    said=$("${@:2}" 2>&1) && echo "$said" && return 1
    grep -qF -- "$1" <<<"$said" || { echo "$said" && false; }
}

# ---- rows
tell 'a model that fails is a sentence with row and rank' \
    says 'row 17, rank 1: the model returned 7' job 2 x rows "${ask[@]}"
tell 'the file has it too' grep -q '^17,,,,,"the model returned 7.*sensor 4 reads' rows
tell 'the other rows are certified' [ "$(grep -c ',certified,' rows)" = 39 ]
for ranks in 1 4; do
    job $ranks x "rows$ranks" "${ask[@]}" >/dev/null
    tell "rows of $ranks ranks have the same bits" same rows "rows$ranks"
done

# ---- the samples of one input
for ranks in 1 2 4; do
    job $ranks x "hard$ranks" "${ask[@]}" --row 3 >/dev/null
    tell "samples over $ranks ranks: the certificate of one" \
        same "hard$ranks" <(grep '^row\|^3,' rows)
done
tell 'a model that fails is a sentence with row and samples' \
    says 'row 17, rank 1: the model failed among samples 0 to 511: sensor 4' \
    job 2 x fails "${ask[@]}" --row 17

# ---- mistakes
tell 'another model' says 'rank 1: it differs from rank 0 in its model' differ "$tmp/other"
tell 'another seed' says 'rank 1: it differs from rank 0 in its seed' differ "$program" --seed 8
tell 'another chunk' says 'rank 1: it differs from rank 0 in its chunk' differ "$program" --chunk 3
tell 'nothing is begun then' [ ! -e none ]
cp rows before
tell 'a file that is there' says 'rows: File exists' one x rows "${ask[@]}"
tell 'nothing of it has changed the rows' cmp rows before
tell 'a full disk' says 'small: File too large' small
tell 'no such row' says 'there is no such row' one x none "${ask[@]}" --row 40
tell 'a tolerance of 0' says 'TOLERANCE: it must be a number above 0' one x none .25 0 3000
tell 'another option' says '--target: there is no such option' one x none "${ask[@]}" --target 1
head -c 30 x >part
tell 'half a row of inputs' says 'does not hold five numbers' one part none "${ask[@]}"
exit "$bad"
