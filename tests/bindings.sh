#!/usr/bin/env bash
# bindings.sh: the crate of examples/bindings/rust, which docs/bindings.md is about. In a program of
# somebody else it compiles without a warning, gives the bits of the program in C, and refuses
# mistakes; its structs have the layouts of the C compiler. The program for LuaJIT gives these bits.
# From tests/run.sh: OBJ (folder of objects), CC, VERSION.
# shellcheck disable=SC2317 # functions are called through tell
set -u
cd "$(dirname "$0")/.." || exit 2
: "${OBJ:?run me by make check}"
CC=${CC:-cc}
tmp=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
# shellcheck source=tests/tap_helpers.sh
. tests/tap_helpers.sh
library=$(realpath "$OBJ")
folder=$PWD/examples/bindings
export LD_LIBRARY_PATH=$library PKG_CONFIG_PATH=$tmp
printf 'Name: certreg\nDescription: this tree\nVersion: %s\nlibdir=%s\nCflags: -I%s\nLibs: %s\n' \
    "${VERSION:-0}" "$library" "$PWD/include" "-L$library -lcertreg" >"$tmp/certreg.pc"

c_says() { # SOURCE
    # shellcheck disable=SC2086 # the compiler is a list of words
    $CC -Iinclude "$1" -L"$library" -lcertreg -o "$tmp/by_c" && "$tmp/by_c"
}
digits='s/\(of\|below\) %g/\1 %.17f/g'
sed "$digits" examples/quickstart.c >"$tmp/quickstart.c"
wanted=$(c_says "$tmp/quickstart.c") || exit 2

prints() { # LANGUAGE SED: the bits, on the standard output
    local said
    said=$("$1" "$2") && echo "$said" && [ "$said" = "$wanted" ]
}
refuses() { # LANGUAGE SENTENCE SED: ends with it, and another status than 0
    local said
    ! said=$("$1" "$3" 2>&1) && echo "$said" && grep -qF -- "$2" <<<"$said"
}
shown() { # LANGUAGE PROGRAM: the page shows lines of it, and no others
    sed -n "/^\`\`\`$1/,/^\`\`\`/{/^\`/!s/^\s*//p}" docs/bindings.md >"$tmp/shown"
    [ -s "$tmp/shown" ] && ! sed 's/^\s*//' "$folder/$2" | grep -vxFf - "$tmp/shown"
}

# ---- Rust
tell 'docs/bindings.md shows the program in Rust' shown rust rust/examples/quickstart.rs
mkdir -p "$tmp/rust/src"
printf '[package]\nname = "user"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s\n' \
    "certreg = { path = \"$tmp/crate\" }" >"$tmp/rust/Cargo.toml"
cp -r "$folder/rust" "$tmp/crate"
rust() { # SED
    sed -e 's/{:.6}/{:.17}/g' -e "$1" "$folder/rust/examples/quickstart.rs" \
        >"$tmp/rust/src/main.rs" &&
        (cd "$tmp/rust" && RUSTFLAGS='-D warnings' cargo run -q --offline)
}
in_crate() { (cd "$tmp/crate" && RUSTFLAGS='-D warnings' "$@"); }
# Sizes of the structs and offsets of their fields, by the crate and by the headers.
layout() {
    cp "$folder/rust/src/c.rs" "$tmp/layout.rs"
    { echo '#define CERTREG_EXPERIMENTAL' && echo '#include <stdio.h>' &&
        (cd include && printf '#include <%s>\n' certreg/*.h); } >"$tmp/layout.c"
    awk -v rust="$tmp/layout.rs" -v c="$tmp/layout.c" '
        BEGIN { print "fn main() {" >>rust; print "int main(void) {" >>c }
        /^pub struct / { name = $3; gsub(/[A-Z]/, "_&", name); name = tolower(name)
            print "let it = std::mem::MaybeUninit::<" $3 ">::uninit(); let it = it.as_ptr();" >>rust
            print "println!(\"" name " {}\", size_of::<" $3 ">());" >>rust
            print "printf(\"" name " %zu\\n\", sizeof(certreg" name "));" >c; next }
        /^}/ { name = "" }
        name { while (match($0, /[a-z_0-9]+: /)) { field = substr($0, RSTART, RLENGTH - 2)
            print "println!(\"" field " {}\", unsafe { std::ptr::addr_of!((*it)." field \
                ") } as usize - it as usize);" >>rust
            print "printf(\"" field " %zu\\n\", offsetof(certreg" name ", " field "));" >c
            $0 = substr($0, RSTART + RLENGTH) } }
        END { print "}" >>rust; print "}" >c }' "$folder/rust/src/c.rs"
    rustc --edition 2021 -A dead_code -L "$library" "$tmp/layout.rs" -o "$tmp/by_rust" &&
        c_says "$tmp/layout.c" >"$tmp/layout" && [ "$(wc -l <"$tmp/layout")" -gt 350 ] &&
        "$tmp/by_rust" | diff "$tmp/layout" -
}
if cargo --version >/dev/null 2>&1 && command -v pkg-config >/dev/null; then
    tell 'a program in Rust gives the bits of the one in C' prints rust ''
    tell 'Rust: NaN is an error' refuses rust 'is nan' 's/\*y = .*/*y = f32::NAN * x[0];/'
    tell 'Rust: so is a tolerance of 0' refuses rust 'tolerance is 0' 's/new(0.5)/new(0.0)/'
    tell 'Rust: so is another number of inputs' refuses rust 'z has 2 numbers' 's/, -0.25\]/]/'
    tell 'Rust: an abstention says why' refuses rust 'beyond the tolerance: lower sigma' \
        's/new(0.5)/new(1e-9)/; s/println.*/assert!(c.radius > 0.0, "{}", c.reason_text());/'
    tell 'Rust: a panic of the model comes out, and its record goes on, in another thread' \
        prints rust 's/let model.*/let mut calls = 0;\n&\ncalls += 1; assert!(calls != 3, "off");/
        s/|x, y|/move &/; s/let c =.*/let ask = || e.certify(10_000, \&Question::new(0.5));\
        let off = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)).unwrap_err();\
        assert_eq!(off.downcast_ref(), Some(\&"off"));\
        let mut e = std::thread::spawn(move || e).join().unwrap();\n&/'
    tell 'Rust: the methods' in_crate cargo test -q --offline
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$tmp/rust \
        tell 'Rust: a missing library is a sentence' refuses rust 'does not find certreg' ''
    tell 'the structs of Rust lie as those of C' layout
else
    echo 'skip Rust: cargo or pkg-config is not installed'
fi

# ---- LuaJIT, with all headers
all=$(cd include && printf -- '-include %s ' certreg/*.h)
lua() { # SED
    sed -e "$digits; s|-include certreg/certreg.h|-DCERTREG_EXPERIMENTAL $all|" -e "$1" \
        "$folder/quickstart.lua" >"$tmp/quickstart.lua" && luajit "$tmp/quickstart.lua"
}
if command -v luajit >/dev/null && command -v pkg-config >/dev/null; then
    tell 'a program in LuaJIT gives the bits of the one in C' prints lua ''
    tell 'LuaJIT: an error of the model' refuses lua 'returned 1' 's/b.y\[i\] =.*/error "off"/'
else echo 'skip LuaJIT: luajit or pkg-config is not installed (make deps)'; fi
exit "$bad"
