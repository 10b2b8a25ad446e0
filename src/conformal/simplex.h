/* A small linear program: minimise cost*x over x >= 0 subject to row*x >= bound for every row. */
#ifndef CR_CONFORMAL_SIMPLEX_H
#define CR_CONFORMAL_SIMPLEX_H

enum { CR_PROGRAM_MAX_UNKNOWNS = 26, CR_PROGRAM_MAX_ROWS = 256 };

typedef struct cr_linear_program {
    int unknowns, rows;
    float row[CR_PROGRAM_MAX_ROWS][CR_PROGRAM_MAX_UNKNOWNS];
    double bound[CR_PROGRAM_MAX_ROWS];
} cr_linear_program;

/* Sets x to a solution in which rows are violated by at most `tolerance`, or by more if 500 steps
 * do not suffice. Costs are > 0. */
void cr_simplex_solve(const cr_linear_program *, const double *cost, double tolerance, double *x);

#endif
