#!/usr/bin/env bash
# run.sh NAME...: runs fuzzers for SECONDS_EACH, JOBS at a time, from their corpus and from what
# earlier runs found (lib/fuzz/NAME). A crash leaves its input there as NAME-crash-...; replay it
# with the program. The table has executions, how many a second, and parts of the code reached.
# With MERGE=1 each fuzzer writes the smallest set of inputs that reaches the same to its corpus.
# From make fuzz: OBJ, JOBS, SECONDS_EACH.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${OBJ:?run me by make fuzz}"
found=lib/fuzz
mkdir -p "$found"
one() { # NAME
    local name=$1 log=$found/$1.log status
    local corpus=tests/fuzz/corpus/$name program=$OBJ/tests/fuzz/$name-fuzzer
    mkdir -p "$found/$name" "$corpus"
    if [ -n "${MERGE:-}" ]; then
        rm -rf "$found/$name.merged" && mkdir "$found/$name.merged"
        "$program" -merge=1 "$found/$name.merged" "$found/$name" "$corpus" >"$log" 2>&1 &&
            rm -f "$corpus"/* && cp "$found/$name.merged"/* "$corpus"/ &&
            echo "ok $name: $(find "$corpus" -type f | wc -l) inputs kept"
        return
    fi
    "$program" -max_total_time="$SECONDS_EACH" -timeout=25 -rss_limit_mb=4096 \
        -print_final_stats=1 -reload=0 -artifact_prefix="$found/$name-" \
        "$found/$name" "$corpus" >"$log" 2>&1
    status=$?
    awk -v name="$name" -v status="$status" '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") reached = $(i + 1) }
        /number_of_executed_units/ { executed = $2 }
        /average_exec_per_sec/ { rate = $2 }
        END { printf "%s %-12s %12d executions %8d a second %6d reached\n",
                     status ? "not ok" : "ok", name, executed, rate, reached }' "$log"
    [ "$status" = 0 ] || { tail -25 "$log"; echo "$program ${found}/$name-..."; }
    return "$status"
}
failed=0
for name; do
    while (($(jobs -rp | wc -l) >= ${JOBS:-1})); do wait -n || failed=1; done
    one "$name" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
exit "$failed"
