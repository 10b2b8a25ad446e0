#!/usr/bin/env bash
# pack.sh ARCHIVE NAME TIME: packs the files of this folder that the input lists, each name ended by
# a zero byte, below the folder NAME. The same files give the same bytes: names in order, no owner.
set -euo pipefail
export LC_ALL=C
mkdir -p "$(dirname "$1")"
trap 'rm -f "$1.new"' EXIT
sort -z | tar --create --format=gnu --mtime="@$3" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go=rX --transform="flags=r;s|^|$2/|" --no-recursion --null --files-from=- |
    gzip -9n >"$1.new"
mv "$1.new" "$1"
