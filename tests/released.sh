#!/usr/bin/env bash
# released.sh: the files of a release in dist/ pass their own tests, each in an empty folder. The
# source tarball: make check in what it unpacks to. The sdist and the wheel: each is installed into
# a new environment, where the tests of the Python package run without its sources. From make
# release, which makes the files first.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
root=$PWD version=${VERSION:?run me by make release}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. "$root/tests/tap_helpers.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL PYTHONPATH PYTHONHOME LD_LIBRARY_PATH VIRTUAL_ENV "${!CERTREG_@}"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_QUIET=1
source=dist/libcertreg-$version.tar.gz sdist=dist/certreg-$version.tar.gz
wheel=$(echo dist/certreg-"$version"-py3-none-manylinux*.whl)
for file in "$source" "$sdist" "$wheel"; do
    [ -s "$file" ] || { echo "not ok $file: there is no such file; make release makes it"; exit 1; }
done

# ---- the source tarball
tree=$tmp/libcertreg-$version
tar xzf "$source" -C "$tmp"
mkdir "$tree/lib" && ln -s "$root/lib/deps" "$tree/lib/deps" # what make deps has installed
checked() {
    make --no-print-directory -C "$tree" check WERROR=1 >"$tmp/checked" 2>&1
    local status=$?
    tail -1 "$tmp/checked" | sed "s/^/    /" >&3
    [ "$status" = 0 ] || { grep -A20 FAILED "$tmp/checked"; return 1; }
}
tell "$source: make check" checked 3>&1

# ---- the Python package
tests=$tmp/tests # what a user has who unpacks the sdist for its tests alone
mkdir "$tests" && tar xzf "$sdist" -C "$tests" --strip-components=1 && rm -r "$tests/python/certreg"
ready() {
    python3 -m venv "$tmp/$1" && "$tmp/$1/bin/pip" install "$root/$2[all]" pytest hypothesis
}
passes() { # ENVIRONMENT
    local status checks
    (cd "$tests" && "$tmp/$1/bin/python" -m pytest -q tests/python/test_*.py) >"$tmp/$1-tests" 2>&1
    status=$?
    checks=$(awk '/^[0-9]+%: Checks: / { print $3 + 0 }' "$tmp/$1-tests")
    echo "    $checks checks, $(grep -c '^skip ' "$tmp/$1-tests") skipped" >&3
    [ "$status" = 0 ] || cat "$tmp/$1-tests"
    [ "$status" = 0 ] && [ "$checks" -gt 500 ]
}
for kind in sdist wheel; do
    tell "${!kind}: pip install" ready "$kind" "${!kind}"
    tell "${!kind}: the tests of the package" passes "$kind" 3>&1
done
[ "$bad" = 0 ] && (cd dist && sha256sum "${source#*/}" "${sdist#*/}" "${wheel#*/}" | tee SHA256SUMS)
exit "$bad"
