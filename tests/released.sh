#!/usr/bin/env bash
# released.sh: each file of a release in dist/ works in an empty environment. Of the Python package
# sdist and wheel are installed into a new venv, where its tests run without its sources. Source
# archive and Debian packages run the README's quickstart in a bare Debian that debootstrap makes,
# if the caller is root. From make release, which makes the files first.
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
wheel=$(grep -l certreg.libs dist/certreg-"$version"-py3-none-manylinux*.whl) # with OpenBLAS
for file in "$source" "$sdist" "$wheel"; do
    [ -s "$file" ] || { echo "not ok $file: there is no such file; make release makes it"; exit 1; }
done
radius=$(sed -n 's/^    \(within 0.5 of .*\)/\1/p' README.md)

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
quickstart() { "$tmp/$1/bin/python" "$tests/examples/python/example.py" | grep -xF "$radius"; }
for kind in sdist wheel; do
    tell "${!kind}: pip install" ready "$kind" "${!kind}"
    tell "${!kind}: quickstart" quickstart "$kind"
    tell "${!kind}: the tests of the package" passes "$kind" 3>&1
done

# ---- a bare Debian
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo 'skip source archive and Debian packages: only root runs debootstrap, if it is installed'
    exit "$bad"
fi
bare=$tmp/bare
# Mounts end with the command, since they are its own.
inside() {
    unshare -mpf --mount-proc="$bare/proc" chroot "$bare" env -i HOME=/root LC_ALL=C.UTF-8 \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -ec "$1"
}
install='apt-get install -qy --no-install-recommends'
made() {
    # shellcheck disable=SC1091 # it is the system's
    debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$bare" &&
        cp /etc/resolv.conf "$bare/etc" && cp -r "$root/dist" "$bare/root" &&
        tar xzf "$source" -C "$bare/root" && mv "$bare/root/libcertreg-$version" "$bare/root/tree"
}
# shellcheck disable=SC2016 # for the shell inside
compiled='cc examples/quickstart.c $(pkg-config --cflags --libs certreg) -o /tmp/quickstart'
compiled+=" && /tmp/quickstart | grep -xF '$radius'"
tell 'a bare Debian' made
tell 'make and a compiler' inside "$install make gcc libc6-dev pkg-config"
make='cd ~/tree && make BLAS=0 && make BLAS=0 install PREFIX=/opt/certreg'
tell "$source: make, make install" inside "$make"
paths='export PKG_CONFIG_PATH=/opt/certreg/lib/pkgconfig LD_LIBRARY_PATH=/opt/certreg/lib'
tell "$source: quickstart" inside "cd ~/tree && $paths && $compiled"
tell "$source: make deps check-fast" inside 'cd ~/tree && make deps check-fast'
if [ -d dist/debian ]; then
    tell 'Debian packages: installed' inside "$install ~/dist/debian/*.deb"
    tell 'Debian packages: quickstart in C' inside "cd ~/tree && $compiled"
    tell 'Debian packages: in Python' inside "cd /tmp && certreg --version &&
        python3 ~/tree/examples/python/example.py | grep -xF '$radius'"
fi
exit "$bad"
