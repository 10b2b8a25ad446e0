#!/usr/bin/env bash
# clang.sh format|format-check: clang-format 14 on all sources in C, C++ and CUDA, by .clang-format.
# clang.sh tidy: clang-tidy 14 on src, by .clang-tidy, compiled as compile_commands.json says, JOBS
# at a time; what passed once, with the same settings and headers, is in lib/.obj/tidy, and not
# looked at again. Other versions break some lines elsewhere, and know other checks, so where there
# is no 14 nothing is said about the sources.
set -o pipefail
cd "$(dirname "$0")/.." || exit 2
version=14
tool() { # NAME: its command, or the reason why there is none
    local command
    for command in "$1-$version" "$1"; do
        "$command" --version 2>/dev/null | grep -q "version $version\." && echo "$command" && return
    done
    if command -v "$1" >/dev/null; then
        echo "skip $1 is not of version $version, which the sources are kept to"
    else
        echo "skip $1 $version is not installed"
    fi
    return 1
}
judge() { # NAME STATUS
    [ "$2" != 0 ] || { echo "ok $1"; return; }
    echo "not ok $1"
    return 1
}

# A digest of everything that clang-tidy's answer depends on; -C, since comments can silence it.
digest() { # COMMAND FILE
    local compile
    compile=$(sed -n -e "s|'-ffile-prefix-map=[^']*'||" \
        -e "s|.*\"command\": \"\(.*\) -MMD -MP -c $2 -o .*|\1|p" compile_commands.json)
    [ -n "$compile" ] || return
    # shellcheck disable=SC2086 # a list of words
    { "$1" --version && cat .clang-tidy && echo "$compile" && $compile -E -C "$2"; } | sha256sum
}
tidy_one() { # COMMAND FILE
    local passed
    passed=lib/.obj/tidy/$(digest "$@") || return
    passed=${passed%% *}
    [ ! -e "$passed" ] || return 0
    "$1" -p . --quiet --warnings-as-errors='*' "$2" 2>/dev/null && touch "$passed"
}

action=${1:?}
[ "$action" != tidy_one ] || { tidy_one "${@:2}"; exit; }
case $action in
    format | format-check)
        name=clang-format
        mapfile -t files < <(find src include tests examples bench python \
            -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' 2>/dev/null)
        ;;
    tidy)
        name=clang-tidy
        mapfile -t files < <(sed -n 's/.*"file": "\(src\/.*\)".*/\1/p' compile_commands.json)
        ;;
    *) exit 2 ;;
esac
command=$(tool $name) || { echo "$command"; exit 0; }
case $action in
    format) "$command" -i "${files[@]}" ;;
    format-check)
        "$command" --dry-run -Werror "${files[@]}" 2>&1 | sed -n 's/: error: .*//p' | head -20
        judge "clang-format on ${#files[@]} files (make format mends them)" "${PIPESTATUS[0]}"
        ;;
    tidy)
        # One file each: told about several, its analysis of one depends on those before.
        mkdir -p lib/.obj/tidy
        printf '%s\n' "${files[@]}" |
            xargs -P "${JOBS:-1}" -n 1 bash tests/clang.sh tidy_one "$command"
        judge "clang-tidy on ${#files[@]} files" $?
        ;;
esac
