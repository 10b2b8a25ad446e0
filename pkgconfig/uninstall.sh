#!/usr/bin/env bash
# uninstall.sh: make uninstall. If another version has been installed here since, its files and the
# links to it stay.
# shellcheck source=pkgconfig/common.sh
. "$(dirname "$0")/common.sh"
for folder in "$lib" "$include/certreg" "$doc"; do
    [ ! -d "$folder" ] || [ -w "$folder" ] ||
        refuse "make uninstall: $folder cannot be written to; uninstall as root"
done
# Removes a folder and those around it, up to the prefix, as long as they are empty. Below /usr all
# but certreg's own belong to the system.
remove() { # FOLDER
    local folder=$1
    while [[ $folder != /usr/* || $folder = *certreg* ]] && rmdir "$folder" 2>/dev/null &&
        [[ $folder = "$DESTDIR$PREFIX"/* ]]; do folder=${folder%/*}; done
}
rm -f "$lib/$library"
for link in "libcertreg.so.$MAJOR" libcertreg.so; do
    [ -e "$lib/$link" ] || { rm -f "$lib/$link" && continue; }
    # The modules of this major version serve nobody else.
    [ -e "$lib/libcertreg.so.$MAJOR" ] || { rm -f "$modules"/*.so && remove "$modules"; }
    renew_cache
    other=$(readlink -f "$lib/$link")
    [ -n "$SILENT" ] || echo "make uninstall: $lib is in use by certreg ${other##*.so.}, whose" \
        "files stay"
    exit 0
done
rm -f "$lib/libcertreg.a" "${descriptions[@]/#/"$lib/"}" "${optional[@]}" "$doc/include/certreg"
for file in include/certreg/*.h*; do rm -f "$include/certreg/${file##*/}"; done
documents | while read -r file; do rm -f "$doc/$file"; done

documents | sed 's|/[^/]*$||' | sort -ru | while read -r folder; do
    [ ! -d "$doc/$folder" ] || (cd "$doc" && rmdir -p --ignore-fail-on-non-empty "$folder")
done
for folder in "$modules" "$lib"/{cmake/certreg,cmake,pkgconfig} "$lib" \
    "$include/certreg" "$include" "$doc/include" "$doc"; do
    remove "$folder"
done
renew_cache
