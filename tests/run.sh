#!/usr/bin/env bash
# run.sh PROGRAM...: runs test programs, JOBS at a time; then what MODE names: everything else that
# make check promises (empty), what of that takes seconds (fast), what make check-all adds (heavy),
# the inputs of fuzzers (sanitized), what is kept from other processors (paths), or nothing
# (programs). ONLY names one of them: as its line does, or by its file below tests.
# From the Makefile: OBJ (folder of objects), CC, PYTHON (empty: none with the packages), VERSION,
# JOBS (default: one per core), REPLAYS (programs that replay inputs of fuzzers), MODE, WRAP (a
# command put before each program), BASE (golden rows to have the same bytes; empty: the kept
# ones). A passing program gets one line, a skipped one its reason, a failing one its whole output;
# its seconds are those of the processor, which do not depend on what else runs. The last line
# counts; the status is 0 if nothing failed. Programs count their own checks ("100%: Checks: 9,
# Failures: 0, Errors: 0"), scripts say "ok", "not ok" or "skip" line by line; one that ends
# otherwise counts as failed. No test has a timeout. What hangs ends with everything after some
# hours, and is the one that has no line.
set -u
cd "$(dirname "$0")/.." || exit 2
: "${OBJ:?run me by make check}"
[ -n "${GUARDED:-}" ] || GUARDED=1 exec timeout --foreground 8h bash tests/run.sh "$@"
export -n GUARDED
ONLY=${ONLY:-} ONLY=${ONLY#tests/}
SKIPS=${SKIPS:-} # a file of reasons for which tests may be skipped; empty: for any
export OBJ CC="${CC:-cc}" PYTHON="${PYTHON:-}" VERSION="${VERSION:-}" MODE="${MODE:-}"
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
. tests/process_groups.sh
number=0
jobs=${JOBS:-$(nproc)}
export OPENBLAS_NUM_THREADS=1 # several programs run at a time; the library itself sets nothing

# Passed, failed and skipped by Check's summary line, or by a script's lines.
counts() { # FILE STATUS
    awk -v status="$2" '
        /^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$/ {
            gsub(/[,:]/, ""); seen = 1; failed += $5 + $7; passed += $3 - $5 - $7 }
        /^ok /                          { seen = 1; passed++ }
        /^not ok /                      { seen = 1; failed++ }
        /^skip |^[A-Za-z0-9_]+: skipped/ { seen = 1; skipped++ }
        END { if (!seen || (status != 0 && !failed)) failed++
              print passed + 0, failed + 0, skipped + 0 }' "$1"
}

skips() { grep -E '^skip |^[A-Za-z0-9_]+: skipped' "$1"; } # FILE
unlisted_skips() { # FILE
    [ -z "$SKIPS" ] || skips "$1" |
        grep -vEf <(grep -v '^#' "$SKIPS") | sed "s|^|not ok $SKIPS has no reason for: |"
}
one() { # NUMBER NAME COMMAND...
    local result=$tmp/$1 name=$2 status seconds passed failed skipped word unlisted
    shift 2
    "$@" >"$result.out" 2>&1 </dev/null
    status=$?
    LC_ALL=C # numbers with a point, of times, awk and printf; this is a subshell
    times >"$result.times"
    seconds=$(awk -F '[ms ]+' 'NR == 2 { print 60 * ($1 + $3) + $2 + $4 }' "$result.times")
    unlisted=$(unlisted_skips "$result.out")
    [ -z "$unlisted" ] || echo "$unlisted" >>"$result.out"
    echo "$(counts "$result.out" "$status") $seconds" >"$result.counts"
    read -r passed failed skipped seconds <"$result.counts"
    {
        word=ok
        [ "$passed" != 0 ] || word=skip
        [ "$failed" = 0 ] || word=FAILED
        printf '%-6s %-28s %5d %9.2f s' "$word" "$name" "$passed" "$seconds"
        [ "$failed" = 0 ] || printf '   %d failed, status %d' "$failed" "$status"
        [ "$skipped" = 0 ] || printf '   %d skipped' "$skipped"
        printf '\n'
        if [ "$failed" != 0 ]; then sed 's/^/    | /' "$result.out"
        else skips "$result.out" | sed 's/^/    | /'; fi
    } >"$result.text"
    cat "$result.text"
}

asked() { # NAME COMMAND...: whether ONLY asks for it
    [[ -z $ONLY || $1 = "$ONLY" || " $* " =~ \ tests/$ONLY(\.sh|\.py)?\  ]]
}
start() { # NAME COMMAND...: in the background, at most $jobs at a time
    asked "$@" || return 0
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
    number=$((number + 1))
    apart one "$number" "$@"
}

# Examples end well and print what tests/data/examples.expected says ("NAME PART-OF-A-LINE").
example() { # NAME
    local said status wanted name line bad=0
    said=$("$OBJ/examples/$1")
    status=$?
    [ "$status" = 0 ] || { echo "ended with status $status"; bad=1; }
    wanted=0
    while IFS= read -r line; do
        name=${line%% *} line=${line#* }
        [ "$name" = "$1" ] || continue
        wanted=$((wanted + 1))
        grep -qF -- "$line" <<<"$said" || { echo "nowhere in its output: $line"; bad=1; }
    done <tests/data/examples.expected
    [ "$wanted" != 0 ] || { echo "tests/data/examples.expected has no line for it"; bad=1; }
    [ "$bad" = 0 ] && echo "ok $1" && return
    printf '%s\n' "$said"
    echo "not ok $1"
}

# With a device they do their work, without they say why not; either way they end well. Where no
# toolkit is they have not been built.
on_device() { # PROGRAM PART-OF-THE-OUTPUT
    local said why
    [ -x "$OBJ/$1" ] || { echo "skip $1: no nvcc, cuBLAS or cuRAND to build it"; return; }
    if said=$("$OBJ/$1"); then
        why=$(sed -n 's/.*skipped[:,] *\(.\)/\1/p' <<<"$said")
        [ -z "$why" ] || { echo "skip $1: $why"; return; }
        grep -qE "$2" <<<"$said" && echo "ok $1" && return
    fi
    printf '%s\n' "$said"
    echo "not ok $1"
}

lint() {
    command -v shellcheck >/dev/null || { echo "skip shellcheck is not installed"; return; }
    shellcheck -x tests/*.sh tests/*/*.sh pkgconfig/*.sh .ci/run ||
        { echo "not ok shellcheck"; return; }
    echo "ok shellcheck"
}

python() { # FILE...
    [ -n "$PYTHON" ] || { echo "skip Python: no interpreter with the packages was found"; return; }
    "$PYTHON" -c 'import joblib, pytest, hypothesis' 2>/dev/null ||
        { echo "skip Python: $PYTHON lacks joblib, pytest or hypothesis (make deps)"; return; }
    CERTREG_LIB=$OBJ/libcertreg.so PYTHONPATH=$PWD/python:$PWD/lib/deps:$PWD/lib/deps/real \
        PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -m pytest -q -p no:cacheprovider "$@"
}
# In one process for each job, which loads the packages once; a file that is asked for alone.
python_tests() { # FOLDER
    local files=() of_part file part
    for file in "$1"/test_*.py; do
        [[ $MODE = fast && $file =~ /test_(reproduce|figures) ]] || files+=("$file")
    done
    for file in ${ONLY:+"${files[@]}"}; do start "$(basename "$file" .py)" python "$file"; done
    [ -z "$ONLY" ] || return 0
    for ((part = 0; part < jobs && part < ${#files[@]}; part++)); do
        mapfile -t of_part < <(printf '%s\n' "${files[@]}" | sed -n "$((part + 1))~${jobs}p")
        start "${1#tests/} $((part + 1))/$jobs" python "${of_part[@]}"
    done
}

# Inputs that fuzzers found.
fuzzed() {
    local program
    for program in ${REPLAYS:-}; do
        start "fuzz ${program##*/}" "$program" "tests/fuzz/corpus/${program##*/}.hex"
    done
}

# First, since they take a minute.
[ -n "$MODE" ] || start clang-tidy env JOBS=1 bash tests/clang.sh tidy
[ -n "$MODE" ] || start misses "$OBJ/tests/misses/misses" --settings 40
for program; do
    # shellcheck disable=SC2086 # WRAP is a command line
    start "$(basename "$program")" ${WRAP:-} "$program"
done
if [[ $MODE = "" || $MODE = fast ]]; then
    start rooms bash tests/rooms.sh
    start circles bash tests/circles.sh "$OBJ"
    start columns bash tests/columns.sh
    start links bash tests/links.sh
    start style python3 tests/style.py
    start structure python3 docs/structure.py check
    start layout bash tests/clang.sh format-check
    start enums bash tests/enums.sh
    start symbols bash tests/symbols.sh "$OBJ/libcertreg.so"
    start hardened bash tests/hardened.sh "$OBJ/libcertreg.so"
    start interface python3 tests/abi.py "$OBJ/libcertreg.so"
    start "consumers earlier" bash tests/consumers/earlier.sh "$OBJ/libcertreg.so"
    python_tests tests/python
    start types bash tests/types.sh
    start "shell scripts" lint
fi
if [ "$MODE" = fast ]; then
    start headers bash tests/consumers/headers.sh
    start "header for C++" bash tests/cpp.sh headers
elif [ "$MODE" = sanitized ]; then
    fuzzed
elif [ "$MODE" = paths ]; then
    start golden bash tests/golden/compare.sh "$OBJ/tests/golden/golden" ${BASE:+"$BASE" exact}
    start platform bash tests/platforms/check.sh here "$OBJ/tests/platforms/platform"
elif [ "$MODE" = heavy ]; then
    start proof "$OBJ/tests/proof/normals" tests/proof/normals.txt
    start "law of the noise" env NOISE_DRAWS=1000 "$OBJ/tests/unit_grid_rounding"
    start wheel bash tests/wheel.sh
    start dist env DIRTY=1 bash tests/consumers/dist.sh
    start debian env DIRTY=1 bash tests/debian.sh
    export HOSTILE_FILES=2000
    python_tests tests/python
    python_tests tests/python/heavy
elif [ -z "$MODE" ]; then
    for source in examples/*.c examples/*.cpp; do
        [ -e "$source" ] || continue
        name=$(basename "${source/%.cpp/_cpp}" .c)
        start "example $name" example "$name"
    done
    start "example control_loop" example control_loop/control_loop
    start "example episode" example control_loop/episode
    start "header for C++" bash tests/cpp.sh
    start bindings bash tests/bindings.sh
    start MPI bash tests/mpi/jobs.sh "$OBJ/examples/mpi/certify"
    # In one process: each fork would copy and close the engines' libraries.
    start engines env CK_FORK=no "$OBJ/tests/engines/engines"
    start "engines, certify" bash tests/engines/certify.sh "$OBJ/examples/engines/certify"
    start demo bash tests/demo.sh
    start site bash tests/site.sh
    fuzzed
    start proof "$OBJ/tests/proof/normals" tests/proof/normals.txt sample
    start golden bash tests/golden/compare.sh "$OBJ/tests/golden/golden"
    start platform bash tests/platforms/check.sh here "$OBJ/tests/platforms/platform"
    start "platforms refused" bash tests/platforms/refused.sh
    start "example cuda/onnx" on_device examples/cuda/onnx "^within 10 degrees"
    start "example cuda/network" on_device examples/cuda/network "^within"
    start check_gpu on_device check_gpu "^100%: "
    start sqrt_all on_device sqrt_all "^sqrt_all: 0 of "
    start "gpu bundle" bash tests/bundle.sh .gpu
    start "gpu rehearsal" bash tests/gpu/rehearse.sh "$OBJ/tests/rehearsal" "$PYTHON"
    start headers bash tests/consumers/headers.sh
    # These call make: the first one alone, since it makes what is not made yet.
    wait
    start pages "${PYTHON:-python3}" tests/pages.py
    wait
    start "consumers installed" bash tests/consumers/installed.sh
    wait
    for topic in builds cmake folders versions; do
        start "consumers $topic" bash "tests/consumers/$topic.sh"
    done
fi
wait
[ "$number" != 0 ] || { echo "make check has no line $ONLY" >&2; exit 2; }
cat "$tmp"/*.counts 2>/dev/null | awk -v asked="$number" '
    { passed += $1; failed += $2; skipped += $3; seconds += $4 }
    END { if (NR != asked) failed += asked - NR
          printf "%d seconds of a processor\n", seconds
          printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
          exit failed != 0 }'
