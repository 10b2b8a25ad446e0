/* A problem is solved with all its constraints, and with subsets of them. Every subset gives an
 * answer, and more constraints must never give a worse one. So if a search with some constraints is
 * not known to have come next to the truth, those with fewer constraints are made as well (theory
 * 3.5). */
#ifndef CR_SOLVER_SUBSETS_H
#define CR_SOLVER_SUBSETS_H
#include "solver/rise.h"

/* Solves with these constraints, and keeps the best answer so far. Returns whether this one came
 * next to the truth. */
typedef int cr_ask(void *question, const cr_rise *rise);

typedef struct cr_subsets {
    const cr_rise *rise;
    cr_ask *ask;
    void *question;
    int all;
    int settled[8]; /* whether nothing is to be gained from this part, or from any part of it */
} cr_subsets;

cr_subsets cr_subsets_of(const cr_rise *rise, cr_ask *ask, void *question);
/* Several questions share what is left of the effort: all constraints of each come first. */
void cr_subsets_ask(cr_subsets *subsets, int count, cr_effort *effort);

#endif
