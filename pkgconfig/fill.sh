#!/usr/bin/env bash
# fill.sh NAME: prints pkgconfig/NAME.in, filled in with the settings of pkgconfig/install.mk. Paths
# are relative to the folder of the filled file where everything lies below one prefix, so that the
# prefix can be moved. certreg.pc names the folders themselves
# - below /usr, which nobody moves: pkg-config leaves out folders that the compiler searches anyway
#   only if it sees their names;
# - where a name has more than letters, digits and the like: of programs named pkg-config some need
#   quotes around a folder that they found themselves, others must not have them.
# shellcheck disable=SC2016,SC2153 # ${...} is for pkg-config
set -eu
cd "$(dirname "$0")"
name=$1
prefix=$PREFIX libdir=$LIBDIR includedir=$INCLUDEDIR
below() { [ "${1#"$prefix"/}" != "$1" ]; }
from() { realpath -ms --relative-to="$1" -- "$2"; }

include=$includedir quote='"'
if below "$libdir" && below "$includedir"; then
    include=$(from "$libdir/cmake/certreg" "$includedir")
fi
if below "$libdir" && [ "$prefix" != /usr ] &&
    [[ $includedir$libdir =~ ^[A-Za-z0-9/._+:@-]*$ ]]; then
    quote=''
    below "$includedir" && includedir='${prefix}'${includedir#"$prefix"}
    prefix_is='${pcfiledir}/'$(from "$libdir/pkgconfig" "$prefix")
    libdir='${prefix}'${libdir#"$prefix"}
fi
text=$(<"$name.in")
text=${text//@PREFIX@/"${prefix_is:-$prefix}"}
text=${text//@LIBDIR@/"$libdir"}
text=${text//@INCLUDEDIR@/"$includedir"}
text=${text//@INCLUDE@/"$include"}
text=${text//@QUOTE@/"$quote"}
# CMakeLists.txt fills the next four in for other systems.
text=${text//@SHARED_FILE@/libcertreg.so.@VERSION@}
text=${text//@STATIC_FILE@/libcertreg.a}
text=${text//@SONAME@/libcertreg.so.@MAJOR@}
text=${text//@IMPLIB@/}
text=${text//@VERSION@/"$VERSION"}
text=${text//@PRERELEASE@/"$PRERELEASE"}
text=${text//@MAJOR@/"$MAJOR"}
text=${text//@LIBS_PRIVATE@/"$STATIC_LIBS"}
text=${text//@BLAS_LIBS@/"$BLAS_LIBS"}
text=${text//@BLAS_LINK@/"${BLAS_LIBS// /;}"}
text=${text//@STATIC_LIBS@/"${STATIC_LIBS// /;}"}
printf '%s\n' "$text"
