#!/usr/bin/env bash
# dist.sh: make dist. Packs the files that git tracks into DISTDIR/libcertreg-VERSION.tar.gz; the
# sdist of the Python package is certreg-VERSION.tar.gz. The same commit gives the same bytes: names
# in order, no owner, the time of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
refuse() {
    echo "make dist: $1" >&2
    exit 1
}
why=$(git ls-files --error-unmatch Makefile 2>&1 >/dev/null) ||
    refuse "it packs the files that git tracks, so it needs a clone of the repository: $why"
[ -n "${DIRTY:-}" ] || [ -z "$(git status --porcelain .)" ] ||
    refuse 'git status shows changes: commit them, or pack tracked files as they are by DIRTY=1'

name=libcertreg-$VERSION archive=$DISTDIR/libcertreg-$VERSION.tar.gz
mkdir -p "$DISTDIR"
trap 'rm -f "$archive.new"' EXIT
git ls-files -z | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
done | sort -z | tar --create --format=gnu --mtime="@$(git log -1 --format=%ct)" \
    --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --transform="flags=r;s|^|$name/|" \
    --no-recursion --null --files-from=- | gzip -9n >"$archive.new"
mv "$archive.new" "$archive"
echo "$archive"
