#!/usr/bin/env bash
# page.sh: the adapter in docs/guide/adapters.md compiles without a warning, and does what it says.
# From tests/run.sh: CC, OBJ.
set -u
cd "$(dirname "$0")/../.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
awk '/compiled and run by tests\/engines\/page.sh/ { found = 1; next }
     found && /^```/ { if (inside) exit; inside = 1; next }
     inside' docs/guide/adapters.md >"$tmp/linear.c"
cat >"$tmp/main.c" <<'EOF'
#include <stdio.h>
#include "adapter.h"
engine_opens engine_open_linear;
int main(int count, char **word)
{
    const float x[4] = {1, 2, 3, -1};
    float y[2];
    struct engine e;
    if (count < 2 || engine_open_linear(word[1], NULL, &e)) return puts(e.why), 1;
    if (engine_run(&e, x, y, 2)) return puts(e.why), 2;
    printf("%zu to %zu: %g %g\n", e.inputs, e.columns, (double)y[0], (double)y[1]);
    engine_close(&e);
    return 0;
}
EOF
objects=("$OBJ"/examples/engines/{engine,ort,ort_library,ort_tensors,tensor}.o)
said=$({ sed 's/^int engine_open_linear/engine_opens engine_open_linear;\n&/' "$tmp/linear.c" \
        >"$tmp/declared.c" &&
    "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -Iinclude \
        -Iexamples/engines "$tmp/declared.c" "$tmp/main.c" "${objects[@]}" \
        -o "$tmp/program" -ldl -lm &&
    echo "0.5 2" >"$tmp/weights" && "$tmp/program" "$tmp/weights" &&
    echo "0.5" >"$tmp/weights" && "$tmp/program" "$tmp/weights"; } 2>&1)
wanted="2 to 1: 4.5 -0.5
$tmp/weights does not have two weights"
[ "$said" = "$wanted" ] && echo "ok the adapter of the guide" && exit
printf '%s\n' "$said"
echo "not ok the adapter of the guide"
exit 1
