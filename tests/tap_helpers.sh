# shellcheck shell=bash
# tap_helpers.sh, for other scripts to source. tell NAME COMMAND... runs a command and prints
# "ok NAME", or "not ok NAME" with its output. tell_none NAME UNWANTED prints "ok NAME" if there is
# nothing unwanted. After a failure `bad` is 1.
bad=0
tell() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then echo "ok $name"; else
        # shellcheck disable=SC2034 # the script ends with it
        bad=1
        echo "not ok $name: $said"
    fi
}
tell_none() {
    if [ -z "$2" ]; then echo "ok $1"; else
        echo "not ok $1:"
        printf '    %s\n' "${2//$'\n'/$'\n'    }"
        # shellcheck disable=SC2034
        bad=1
    fi
}
