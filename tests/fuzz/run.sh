#!/usr/bin/env bash
# run.sh NAME...: runs fuzzers for SECONDS_EACH, JOBS at a time, from their corpus and from what
# earlier runs found, in lib/fuzz/NAME. A crash leaves its input as lib/fuzz/NAME-crash-...; replay
# it with the program. The table has executions, how many a second, and parts of the code reached.
# With MERGE=1 each fuzzer writes the smallest set of inputs that reaches the same to its corpus.
# From make fuzz: OBJ, JOBS, SECONDS_EACH.
# shellcheck disable=SC2317 # apart calls the functions
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${OBJ:?run me by make fuzz}"
. tests/process_groups.sh
found=lib/fuzz
mkdir -p "$found"
# What fuzz_most_bytes says; 0 lets libFuzzer choose.
most_bytes() { # NAME
    local said
    said=$(sed -n 's/^const size_t fuzz_most_bytes = \([0-9]*\);$/\1/p' "tests/fuzz/$1.c")
    echo "${said:-0}"
}
one() { # NAME
    local name=$1 log=$found/$1.log status input
    local program=$OBJ/tests/fuzz/$name-fuzzer
    mkdir -p "$found/$name" && python3 tests/fuzz/corpus.py unpack "$name" "$found/$name"
    if [ -n "${MERGE:-}" ]; then
        rm -rf "$found/$name.merged" && mkdir "$found/$name.merged"
        # By what is reached, not how often: a small corpus, replayed in a moment.
        "$program" -set_cover_merge=1 -use_counters=0 "$found/$name.merged" "$found/$name" \
            >"$log" 2>&1 && [ -n "$(ls "$found/$name.merged")" ] &&
            python3 tests/fuzz/corpus.py pack "$name" "$found/$name.merged" && return
        echo "not ok $name: nothing was merged, says $log"
        return 1
    fi
    "$program" -max_total_time="$SECONDS_EACH" -timeout=25 -rss_limit_mb=4096 \
        -entropic=0 -max_len="$(most_bytes "$name")" \
        -print_final_stats=1 -reload=0 -artifact_prefix="$found/$name-" \
        "$found/$name" >"$log" 2>&1
    status=$?
    awk -v name="$name" -v status="$status" '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") reached = $(i + 1) }
        /number_of_executed_units/ { executed = $2 }
        /average_exec_per_sec/ { rate = $2 }
        END { printf "%s %-12s %12d executions %8d a second %6d reached\n",
                     status ? "not ok" : "ok", name, executed, rate, reached }' "$log"
    [ "$status" = 0 ] || { # what was violated, where, and the input
        grep -aE '^[^ ]+:[0-9]+: |ERROR: |WARNING: |runtime error' "$log"
        grep -aE '^ +#[0-9]+ .*/(src|tests)/[^ ]+:[0-9]' "$log"
        input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
        echo "    ${input:+to replay it: $program $input; }all that was printed: $log"
    }
    return "$status"
}
failed=0
for name; do
    while (($(jobs -rp | wc -l) >= ${JOBS:-1})); do wait -n || failed=1; done
    apart one "$name"
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
exit "$failed"
