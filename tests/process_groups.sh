# shellcheck shell=bash
# process_groups.sh, for other scripts to source. apart COMMAND... runs a command in the
# background, in a process group of its own. The groups end with the script if it is interrupted;
# otherwise the background commands of a script without job control ignore Ctrl-C and run on.
apart() {
    set -m
    "$@" </dev/null &
    set +m
}
end_all() {
    local group
    trap '' INT TERM
    for group in $(jobs -p); do kill -- "-$group" 2>/dev/null; done
    wait 2>/dev/null
    exit 130
}
trap end_all INT TERM
