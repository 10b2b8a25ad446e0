#!/usr/bin/env bash
# hint.sh: what has to be set so that compilers, CMake and the loader find what has been installed;
# nothing where they find it anyway.
# shellcheck source=pkgconfig/common.sh
. "$(dirname "$0")/common.sh"
lines=()
among() { case :$2: in *:"$1":*) ;; *) return 1 ;; esac; }
add() { # VARIABLE FOLDER REMARK: in front of what the variable holds now
    local line
    printf -v line '  export %s=%q%s' "$1" "$2" "${!1:+:\$$1}"
    lines+=("$line${3:+   # $3}")
}

if command -v pkg-config >/dev/null; then
    folders=${PKG_CONFIG_PATH:-}:$(pkg-config --variable pc_path pkg-config)
    among "$LIBDIR/pkgconfig" "$folders" || add PKG_CONFIG_PATH "$LIBDIR/pkgconfig"
fi
if cached; then
    [ "$(id -u)" = 0 ] || lines+=('  sudo ldconfig')
elif ! among "$LIBDIR" "${LD_LIBRARY_PATH:-}"; then
    printf -v rpath 'or link with -Wl,-rpath,%q' "$LIBDIR"
    add LD_LIBRARY_PATH "$LIBDIR" "$rpath"
fi
# CMake searches lib below these folders, and beside the bin folders of programs.
if command -v cmake >/dev/null; then
    case $LIBDIR in
        "$PREFIX"/lib | "$PREFIX"/lib/*)
            among "$PREFIX" "/usr:/usr/local:${CMAKE_PREFIX_PATH:-}" ||
                among "$PREFIX/bin" "$PATH" || add CMAKE_PREFIX_PATH "$PREFIX"
            ;;
        *) lines+=("$(printf '  export certreg_DIR=%q' "$LIBDIR/cmake/certreg")") ;;
    esac
fi
[ "${#lines[@]}" = 0 ] || printf '%s\n' \
    'So that compilers, CMake and programs find it, as far as you use them:' "${lines[@]}"
