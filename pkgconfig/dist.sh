#!/usr/bin/env bash
# dist.sh: make dist. Packs the files that git tracks into DISTDIR/libcertreg-VERSION.tar.gz; the
# sdist of the Python package is certreg-VERSION.tar.gz. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
refuse() {
    echo "make dist: $1" >&2
    exit 1
}
why=$(git ls-files --error-unmatch Makefile 2>&1 >/dev/null) ||
    refuse "it packs the files that git tracks, so it needs a clone of the repository: $why"
[ -n "${DIRTY:-}" ] || [ -z "$(git status --porcelain .)" ] ||
    refuse 'git status shows changes: commit them, or pack tracked files as they are by DIRTY=1'

name=libcertreg-$VERSION archive=$DISTDIR/libcertreg-$VERSION.tar.gz
git ls-files -z | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
done | bash pkgconfig/pack.sh "$archive" "$name" "$(git log -1 --format=%ct)"
echo "$archive"
