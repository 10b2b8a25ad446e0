/* Which parts of the facts to try. Every part gives a bound, and more facts must never give a worse one: so where a search with some facts is
 * not known to have come next to the truth, those with fewer facts are made as well, and the best of all is given out (theory 3.5). */
#ifndef CR_SOLVER_FAMILIES_H
#define CR_SOLVER_FAMILIES_H
#include <stdint.h>

typedef struct cr_families {
    uint32_t all;       /* what there is */
    uint32_t needed;    /* what every part has to keep */
    uint64_t tight;     /* bit i: the i-th part needs no further search, nor has any part of it */
    int next;           /* the parts are counted by the facts that they leave out, fewest first */
} cr_families;

/* The next part worth a search, all facts first; 0 when there is none. */
uint32_t cr_families_next(cr_families *families);
/* How the search with these facts went: CR_TIGHT_... of bound.h. */
void cr_families_mark(cr_families *families, uint32_t facts, int tight);

#endif
