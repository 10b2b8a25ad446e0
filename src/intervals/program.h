/* A small linear program: the least cost*x over x >= 0 with row*x >= least for every row. */
#ifndef CR_INTERVALS_PROGRAM_H
#define CR_INTERVALS_PROGRAM_H

enum { CR_PROGRAM_MOST = 26, CR_PROGRAM_ROWS = 256 };

typedef struct cr_program {
    int unknowns, rows;
    float row[CR_PROGRAM_ROWS][CR_PROGRAM_MOST];
    double least[CR_PROGRAM_ROWS];
} cr_program;

/* Nearly: rows may be violated by `tolerance`, or by more where the steps run out. Costs are > 0.
 */
void cr_program_solve(const cr_program *, const double *cost, double tolerance, double *x);

#endif
