/* Solves a problem with all its constraints and, if need be, with subsets of them. Every subset
 * gives a bound, and more constraints must never give a worse one. So if a search is not known to
 * be tight, searches with fewer constraints follow (theory 3.5). */
#ifndef CR_SOLVER_CONSTRAINT_SUBSETS_H
#define CR_SOLVER_CONSTRAINT_SUBSETS_H
#include "solver/one_sided_problem.h"

/* Solves with these constraints, keeps the best result, and returns whether this one is tight. */
typedef int cr_subset_solver(void *context, const cr_one_sided *rise);

typedef struct cr_constraint_subsets {
    const cr_one_sided *rise;
    cr_subset_solver *solve;
    void *context;
    int all_constraints;
    int is_tight[8]; /* 1: neither this subset nor a subset of it can improve the bound */
} cr_constraint_subsets;

/* Returns the subsets of one problem, none solved yet. */
cr_constraint_subsets cr_constraint_subsets_make(const cr_one_sided *rise, cr_subset_solver *solve,
                                                 void *context);
/* Solves `count` problems, which divide the remaining budget: first all constraints of each. */
void cr_constraint_subsets_solve(cr_constraint_subsets *subsets, int count,
                                 cr_evaluation_budget *budget);

#endif
