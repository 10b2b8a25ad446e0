#!/usr/bin/env bash
# results.sh [NAME...]: runs what a release has to pass, all or the parts that are named, and writes
# a line for each to tests/results.txt: date, commit, name, outcome, time, and the last line that it
# printed. Earlier lines of the same name go. The whole output is in lib/results/NAME.log.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
kept=tests/results.txt
sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
# Name and command, in the order in which all are run.
parts=(
    'check-gcc make check CC=gcc WERROR=1'
    'check-clang make check CC=clang WERROR=1'
    "sanitized make EXTRA='$sanitize' OPT='-O1 -g' sanitized"
    'valgrind make check-valgrind'
    'threads make check-thread'
    'paths make check-paths'
    'heavy make check-heavy'
    'arm make check-arm'
    'platforms make check-platforms'
    'rates make rates'
    'planted make planted'
    'misses make check-misses SECONDS=480'
    'fuzz make fuzz FUZZ_S=600'
    'bench make bench'
    'real make real NAME=diamonds && make real NAME=face && make real NAME=pitch'
    'docs make docs'
    'reproduce make reproduce'
)
command_of() { printf '%s\n' "${parts[@]}" | sed -n "s/^$1 //p"; } # NAME
[ $# != 0 ] || set -- "${parts[@]%% *}"
for name; do
    [ -n "$(command_of "$name")" ] || { echo "no part $name: ${parts[*]%% *}" >&2; exit 2; }
done
! git status --porcelain | grep -qv " $kept\$" ||
    { echo 'results.sh: commit first, so that results belong to a commit' >&2; exit 2; }

mkdir -p lib/results
touch "$kept"
machine="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) processors"
bad=0
for name; do
    log=lib/results/$name.log began=$SECONDS outcome=passed
    bash -c "$(command_of "$name")" >"$log" 2>&1 || outcome=FAILED bad=1
    last=$(grep -v "^ *$" "$log" | tail -1 | sed "s:$PWD/::" | cut -c1-120)
    line="$(date +%F) $(git rev-parse --short=8 HEAD) $name: $outcome in $((SECONDS - began)) s"
    line+=": $last"
    echo "$line"
    {
        echo "$machine"
        grep -v -e "^$machine\$" -e "^[^ ]* [^ ]* $name: " "$kept"
        echo "$line"
    } >"$kept.new"
    mv "$kept.new" "$kept"
done
exit "$bad"
