# shellcheck shell=bash disable=SC2034 # for install.sh and uninstall.sh to source
# Where files go, with the settings of pkgconfig/install.mk.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for name in PREFIX LIBDIR INCLUDEDIR DOCDIR; do # without // and a / at the end
    printf -v "$name" %s "$(realpath -ms -- "${!name}")"
done
lib=$DESTDIR$LIBDIR include=$DESTDIR$INCLUDEDIR doc=$DESTDIR$DOCDIR
library=libcertreg.so.$VERSION modules=$lib/certreg-$MAJOR
descriptions=(pkgconfig/certreg.pc cmake/certreg/certreg-config.cmake
    cmake/certreg/certreg-config-version.cmake)
# What not every build has.
optional=("$modules"/libcertreg_{cuda,blas}.so "$lib"/libcertreg_blas.a
    "$lib"/pkgconfig/certreg-blas.pc)
refuse() { # SENTENCE
    echo "$1" >&2
    exit 1
}
# The documentation, and the programs that it links to.
documents() {
    local found kinds='md|svg|png|csv|py|ipynb|[ch]|[ch]pp|cu|rs|lua|toml|slurm|f32'
    mapfile -t found < <(ls -d LICENSE ./*.md docs examples 2>/dev/null)
    find "${found[@]}" -type f -regextype posix-extended \
        -regex "LICENSE|.*\.($kinds)|.*/CMakeLists.txt" | sed 's|^\./||'
}
# Whether the loader finds what is in LIBDIR, once its cache has been renewed.
PATH=$PATH:/usr/sbin:/sbin
cached() {
    ldconfig -vNX 2>/dev/null | sed -n 's/^\(\/[^:]*\):.*/\1/p' | grep -xF "$LIBDIR" >/dev/null
}
# As package managers do it: by root, for the running system.
renew_cache() {
    if [ -z "$DESTDIR" ] && [ "$(id -u)" = 0 ] && cached; then ldconfig; fi
}
