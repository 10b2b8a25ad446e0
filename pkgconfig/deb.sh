#!/usr/bin/env bash
# deb.sh: make deb. Builds Debian packages, source and binary, of what make dist has packed, into
# DISTDIR/debian. Their debian/ is pkgconfig/debian with a changelog and a copyright file. Version
# and date are those of the header and the commit; the revision comes before those of Debian.
set -euo pipefail
: "${VERSION:?run me by make deb}"
cd "$(dirname "$0")/.."
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL
version=$(sed -n 's/.*  Version \(.*\)$/\1/p' include/certreg/certreg.h)
version=${version/-/\~} # 0.2.0~dev comes before 0.2.0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tree=$tmp/libcertreg-$version
mkdir "$tree"
cp "$DISTDIR/libcertreg-$VERSION.tar.gz" "$tmp/libcertreg_$version.orig.tar.gz"
tar xzf "$tmp"/*.orig.tar.gz -C "$tree" --strip-components=1
cp -r "$tree/pkgconfig/debian" "$tree/debian"
cat >"$tree/debian/changelog" <<END
libcertreg ($version-1~upstream) unstable; urgency=medium

  * Package version $version, with the changes of CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' pkgconfig/debian/control)  $(git log -1 --format=%ct |
    xargs -I{} date -uR -d '@{}')
END
{
    printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' '' \
        'Files: *'
    sed -n 's/^Copyright (c) /Copyright: /p' LICENSE
    echo 'License: Expat'
    sed '1,/^Copyright/d' LICENSE | sed 1d | sed 's/^$/./; s/^/ /'
} >"$tree/debian/copyright"

(cd "$tree" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} parallel=$JOBS" dpkg-buildpackage -us -uc)
rm -rf "$DISTDIR/debian" && mkdir "$DISTDIR/debian"
find "$tmp" -maxdepth 1 -type f -exec mv -t "$DISTDIR/debian" {} +
ls -sh "$DISTDIR/debian"
