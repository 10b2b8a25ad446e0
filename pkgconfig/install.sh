#!/usr/bin/env bash
# install.sh: make install. Every folder is made before the first file is written.
# shellcheck source=pkgconfig/common.sh
. "$(dirname "$0")/common.sh"
folders=("$lib" "$lib/pkgconfig" "$lib/cmake/certreg" "$include/certreg" "$doc/include")
[ -z "$MODULES" ] || folders+=("$modules")
umask 022
# Not by install -d, which would change the mode of folders that are there.
for folder in "${folders[@]}"; do
    mkdir -p "$folder" 2>/dev/null || true
    [ -w "$folder" ] || refuse \
        "make install: $folder cannot be written to; install as root, or below another PREFIX"
done

install -m 644 "$O/libcertreg.a" "$lib/"
install -m 755 "$O/$library" "$lib/"
# A module that was not built now would be of another version.
rm -f "${optional[@]}"
[ -z "$MODULES" ] || xargs -n 1 <<<"$MODULES" | xargs install -m 755 -t "$modules"
if [ -n "$BLAS_LIBS" ]; then
    install -m 644 "$O/libcertreg_blas.a" "$lib/"
    descriptions+=(pkgconfig/certreg-blas.pc)
fi
ln -sf "$library" "$lib/libcertreg.so.$MAJOR"
ln -sf "libcertreg.so.$MAJOR" "$lib/libcertreg.so"
for file in include/certreg/*.h*; do install -m 644 "$file" "$include/certreg/"; done
for file in "${descriptions[@]}"; do
    bash pkgconfig/fill.sh "${file##*/}" >"$lib/$file"
    chmod 644 "$lib/$file"
done

documents | while read -r file; do install -D -m 644 "$file" "$doc/$file"; done
# The pages link to the headers.
headers=$INCLUDEDIR/certreg
[[ $headers$DOCDIR/ != "$PREFIX"/*"$PREFIX"/* ]] ||
    headers=$(realpath -ms --relative-to="$DOCDIR/include" "$headers")
ln -sfn "$headers" "$doc/include/certreg"

renew_cache
[ -n "$SILENT" ] || printf '  INST  %s\n' "$lib" "$include" "$doc"
[ -n "$SILENT$DESTDIR" ] || bash pkgconfig/hint.sh
