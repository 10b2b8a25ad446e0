#!/usr/bin/env bash
# uninstall.sh: make uninstall. If another version has been installed here since, its files and the
# links to it stay.
# shellcheck source=pkgconfig/common.sh
. "$(dirname "$0")/common.sh"
for folder in "$lib" "$include/certreg" "$doc"; do
    [ ! -d "$folder" ] || [ -w "$folder" ] ||
        refuse "make uninstall: $folder cannot be written to; uninstall as root"
done
rm -f "$lib/$library"
for link in "libcertreg.so.$MAJOR" libcertreg.so; do
    [ -e "$lib/$link" ] || { rm -f "$lib/$link" && continue; }
    renew_cache
    other=$(readlink -f "$lib/$link")
    [ -n "$SILENT" ] || echo "make uninstall: $lib is in use by certreg ${other##*.so.}, whose" \
        "files stay"
    exit 0
done
rm -f "$lib/libcertreg.a" "${descriptions[@]/#/"$lib/"}" "$lib"/certreg/libcertreg_{cuda,blas}.so \
    "$doc/include/certreg"
for file in include/certreg/*.h*; do rm -f "$include/certreg/${file##*/}"; done
documents | while read -r file; do rm -f "$doc/$file"; done

remove() { # FOLDER...: those that are there and empty
    for folder; do [ ! -d "$folder" ] || rmdir --ignore-fail-on-non-empty "$folder"; done
}
documents | sed 's|/[^/]*$||' | sort -ru | while read -r folder; do
    [ ! -d "$doc/$folder" ] || (cd "$doc" && rmdir -p --ignore-fail-on-non-empty "$folder")
done
remove "$lib/certreg" "$lib/cmake/certreg" "$lib/cmake" "$include/certreg" "$doc/include" "$doc"
renew_cache
