#!/usr/bin/env bash
# consumers/folders.sh: where make install puts things, what it says, and that make uninstall leaves
# nothing: with DESTDIR, as packages are made; in folders with spaces; after the prefix has been
# moved; where it may not write.
# shellcheck disable=SC2317,SC2119,SC2120 # functions are called through tell
# shellcheck source=tests/consumers/setup.sh
. "$(dirname "$0")/setup.sh"
quickstart=$root/examples/quickstart.c
opens=$root/tests/consumers/opens.c

# ---- a prefix that is moved
tell 'make install' make_it install
below_prefix() { # what there is, except what is known
    local other
    other=$(cd "$prefix" && find . ! -type d | grep -vE \
        '^./(lib/|include/certreg/[a-z_]+\.h(pp)?$|share/doc/certreg/)')
    [ -z "$other" ] || { echo "$other" && false; }
}
tell 'everything is where it belongs' below_prefix
files() { (cd "$1" && find . -name '*.h*' | sort); }
same_headers() { diff <(files include) <(files "$prefix/include"); }
tell 'all headers are there' same_headers
# Except those to sources of the library, which are not installed.
links_lead_somewhere() {
    local tests=$prefix/share/doc/certreg/tests said
    mkdir "$tests" && cp tests/links.sh "$tests" || return
    said=$(GIT_DIR=/none bash "$tests/links.sh")
    rm -r "$tests"
    [ -n "$said" ] && ! grep '^not ok' <<<"$said" |
        grep -vE 'leads to (\.\./)+(src|python|tests|bench)/'
}
tell 'links of the documentation lead somewhere' links_lead_somewhere
program_works() { # NAME: shared and static, by pkg-config
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
    tell "$1: shared" build "$CC" "$quickstart" "$tmp/shared" '' ''
    tell "$1: it prints a radius" prints_a_radius "$tmp/shared"
    tell "$1: a program that opens a module" build "$CC" "$opens" "$tmp/opens" '' ''
    tell "$1: the library finds it" [ "$("$tmp/opens" blas)" = '0 ' ]
    tell "$1: static" build "$CC" "$quickstart" "$tmp/static" --static -static
    tell "$1: it prints a radius" prints_a_radius "$tmp/static"
    unset PKG_CONFIG_PATH LD_LIBRARY_PATH
}
names_nothing() { ! grep -rIl "$tmp" "$1"; }
tell 'no file names the prefix' names_nothing "$prefix"
mkdir "$tmp/away"
mv "$prefix" "$tmp/away/other"
use_prefix "$tmp/away/other"
program_works 'moved'
moves_to_a_space() { pkg-config --version | grep -q '^[1-9]'; } # pkg-config 0.29 cannot
if moves_to_a_space; then
    mv "$prefix" "$tmp/a way"
    use_prefix "$tmp/a way"
    program_works 'moved to a folder with a space'
fi
# Where another major version has come since, its link and its modules stay.
: >"$prefix/lib/libcertreg.so.999.0.0"
ln -sf libcertreg.so.999.0.0 "$prefix/lib/libcertreg.so"
mkdir "$prefix/lib/certreg-999"
tell 'make uninstall beside another major version' make_it uninstall
tell 'removes the modules of this one' [ ! -e "$prefix/lib/certreg-0" ]
tell 'and no other' [ -d "$prefix/lib/certreg-999" ]
rm -r "$prefix"/lib/{certreg-999,libcertreg.so*}
tell 'make uninstall where it is now' make_it uninstall
tell 'nothing is left' none_left "$prefix"

# ---- other folders
use_prefix "$tmp/it's a prefix"
tell 'make install below a name with spaces' make_it install
program_works 'spaces'
tell 'make uninstall' make_it uninstall
tell 'nothing is left' none_left "$prefix"
use_prefix "$tmp/apart"
folders+=(LIBDIR="$tmp/lib64" INCLUDEDIR="$tmp/headers" DOCDIR="$tmp/documents")
tell 'make install into folders apart' make_it install
mkdir -p "$prefix/lib"
ln -s "$tmp/lib64/pkgconfig" "$prefix/lib/pkgconfig"
ln -s "$tmp/lib64/libcertreg.so.0" "$prefix/lib"
program_works 'folders apart'
tell 'their links lead there' [ -e "$tmp/documents/include/certreg/certreg.h" ]
tell 'make uninstall' make_it uninstall
rm -r "$prefix"
for folder in lib64 headers documents; do
    [ ! -e "$tmp/$folder" ] || tell "nothing is left in $folder" none_left "$tmp/$folder"
done
package="$tmp/a package"
packaged() { make -s --no-print-directory "$1" PREFIX=/usr DESTDIR="$package"; }
tell 'make install with DESTDIR' packaged install
tell 'all of it is below usr' [ "$(ls "$package")" = usr ]
tell 'the package does not name the folder it was made in' names_nothing "$package"
# The folders that the compiler searches anyway are not named.
system_flags() {
    local pc
    pc=$(find "$package" -name certreg.pc) &&
        [ "$(PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs certreg | xargs)" = -lcertreg ]
}
tell 'pkg-config does not repeat the folders of the system' system_flags
tell 'make uninstall with DESTDIR' packaged uninstall
tell 'nothing is left' none_left "$package"

# ---- what make install says
use_prefix "$tmp/usr"
# The tools that it asks, and a loader's cache that searches the folders named in $tmp/searched.
mkdir "$tmp/bin" "$tmp/user"
cat >"$tmp/bin/ldconfig" <<END
#!/bin/sh
case \$1 in -vNX) cat "$tmp/searched" ;; *) echo renewed >>"$tmp/renewed" ;; esac
END
printf '#!/bin/sh\necho 1000\n' >"$tmp/user/id"
chmod +x "$tmp"/bin/ldconfig "$tmp/user/id"
: >"$tmp/searched"
speaks() { # MAKE-ARGUMENTS...: the lines of the hint
    PATH=$tmp/bin:$PATH MAKEFLAGS=$loud make --no-print-directory "${folders[@]}" "$@" install |
        sed -n '/^So that/,$p' | sed 1d
}
hint() { # WANTED COMMAND...
    diff <([ -z "$1" ] || printf '%s\n' "$1") <("${@:2}")
}
pc="  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig"
loader="  export LD_LIBRARY_PATH=$prefix/lib   # or link with -Wl,-rpath,$prefix/lib"
cmake=$(command -v cmake >/dev/null && echo "  export CMAKE_PREFIX_PATH=$prefix")
tell 'make install says what to set' hint "$pc
$loader${cmake:+
$cmake}" speaks
knows() {
    LD_LIBRARY_PATH=$prefix/lib PKG_CONFIG_PATH=$prefix/lib/pkgconfig PATH=$PATH:$prefix/bin speaks
}
tell 'nothing where it is set' hint '' knows
others() {
    LD_LIBRARY_PATH=$prefix/lib PKG_CONFIG_PATH=/other CMAKE_PREFIX_PATH=$prefix speaks
}
tell 'and keeps what is there' hint "$pc:\$PKG_CONFIG_PATH" others
apart() { speaks LIBDIR="$prefix/lib64" | grep -v LIBRARY_PATH; }
tell 'CMake needs the folder itself where it would not look' hint "  export \
PKG_CONFIG_PATH=$prefix/lib64/pkgconfig${cmake:+
  export certreg_DIR=$prefix/lib64/cmake/certreg}" apart
tell 'nothing with make -s' hint '' speaks -s
tell 'nothing with DESTDIR' hint '' speaks DESTDIR="$tmp/package"
tell 'the cache of the loader is left alone' [ ! -e "$tmp/renewed" ]
echo "$prefix/lib: (from somewhere)" >"$tmp/searched"
as_user() {
    PATH=$tmp/user:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig CMAKE_PREFIX_PATH=$prefix speaks
}
tell 'a folder that the loader searches needs ldconfig' hint '  sudo ldconfig' as_user
tell 'which only root may run' [ ! -e "$tmp/renewed" ]
printf '#!/bin/sh\necho 0\n' >"$tmp/user/id"
tell 'so root runs it' hint '' as_user
in_package() { PATH=$tmp/bin:$tmp/user:$PATH make_it install DESTDIR="$tmp/staged"; }
tell 'but not with DESTDIR' in_package
tell 'once' [ "$(cat "$tmp/renewed")" = renewed ]
uninstalled() { PATH=$tmp/bin:$tmp/user:$PATH make_it uninstall; }
tell 'and after make uninstall again' uninstalled
tell 'twice in all' [ "$(wc -l <"$tmp/renewed")" = 2 ]

# ---- and where it cannot write
: >"$tmp/file"
use_prefix "$tmp/file/usr"
tell 'a prefix below a file is refused' says \
    "$prefix/lib cannot be written to; install as root, or below another PREFIX" make_it install
use_prefix "$tmp/kept"
mkdir -p "$prefix/lib"
chmod 2775 "$prefix/lib"
keeps_mode() { make_it install && [ "$(stat -c %a "$prefix/lib")" = 2775 ]; }
tell 'folders that are there keep their mode' keeps_mode
open_to_all() { ! find "$1" ! -perm -444 | grep . && ! find "$1" -type d ! -perm -555 | grep .; }
private() { (umask 077 && make_it install INCLUDEDIR="$prefix/new") && open_to_all "$prefix/new"; }
tell 'what is new is readable for all' private
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
as_nobody() { # install|uninstall, with files of root
    PREFIX=$prefix LIBDIR=$prefix/lib INCLUDEDIR=$prefix/include DOCDIR=$prefix/doc DESTDIR='' \
        MODULES='' SILENT=s VERSION=$(readlink -f "$prefix/lib/libcertreg.so" | sed 's/.*so\.//') \
        MAJOR=0 STATIC_LIBS='' nobody bash "$root/pkgconfig/$1.sh"
}
count() { find "$prefix" | wc -l; }
chmod 755 "$tmp" "$prefix/lib"
if nobody ls "$root/pkgconfig/install.sh" "$prefix/lib" >/dev/null 2>&1; then
    before=$(count)
    for act in install uninstall; do
        tell "no one else can $act" says \
            "make $act: $prefix/lib cannot be written to; $act as root" as_nobody "$act"
    done
    tell 'and nothing has changed' [ "$(count)" = "$before" ]
else
    echo 'skip another user: this one cannot become nobody'
fi
exit "$bad"
