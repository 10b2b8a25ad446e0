#!/usr/bin/env bash
# debian.sh: the Debian packages of make deb, with DIRTY=1 of what git tracks as it is: lintian has
# no error and no warning, another build has the same bytes, and what is inside works unpacked.
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/consumers/setup.sh"
missing=$({ git ls-files --error-unmatch Makefile >/dev/null && lintian --version >/dev/null &&
    dpkg-checkbuilddeps pkgconfig/debian/control; } 2>&1) ||
    { echo "skip debian: it needs a clone and make deps-all: $missing"; exit 0; }
unset MAKEFLAGS "${!DEB_@}"

built() { make -s --no-print-directory deb DISTDIR="$tmp/$1"; }
tell 'make deb, with its tests' built first
[ "$bad" = 0 ] || exit 1
packages=$tmp/first/debian
tell 'lintian has no error and no warning' \
    lintian --allow-root --fail-on error,warning "$packages"/*.changes
again() {
    DEB_BUILD_OPTIONS=nocheck built second || return
    for file in "$packages"/*.{deb,dsc,xz}; do
        cmp "$file" "$tmp/second/debian/${file##*/}" || return
    done
}
tell 'another build has the same bytes' again

unpacked() { for file in "$packages"/*.deb; do dpkg-deb -x "$file" "$tmp/root" || return; done; }
tell 'the packages unpack' unpacked
folder=$(dirname "$tmp"/root/usr/lib/*/pkgconfig)
export PKG_CONFIG_PATH=$folder/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root LD_LIBRARY_PATH=$folder
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
tell 'a program, shared' build "$CC" examples/quickstart.c "$tmp/shared" '' ''
tell 'it prints a radius' prints_a_radius "$tmp/shared"
tell 'a program, static' build "$CC" examples/quickstart.c "$tmp/static" --static -static
tell 'it prints the same' diff <("$tmp/shared") <("$tmp/static")
tell 'a program that makes denoisers' build "$CC" tests/consumers/opens.c "$tmp/opens" '' ''
tell 'it finds the module' [ "$("$tmp/opens" blas)" = '0 ' ]
export PYTHONPATH=$tmp/root/usr/lib/python3/dist-packages
tell 'the command' "$tmp/root/usr/bin/certreg" info
exit "$bad"
