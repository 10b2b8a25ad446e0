#!/usr/bin/env bash
# bindings.sh: the programs of examples/bindings, which docs/bindings.md is about. They compile
# without a warning, print what the program in C prints, and have the layouts of the C compiler.
# From tests/run.sh: OBJ (folder of objects), CC, VERSION.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
: "${OBJ:?run me by make check}"
CC=${CC:-cc}
tmp=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
# shellcheck source=tests/tell.sh
. tests/tell.sh
library=$(realpath "$OBJ")
export LD_LIBRARY_PATH=$library
wanted='within 0.5 of 0.870862 for every shift below 0.407213'
folder=examples/bindings

# ---- the page
leads() { # every program is on the page
    local program
    for program in "$folder"/*; do
        grep -qF "](../$program)" docs/bindings.md || { echo "$program is missing"; return 1; }
    done
}
tell 'docs/bindings.md leads to every program' leads

prints() { # PROGRAM LINE: its first line, and part of a later one
    local said
    said=$("$1") || return
    echo "$said"
    [ "$(head -1 <<<"$said")" = "$wanted" ] && grep -qF -- "$2" <<<"$said"
}
# What a program prints that has the C headers and these lines.
by_c() { # LINES
    local header
    echo '#define CERTREG_EXPERIMENTAL'
    for header in include/certreg/*.h; do echo "#include <certreg/$(basename "$header")>"; done
    printf '#include <stdio.h>\nint main(void)\n{\n%s\nreturn 0;\n}\n' "$1"
}
c_says() { # LINES
    by_c "$1" >"$tmp/layout.c"
    # shellcheck disable=SC2086 # the compiler is a list of words
    $CC -Iinclude "$tmp/layout.c" -o "$tmp/layout" && "$tmp/layout"
}

# ---- Rust
rust() { rustc --edition 2021 -D warnings "$1" -L "$library" -o "$2"; }
# Each struct of the program with its fields: "Model model scale".
rust_fields() {
    awk '/^(pub )?struct [A-Z][a-z]+ \{/ { sub(/^pub /, ""); name = $2; next }
        /^\}/ { name = "" }
        name { gsub(/pub /, ""); line = $0
            while (match(line, /[a-z_0-9]+: /)) {
                print name, tolower(name), substr(line, RSTART, RLENGTH - 2)
                line = substr(line, RSTART + RLENGTH) } }' "$folder"/quickstart.rs |
        sed 's/ failure / error /' | grep -v '^Error '
}
rust_layout() {
    local count
    rust_fields >"$tmp/fields"
    count=$(wc -l <"$tmp/fields")
    [ "$count" -gt 80 ] || { echo "only $count fields were found"; return 1; }
    sed 's/^fn main()/fn quickstart()/' "$folder"/quickstart.rs >"$tmp/layout.rs"
    {
        echo 'fn main() { let _ = quickstart;'
        awk '!seen[$1]++ { print "println!(\"" $2 " {}\", size_of::<" $1 ">());"
                print "let at = std::mem::MaybeUninit::<" $1 ">::uninit(); let at = at.as_ptr();" }
            { print "println!(\"" $2 " " $3 " {}\", unsafe { std::ptr::addr_of!((*at)." $3 \
                ") } as usize - at as usize);" }' "$tmp/fields"
        echo '}'
    } >>"$tmp/layout.rs"
    rust "$tmp/layout.rs" "$tmp/layout_rust" || return
    c_says "$(awk '!seen[$1]++ { print "printf(\"" $2 " %zu\\n\", sizeof(certreg_" $2 "));" }
        { print "printf(\"" $2 " " $3 " %zu\\n\", offsetof(certreg_" $2 ", " $3 "));" }' \
        "$tmp/fields")" >"$tmp/layout_c" || return
    "$tmp/layout_rust" | diff "$tmp/layout_c" -
}
if rustc --version >/dev/null 2>&1; then
    tell 'the program in Rust compiles' rust "$folder"/quickstart.rs "$tmp/rust"
    # A panic in its model is a status.
    tell 'it prints the radius and its error' prints "$tmp/rust" 'status 4: the model returned 1'
    tell 'its structs lie as those of C' rust_layout
else
    echo 'skip Rust: rustc is not installed'
fi

# ---- Go
export GOCACHE=$tmp/cache GOPATH=$tmp/path GOFLAGS='' GO111MODULE=off PKG_CONFIG_PATH=$tmp
printf 'Name: certreg\nDescription: this tree\nVersion: %s\nCflags: -I%s\nLibs: -L%s -lcertreg\n' \
    "${VERSION:-0}" "$PWD/include" "$library" >"$tmp/certreg.pc"
go_builds() { go vet "$1" && go build -o "$2" "$1"; }
formatted() { [ -z "$(gofmt -l "$folder")" ]; }
go_layout() { # the sizes of all structs, by the table of the library
    sed -n 's/ *X(certreg_\([a-z_]*\), [A-Z_]*, [0-9]*, \([0-9]*\)).*/\1 \2/p' src/base/sizes.h \
        >"$tmp/sizes"
    [ "$(wc -l <"$tmp/sizes")" -ge 26 ] || return
    {
        printf 'package main\n// #cgo pkg-config: certreg\n'
        printf '// #cgo CFLAGS: -DCERTREG_EXPERIMENTAL\n'
        printf '// #include <certreg/%s.h>\n' certreg attack denoiser interval solver
        printf 'import "C"\nimport ("fmt"; "unsafe")\nfunc main() {\n'
        awk '{ print "fmt.Println(\"" $1 "\", unsafe.Sizeof(C.certreg_" $1 "{}))" }' "$tmp/sizes"
        echo '}'
    } >"$tmp/layout.go"
    go build -o "$tmp/layout_go" "$tmp/layout.go" && "$tmp/layout_go" | diff "$tmp/sizes" -
}
if go version >/dev/null 2>&1 && command -v pkg-config >/dev/null; then
    tell 'the program in Go compiles' go_builds "$folder"/quickstart.go "$tmp/go"
    tell 'it is laid out by gofmt' formatted
    tell 'it prints the radius and its error' prints "$tmp/go" 'status 1: sigma is -1'
    tell 'its structs are as large as those of C' go_layout
else
    echo 'skip Go: go or pkg-config is not installed'
fi
exit "$bad"
