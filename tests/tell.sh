# shellcheck shell=bash
# tell.sh, for other scripts to source. tell NAME COMMAND... runs a command and prints "ok NAME", or
# "not ok NAME" with what the command printed. After a failure `bad` is 1.
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
