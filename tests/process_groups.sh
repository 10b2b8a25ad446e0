# shellcheck shell=bash
# apart.sh, for other scripts to source. apart COMMAND... runs a command in the background, in a
# process group of its own. The groups end with the script when it is interrupted: what a script
# without job control has in the background would ignore Ctrl-C, and so run on.
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
