# shellcheck shell=bash disable=SC2034,SC2317 # for the scripts of this folder to source
# The library as others use it: a temporary folder, `make install` into a prefix below it, and what
# is asked of a consumer. Ends in the folder of the repository.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
root=$PWD
CC=${CC:-cc}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. "$root/tests/tap_helpers.sh"

# Variables of the calling make hold here too, so that the same library is installed; its jobs
# do not.
MAKEFLAGS=$(sed -E 's/ ?--jobserver-[a-z]+=[^ ]*//g; s/(^| )-j[0-9]*//g' <<<"${MAKEFLAGS:-}")
export MAKEFLAGS
loud=$(sed -E 's/^([A-Za-z]*)s([A-Za-z]*)( |$)/\1\2\3/' <<<"$MAKEFLAGS") # without -s
unset MFLAGS MAKELEVEL PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH "${!CMAKE_@}"

prefix=$tmp/usr
# All folders are given, since the calling make may have others.
folders=()
use_prefix() { # PREFIX
    prefix=$1
    folders=(PREFIX="$1" LIBDIR="$1/lib" INCLUDEDIR="$1/include" DOCDIR="$1/share/doc/certreg")
}
use_prefix "$tmp/usr"
make_it() { make -s --no-print-directory "$@" "${folders[@]}"; }
prints_a_radius() { # COMMAND...: its last number is a radius, and not zero
    local said
    said=$("$@") || return
    echo "$said"
    awk 'END { exit !($NF + 0 > 0) }' <<<"$said"
}
# pkg-config puts backslashes before what the shell would read otherwise.
build() { # COMPILER SOURCE PROGRAM FLAGS-OF-PKG-CONFIG FLAGS
    local flags
    # shellcheck disable=SC2086 # a list of words
    flags=$(pkg-config $4 --cflags --libs "${package:-certreg}") &&
        eval "$1 \"\$2\" $flags $5 -o \"\$3\""
}
is_static() { [ -e "$1" ] && ! readelf -dW "$1" 2>/dev/null | grep -q 'NEEDED.*certreg'; }
says() { # TEXT COMMAND...: fails, and TEXT is in what it says
    local said
    said=$("${@:2}" 2>&1) && echo "$said" && return 1
    said=$(tr -s ' \n' ' ' <<<"$said") # CMake breaks lines
    grep -qF -- "$1" <<<"$said" || { echo "$said" && false; }
}
none_left() { # FOLDER: which may be there if it was made before
    [ ! -e "$1" ] || { find "$1"; rmdir "$1" 2>/dev/null; }
}
