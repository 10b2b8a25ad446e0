/* The constraints, by the numbers of their bits. */
#include "base/sizes.h"
#include "question/rows.h"
#include <stddef.h>

enum { ANYTHING = ~0u >> 1, NO_GROUP_TEST = ANYTHING & ~CR_OFFERS_GROUP_TEST };

static const cr_row rows[] = {{"MEAN", ANYTHING},          {"VARIANCE", ANYTHING},
                              {"GRADIENT", NO_GROUP_TEST}, {"RANGE", ANYTHING},
                              {NULL, 0} /* no such bit */, {"MOMENT", ANYTHING}};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(CR_ONE_OF(ROWS) > CR_CONSTRAINTS_ALL, "every constraint has a row");

const cr_row *cr_constraint_of(int32_t value)
{
    return value >= 0 && value < ROWS ? rows + value : NULL;
}
