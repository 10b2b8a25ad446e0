#!/usr/bin/env bash
# consumers/dist.sh: make dist, and what it packs in an empty folder of a machine without git:
# built, tested, installed, used, uninstalled; also that the same commit gives the same bytes. From
# make distcheck, and with DIRTY=1 from make check-all.
# shellcheck disable=SC2317 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
git ls-files --error-unmatch Makefile >/dev/null 2>&1 ||
    { echo "skip dist: make dist needs a clone of the repository"; exit 0; }

# ---- packed
pack() { make -s --no-print-directory dist DISTDIR="$tmp/$1"; }
tell 'make dist' pack first
[ "$bad" = 0 ] || exit 1
archive=$(echo "$tmp"/first/libcertreg-*.tar.gz)
release=$(basename "$archive" .tar.gz)
again() { (umask 077 && pack second) && cmp "$archive" "$tmp/second/$release.tar.gz"; }
tell 'another time it writes the same bytes' again
tracked() {
    diff <(git ls-files | while read -r file; do [ ! -e "$file" ] || echo "$file"; done | sort) \
        <(tar tzf "$archive" | sed "s|^$release/||" | sort)
}
tell 'it has the tracked files' tracked
nobodys() { ! tar tvzf "$archive" --numeric-owner | grep -v ' 0/0 '; }
tell 'they have no owner' nobodys

clone=$tmp/clone
copy() { git clone -q "$root" "$clone" && cd "$clone" && echo >>README.md; }
refused() { (unset DIRTY MAKEFLAGS && says "$1" make -s -C "$2" "${3:-dist}"); }
tell 'a clone with a change' copy
tell 'is not packed' refused 'git status shows changes: commit them, or pack tracked files' "$clone"
packs() {
    make -s -C "$clone" dist DIRTY=1 &&
        tar xzOf "$clone/dist/$release.tar.gz" "$release/README.md"
}
tell 'except with DIRTY=1' diff <(packs | tail -n +2) "$clone/README.md"

# make release: each refusal comes before the next one.
release() { # TEXT SED-SCRIPT FILE: what it says of a clone that has this change
    sed -i "$2" "$clone/$3" && refused "make release: $1" "$clone" release
}
as() { git -C "$clone" -c user.name=x -c user.email=x commit -qa -m "$1"; }
git -C "$clone" checkout -q .
[ -e "$root/lib/deps" ] && mkdir -p "$clone/lib" && ln -s "$(realpath lib/deps)" "$clone/lib/deps"
tell 'a development version is not released' \
    release 'certreg.h says that this version is in development' \
    '1,9s/\(Version [0-9.]*\).*/\1-dev/' include/certreg/certreg.h
sed -i '1,9s/-dev$//' "$clone/include/certreg/certreg.h"
tell 'nor one that the changelog lacks' release 'CHANGELOG.md has no heading [' \
    '7,20s/^## .*/## [Unreleased]/' CHANGELOG.md
number=${release#libcertreg-}
tell 'nor a tree with changes' release 'only what is committed is released' \
    "7,20s/^## .*/## [$number]/" CHANGELOG.md
if "$clone/lib/deps/venv/bin/python" -c 'import build, auditwheel, ziglang, cyclonedx' 2>/dev/null
then
    sed -i '1s/^/#error broken\n/' "$clone/src/base/error.c"
    tell 'a commit' as broken
    tell 'nor one that fails make check' refused 'make release: make check fails' "$clone" release
else
    echo 'skip a release that fails make check: make deps-all installs the tools'
fi

# ---- unpacked
mkdir "$tmp/bin" "$tmp/empty"
printf '#!/bin/sh\necho "git: there is none" >&2\nexit 127\n' >"$tmp/bin/git"
chmod +x "$tmp/bin/git"
export PATH=$tmp/bin:$PATH
tar xzf "$archive" -C "$tmp/empty"
tree=$tmp/empty/$release
jobs=${JOBS:-$(nproc)}
here() { make -s -j"$jobs" -C "$tree" "$@" JOBS="$jobs" "${folders[@]}"; }
checked() {
    here check-fast >"$tmp/checked"
    local status=$?
    tail -1 "$tmp/checked"
    [ "$status" = 0 ] || { grep -v '^ok \|skip' "$tmp/checked"; return 1; }
}
tell 'make' here all
tell 'make check-fast' checked
tell 'make install' here install
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
tell 'a program' build "$CC" "$tree/examples/quickstart.c" "$tmp/program" '' ''
tell 'it prints a radius' prints_a_radius "$tmp/program"
tell 'make uninstall' here uninstall
tell 'nothing is left' none_left "$prefix"
tell 'make dist says what it needs' refused 'so it needs a clone of the repository' "$tree"
tell 'make distclean' here distclean
unchanged() {
    diff <(tar tzf "$archive" | sort) \
        <(cd "$tmp/empty" && find "$release" ! -type d ! -name '*.pyc' | sort)
}
tell 'leaves what was unpacked' unchanged
exit "$bad"
