#!/usr/bin/env bash
# instructions.sh PROGRAM EMULATOR...: instructions for one normal number, by path and operation of
# the CPU backend: the instructions for 64 samples less those for 32. qemu traces them one by one.
set -euo pipefail
program=$1
shift
instructions() { # EMULATOR...
    "$@" -singlestep -d exec,nochain -D /dev/stderr "$program" "${arguments[@]}" 2>&1 >/dev/null |
        grep -c '^Trace'
}
for path in $("$@" "$program"); do
    printf '%s: instructions for a normal number:' "$path"
    for operation in draw replay project; do
        arguments=("$path" "$operation" 32) few=$(instructions "$@")
        arguments=("$path" "$operation" 64) many=$(instructions "$@")
        awk "BEGIN { printf \" %s %.1f\", \"$operation\", ($many - $few) / (32 * 128) }"
    done
    echo
done
