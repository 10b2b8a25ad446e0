/* How tight the certificates are: not measured yet. */
#include <math.h>

#include "rows.h"

int rows_attack(const struct study *s, struct lab *lab, struct table *t)
{
    (void)s, (void)lab;
    table_add(t, (struct table_row){.number = "8", .what = "attack radius : certified radius", .at_most = 1, .target = 1.35, .reached = NAN,
                                    .ours = NAN, .reference = NAN});
    return 0;
}
